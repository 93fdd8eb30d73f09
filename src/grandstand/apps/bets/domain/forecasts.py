"""Forecasts: a selection, its probability, and the reasons with their weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Final, Protocol

from grandstand.apps.bets.domain import odds
from grandstand.apps.bets.domain.history import AsOfView, UsedRow
from grandstand.apps.bets.domain.odds import decimal_to_american
from grandstand.apps.bets.domain.quotes import PriceBoard
from grandstand.apps.bets.domain.records import Fixture
from grandstand.apps.bets.domain.selections import MARKETS, Market, Selection, Side, opposite_of
from grandstand.core.errors import Conflict

TEAM_MARKETS: Final = ("h2h", "h2h_3way", "spreads")
GAME_MARKETS: Final = ("h2h", "h2h_3way", "spreads", "totals")
CERTAINTY_MARGIN: Final = 0.001
_SIDES: Final[dict[str, Side]] = {
    "home": "home",
    "away": "away",
    "draw": "draw",
    "over": "over",
    "under": "under",
}


def clamped_log_odds(probability: float) -> float:
    """Return log-odds with the probability kept away from 0 and 1."""
    return odds.log_odds(min(max(probability, CERTAINTY_MARGIN), 1.0 - CERTAINTY_MARGIN))


@dataclass(frozen=True, slots=True)
class Reason:
    """One input of a forecast: its source, a text, and its log-odds toward the selection."""

    source: str
    text: str
    contribution: float
    known_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Forecast:
    """A forecast as of a time before the game, never changed.

    `raw` is the model's own probability, `probability` the calibrated one, `fair` the market's
    probability of the same selection without margin. `price` is the best American price then,
    offered by `book`.
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
    used: tuple[UsedRow, ...]
    as_of: datetime
    trained_on: int = 0
    inverse_of: str | None = None

    @property
    def lay(self) -> bool:
        return self.selection.lay


class Predictor(Protocol):
    """A model: reads one view and returns at most one forecast per market of a game."""

    @property
    def name(self) -> str: ...

    @property
    def markets(self) -> tuple[str, ...]:
        """The markets it can forecast."""
        ...

    def predict(self, game: Fixture, view: AsOfView, market: str = "h2h") -> Forecast | None:
        """Return the forecast as of the view's instant, None if the model has no opinion."""
        ...


@dataclass(frozen=True, slots=True)
class Signal:
    """A model input: log-odds toward the first side of a market, and a text."""

    source: str
    text: str
    toward_first: float
    known_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class OutcomeProbabilities:
    """Probabilities of the sides of a market at a line; `books` counts the bookmakers."""

    market: str
    sides: tuple[str, ...]
    probabilities: tuple[float, ...]
    point: float | None
    books: int

    def of(self, side: str) -> float:
        return self.probabilities[self.sides.index(side)]


@lru_cache(maxsize=8192)
def make_selection(
    market: str, side: str, point: float | None, participant: str | None
) -> Selection:
    """Return the selection of a side; the line is given as the first side has it."""
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


def orient_signals(signals: Sequence[Signal], sign: float) -> tuple[Reason, ...]:
    """Return signals as reasons for a pick; `sign` is -1 if it is not the first side."""
    return tuple(
        Reason(signal.source, signal.text, sign * signal.toward_first, signal.known_at)
        for signal in signals
    )


def sort_by_strength(reasons: Sequence[Reason]) -> tuple[Reason, ...]:
    return tuple(sorted(reasons, key=lambda reason: -abs(reason.contribution)))


def invert_forecast(forecast: Forecast, view: AsOfView) -> Forecast:
    """Return the opposite bet at the best price on the board.

    Three-way markets lay the pick. Probabilities are the complements, and each reason counts for
    the other side by as much as it counted for the pick.
    """
    board = view.board(forecast.game_id, forecast.market, forecast.selection.participant)
    offer = None if board is None else _offer(forecast, board)
    return replace(
        forecast,
        selection=opposite_of(forecast.selection),
        raw=1.0 - forecast.raw,
        probability=1.0 - forecast.probability,
        fair=None if forecast.fair is None else 1.0 - forecast.fair,
        price=None if offer is None else offer[1],
        book=None if offer is None else offer[0],
        reasons=tuple(
            Reason(reason.source, reason.text, -reason.contribution, reason.known_at)
            for reason in forecast.reasons
        ),
        inverse_of=forecast.model,
    )


def _offer(forecast: Forecast, board: PriceBoard) -> tuple[str, int] | None:
    column = board.sides.index(forecast.selection.side or "")
    if len(board.sides) > 2:
        # Backing every other side for equal returns is the same as laying this one.
        others = [at for at in range(len(board.sides)) if at != column]
        share = float(sum(1.0 / board.decimals[:, at].max() for at in others))
        return ("several", decimal_to_american(1.0 / share)) if share < 1.0 else None
    return board.best(1 - column, first_side_line(forecast))


def first_side_line(forecast: Forecast) -> float | None:
    """Return the line as the first side of the market has it, None without a line."""
    selection = forecast.selection
    if selection.point is None:
        return None
    away = selection.market == "spreads" and selection.side == "away"
    return float(-selection.point if away else selection.point)


def already_started(game: Fixture, as_of: datetime) -> Conflict:
    """Return the error of a forecast requested at or after the start of its game."""
    return Conflict(
        f"Cannot forecast {game.game_id} as of {as_of.isoformat()}: it starts at"
        f" {game.commence_time.isoformat()}."
    )
