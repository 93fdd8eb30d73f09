"""Racing days: which there are, and their meetings and races."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from grandstand.apps.keiba.domain import ids
from grandstand.apps.keiba.domain.ids import CIRCUITS, Circuit
from grandstand.apps.keiba.domain.races import Going, RaceEntry, Surface, Weather
from grandstand.apps.keiba.services.page_cache import (
    Origin,
    PageCache,
    Sourced,
    start_time,
    today_in_japan,
)
from grandstand.core.clock import Clock
from grandstand.core.errors import GrandstandError
from grandstand.kit.app import HomeCard
from grandstand.kit.auth.caller import Caller

# A day counts as over this long after the post time of its last race.
_OVER_AFTER: Final = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class DayRace:
    """A race of a day; `off_at` is its start in JST, None if the list has no post time."""

    entry: RaceEntry
    off_at: datetime | None


@dataclass(frozen=True, slots=True)
class Meeting:
    """The races of one track on a day, in order, with weather and going from the day's list."""

    track_name: str
    track_english: str | None
    circuit: Circuit
    meeting_number: int | None
    day_number: int | None
    weather: Weather | None
    turf_going: Going | None
    dirt_going: Going | None
    races: tuple[DayRace, ...]


@dataclass(frozen=True, slots=True)
class Day:
    """A racing day by track, JRA first; it has no meetings if there is no racing.

    `origins` are those of the lists it was built from; `warnings` name lists that are missing.
    """

    race_date: date
    meetings: tuple[Meeting, ...]
    origins: tuple[Origin, ...]
    warnings: tuple[str, ...] = ()


@dataclass(kw_only=True)
class RaceDays:
    """Builds racing days from the lists of both circuits."""

    pages: PageCache
    clock: Clock

    async def meeting_days(
        self, around: date, circuit: Circuit = "jra"
    ) -> Sourced[tuple[date, ...]]:
        """Return the racing days around a date, oldest first."""
        days = await self.pages.meeting_days(around, circuit)
        return Sourced(tuple(sorted(days.value)), days.origin)

    async def next_meeting(self, circuit: Circuit | None = None) -> date | None:
        """Return the next racing day of a circuit, or of either; None if none is listed.

        Today counts until its last race is over. With two circuits, one that is unavailable is
        skipped; raises the first error if both are.
        """
        circuits = CIRCUITS if circuit is None else (circuit,)
        found: list[date] = []
        errors: list[GrandstandError] = []
        for each in circuits:
            try:
                day = await self._next_meeting(each)
            except GrandstandError as error:
                errors.append(error)
                continue
            if day == today_in_japan(self.clock):
                return day
            found += [] if day is None else [day]
        if len(errors) == len(circuits):
            raise errors[0]
        return min(found, default=None)

    async def _next_meeting(self, circuit: Circuit) -> date | None:
        today = today_in_japan(self.clock)
        days = [day for day in (await self.meeting_days(today, circuit)).value if day >= today]
        if days and days[0] == today and await self._is_over(today, circuit):
            days = days[1:]
        return days[0] if days else None

    async def day(
        self, race_date: date, circuit: Circuit | None = None, *, refresh: bool = False
    ) -> Day:
        """Return a day's meetings and races, of both circuits by default.

        A missing list is a warning; raises the first error if no list is available.
        """
        circuits = CIRCUITS if circuit is None else (circuit,)
        meetings: list[Meeting] = []
        origins: list[Origin] = []
        warnings: list[str] = []
        errors: list[GrandstandError] = []
        for each in circuits:
            try:
                races = await self.pages.day(race_date, each, refresh=refresh)
            except GrandstandError as error:
                errors.append(error)
                warnings.append(f"{each.upper()} race list missing: {error}")
                continue
            origins.append(races.origin)
            warnings.extend(races.warnings)
            meetings.extend(group_by_meeting(race_date, races.value))
        if len(errors) == len(circuits):
            raise errors[0]
        return Day(race_date, tuple(meetings), tuple(origins), tuple(warnings))

    async def next_race(self, reach_days: int = 7) -> DayRace | None:
        """Return the next race to start by cached lists; None if no list is cached."""
        today, now = today_in_japan(self.clock), self.clock.now()
        days = [today + timedelta(days=at) for at in range(reach_days + 1)]
        upcoming = [
            DayRace(race, off_at)
            for (day, _), races in (await self.pages.cached_days(days)).items()
            for race in races
            if (off_at := start_time(day, race.post_time)) is not None and off_at > now
        ]
        return min(upcoming, key=lambda race: race.off_at or now, default=None)

    async def home_card(self, caller: Caller) -> HomeCard:
        """Return the app's card for the home page, without fetching."""
        del caller
        race = await self.next_race()
        if race is None or race.off_at is None:
            return HomeCard("Japanese racing", "Open to load the next meeting.", "/keiba")
        entry = race.entry
        name = entry.race_name or f"{entry.race_number}R"
        lists = await self.pages.cached_days([today_in_japan(self.clock)])
        count = sum(map(len, lists.values()))
        headline = (
            f"{count} {'race' if count == 1 else 'races'} today" if count else "No races today"
        )
        detail = f"Next: {entry.label} {name}, {race.off_at:%a %H:%M} JST"
        return HomeCard(headline, detail, f"/keiba/races/{entry.race_id}", live=count > 0)

    async def _is_over(self, today: date, circuit: Circuit) -> bool:
        """Whether today's last race is over; False if today's list is unavailable."""
        try:
            races = (await self.pages.day(today, circuit)).value
        except GrandstandError:
            return False
        starts = [at for race in races if (at := start_time(today, race.post_time)) is not None]
        return bool(starts) and max(starts) + _OVER_AFTER < self.clock.now()


def group_by_meeting(race_date: date, races: Sequence[RaceEntry]) -> tuple[Meeting, ...]:
    """Group a day's races by track, in the order of the list."""
    groups: dict[str, list[RaceEntry]] = {}
    for race in races:
        groups.setdefault(race.track_name, []).append(race)
    return tuple(_meeting(race_date, name, group) for name, group in groups.items())


def _meeting(race_date: date, name: str, races: Sequence[RaceEntry]) -> Meeting:
    first = races[0]
    track = ids.track_of(first.race_id)
    ordered = sorted(races, key=lambda race: race.race_number)
    return Meeting(
        track_name=name,
        track_english=None if track is None else track.english,
        circuit=ids.circuit_of(first.race_id),
        meeting_number=first.meeting_number,
        day_number=first.day_number,
        weather=next((race.weather for race in ordered if race.weather is not None), None),
        turf_going=_going(ordered, "turf"),
        dirt_going=_going(ordered, "dirt"),
        races=tuple(DayRace(race, start_time(race_date, race.post_time)) for race in ordered),
    )


def _going(races: Sequence[RaceEntry], surface: Surface) -> Going | None:
    goings = (race.going for race in races if race.track_type == surface)
    return next((going for going in goings if going is not None), None)
