"""The simulated racing world: consistent seasons with known true probabilities."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from functools import lru_cache, partial
from itertools import chain
from typing import Final

from grandstand.simulators.racing.career import (
    RideCounts,
    Run,
    Scales,
    abroad_run,
    count_rides,
    home_run,
    synthetic_rides,
)
from grandstand.simulators.racing.population import (
    JOCKEYS,
    OLDEST,
    YOUNGEST,
    Horse,
    Jockey,
    Population,
)
from grandstand.simulators.racing.race import Race, run_race
from grandstand.simulators.racing.racecourses import JST, TRACKS, Circuit, Meeting
from grandstand.simulators.racing.rng import seeded_random, shuffle
from grandstand.simulators.racing.season import (
    RaceSlot,
    Season,
    draw_conditions,
    plan_season,
)

CIRCUITS: Final[tuple[Circuit, ...]] = ("jra", "nar")
_CACHED_RACES: Final = 4_096
_RACE_ID: Final = re.compile("[0-9]{12}")


class World:
    """Everything that follows from one seed, generated on demand and cached.

    Races are known from `first_year` on. What the site may tell at a moment is a matter of the
    moment given; the world itself knows every finish before it happens.
    """

    def __init__(self, seed: int, first_year: int, *, cached_races: int = _CACHED_RACES) -> None:
        self.seed = seed
        self.first_year = first_year
        self.people = Population(seed, first_year)
        self.season = lru_cache(maxsize=16)(partial(plan_season, self.people, seed))
        self._cached_race = lru_cache(maxsize=cached_races)(self._race)
        self._day_jockeys = lru_cache(maxsize=2_048)(self._pick_jockeys)
        self._month = lru_cache(maxsize=192)(self._count_month)

    @classmethod
    def at(
        cls,
        seed: int,
        now: datetime,
        seasons_before: int = 2,
        *,
        cached_races: int = _CACHED_RACES,
    ) -> World:
        """Return a world with full seasons before the year of a moment."""
        return cls(seed, now.astimezone(JST).year - seasons_before, cached_races=cached_races)

    def meetings(self, circuit: Circuit, day: date) -> tuple[Meeting, ...]:
        """Return a circuit's meetings of a day."""
        if day.year < self.first_year:
            return ()
        return self.season(circuit, day.year).days.get(day, ())

    def days(self, circuit: Circuit, around: date, reach_days: int = 14) -> list[date]:
        """Return the racing days around a day."""
        span = (around + timedelta(days=at) for at in range(-reach_days, reach_days + 1))
        return [day for day in span if self.meetings(circuit, day)]

    def race_ids(self, circuit: Circuit, day: date) -> list[str]:
        """Return the ids of a day's races, track by track."""
        return [
            meeting.race_id(number)
            for meeting in self.meetings(circuit, day)
            for number in range(1, meeting.races + 1)
        ]

    def race(self, race_id: str) -> Race | None:
        """Return a race by id; None if there is none."""
        known = _RACE_ID.fullmatch(race_id) and race_id[4:6] in TRACKS
        if not known or int(race_id[:4]) < self.first_year:
            return None
        year = self.season(TRACKS[race_id[4:6]].circuit, int(race_id[:4]))
        return self._cached_race(year.slots[race_id]) if race_id in year.slots else None

    def truth(self, race_id: str) -> dict[int, float]:
        """Return the true win probabilities of the starters by horse number.

        Raises:
            KeyError: there is no race of that id.
        """
        race = self.race(race_id)
        if race is None:
            raise KeyError(race_id)
        return race.truth

    def races_between(self, circuit: Circuit, first: date, last: date) -> Iterator[Race]:
        """Return a circuit's races of some days, in order."""
        for at in range((last - first).days + 1):
            for race_id in self.race_ids(circuit, first + timedelta(days=at)):
                race = self.race(race_id)
                if race is not None:
                    yield race

    def entries(self, horse: Horse, until: datetime) -> list[Race]:
        """Return the races a horse was entered in that have started, oldest first."""
        slots = (
            slot
            for year in self._seasons(horse, until)
            for slot in year.entries.get(horse.id, ())
            if slot.meeting.off(slot.number) <= until
        )
        return [self._cached_race(slot) for slot in slots]

    def runs(self, horse: Horse, now: datetime) -> list[Run]:
        """Return a horse's results as known at a moment, newest first."""
        races = [race for race in self.entries(horse, now) if race.confirmed_at <= now]
        scales = Scales(self.seed)
        runs = [home_run(race, horse, scales.weigh(race, horse)) for race in races]
        today = now.astimezone(JST).date()
        for year in self._seasons(horse, now):
            for abroad in year.abroad:
                went = abroad.draw(horse)
                if went is not None and abroad.held_on < today:
                    jockey = self.people.jockey("jra", went * 5)
                    runs.append(abroad_run(self.seed, abroad, went, jockey))
        return sorted(runs, key=lambda run: run.held_on, reverse=True)

    def weight(self, race: Race, at: int) -> str:
        """Return a runner's body weight before a race and its change, empty for a scratched one."""
        horse = race.horses[at]
        scales = Scales(self.seed)
        return [scales.weigh(one, horse) for one in self.entries(horse, race.off_at)][-1]

    def rides(self, jockey: Jockey, circuit: Circuit, year: int, now: datetime) -> RideCounts:
        """Return a jockey's ride counts of a year on a circuit as of a moment."""
        if year < self.first_year:
            rode = circuit == jockey.circuit and year >= jockey.first_year
            return synthetic_rides(self.seed, jockey, year) if rode else RideCounts()
        if circuit != jockey.circuit:
            return count_rides(self._visits(jockey, circuit, year, now)).get(
                jockey.id, RideCounts()
            )
        counts = RideCounts()
        for tallies in self._months(circuit, year, now):
            counts.add(tallies.get(jockey.id, RideCounts()))
        return counts

    def standing(self, jockey: Jockey, circuit: Circuit, year: int, now: datetime) -> int | None:
        """Return a jockey's rank by wins in a year; None if not ranked.

        Guests of a circuit and those without a ride are not.
        """
        mine = self.rides(jockey, circuit, year, now)
        if not mine.rides or circuit != jockey.circuit:
            return None
        if year < self.first_year:
            return seeded_random(self.seed, "standing", jockey.id, year).randint(
                1, JOCKEYS[circuit]
            )
        wins: dict[str, int] = {}
        for tallies in self._months(circuit, year, now):
            for jockey_id, tally in tallies.items():
                wins[jockey_id] = wins.get(jockey_id, 0) + tally.places[0]
        return 1 + sum(more > mine.places[0] for more in wins.values())

    def _seasons(self, horse: Horse, until: datetime) -> list[Season]:
        last = min(horse.foaled + OLDEST, until.astimezone(JST).year)
        years = range(max(horse.foaled + YOUNGEST, self.first_year), last + 1)
        return [self.season(horse.circuit(year), year) for year in years if horse.races_in(year)]

    def _months(
        self, circuit: Circuit, year: int, now: datetime
    ) -> Iterator[dict[str, RideCounts]]:
        today = now.astimezone(JST).date()
        for month in range(1, 13):
            first = date(year, month, 1)
            last = (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
            if first <= today:
                run = len(self._confirmed_races(circuit, today, now)) if today <= last else 0
                yield self._month(circuit, first, min(last, today - timedelta(days=1)), run)

    def _visits(self, jockey: Jockey, circuit: Circuit, year: int, now: datetime) -> Iterator[Race]:
        """Return the races at the meetings a jockey visited as a guest."""
        for day, meetings in self.season(circuit, year).days.items():
            if meetings[0].off(1) > now or self._day_jockeys(circuit, day)[0] is not jockey:
                continue
            for number in range(1, meetings[0].races + 1):
                race = self.race(meetings[0].race_id(number))
                if race is not None and race.confirmed_at <= now:
                    yield race

    def _confirmed_races(self, circuit: Circuit, day: date, now: datetime) -> list[Race]:
        races = self.races_between(circuit, day, day)
        return sorted(
            (race for race in races if race.confirmed_at <= now), key=lambda race: race.off_at
        )

    def _count_month(
        self, circuit: Circuit, first: date, last: date, run: int
    ) -> dict[str, RideCounts]:
        """Count rides from first to last day, and in the first `run` races of the day after."""
        day, today = last + timedelta(days=1), list[Race]()
        if run:
            today = sorted(self.races_between(circuit, day, day), key=lambda race: race.off_at)
        return count_rides(chain(self.races_between(circuit, first, last), today[:run]))

    def _race(self, slot: RaceSlot) -> Race:
        terms, meeting = draw_conditions(self.seed, slot), slot.meeting
        riding = self._day_jockeys(meeting.circuit, meeting.held_on)
        many = {"jra": 24, "nar": 18}[meeting.circuit]
        there = riding[meeting.place * many : (meeting.place + 1) * many]
        mixed = shuffle(seeded_random(self.seed, "ride", slot.race_id), there)
        jockeys = tuple(mixed[: len(slot.entered)])
        year, going = meeting.held_on.year, meeting.going(terms.surface)
        strengths = tuple(
            horse.worth(terms.surface, terms.metres, going)
            + jockey.skill
            + self.people.trainer_of(horse, year).skill
            for horse, jockey in zip(slot.entered, jockeys, strict=True)
        )
        return Race(self.seed, slot, terms, run_race(self.seed, slot, strengths, jockeys))

    def _pick_jockeys(self, circuit: Circuit, day: date) -> list[Jockey]:
        """Return a day's jockeys, the skilled ones first, with a JRA guest at NAR tracks."""
        draw = seeded_random(self.seed, "riding", circuit, day)
        keyed = sorted(
            (math.log(1 - draw.random()) / -math.exp(2 * jockey.skill), jockey.id, jockey)
            for jockey in self._active_jockeys(circuit, day.year)
        )
        riding = [jockey for _, _, jockey in keyed]
        if circuit == "nar" and day.weekday() < 5:
            riding[0] = draw.choice(self._active_jockeys("jra", day.year))
        return riding

    def _active_jockeys(self, circuit: Circuit, year: int) -> list[Jockey]:
        jockeys = (self.people.jockey(circuit, at) for at in range(JOCKEYS[circuit]))
        return [jockey for jockey in jockeys if jockey.first_year <= year]
