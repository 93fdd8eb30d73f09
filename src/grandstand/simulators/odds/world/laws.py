"""Kept here: the laws of games: how likely each margin and total is, exactly and by table."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Final, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from grandstand.simulators.odds.world.leagues import League

Floats: TypeAlias = npt.NDArray[np.float64]
Whole: TypeAlias = npt.NDArray[np.int64]

_MOST_MARGIN: Final = 75
_MOST_GOALS: Final = 14
_X_STEP: Final = 0.25
_X_MOST: Final = 45.0
_LOG_STEP: Final = 0.05
_LOG_LEAST: Final = -4.0
_LOG_MOST: Final = 1.8
_QUARTER: Final = 0.25


class Law(Protocol):
    """What a market believes a game follows, given its two numbers `x` and `y`.

    In points, `x` is the mean margin of home and `y` the mean total. In goals, they are the
    difference and the sum of the two logarithms of the goals to be expected.
    """

    def cover(self, x: Floats, y: Floats, line: Floats) -> tuple[Floats, Floats]:
        """Answer how likely home's margin plus a line is above 0, and below."""
        ...

    def over(self, x: Floats, y: Floats, line: Floats) -> tuple[Floats, Floats]:
        """Answer how likely the total is above a line, and below."""
        ...

    def lines(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Answer the line of home and the total that split a game about evenly."""
        ...


def law_of(league: League, remaining: float = 1.0) -> Law:
    """Answer the law of a league's games, or of what remains of them after a part was played."""
    if league.kind == "goals":
        return GoalsLaw(league.rho, log(remaining))
    return PointsLaw.of(league, remaining)


def quartered(
    law: Law, x: Floats, y: Floats, line: Floats, *, total: bool = False
) -> tuple[Floats, Floats]:
    """Answer the shares of a stake won and lost at lines that may be quarters, hence two halves."""
    ask = law.over if total else law.cover
    whole = np.abs(line * 2 - np.round(line * 2)) < _QUARTER / 2
    step = np.where(whole, 0.0, _QUARTER)
    below, above = ask(x, y, line - step), ask(x, y, line + step)
    return (below[0] + above[0]) / 2, (below[1] + above[1]) / 2


@dataclass(frozen=True, slots=True)
class PointsLaw:
    """A margin that is normal but never 0, with likelier key margins, and a normal total."""

    sd: float
    total_sd: float
    key_margins: tuple[tuple[int, float], ...]
    table: Floats

    @classmethod
    def of(cls, league: League, remaining: float = 1.0) -> PointsLaw:
        """Make the law and its table for what remains of a game."""
        sd, total_sd = league.margin_sd * remaining**0.5, league.total_sd * remaining**0.5
        nodes = np.arange(-_X_MOST, _X_MOST + _X_STEP / 2, _X_STEP)
        pmf = points_pmf(nodes, sd, league.key_margins)
        return cls(sd, total_sd, league.key_margins, _above(pmf))

    def cover(self, x: Floats, y: Floats, line: Floats) -> tuple[Floats, Floats]:
        """Answer how likely home's margin plus a line is above 0, and below."""
        del y
        place = np.clip((x + _X_MOST) / _X_STEP, 0, len(self.table) - 1.001)
        node = place.astype(np.int64)
        part = place - node

        def above(margin: Floats) -> Floats:
            column = np.clip(margin + _MOST_MARGIN, 0, 2 * _MOST_MARGIN).astype(np.int64)
            one, other = self.table[node, column], self.table[node + 1, column]
            return one + part * (other - one)

        return above(np.floor(-line)), 1 - above(np.ceil(-line) - 1)

    def over(self, x: Floats, y: Floats, line: Floats) -> tuple[Floats, Floats]:
        """Answer how likely the total is above a line, and below."""
        from scipy.special import ndtr

        del x
        win = 1 - ndtr((np.floor(line) + 0.5 - y) / self.total_sd)
        lose = ndtr((np.ceil(line) - 0.5 - y) / self.total_sd)
        return win, lose

    def lines(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Answer the line of home and the total that split a game about evenly."""
        return -np.round(x * 2) / 2 + 0.0, np.maximum(np.round(y * 2) / 2, 0.5)


@dataclass(frozen=True, slots=True)
class GoalsLaw:
    """Goals of Poisson, with Dixon and Coles' correction of few-goal games, by a table of logs."""

    rho: float
    shift: float = 0.0

    def cover(self, x: Floats, y: Floats, line: Floats) -> tuple[Floats, Floats]:
        """Answer how likely home's margin plus a line is above 0, and below."""
        return self._split(x, y, -line, _tables(self.rho)[0], _MOST_GOALS)

    def over(self, x: Floats, y: Floats, line: Floats) -> tuple[Floats, Floats]:
        """Answer how likely the total is above a line, and below."""
        return self._split(x, y, line, _tables(self.rho)[1], 0)

    def lines(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Answer the line of home and the total that split a game about evenly."""
        home, away = np.exp((y + x) / 2 + self.shift), np.exp((y - x) / 2 + self.shift)
        total = np.maximum(np.round((home + away - 0.15) * 4) / 4, 0.5)
        return -np.round((home - away) * 4) / 4 + 0.0, total

    def _split(
        self, x: Floats, y: Floats, at: Floats, table: Floats, zero: int
    ) -> tuple[Floats, Floats]:
        """Answer the parts above and below a number, between the four nodes about a place."""
        size, most = table.shape[0], table.shape[2] - 1
        rows = np.clip(((y + x) / 2 + self.shift - _LOG_LEAST) / _LOG_STEP, 0, size - 1.001)
        columns = np.clip(((y - x) / 2 + self.shift - _LOG_LEAST) / _LOG_STEP, 0, size - 1.001)
        row, column = rows.astype(np.int64), columns.astype(np.int64)
        down, right = rows - row, columns - column

        def above(number: Floats) -> Floats:
            place = np.clip(number + zero, -1, most).astype(np.int64)
            inside = np.maximum(place, 0)
            upper = table[row, column, inside] * (1 - right)
            upper += table[row, column + 1, inside] * right
            lower = table[row + 1, column, inside] * (1 - right)
            lower += table[row + 1, column + 1, inside] * right
            found: Floats = np.where(place < 0, 1.0, upper * (1 - down) + lower * down)
            return found

        return above(np.floor(at)), 1 - above(np.ceil(at) - 1)


def points_pmf(x: Floats, sd: float, key_margins: tuple[tuple[int, float], ...]) -> Floats:
    """Answer how likely each margin from -75 to 75 is for each mean; home wins as the normal says.

    A level game is played on, so that 0 has nothing and the sides keep their chances.
    """
    from scipy.special import ndtr

    margins = np.arange(-_MOST_MARGIN, _MOST_MARGIN + 1)
    edges = np.concatenate((margins - 0.5, [_MOST_MARGIN + 0.5]))
    mass = np.diff(ndtr((edges[None, :] - x[:, None]) / sd), axis=1)
    for margin, weight in key_margins:
        mass[:, np.abs(margins) == margin] *= weight
    home = ndtr(x / sd)
    for side, chance in ((margins > 0, home), (margins < 0, 1 - home)):
        part = mass[:, side]
        mass[:, side] = part * (chance / np.maximum(part.sum(axis=1), 1e-300))[:, None]
    mass[:, margins == 0] = 0.0
    found: Floats = mass / mass.sum(axis=1, keepdims=True)
    return found


def goals_pmf(log_home: Floats, log_away: Floats, rho: float) -> Floats:
    """Answer how likely each score up to 14 goals a side is, for each pair of logarithms."""
    from scipy.special import gammaln

    goals = np.arange(_MOST_GOALS + 1)
    home, away = np.exp(log_home), np.exp(log_away)
    rate = [
        np.exp(goals * logs[:, None] - np.exp(logs)[:, None] - gammaln(goals + 1))
        for logs in (log_home, log_away)
    ]
    grid = rate[0][:, :, None] * rate[1][:, None, :]
    grid[:, 0, 0] *= 1 - home * away * rho
    grid[:, 0, 1] *= 1 + home * rho
    grid[:, 1, 0] *= 1 + away * rho
    grid[:, 1, 1] *= 1 - rho
    grid = np.maximum(grid, 0.0)
    found: Floats = grid / grid.sum(axis=(1, 2), keepdims=True)
    return found


def folded(grid: Floats) -> tuple[Floats, Floats]:
    """Answer how likely each margin from -14 to 14 and each total to 28 is, from likely scores."""
    side = grid.shape[1]
    margins = np.stack([np.trace(grid, -each, 1, 2) for each in range(1 - side, side)], axis=1)
    flipped = grid[:, :, ::-1]
    totals = np.stack(
        [np.trace(flipped, side - 1 - each, 1, 2) for each in range(2 * side - 1)], axis=1
    )
    return margins, totals


def _above(pmf: Floats) -> Floats:
    """Turn chances of values into chances of more than each value."""
    found: Floats = np.maximum(1 - np.cumsum(pmf, axis=-1), 0.0)
    return found


_made: Final[dict[float, tuple[Floats, Floats]]] = {}


def forget_tables() -> None:
    """Let go of the tables; whoever needs them next makes them again."""
    _made.clear()


def _tables(rho: float) -> tuple[Floats, Floats]:
    """Answer the chances of more than each margin and total at each node; made once and kept."""
    if rho not in _made:
        nodes = np.arange(_LOG_LEAST, _LOG_MOST + _LOG_STEP / 2, _LOG_STEP)
        home, away = (each.ravel() for each in np.meshgrid(nodes, nodes, indexing="ij"))
        margins, totals = folded(goals_pmf(home, away, rho))
        shape = (len(nodes), len(nodes), -1)
        _made[rho] = _above(margins).reshape(shape), _above(totals).reshape(shape)
    return _made[rho]
