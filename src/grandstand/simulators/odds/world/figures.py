"""Kept here: box scores of teams and players, which tell of strength through the noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from grandstand.simulators.odds.world.calendar import HOUR_US, Calendar
from grandstand.simulators.odds.world.laws import Floats, Whole
from grandstand.simulators.odds.world.leagues import League
from grandstand.simulators.odds.world.people import Absences, shares_of


@dataclass(frozen=True, slots=True)
class TeamFigures:
    """A row for each team and game, two a game: home's, then away's."""

    game: Whole
    team: Whole
    known_us: Whole
    stats: dict[str, Floats]

    def only(self, rows: npt.NDArray[np.bool_]) -> TeamFigures:
        """Answer the rows that are wanted."""
        stats = {name: column[rows] for name, column in self.stats.items()}
        return TeamFigures(self.game[rows], self.team[rows], self.known_us[rows], stats)


@dataclass(frozen=True, slots=True)
class PlayerFigures:
    """A row for each player who played and game; `mean` is what the props' figures are drawn by."""

    game: Whole
    team: Whole
    player: Whole
    known_us: Whole
    stats: dict[str, Floats]
    mean: Floats

    def only(self, rows: npt.NDArray[np.bool_]) -> PlayerFigures:
        """Answer the rows that are wanted."""
        stats = {name: column[rows] for name, column in self.stats.items()}
        told = (self.game[rows], self.team[rows], self.player[rows], self.known_us[rows])
        return PlayerFigures(*told, stats, self.mean[rows])


def team_figures(
    league: League,
    played: Calendar,
    scores: tuple[Whole, Whole],
    strengths: tuple[Floats, Floats],
    random: np.random.Generator,
) -> TeamFigures:
    """Count each team's game: figures grow with its strength and with the margin."""
    games = len(played.home)
    teams = np.stack((played.home, played.away), 1).ravel()
    points = np.stack(scores, 1).ravel().astype(np.float64)
    allowed = np.stack(scores[::-1], 1).ravel().astype(np.float64)
    strength = np.stack(strengths, 1).ravel()
    stats: dict[str, Floats] = {"points": points, "points_allowed": allowed}
    for count in league.counts:
        value = count.usual + count.by_strength * strength + count.by_margin * (points - allowed)
        value += count.chance * random.standard_normal(2 * games)
        stats[count.name] = np.maximum(value, 0.0).round(1)
    game = np.repeat(np.arange(games), 2)
    return TeamFigures(game, teams, _known(league, played, game, random), stats)


def player_figures(
    league: League,
    played: Calendar,
    absent: npt.NDArray[np.bool_],
    random: np.random.Generator,
) -> PlayerFigures:
    """Count each player's game; those who are there share what the absent would have made."""
    games, count, props = len(played.home), league.players, league.props
    shares = shares_of(league)
    here = ~absent.reshape(games, 2, count)
    weight = here[..., None] * shares
    left = np.maximum(weight.sum(axis=2, keepdims=True), 0.25 * shares.sum(axis=0))
    # Half of what the absent leave is made by team-mates, the rest by the bench.
    weight = weight * (0.5 + 0.5 * shares.sum(axis=0) / left)
    usual = np.array([each.usual for each in props])
    unit = np.array([each.chance for each in props])
    mean = weight * usual
    value = random.poisson(mean / unit) * unit
    minutes = np.clip(24 + 60 * shares.max(axis=1) + random.normal(0, 3, here.shape), 4, 44)
    game, side, player = np.nonzero(here)
    team = np.stack((played.home, played.away), 1)[game, side]
    stats: dict[str, Floats] = {
        each.name: value[game, side, player, at] for at, each in enumerate(props)
    }
    stats["MIN"] = minutes[game, side, player].round()
    return PlayerFigures(
        game,
        team,
        team * count + player,
        _known(league, played, game, random),
        stats,
        mean[game, side, player],
    )


def absent_players(league: League, played: Calendar, absences: Absences) -> npt.NDArray[np.bool_]:
    """Answer who misses a game: games by sides by players of a side."""
    found = np.zeros((len(played.home), 2, league.players), dtype=np.bool_)
    team, place = np.divmod(absences.player, league.players)
    side = (played.away[absences.game] == team).astype(np.int64)
    found[absences.game, side, place] = True
    return found


def _known(league: League, played: Calendar, game: Whole, random: np.random.Generator) -> Whole:
    """Box scores are out within some hours of the end, both sides of a game together."""
    wait = random.integers(30, 240, len(played.home)) * 60_000_000
    ended = played.commence_us + int(league.hours * HOUR_US)
    found: Whole = (ended + wait)[game]
    return found
