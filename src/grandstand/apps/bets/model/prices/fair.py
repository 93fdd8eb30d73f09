"""Kept here: what a view's prices say: the fair price of a line, and how books moved over time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt

from grandstand.apps.bets.model.known.asof import AsOf
from grandstand.apps.bets.model.known.facts import moment_of
from grandstand.apps.bets.model.predicting.forecasting import Belief
from grandstand.apps.bets.model.prices.boards import (
    METHOD,
    Board,
    Columns,
    Floats,
    Ints,
    decimals_of,
)
from grandstand.apps.bets.model.prices.devig import devig_rows
from grandstand.apps.bets.model.ratings.sports import LOGIT_PER_SD, scale_of


@dataclass(frozen=True, slots=True)
class Move:
    """How far the books' own prices went since each began, as log-odds towards the first side."""

    size: float
    books: int
    first_at: datetime
    last_at: datetime


def fair_at(view: AsOf, game_id: str, market: str, participant: str | None = None) -> Belief | None:
    """The fair probabilities at the line most books have; None when nobody quotes the market."""
    return view.once(
        ("fair", game_id, market, participant),
        lambda part: _fair(part.board(game_id, market, participant)),
    )


def _fair(board: Board | None) -> Belief | None:
    return None if board is None else fair_of(board)


def fair_of(board: Board) -> Belief:
    """The books' mean without their margins, in log-odds, at the line most of them have."""
    rows = np.flatnonzero(on_main_line(board))
    odds = mean_log_odds(board.fair_rows[rows])
    shares = 1.0 / (1.0 + np.exp(-odds))
    total = float(shares.sum())
    point = float(board.points[rows[0]])
    return Belief(
        board.market,
        board.sides,
        tuple(float(share) / total for share in shares),
        None if math.isnan(point) else point,
        len(rows),
    )


def on_main_line(board: Board) -> npt.NDArray[np.bool_]:
    """Which books have the line that most have; of equally frequent lines the lowest."""
    if math.isnan(float(board.points[0])):
        return np.ones(len(board.books), dtype=np.bool_)
    lines, counts = np.unique(board.points, return_counts=True)
    main = lines[np.argmax(counts)]
    return np.asarray(board.points == main)


def mean_log_odds(probabilities: Floats) -> Floats:
    """The mean of each side over the rows, taken in log-odds."""
    kept = np.clip(probabilities, 1e-6, 1.0 - 1e-6)
    return np.asarray(np.log(kept / (1.0 - kept)).mean(axis=0))


def move_at(view: AsOf, game_id: str, market: str, sport: str) -> Move | None:
    """How each book moved against its own first price, averaged over books; None without two."""
    return view.once(
        ("move", game_id, market),
        lambda part: _move(part.path(game_id, market), sport),
    )


def _move(path: Columns | None, sport: str) -> Move | None:
    if path is None:
        return None
    order = np.argsort(path.book, kind="stable")
    changes = np.flatnonzero(np.diff(path.book[order])) + 1
    firsts = order[np.concatenate([[0], changes])]
    lasts = order[np.concatenate([changes - 1, [len(order) - 1]])]
    moved = firsts != lasts
    firsts, lasts = firsts[moved], lasts[moved]
    if not len(firsts):
        return None
    strengths = _strength(path, np.concatenate([firsts, lasts]), sport)
    sizes = strengths[len(firsts) :] - strengths[: len(firsts)]
    return Move(
        float(sizes.mean()),
        len(firsts),
        moment_of(int(path.captured_at[firsts].min())),
        moment_of(int(path.captured_at[lasts].max())),
    )


def _strength(path: Columns, rows: Ints, sport: str) -> Floats:
    """How strong rows make the first side: by their prices, and by their line if there is one."""
    fair = devig_rows(decimals_of(path.prices[rows]), METHOD)
    odds = np.asarray(np.log(fair[:, 0]) - np.log(fair[:, -1]))
    scale = scale_of(sport)
    if path.market == "spreads":
        return odds - path.points[rows] / scale.margin_sd * LOGIT_PER_SD
    if path.market == "totals":
        return odds + path.points[rows] / scale.total_sd * LOGIT_PER_SD
    return odds
