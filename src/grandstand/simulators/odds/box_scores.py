"""Simulated players, injuries and box scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from grandstand.simulators.odds.leagues import DAY_US, HOUR_US, Calendar, Floats, Integers, League

OUT, DOUBTFUL, QUESTIONABLE, ACTIVE = range(4)
STATUSES: Final = ("out", "doubtful", "questionable", "active")
_FIRST_NAMES: Final = (
    "Aaron Ben Caleb Darius Elijah Felix Gabe Hassan Isaiah Jalen Kofi Leon Malik Noah Omar Pedro "
    "Quinn Ruben Silas Tariq Uri Victor Wendell Xavier Yusuf Zane"
)
_LAST_NAMES: Final = (
    "Abbott Barros Carver Delgado Ellison Fontaine Granger Holloway Ibarra Jansen Kessler "
    "Lindqvist Mercer Novak Okafor Petrov Quigley Ramsey Salazar Thibault Underwood Vance "
    "Whitlock Xu Yates Zimmer"
)
_DAYS_BETWEEN_INJURIES: Final = 75.0
_DAYS_OUT: Final = 9.0
_LATE_SHARE: Final = 0.25
_DOUBT_SHARE: Final = 0.4
_SHARES: Final[dict[str, tuple[tuple[float, ...], ...]]] = {
    "basketball_nba": ((0.24, 0.19, 0.15, 0.12, 0.10, 0.08, 0.07, 0.05),),
    "americanfootball_nfl": (
        (1.0, 0.0, 0.0, 0.0, 0.0),
        (0.12, 0.70, 0.06, 0.06, 0.06),
        (0.0, 0.12, 0.36, 0.30, 0.22),
    ),
    "soccer_epl": ((0.28, 0.22, 0.16, 0.10, 0.08),),
}


@dataclass(frozen=True, slots=True)
class Player:
    """A player of a team, by its number; `impact` is what the team loses without the player."""

    name: str
    team: int
    impact: float


@dataclass(frozen=True, slots=True)
class Absences:
    """Games that players miss: a row per player and game, and when it became known."""

    game: Integers
    player: Integers
    known_us: Integers


@dataclass(frozen=True, slots=True)
class Injuries:
    """Injury reports in the order in which they became known; `status` indexes STATUSES."""

    team: Integers
    player: Integers
    status: npt.NDArray[np.int64]
    known_us: Integers


def player_shares(league: League) -> Floats:
    """Return the share of a team's stats each player contributes: players by props."""
    rows = _SHARES[league.key]
    wanted = len(league.props)
    return np.array([rows[min(at, len(rows) - 1)] for at in range(wanted)]).T


def make_players(league: League, random: np.random.Generator) -> tuple[Player, ...]:
    """Return the players by team, best first, with unique names."""
    names = [f"{first} {last}" for first in _FIRST_NAMES.split() for last in _LAST_NAMES.split()]
    chosen = random.permutation(len(names))
    worth = player_shares(league).max(axis=1)
    count = league.players
    return tuple(
        Player(names[chosen[team * count + at]], team, league.star_impact * worth[at] / worth[0])
        for team in range(len(league.teams))
        for at in range(count)
    )


def simulate_injuries(
    players: tuple[Player, ...], played: Calendar, random: np.random.Generator
) -> tuple[Injuries, Absences]:
    """Simulate injuries and recoveries; late reports still come before the start."""
    first, last = int(played.commence_us[0]), int(played.commence_us[-1])
    games_of = _games_by_team(played, players[-1].team + 1)
    reports: list[tuple[int, int, int]] = []
    missed: list[tuple[npt.NDArray[np.int64], int, int]] = []
    expected = (last - first) / DAY_US / _DAYS_BETWEEN_INJURIES
    for number, player in enumerate(players):
        games, starts = games_of[player.team]
        begins = np.sort(random.integers(first - DAY_US, last + DAY_US, random.poisson(expected)))
        lasts = (random.exponential(_DAYS_OUT, len(begins)) * DAY_US).astype(np.int64) + DAY_US
        free_from = 0
        for begin, length in zip(begins.tolist(), lasts.tolist(), strict=True):
            if begin < free_from:
                continue
            end = free_from = begin + length
            low, high = np.searchsorted(starts, (begin, end))
            known = _reported_us(begin, int(starts[low]) if low < len(starts) else end, random)
            missed.append((games[low:high], number, known))
            reports += _reports(number, known, end, random)
    return _to_injuries(players, reports), _absences(missed)


def _games_by_team(played: Calendar, teams: int) -> list[tuple[Integers, Integers]]:
    by_team = []
    for team in range(teams):
        games = np.flatnonzero((played.home == team) | (played.away == team))
        by_team.append((games, played.commence_us[games]))
    return by_team


def _reported_us(begin: int, next_start: int, random: np.random.Generator) -> int:
    """Return when an injury is reported: within a day, or minutes before the next start."""
    latest = next_start - int(random.integers(10, 60)) * 60_000_000
    if random.random() < _LATE_SHARE and latest - begin < 4 * DAY_US:
        return max(begin, latest)
    return min(begin + int(random.integers(1, 20)) * HOUR_US, max(begin, latest))


def _reports(
    player: int, known: int, end: int, random: np.random.Generator
) -> list[tuple[int, int, int]]:
    """Return the reports of an injury: at times doubtful first, then out, then active."""
    reports = [(known, player, OUT), (max(end, known + HOUR_US), player, ACTIVE)]
    if random.random() < _DOUBT_SHARE:
        doubt = QUESTIONABLE if random.random() < _DOUBT_SHARE else DOUBTFUL
        reports.append((known - int(random.integers(1, 10)) * HOUR_US, player, doubt))
    return reports


def _to_injuries(players: tuple[Player, ...], reports: list[tuple[int, int, int]]) -> Injuries:
    rows = np.array(sorted(reports), dtype=np.int64).reshape(-1, 3)
    teams = np.array([player.team for player in players])
    return Injuries(teams[rows[:, 1]], rows[:, 1], rows[:, 2], rows[:, 0])


def _absences(missed: list[tuple[npt.NDArray[np.int64], int, int]]) -> Absences:
    sizes = [len(games) for games, _, _ in missed]
    games = np.concatenate([games for games, _, _ in missed]) if missed else np.empty(0, np.int64)
    return Absences(
        games.astype(np.int64),
        np.repeat(np.array([player for _, player, _ in missed], np.int64), sizes),
        np.repeat(np.array([known for _, _, known in missed], np.int64), sizes),
    )


@dataclass(frozen=True, slots=True)
class TeamBoxScores:
    """Two rows per game: home's, then away's."""

    game: Integers
    team: Integers
    known_us: Integers
    stats: dict[str, Floats]

    def only(self, rows: npt.NDArray[np.bool_]) -> TeamBoxScores:
        """Return the selected rows."""
        stats = {name: column[rows] for name, column in self.stats.items()}
        return TeamBoxScores(self.game[rows], self.team[rows], self.known_us[rows], stats)


@dataclass(frozen=True, slots=True)
class PlayerBoxScores:
    """A row per player and game played; `mean` is the expectation of the prop stats."""

    game: Integers
    team: Integers
    player: Integers
    known_us: Integers
    stats: dict[str, Floats]
    mean: Floats

    def only(self, rows: npt.NDArray[np.bool_]) -> PlayerBoxScores:
        """Return the selected rows."""
        stats = {name: column[rows] for name, column in self.stats.items()}
        reports = (self.game[rows], self.team[rows], self.player[rows], self.known_us[rows])
        return PlayerBoxScores(*reports, stats, self.mean[rows])


def make_team_stats(
    league: League,
    played: Calendar,
    scores: tuple[Integers, Integers],
    strengths: tuple[Floats, Floats],
    random: np.random.Generator,
) -> TeamBoxScores:
    """Simulate each team's game: stats grow with its strength and the margin."""
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
    return TeamBoxScores(game, teams, _published_us(league, played, game, random), stats)


def make_player_stats(
    league: League,
    played: Calendar,
    absent: npt.NDArray[np.bool_],
    random: np.random.Generator,
) -> PlayerBoxScores:
    """Simulate each player's game; those present share what the absent would have produced."""
    games, count, props = len(played.home), league.players, league.props
    shares = player_shares(league)
    here = ~absent.reshape(games, 2, count)
    weight = here[..., None] * shares
    left = np.maximum(weight.sum(axis=2, keepdims=True), 0.25 * shares.sum(axis=0))
    # Teammates take over half of what the absent would have produced, the bench the rest.
    weight = weight * (0.5 + 0.5 * shares.sum(axis=0) / left)
    usual = np.array([prop.usual for prop in props])
    unit = np.array([prop.chance for prop in props])
    mean = weight * usual
    value = random.poisson(mean / unit) * unit
    minutes = np.clip(24 + 60 * shares.max(axis=1) + random.normal(0, 3, here.shape), 4, 44)
    game, side, player = np.nonzero(here)
    team = np.stack((played.home, played.away), 1)[game, side]
    stats: dict[str, Floats] = {
        prop.name: value[game, side, player, index] for index, prop in enumerate(props)
    }
    stats["MIN"] = minutes[game, side, player].round()
    return PlayerBoxScores(
        game,
        team,
        team * count + player,
        _published_us(league, played, game, random),
        stats,
        mean[game, side, player],
    )


def absence_mask(league: League, played: Calendar, absences: Absences) -> npt.NDArray[np.bool_]:
    """Return who misses a game: games by sides by players of a side."""
    mask = np.zeros((len(played.home), 2, league.players), dtype=np.bool_)
    team, place = np.divmod(absences.player, league.players)
    side = (played.away[absences.game] == team).astype(np.int64)
    mask[absences.game, side, place] = True
    return mask


def _published_us(
    league: League, played: Calendar, game: Integers, random: np.random.Generator
) -> Integers:
    """Return when box scores are published: some hours after the end, both sides together."""
    wait = random.integers(30, 240, len(played.home)) * 60_000_000
    ended = played.commence_us + int(league.hours * HOUR_US)
    published: Integers = (ended + wait)[game]
    return published
