"""Kept here: prices about players: over or under a line of theirs, by a few of the books."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from grandstand.simulators.odds.world.books import BOOKS
from grandstand.simulators.odds.world.calendar import HOUR_US, Calendar
from grandstand.simulators.odds.world.figures import PlayerFigures
from grandstand.simulators.odds.world.laws import Floats, Whole
from grandstand.simulators.odds.world.leagues import League
from grandstand.simulators.odds.world.lines import Prices, american
from grandstand.simulators.odds.world.people import shares_of

_BOOKS: Final = (1, 2, 3)
_CHANGES: Final = 2
_LEAST_SHARE: Final = 0.18
_NOISE: Final = 0.06


@dataclass(frozen=True, slots=True)
class Props:
    """Prices about players in the order of their capture; `market` is a place in `markets`.

    `true_over` is how likely the player really ends above the line, given that he plays.
    """

    markets: tuple[str, ...]
    game: npt.NDArray[np.int32]
    book: npt.NDArray[np.int8]
    market: npt.NDArray[np.int8]
    player: npt.NDArray[np.int32]
    captured_us: Whole
    point: Floats
    over: Prices
    under: Prices
    true_over: Floats

    def __len__(self) -> int:
        return len(self.game)


def props(
    league: League, played: Calendar, counted: PlayerFigures, random: np.random.Generator
) -> Props:
    """Price the figures of players with a large share of their team's."""
    from scipy.special import pdtr

    offered = (shares_of(league) >= _LEAST_SHARE)[counted.player % league.players]
    row, market = np.nonzero(offered)
    unit = np.array([each.chance for each in league.props])[market]
    size = (len(row), len(_BOOKS), _CHANGES)
    mean = counted.mean[row, market] / unit
    believed = mean[:, None, None] * np.exp(random.normal(0, _NOISE, size))
    half = np.maximum(np.floor(believed[:, :1, :1]), 0.0) + np.zeros(size)
    over = 1 - pdtr(half, believed)
    margin = np.array([BOOKS[at].margin for at in _BOOKS])[None, :, None] + 0.02
    first, second = american(over * (1 + margin)), american((1 - over) * (1 + margin))
    hours = random.uniform(1.0, 24.0, size)
    hours.sort(axis=-1)
    captured = played.commence_us[counted.game[row]][:, None, None] - (
        hours[..., ::-1] * HOUR_US
    ).astype(np.int64)
    captured -= captured % 1_000_000
    book = np.broadcast_to(np.array(_BOOKS, dtype=np.int8)[None, :, None], size)
    each = len(_BOOKS) * _CHANGES
    order = np.argsort(captured.ravel(), kind="stable")
    # A unit of 9 yards makes 9 k + 4.5 the line above k units.
    point = (half + 0.5) * unit[:, None, None]
    true_over = 1 - pdtr(half, np.broadcast_to(mean[:, None, None], size))
    return Props(
        tuple(count.market for count in league.props),
        np.repeat(counted.game[row], each).astype(np.int32)[order],
        book.ravel()[order],
        np.repeat(market, each).astype(np.int8)[order],
        np.repeat(counted.player[row], each).astype(np.int32)[order],
        captured.ravel()[order],
        point.ravel()[order],
        first.ravel()[order],
        second.ravel()[order],
        true_over.ravel()[order],
    )
