"""Kept here: what is true of each game, for whoever may know it: tests, and the demonstration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grandstand.simulators.odds.world.laws import (
    Floats,
    Whole,
    folded,
    goals_pmf,
    law_of,
    points_pmf,
)
from grandstand.simulators.odds.world.leagues import League


@dataclass(frozen=True, slots=True)
class Chances:
    """How likely each side wins, and how likely nobody does; they sum to 1."""

    home: float
    draw: float
    away: float


@dataclass(frozen=True, slots=True)
class Truth:
    """The two true numbers of each game, and what the market believed at the start.

    `home`, `draw` and `away` are the true chances, a number for each game.
    """

    league: League
    x: Floats
    y: Floats
    closing_x: Floats
    closing_y: Floats
    home: Floats
    draw: Floats
    away: Floats

    def chances(self, game: int) -> Chances:
        """Answer the true chances of a game."""
        return Chances(float(self.home[game]), float(self.draw[game]), float(self.away[game]))

    def closing(self, game: int) -> Chances:
        """Answer the fair chances at the market's last belief before the start."""
        law, one = law_of(self.league), slice(game, game + 1)
        win, lose = law.cover(self.closing_x[one], self.closing_y[one], np.zeros(1))
        return Chances(float(win[0]), float(1 - win[0] - lose[0]), float(lose[0]))

    def closings(self) -> Floats:
        """Answer the fair chances of home at the market's last belief, for each game."""
        return law_of(self.league).cover(self.closing_x, self.closing_y, np.zeros_like(self.x))[0]

    def margins(self, game: int) -> tuple[Whole, Floats]:
        """Answer the margins home can win by, and how likely each is."""
        one = slice(game, game + 1)
        if self.league.kind == "points":
            chances = points_pmf(self.x[one], self.league.margin_sd, self.league.key_margins)[0]
        else:
            chances = folded(self._grid(one))[0][0]
        most = len(chances) // 2
        return np.arange(-most, most + 1), chances

    def totals(self, game: int) -> tuple[Whole, Floats]:
        """Answer the totals there can be, and how likely each is; no side has less than nothing."""
        if self.league.kind == "goals":
            chances = folded(self._grid(slice(game, game + 1)))[1][0]
            return np.arange(len(chances)), chances
        from scipy.special import ndtr

        margins, likely = self.margins(game)
        most = int(self.y[game] + 9 * self.league.total_sd)
        values = np.arange(most + 1)
        found = np.zeros(most + 1)
        sd, mean = self.league.total_sd, float(self.y[game])
        for margin, chance in zip(margins.tolist(), likely.tolist(), strict=True):
            least = abs(margin)
            reach = values[(values >= least) & ((values - least) % 2 == 0)]
            low = np.where(reach == least, -np.inf, reach - 1)
            found[reach] += chance * (ndtr((reach + 1 - mean) / sd) - ndtr((low - mean) / sd))
        return values, found

    def _grid(self, which: slice) -> Floats:
        x, y = self.x[which], self.y[which]
        return goals_pmf((y + x) / 2, (y - x) / 2, self.league.rho)


def true_chances(league: League, x: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    """Answer how likely home, a draw and away are, exactly, for each game."""
    from scipy.special import ndtr

    if league.kind == "points":
        home: Floats = ndtr(x / league.margin_sd)
        return home, np.zeros_like(home), 1 - home
    margins = folded(goals_pmf((y + x) / 2, (y - x) / 2, league.rho))[0]
    middle = margins.shape[1] // 2
    ahead: Floats = margins[:, middle + 1 :].sum(axis=1)
    level: Floats = margins[:, middle].copy()
    return ahead, level, 1 - ahead - level


def sampled(
    league: League, x: Floats, y: Floats, random: np.random.Generator
) -> tuple[Whole, Whole]:
    """Play the games: answer the scores of home and away, which follow the law exactly."""
    drawn = random.random(len(x))
    if league.kind == "goals":
        grid = goals_pmf((y + x) / 2, (y - x) / 2, league.rho)
        side = grid.shape[1]
        place = _drawn(grid.reshape(len(x), -1), drawn)
        return place // side, place % side
    pmf = points_pmf(x, league.margin_sd, league.key_margins)
    margin = _drawn(pmf, drawn) - pmf.shape[1] // 2
    total = y + league.total_sd * random.standard_normal(len(x))
    least = np.abs(margin)
    # The nearest total of the margin's parity: below the half-way point the lower one.
    whole = np.maximum(least + 2 * np.floor((total - least + 1) / 2).astype(np.int64), least)
    return (whole + margin) // 2, (whole - margin) // 2


def _drawn(pmf: Floats, drawn: Floats) -> Whole:
    """Answer the place of each draw among the chances of its row."""
    found: Whole = (np.cumsum(pmf, axis=1) < drawn[:, None]).sum(axis=1)
    last: Whole = np.minimum(found, pmf.shape[1] - 1)
    return last
