"""Kept here: races as values: a day's list, the card, the result and the odds; None is unknown."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from grandstand.apps.keiba.model import ids
from grandstand.apps.keiba.model.words import (
    Bet,
    Direction,
    Going,
    OddsStatus,
    Outcome,
    Sex,
    Surface,
    Weather,
)


@dataclass(frozen=True, slots=True)
class RaceEntry:
    """One race of a day, as the day's list names it; `post_time` is HH:MM in Japan.

    Weather and going are those of the meeting, the going that of the race's own surface.
    """

    track_name: str
    race_number: int
    race_id: str
    race_name: str | None = None
    post_time: str | None = None
    distance: int | None = None
    track_type: Surface | None = None
    runner_count: int | None = None
    grade: str | None = None
    meeting_number: int | None = None
    day_number: int | None = None
    weather: Weather | None = None
    going: Going | None = None
    has_result: bool | None = None

    @property
    def where(self) -> str:
        """The track, in English where it is known, and the number, such as Tokyo 11R."""
        track = ids.track_of(self.race_id)
        return f"{self.track_name if track is None else track.english} {self.race_number}R"


@dataclass(frozen=True, slots=True)
class DayList:
    """The races of a date in the order of the page; none on a day without racing."""

    race_date: date
    races: tuple[RaceEntry, ...]


@dataclass(frozen=True, slots=True)
class Runner:
    """A horse on the card; it has no frame and no number before the draw.

    Weights are in kilograms; `body_weight_change` is against its last run.
    """

    horse_id: str
    horse_name: str
    jockey_id: str | None = None
    jockey_name: str | None = None
    frame_number: int | None = None
    horse_number: int | None = None
    carried_weight: Decimal | None = None
    sex: Sex | None = None
    age: int | None = None
    trainer_id: str | None = None
    trainer_name: str | None = None
    stable: str | None = None
    body_weight: int | None = None
    body_weight_change: int | None = None
    scratched: bool = False
    win_odds: Decimal | None = None
    popularity: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceFacts:
    """What a card and a result both say of a race.

    `post_time` is HH:MM in Japan; `prize_money` is for the first, second and so on, in units of
    ten thousand yen; `course` is what stands beside the direction, such as 外 or 2周.
    """

    race_date: date | None = None
    race_number: int | None = None
    post_time: str | None = None
    grade: str | None = None
    meeting_number: int | None = None
    day_number: int | None = None
    direction: Direction | None = None
    course: str | None = None
    weather: Weather | None = None
    going: Going | None = None
    ages: str | None = None
    race_class: str | None = None
    conditions: str | None = None
    weight_rule: str | None = None
    runner_count: int | None = None
    prize_money: tuple[Decimal, ...] = ()


@dataclass(frozen=True, slots=True)
class RaceCard(RaceFacts):
    """A race with its runners."""

    race_id: str
    race_name: str
    horses: tuple[Runner, ...]
    distance: int | None = None
    track_type: Surface | None = None
    track_name: str | None = None


@dataclass(frozen=True, slots=True)
class Finisher:
    """A horse in a result; a horse that did not finish has no position.

    `demoted` tells that the stewards put it back to its position; `dead_heat` that it shares it.
    `passing` is its place at each corner, `last_3f` its seconds for the last 600 metres.
    """

    horse_id: str
    horse_name: str
    position: int | None = None
    outcome: Outcome = "finished"
    demoted: bool = False
    dead_heat: bool = False
    frame_number: int | None = None
    horse_number: int | None = None
    sex: Sex | None = None
    age: int | None = None
    carried_weight: Decimal | None = None
    jockey_id: str | None = None
    jockey_name: str | None = None
    allowance: str | None = None
    time: str | None = None
    time_seconds: Decimal | None = None
    margin: str | None = None
    popularity: int | None = None
    win_odds: Decimal | None = None
    last_3f: Decimal | None = None
    passing: tuple[int, ...] = ()
    trainer_id: str | None = None
    trainer_name: str | None = None
    stable: str | None = None
    body_weight: int | None = None
    body_weight_change: int | None = None


@dataclass(frozen=True, slots=True)
class Payout:
    """What 100 yen on a bet paid; of a bracket bet the numbers are those of frames."""

    bet: Bet
    numbers: tuple[int, ...]
    amount_yen: int
    popularity: int | None = None


@dataclass(frozen=True, slots=True)
class RaceResult(RaceFacts):
    """How a race ended; before it is confirmed there are no finishers and no payouts."""

    race_id: str
    race_name: str
    confirmed: bool
    finishers: tuple[Finisher, ...] = ()
    payouts: tuple[Payout, ...] = ()
    distance: int | None = None
    track_type: Surface | None = None
    track_name: str | None = None


@dataclass(frozen=True, slots=True)
class WinOdds:
    """What a winning yen pays on one horse; None of a horse that does not run."""

    horse_number: int
    odds: Decimal | None
    popularity: int | None = None


@dataclass(frozen=True, slots=True)
class PlaceOdds:
    """Between what and what a placed yen pays on one horse."""

    horse_number: int
    low: Decimal | None
    high: Decimal | None
    popularity: int | None = None


@dataclass(frozen=True, slots=True)
class Odds:
    """The odds of a race by horse number; a forecast has none for places."""

    race_id: str
    status: OddsStatus
    win: tuple[WinOdds, ...]
    place: tuple[PlaceOdds, ...] = ()
    official_at: datetime | None = None
