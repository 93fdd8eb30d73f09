"""Forecasts: a selection, its probability and reasons, and how they follow from market prices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from grandstand.apps.bets.domain import odds
from grandstand.apps.bets.domain.history import AsOfView, UsedRow
from grandstand.apps.bets.domain.margins import LOGIT_PER_SD, sport_scale
from grandstand.apps.bets.domain.odds import decimal_to_american, devig_rows, from_log_odds
from grandstand.apps.bets.domain.quotes import (
    DEFAULT_DEVIG,
    Floats,
    Ints,
    PriceBoard,
    QuoteTable,
    american_to_decimal_array,
)
from grandstand.apps.bets.domain.records import Fixture, from_epoch_us
from grandstand.apps.bets.domain.selections import (
    MARKETS,
    Selection,
    Side,
    market_sides,
    opposite_of,
)
from grandstand.core.errors import Conflict

TEAM_MARKETS: Final = ("h2h", "h2h_3way", "spreads")
GAME_MARKETS: Final = ("h2h", "h2h_3way", "spreads", "totals")
CERTAINTY_MARGIN: Final = 0.001


def clamped_log_odds(probability: float) -> float:
    """Return log-odds with the probability kept away from 0 and 1."""
    return odds.log_odds(min(max(probability, CERTAINTY_MARGIN), 1.0 - CERTAINTY_MARGIN))


@dataclass(frozen=True, slots=True)
class Reason:
    """One input of a forecast: its source, a text, and its log-odds.

    They are toward the selection; while a model collects its inputs, toward the first side.
    """

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
class OutcomeProbabilities:
    """Probabilities of the sides of a market at a line; `books` counts the bookmakers."""

    market: str
    sides: tuple[Side, ...]
    probabilities: tuple[float, ...]
    point: float | None
    books: int

    def of(self, side: Side) -> float:
        return self.probabilities[self.sides.index(side)]


@lru_cache(maxsize=8192)
def make_selection(
    market: str, side: Side, point: float | None, participant: str | None
) -> Selection:
    """Return the selection of a side; the line is given as the first side has it."""
    line = None if point is None else Decimal(repr(point))
    if line is not None and market == "spreads" and side == "away":
        line = -line if line else line
    if market in MARKETS:
        return Selection(market, side, line)
    return Selection("prop", side, line, participant, market)


def orient_reasons(reasons: Sequence[Reason], sign: float) -> list[Reason]:
    """Turn reasons for the first side into reasons for a pick; `sign` is -1 if it is another."""
    return [replace(reason, contribution=sign * reason.contribution) for reason in reasons]


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
        reasons=tuple(orient_reasons(forecast.reasons, -1.0)),
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


_MARKETS_WITH_LINE = ("spreads", "totals")
_NEGLIGIBLE = 1e-9


@dataclass(frozen=True, slots=True)
class LineMove:
    """How far bookmakers moved from their own first price, in log-odds toward the first side."""

    size: float
    books: int
    first_at: datetime
    last_at: datetime


def fair_probabilities(
    view: AsOfView, game_id: str, market: str, participant: str | None = None
) -> OutcomeProbabilities | None:
    """Return the fair probabilities at the main line, None if the market is not quoted."""
    return view.cached(
        ("fair", game_id, market, participant),
        lambda signal: _fair(signal.board(game_id, market, participant)),
    )


def _fair(board: PriceBoard | None) -> OutcomeProbabilities | None:
    return None if board is None else board_probabilities(board)


def board_probabilities(board: PriceBoard) -> OutcomeProbabilities:
    """Return the mean of the bookmakers without margin, in log-odds, at the main line."""
    rows = np.flatnonzero(main_line_mask(board))
    odds = mean_log_odds(board.fair_rows[rows])
    shares = 1.0 / (1.0 + np.exp(-odds))
    total = float(shares.sum())
    point = float(board.points[rows[0]])
    return OutcomeProbabilities(
        board.market,
        board.sides,
        tuple(float(share) / total for share in shares),
        None if math.isnan(point) else point,
        len(rows),
    )


def main_line_mask(board: PriceBoard) -> npt.NDArray[np.bool_]:
    """Return which bookmakers have the most common line; ties go to the lowest."""
    if math.isnan(float(board.points[0])):
        return np.ones(len(board.books), dtype=np.bool_)
    lines, counts = np.unique(board.points, return_counts=True)
    main = lines[np.argmax(counts)]
    return np.asarray(board.points == main)


def mean_log_odds(probabilities: Floats) -> Floats:
    """Return the mean of each side over the rows, in log-odds."""
    clipped = np.clip(probabilities, 1e-6, 1.0 - 1e-6)
    return np.asarray(np.log(clipped / (1.0 - clipped)).mean(axis=0))


def line_move(view: AsOfView, game_id: str, market: str, sport: str) -> LineMove | None:
    """Return the mean move of the bookmakers, None unless one of them has two prices."""
    return view.cached(
        ("move", game_id, market),
        lambda signal: _move(signal.quotes(game_id, market), sport),
    )


def _move(table: QuoteTable | None, sport: str) -> LineMove | None:
    if table is None:
        return None
    order = np.argsort(table.book, kind="stable")
    changes = np.flatnonzero(np.diff(table.book[order])) + 1
    firsts = order[np.concatenate([[0], changes])]
    lasts = order[np.concatenate([changes - 1, [len(order) - 1]])]
    changed = firsts != lasts
    firsts, lasts = firsts[changed], lasts[changed]
    if not len(firsts):
        return None
    strengths = _strength(table, np.concatenate([firsts, lasts]), sport)
    sizes = strengths[len(firsts) :] - strengths[: len(firsts)]
    return LineMove(
        float(sizes.mean()),
        len(firsts),
        from_epoch_us(int(table.captured_at[firsts].min())),
        from_epoch_us(int(table.captured_at[lasts].max())),
    )


def _strength(table: QuoteTable, rows: Ints, sport: str) -> Floats:
    """Return how strong rows make the first side, by their prices and line."""
    fair = devig_rows(american_to_decimal_array(table.prices[rows]), DEFAULT_DEVIG)
    odds = np.asarray(np.log(fair[:, 0]) - np.log(fair[:, -1]))
    scale = sport_scale(sport)
    if table.market == "spreads":
        return odds - table.points[rows] / scale.margin_sd * LOGIT_PER_SD
    if table.market == "totals":
        return odds + table.points[rows] / scale.total_sd * LOGIT_PER_SD
    return odds


def forecast_from_signals(
    model: str, game: Fixture, view: AsOfView, market: str, signals: Sequence[Reason]
) -> Forecast | None:
    """Return a forecast of a model that only knows a direction, on top of the market's price.

    The side is the model's own; its probability starts from the market's. None if the signals
    cancel out or there is no line to bet on.
    """
    own = math.fsum(signal.contribution for signal in signals)
    fair = fair_probabilities(view, game.game_id, market)
    if not own or (fair is None and market in _MARKETS_WITH_LINE):
        return None
    sides = market_sides(market)
    side = sides[0] if own > 0 else sides[-1]
    reasons = orient_reasons(signals, math.copysign(1.0, own))
    anchor = 0.0
    if fair is not None:
        anchor = clamped_log_odds(fair.of(side))
        reasons.append(market_reason(fair, side, anchor))
    return build_forecast(
        model,
        game,
        view,
        fair or _even_probabilities(market),
        (side, from_log_odds(anchor + abs(own))),
        reasons=reasons,
    )


def forecast_from_probabilities(
    model: str,
    game: Fixture,
    view: AsOfView,
    probabilities: OutcomeProbabilities,
    signals: Sequence[Reason],
) -> Forecast:
    """Return a forecast of the likeliest side at its line."""
    return prop_forecast_from_probabilities((model, None), game, view, probabilities, signals)


def prop_forecast_from_probabilities(
    who: tuple[str, str | None],
    game: Fixture,
    view: AsOfView,
    probabilities: OutcomeProbabilities,
    signals: Sequence[Reason],
) -> Forecast:
    """Return a forecast of the likeliest side of a player market."""
    model, participant = who
    chance = max(probabilities.probabilities)
    side = probabilities.sides[probabilities.probabilities.index(chance)]
    reasons = orient_reasons(signals, -1.0 if side == probabilities.sides[-1] else 1.0)
    rest = clamped_log_odds(chance) - math.fsum(reason.contribution for reason in reasons)
    if abs(rest) > _NEGLIGIBLE:
        reasons.append(Reason("base", "the model's baseline", rest))
    pick = (side, chance)
    return build_forecast(
        model, game, view, probabilities, pick, reasons=reasons, participant=participant
    )


def build_forecast(
    model: str,
    game: Fixture,
    view: AsOfView,
    probabilities: OutcomeProbabilities,
    pick: tuple[Side, float],
    *,
    reasons: Sequence[Reason],
    participant: str | None = None,
) -> Forecast:
    """Return a forecast of one side at the line of `belief`, with the best available price."""
    side, chance = pick
    market, point = probabilities.market, probabilities.point
    board = view.board(game.game_id, market, participant)
    fair = fair_probabilities(view, game.game_id, market, participant)
    column = market_sides(market).index(side)
    best = None if board is None else board.best(column, point)
    comparable = fair is not None and fair.point == point
    return Forecast(
        model=model,
        game_id=game.game_id,
        sport=game.sport,
        market=market,
        selection=make_selection(market, side, point, participant),
        raw=chance,
        probability=chance,
        fair=fair.of(side) if fair is not None and comparable else None,
        price=None if best is None else best[1],
        book=None if best is None else best[0],
        reasons=tuple(sorted(reasons, key=lambda reason: -abs(reason.contribution))),
        used=view.used,
        as_of=view.instant,
    )


def market_reason(fair: OutcomeProbabilities, side: Side, contribution: float) -> Reason:
    """Return the market's price as a reason."""
    return Reason(
        "market",
        f"{fair.books} bookmakers without margin give {side} {fair.of(side):.1%}",
        contribution,
    )


def _even_probabilities(market: str) -> OutcomeProbabilities:
    sides = market_sides(market)
    return OutcomeProbabilities(market, sides, (1.0 / len(sides),) * len(sides), None, 0)
