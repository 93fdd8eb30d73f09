"""Races as values: day list, card, result, odds and preview; None means unknown."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from grandstand.apps.keiba.domain import ids

Surface: TypeAlias = Literal["turf", "dirt", "jump"]
Direction: TypeAlias = Literal["left", "right", "straight"]
Weather: TypeAlias = Literal["fine", "cloudy", "rainy", "drizzle", "snow", "light_snow"]

# 良, 稍重, 重 and 不良, from driest to wettest.
Going: TypeAlias = Literal["firm", "good", "yielding", "soft"]

Sex: TypeAlias = Literal["male", "female", "gelding"]

# "stopped" to "disqualified": 中止, 取消, 除外 and 失格.
Outcome: TypeAlias = Literal["finished", "stopped", "withdrawn", "excluded", "disqualified"]

Bet: TypeAlias = Literal[
    "win",
    "place",
    "bracket_quinella",
    "bracket_exacta",
    "quinella",
    "wide",
    "exacta",
    "trio",
    "trifecta",
]

# result, middle and yoso on the site.
OddsStatus: TypeAlias = Literal["final", "live", "forecast"]


@dataclass(frozen=True, slots=True)
class RaceEntry:
    """A race in the list of a day; `post_time` is HH:MM in JST.

    Weather is that of the meeting, going that of the race's surface.
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
    def label(self) -> str:
        """Track and race number, such as Tokyo 11R."""
        track = ids.track_of(self.race_id)
        return f"{self.track_name if track is None else track.english} {self.race_number}R"


@dataclass(frozen=True, slots=True)
class Entrant:
    """A horse in a race, with the facts that are on both card and result."""

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
    win_odds: Decimal | None = None
    popularity: int | None = None


@dataclass(frozen=True, slots=True)
class Runner(Entrant):
    """A horse on the card; it has no frame and number before the draw.

    Weights are in kilograms; `body_weight_change` is since its last run.
    """

    scratched: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceFacts:
    """Facts about a race that are on both card and result.

    `post_time` is HH:MM in JST; `prize_money` is by position, in units of 10,000 yen; `course` is
    the course variant, such as 外 or 2周.
    """

    race_id: str
    race_name: str
    distance: int | None = None
    track_type: Surface | None = None
    track_name: str | None = None
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceCard(RaceFacts):
    """A race with its runners."""

    horses: tuple[Runner, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finisher(Entrant):
    """A horse in a result; a horse that did not finish has no position.

    `demoted` means placed lower by the stewards, `dead_heat` that the position is shared.
    `passing` is the position at each corner, `last_3f` the time of the last 600 m in seconds.
    """

    position: int | None = None
    outcome: Outcome = "finished"
    demoted: bool = False
    dead_heat: bool = False
    allowance: str | None = None
    time: str | None = None
    time_seconds: Decimal | None = None
    margin: str | None = None
    last_3f: Decimal | None = None
    passing: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Payout:
    """The payout of a 100 yen bet; the numbers of bracket bets are frames."""

    bet: Bet
    numbers: tuple[int, ...]
    amount_yen: int
    popularity: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceResult(RaceFacts):
    """A result; it has no finishers and payouts until it is confirmed."""

    confirmed: bool
    finishers: tuple[Finisher, ...] = ()
    payouts: tuple[Payout, ...] = ()


def shared_fields(record: object, base: type) -> dict[str, Any]:
    """Return the fields of a record that its base class `base` declares, by name."""
    return {field.name: getattr(record, field.name) for field in fields(base)}


@dataclass(frozen=True, slots=True)
class WinOdds:
    """Decimal win odds of one horse; None if it does not run."""

    horse_number: int
    odds: Decimal | None
    popularity: int | None = None


@dataclass(frozen=True, slots=True)
class PlaceOdds:
    """Range of decimal place odds of one horse."""

    horse_number: int
    low: Decimal | None
    high: Decimal | None
    popularity: int | None = None


@dataclass(frozen=True, slots=True)
class Odds:
    """Win and place odds of a race; a forecast has no place odds."""

    race_id: str
    status: OddsStatus
    win: tuple[WinOdds, ...]
    place: tuple[PlaceOdds, ...] = ()
    official_at: datetime | None = None


Confidence: TypeAlias = Literal["high", "medium", "low"]
Language: TypeAlias = Literal["en", "ja"]


@dataclass(frozen=True, slots=True)
class RunnerComment:
    """A preview's comment on one runner."""

    horse_id: str
    horse_name: str
    horse_number: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Pick:
    """A runner expected among the first five, with reason and confidence."""

    place: int
    horse_id: str
    horse_name: str
    horse_number: int | None
    reason: str
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class WrittenPreview:
    """A written preview; `model_id` is `offline` if it was written by rules.

    `focus` is what the reader asked about; `omitted` lists data left out of the prompt.
    """

    language: Language
    individual: tuple[RunnerComment, ...]
    comparison: str
    top: tuple[Pick, ...]
    model_id: str
    prompt_version: str
    focus: str = ""
    omitted: tuple[str, ...] = ()
