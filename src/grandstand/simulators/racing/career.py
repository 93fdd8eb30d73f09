"""Past performances of horses and ride statistics of jockeys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from random import Random
from typing import Final

from grandstand.simulators.racing.population import (
    Ancestor,
    Horse,
    Jockey,
    horse_name,
    person,
    site,
)
from grandstand.simulators.racing.race import (
    Race,
    body_weight_kg,
    corner_positions,
    final_quotes,
    format_race_time,
    frames,
    last_600m,
    pace,
)
from grandstand.simulators.racing.racecourses import GOINGS, LETTER, TRACKS
from grandstand.simulators.racing.rng import seeded_random
from grandstand.simulators.racing.season import Conditions, OverseasRace

_SHORT: Final = {"取消": "取", "除外": "除", "中止": "中", "失格": "失"}
_UNWEIGHED: Final = "計不"
_ABROAD_PRIZES: Final = (9_000.0, 3_600.0, 2_100.0, 1_300.0, 800.0)
_OLD_PRIZES: Final = (1_500.0, 600.0, 380.0, 230.0, 150.0)


@dataclass(frozen=True, slots=True)
class Run:
    """One row of a horse's past races; missing texts are empty.

    `prize` is in units of ten thousand yen and `circuit` says which total it belongs to; prizes
    from abroad belong to the central one.
    """

    race_id: str
    held_on: date
    circuit: str
    venue: str
    race_name: str
    rank: str
    prize: float
    runners: int
    course: str
    going: str
    sky: str = ""
    race_number: str = ""
    frame: str = ""
    number: str = ""
    odds: str = ""
    favourite: str = ""
    jockey: Jockey | None = None
    jockey_name: str = ""
    carried: str = ""
    time: str = ""
    behind: str = ""
    corner_positions: str = ""
    pace: str = ""
    last: str = ""
    weight: str = ""
    best_id: str = ""
    best_name: str = ""

    @property
    def place(self) -> int | None:
        """The finishing position; None without one."""
        digits = self.rank.partition("(")[0]
        return int(digits) if digits.isdecimal() else None

    @property
    def started(self) -> bool:
        """Whether the horse started."""
        return self.rank not in ("取", "除")


@dataclass(frozen=True, slots=True)
class Totals:
    """Totals of a horse's career; money is in units of 10,000 yen."""

    starts: int
    places: tuple[int, int, int, int]
    central: float
    local: float
    best: str


def totals(runs: Sequence[Run]) -> Totals:
    """Return the totals of a career."""
    counted = [run for run in runs if run.started]
    first, second, third = (sum(run.place == place for run in counted) for place in (1, 2, 3))
    best = max((run for run in counted if run.place == 1), key=lambda run: run.prize, default=None)
    return Totals(
        len(counted),
        (first, second, third, len(counted) - first - second - third),
        sum(run.prize for run in counted if run.circuit == "jra"),
        sum(run.prize for run in counted if run.circuit == "nar"),
        f"{best.held_on:%y}'{best.race_name}" if best else "",
    )


def home_run(race: Race, horse: Horse, weight: str) -> Run:
    """Return the row of a race in Japan; `weight` is body weight and change."""
    at, meeting = race.at(horse), race.slot.meeting
    jockey, started = race.finish.jockeys[at], race.finish.started(at)
    quotes = final_quotes(race)
    winner, second = (race.horses[one] for one in race.order[:2])
    won = race.finish.places[at] == 1 and winner.id == horse.id
    behind = race.behind(at)
    central = f"{meeting.kai}{meeting.track.name}{meeting.day}"
    return Run(
        race_id=race.race_id,
        held_on=meeting.held_on,
        circuit=meeting.circuit,
        venue=central if meeting.circuit == "jra" else meeting.track.name,
        race_name=race.title,
        rank=_SHORT.get(race.rank(at), race.rank(at)),
        prize=race.prize(at),
        runners=len(race.running),
        course=f"{LETTER[race.terms.surface]}{race.terms.metres}",
        going=GOINGS[meeting.going(race.terms.surface)][0],
        sky=meeting.sky,
        race_number=str(race.slot.number),
        frame=str(race.frames[at]),
        number=str(at + 1),
        odds=f"{quotes.win[at + 1]:.1f}" if started else "",
        favourite=str(quotes.rank[at + 1]) if started else "",
        jockey=jockey,
        jockey_name=jockey.short,
        carried=f"{race.carried(at):g}",
        time=format_race_time(race.seconds(at)),
        behind="" if behind is None else f"{behind:.1f}",
        corner_positions=corner_positions(race, at),
        pace=pace(race),
        last=last_600m(race, at),
        weight=weight if started else _UNWEIGHED,
        best_id=second.id if won else winner.id,
        best_name=f"({second.name})" if won else winner.name,
    )


@dataclass
class Scales:
    """The body weights of horses, race after race."""

    seed: int
    last: dict[str, int] = field(default_factory=dict)

    def weigh(self, race: Race, horse: Horse) -> str:
        """Return the weight before the next race and its change; empty for a scratched horse."""
        if not race.finish.started(race.at(horse)):
            return ""
        now = body_weight_kg(self.seed, horse, race.race_id, race.slot.meeting.held_on.year)
        if now is None:
            return _UNWEIGHED
        change = now - self.last.get(horse.id, now)
        self.last[horse.id] = now
        return f"{now}({change:+d})".replace("(+0)", "(0)")


def abroad_run(seed: int, abroad: OverseasRace, went: int, jockey: Jockey) -> Run:
    """Return the row of an overseas race, which lacks frame, margin, corners and weight."""
    draw, horse = seeded_random(seed, "abroad", abroad.race_id), abroad.entered[went]
    ours = [(one.ability + draw.gauss(0, 1), one.id, one.name) for one in abroad.entered]
    others = [
        (draw.gauss(*(1.6, 0.8)) + draw.gauss(0, 1), "", horse_name(60_000 + at)[0])
        for at in range(9)
    ]
    finish = sorted((*ours, *others), reverse=True)
    place = next(at for at, one in enumerate(finish, 1) if one[1] == horse.id)
    best = finish[1] if place == 1 else finish[0]
    return Run(
        race_id=abroad.race_id,
        held_on=abroad.held_on,
        circuit="jra",
        venue=abroad.track,
        race_name=f"{site(abroad.race_id)}カップ(GI)",
        rank=str(place),
        prize=_ABROAD_PRIZES[place - 1] if place <= len(_ABROAD_PRIZES) else 0.0,
        runners=len(finish),
        course="芝2000",
        going="良",
        race_number="9",
        number=str(went + 1),
        jockey=jockey,
        jockey_name=jockey.short,
        carried="57",
        time=format_race_time(122.0 - finish[place - 1][0] * 0.3),
        best_id=best[1],
        best_name=f"({best[2]})" if place == 1 else best[2],
    )


def old_runs(seed: int, ancestor: Ancestor) -> list[Run]:
    """Return the rows of a sire or dam, newest first: none for a foreign one.

    Their races are older than any race page kept here.
    """
    if ancestor.country is not None:
        return []
    draw = seeded_random(seed, "old", ancestor.id)
    starts = draw.randint(6, 18) if ancestor.sex == "sire" else draw.randint(0, 14)
    on, runs = date(ancestor.born + 2, 6, 1), []
    for _ in range(starts):
        on += timedelta(days=draw.randint(14, 70))
        runs.append(_old_run(draw, on, ancestor))
    return runs[::-1]


def _old_run(draw: Random, on: date, ancestor: Ancestor) -> Run:
    track = TRACKS[f"{draw.randint(1, 10):02}"]
    kai, day, number = draw.randint(1, 4), draw.randint(1, 8), draw.randint(1, 12)
    size, metres = draw.randint(9, 16), draw.choice(track.turf)
    place = min(size, 1 + int(draw.expovariate(0.5 if ancestor.sex == "sire" else 0.25)))
    race_id = f"{on.year}{track.code}{kai:02}{day:02}{number:02}"
    return Run(
        race_id=race_id,
        held_on=on,
        circuit="jra",
        venue=f"{kai}{track.name}{day}",
        race_name=f"{site(race_id)}ステークス",
        rank=str(place),
        prize=_OLD_PRIZES[place - 1] if place <= len(_OLD_PRIZES) else 0.0,
        runners=size,
        course=f"芝{metres}",
        going=GOINGS[draw.choice((0, 0, 0, 1, 2))][0],
        sky="晴",
        race_number=str(number),
        frame=str(frames(size)[size // 2 - 1]),
        number=str(size // 2),
        odds=f"{draw.uniform(1.5, 40):.1f}",
        favourite=str(draw.randint(1, size)),
        jockey_name=person(draw.randrange(700, 790))[0],
        carried="55" if ancestor.sex == "dam" else "57",
        time=format_race_time(metres * 0.0585 + draw.gauss(0, 1)),
        behind=f"{(place - 1) * 0.2:.1f}",
        corner_positions=f"{place}-{place}",
        pace="35.4-35.9",
        last=f"{draw.gauss(35.3, 0.6):.1f}",
        weight=f"{440 + 2 * draw.randint(0, 40)}(0)",
    )


def format_prizes(terms: Conditions) -> str:
    """Return the prize text of a card."""
    return f"本賞金:{','.join(f'{prize:g}' for prize in terms.prizes)}万円"


_PLACES: Final = 3


@dataclass
class RideCounts:
    """Ride counts: by position (first, second, third, other), graded races, best win."""

    places: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    graded: int = 0
    graded_won: int = 0
    best_prize: float = 0.0
    best_horse: tuple[str, str] = ("", "")

    @property
    def rides(self) -> int:
        """The number of rides."""
        return sum(self.places)

    def rate(self, places: int) -> float:
        """Return the percentage of rides that finished in the first `places`."""
        return 100 * sum(self.places[:places]) / self.rides if self.rides else 0.0

    def add(self, other: RideCounts) -> None:
        """Add other counts."""
        self.places = [mine + more for mine, more in zip(self.places, other.places, strict=True)]
        self.graded += other.graded
        self.graded_won += other.graded_won
        if other.best_prize > self.best_prize:
            self.best_prize, self.best_horse = other.best_prize, other.best_horse

    def ride(self, race: Race, at: int) -> None:
        """Count one ride."""
        place = race.finish.places[at]
        self.places[min(place or _PLACES + 1, _PLACES + 1) - 1] += 1
        self.graded += race.terms.graded
        if place == 1:
            self.graded_won += race.terms.graded
            if race.terms.prizes[0] > self.best_prize:
                horse = race.horses[at]
                self.best_prize, self.best_horse = race.terms.prizes[0], (horse.id, horse.name)


def count_rides(races: Iterable[Race]) -> dict[str, RideCounts]:
    """Return the ride counts of all jockeys in finished races, by id."""
    tallies: dict[str, RideCounts] = {}
    for race in races:
        for at in race.running:
            tallies.setdefault(race.finish.jockeys[at].id, RideCounts()).ride(race, at)
    return tallies


def synthetic_rides(seed: int, jockey: Jockey, year: int) -> RideCounts:
    """Return generated ride counts of a year before the first season."""
    draw = seeded_random(seed, "remembered", jockey.id, year)
    rides = draw.randint(180, 620)
    win = min(max(0.08 + 0.05 * jockey.skill + draw.gauss(0, 0.01), 0.01), 0.3)
    first, second, third = (round(rides * win * share) for share in (1.0, 1.02, 1.05))
    graded = rides // 20
    return RideCounts([first, second, third, rides - first - second - third], graded, first // 25)
