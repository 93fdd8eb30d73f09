"""Kept here: what a model answers: a selection, a probability, and the reasons with their share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Final, Protocol

from grandstand.apps.bets.model.known.asof import AsOf, Used
from grandstand.apps.bets.model.known.facts import Fixture
from grandstand.apps.bets.model.prices import odds
from grandstand.apps.bets.model.selections import MARKETS, Market, Selection, Side

TEAM_MARKETS: Final = ("h2h", "h2h_3way", "spreads")
GAME_MARKETS: Final = ("h2h", "h2h_3way", "spreads", "totals")
SURE: Final = 0.001


def log_odds(probability: float) -> float:
    """The logarithm of the odds, kept away from certainty."""
    return odds.log_odds(min(max(probability, SURE), 1.0 - SURE))


@dataclass(frozen=True, slots=True)
class Reason:
    """One input of a forecast: what it is, in words, and its log-odds towards the selection."""

    source: str
    text: str
    contribution: float
    known_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Forecast:
    """A prediction as of a moment; it is never changed, and never made after the start.

    `raw` is the model's own probability, `probability` the calibrated one, `fair` the market's
    without its margin for the same selection. `price` is the best American price then, at `book`.
    """

    model: str
    game_id: str
    sport: str
    market: str
    selection: Selection
    raw: float
    probability: float
    fair: float | None
    price: int | None
    book: str | None
    reasons: tuple[Reason, ...]
    used: tuple[Used, ...]
    as_of: datetime
    learnt_from: int = 0
    inverse_of: str | None = None

    @property
    def lay(self) -> bool:
        """Whether it is a bet against the selection."""
        return self.selection.lay


class Predictor(Protocol):
    """A model: it reads one view and answers at most one forecast for a market of a game."""

    @property
    def name(self) -> str:
        """What the scoreboard calls it."""
        ...

    @property
    def markets(self) -> tuple[str, ...]:
        """The markets it can say something about."""
        ...

    def predict(self, game: Fixture, view: AsOf, market: str = "h2h") -> Forecast | None:
        """Its forecast as of the view's instant, or None when it has nothing to say."""
        ...


@dataclass(frozen=True, slots=True)
class Part:
    """A share of a belief: log-odds towards the first side of a market, and why."""

    source: str
    text: str
    towards_first: float
    known_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Belief:
    """What the books together think without their margins, at the line most of them have."""

    market: str
    sides: tuple[str, ...]
    probabilities: tuple[float, ...]
    point: float | None
    books: int

    def of(self, side: str) -> float:
        """The probability of a side."""
        return self.probabilities[self.sides.index(side)]


@lru_cache(maxsize=8192)
def selected(market: str, side: str, point: float | None, participant: str | None) -> Selection:
    """The typed selection of a side; a line is given as the first side has it."""
    line = None if point is None else Decimal(repr(point))
    if line is not None and market == "spreads" and side == "away":
        line = -line if line else line
    if market in MARKETS:
        return Selection(_market(market), _side(side), line)
    return Selection("prop", _side(side), line, participant, market)


def _market(name: str) -> Market:
    return next(market for market in MARKETS if market == name)


def _side(name: str) -> Side:
    return _SIDES[name]


_SIDES: Final[dict[str, Side]] = {
    "home": "home",
    "away": "away",
    "draw": "draw",
    "over": "over",
    "under": "under",
}


def towards(parts: Sequence[Part], sign: float) -> tuple[Reason, ...]:
    """Parts as reasons of a pick: as they are for the first side, turned round for the other."""
    return tuple(
        Reason(part.source, part.text, sign * part.towards_first, part.known_at) for part in parts
    )


def strongest(reasons: Sequence[Reason]) -> tuple[Reason, ...]:
    """Reasons in the order of their weight."""
    return tuple(sorted(reasons, key=lambda reason: -abs(reason.contribution)))
