"""Kept here: what the service is given, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Final, Generic, Literal, TypeAlias, TypeVar

from grandstand.apps.keiba.model import (
    Circuit,
    Form,
    Going,
    HorseProfile,
    JockeyRecord,
    Odds,
    Parents,
    Pedigree,
    RaceCard,
    RaceEntry,
    Runner,
    Weather,
)
from grandstand.apps.keiba.model.background import Record
from grandstand.apps.keiba.model.backtest import Account, Bin
from grandstand.apps.keiba.model.form import Figures
from grandstand.apps.keiba.model.previews import Individual, Language, Pick
from grandstand.apps.keiba.model.reasons import Reason

T = TypeVar("T")

State: TypeAlias = Literal["fresh", "fetched", "stale"]

JST: Final = timezone(timedelta(hours=9), "JST")
"""Japan's time, the same all year."""


def off_at(race_date: date | None, post_time: str | None) -> datetime | None:
    """Answer when a race is off, in JST; None when the day or the time is not known."""
    if race_date is None or post_time is None:
        return None
    try:
        return datetime.combine(race_date, time.fromisoformat(post_time.zfill(5)), JST)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where something came from and how old it is.

    "fetched" came from the site just now, "fresh" was kept within its time, "stale" is past it
    and is only used where the settings allow; `error` then says why. `warnings` are what could
    not be read in the page.
    """

    page: str
    state: State
    fetched_at: datetime
    age_seconds: float
    warnings: tuple[str, ...] = ()
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Sourced(Generic[T]):
    """A value of the race site, with where it came from."""

    value: T
    origin: Origin

    @property
    def state(self) -> State:
        """Whether it was kept, fetched just now, or is past its time."""
        return self.origin.state

    @property
    def fetched_at(self) -> datetime:
        """When the site said so."""
        return self.origin.fetched_at

    @property
    def age_seconds(self) -> float:
        """How long ago that was."""
        return self.origin.age_seconds

    @property
    def warnings(self) -> tuple[str, ...]:
        """What could not be read in the page."""
        return self.origin.warnings

    @property
    def page(self) -> str:
        """The address of the page."""
        return self.origin.page


@dataclass(frozen=True, slots=True)
class DayRace:
    """A race of a day; `off_at` is its post time in JST, None where the list has none."""

    entry: RaceEntry
    off_at: datetime | None


@dataclass(frozen=True, slots=True)
class Meeting:
    """The races of one track on a day, in order; weather and going as the day's list has them."""

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
    """A day of racing by track: national (JRA) tracks first; without meetings nobody races.

    `origins` are those of the lists it was made of; `warnings` tell a list that could not be had.
    """

    race_date: date
    meetings: tuple[Meeting, ...]
    origins: tuple[Origin, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a gathering has come; `done` of `total` are `cached`, `fetched` or `failed`.

    `seconds_left` is a guess from the pace allowed to us, None before it can be made.
    `error` is why nothing could be gathered at all.
    """

    done: int = 0
    cached: int = 0
    fetched: int = 0
    failed: int = 0
    total: int = 0
    seconds_left: float | None = None
    finished: bool = False
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Insight:
    """One derived fact of a runner against the race date, labelled in English and in Japanese.

    Either `record` or `days` is set.
    """

    name: str
    label: str
    label_ja: str
    record: Record | None = None
    days: int | None = None


@dataclass(frozen=True, slots=True)
class Ranked:
    """A runner's place in the ranking: its chances from 0 to 1 and why.

    `fair_odds` are the odds at which a stake on its win would neither gain nor lose if we are
    right. `market` is the chance behind the odds, `edge` ours minus that, `expected_return` what a
    stake of one brings back on average; None where there are no odds.
    """

    rank: int
    score: float
    win: float
    top2: float
    top3: float
    fair_odds: Decimal
    evidence: float
    reasons: tuple[Reason, ...]
    odds: Decimal | None = None
    popularity: int | None = None
    market: float | None = None
    edge: float | None = None
    expected_return: float | None = None


@dataclass(frozen=True, slots=True)
class CardRunner:
    """A runner with all that was gathered of it; what could not be had is None and in `warnings`.

    A scratched runner has no rank.
    """

    runner: Runner
    form: Sourced[Form] | None
    parents: Sourced[Parents] | None
    jockey: Sourced[JockeyRecord] | None
    figures: Figures | None
    insights: tuple[Insight, ...]
    ranked: Ranked | None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """A race with every runner's form, parents and jockey, the odds where there are, and a ranking.

    Runners stand as on the card. `race_date` is None only when no page says it; what is derived is
    then as of today. `counts` says what was kept already and what was fetched. `warnings` are
    those of the card itself and of the odds.
    """

    race: Sourced[RaceCard]
    race_date: date | None
    off_at: datetime | None
    circuit: Circuit
    track_english: str | None
    runners: tuple[CardRunner, ...]
    odds: Sourced[Odds] | None
    counts: Progress
    warnings: tuple[str, ...] = ()

    @property
    def ranking(self) -> tuple[CardRunner, ...]:
        """The runners that are ranked, best first."""
        ranked = [each for each in self.runners if each.ranked is not None]
        return tuple(sorted(ranked, key=_rank))

    @property
    def whole(self) -> bool:
        """Whether everything that was looked for is there; odds are not, which come and go."""
        return not self.counts.failed and self.counts.done == self.counts.total


def _rank(runner: CardRunner) -> int:
    return 0 if runner.ranked is None else runner.ranked.rank


@dataclass(frozen=True, slots=True)
class Horse:
    """A horse: its profile, career, parents and five generations; what could not be had is None."""

    horse_id: str
    name: str
    profile: Sourced[HorseProfile]
    form: Sourced[Form] | None
    parents: Sourced[Parents] | None
    pedigree: Sourced[Pedigree] | None
    career: Record
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Preview:
    """A written preview; `kept` when it was written before, for the same data.

    `model_id` is `offline` when rules wrote it. `left_out` says what had to be left out of the
    material for its length.
    """

    race_id: str
    language: Language
    individual: tuple[Individual, ...]
    comparison: str
    top: tuple[Pick, ...]
    model_id: str
    prompt_version: str
    digest: str
    words: str
    made_at: datetime
    kept: bool
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Backtested:
    """How good the ranking would have been on kept results; jockeys' own figures are left out.

    They are as of the day they were fetched, which is after the race. `left_out` are races with a
    result of which too little is kept. Losses are None without races; `market_loss` is over the
    `market_races` whose result tells everybody's odds, and `our_market_loss` ours over the same.
    `account` is one hundred yen on every runner that we say gains.
    """

    first: date
    last: date
    races: int
    left_out: int
    log_loss: float | None
    uniform_loss: float | None
    brier: float | None
    market_races: int
    market_loss: float | None
    our_market_loss: float | None
    calibration: tuple[Bin, ...]
    account: Account


@dataclass(frozen=True, slots=True)
class Warmed:
    """What warming a day came to; `failed` names races that could not be gathered, with why."""

    race_date: date
    races: int
    counts: Progress
    failed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Entered:
    """A race a watched horse is entered in, as far as kept cards tell."""

    race_id: str
    race_name: str
    race_date: date | None
    off_at: datetime | None
    track_name: str | None


@dataclass(frozen=True, slots=True)
class Watched:
    """A horse somebody watches, with their note, and the coming races it is entered in."""

    horse_id: str
    horse_name: str
    note: str
    watched_at: datetime
    entered: tuple[Entered, ...] = ()
