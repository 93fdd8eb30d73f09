"""Kept here: players, what each is worth, and their injuries: from when to when, known when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from grandstand.simulators.odds.world.calendar import DAY_US, HOUR_US, Calendar
from grandstand.simulators.odds.world.laws import Floats, Whole
from grandstand.simulators.odds.world.leagues import League

OUT, DOUBTFUL, QUESTIONABLE, ACTIVE = range(4)
STATUSES: Final = ("out", "doubtful", "questionable", "active")
_FIRST: Final = (
    "Aaron Ben Caleb Darius Elijah Felix Gabe Hassan Isaiah Jalen Kofi Leon Malik Noah Omar Pedro "
    "Quinn Ruben Silas Tariq Uri Victor Wendell Xavier Yusuf Zane"
)
_LAST: Final = (
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
    """A player of a team, by its number; `impact` is what the team loses without him."""

    name: str
    team: int
    impact: float


@dataclass(frozen=True, slots=True)
class Absences:
    """Who misses which games: a row for each player and game, with when that was known."""

    game: Whole
    player: Whole
    known_us: Whole


@dataclass(frozen=True, slots=True)
class Injuries:
    """Reports in the order in which they were known; `status` is a place in STATUSES."""

    team: Whole
    player: Whole
    status: npt.NDArray[np.int64]
    known_us: Whole


def shares_of(league: League) -> Floats:
    """Answer what part of a team's figures each of its players makes: players by props."""
    rows = _SHARES[league.key]
    wanted = len(league.props)
    return np.array([rows[min(at, len(rows) - 1)] for at in range(wanted)]).T


def players_of(league: League, random: np.random.Generator) -> tuple[Player, ...]:
    """Answer the players, a team's together and its best first, each with a name of his own."""
    names = [f"{first} {last}" for first in _FIRST.split() for last in _LAST.split()]
    chosen = random.permutation(len(names))
    worth = shares_of(league).max(axis=1)
    count = league.players
    return tuple(
        Player(names[chosen[team * count + at]], team, league.star_impact * worth[at] / worth[0])
        for team in range(len(league.teams))
        for at in range(count)
    )


def injured(
    players: tuple[Player, ...], played: Calendar, random: np.random.Generator
) -> tuple[Injuries, Absences]:
    """Let players be hurt and recover; what is reported late is still known before the start."""
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
            known = _known(begin, int(starts[low]) if low < len(starts) else end, random)
            missed.append((games[low:high], number, known))
            reports += _reports(number, known, end, random)
    return _tidy(players, reports), _absences(missed)


def _games_by_team(played: Calendar, teams: int) -> list[tuple[Whole, Whole]]:
    found = []
    for team in range(teams):
        games = np.flatnonzero((played.home == team) | (played.away == team))
        found.append((games, played.commence_us[games]))
    return found


def _known(begin: int, next_start: int, random: np.random.Generator) -> int:
    """A report comes within a day, or minutes before the start, but never after it."""
    latest = next_start - int(random.integers(10, 60)) * 60_000_000
    if random.random() < _LATE_SHARE and latest - begin < 4 * DAY_US:
        return max(begin, latest)
    return min(begin + int(random.integers(1, 20)) * HOUR_US, max(begin, latest))


def _reports(
    player: int, known: int, end: int, random: np.random.Generator
) -> list[tuple[int, int, int]]:
    """Answer a spell's reports: doubt before it at times, out, and at last fit again."""
    told = [(known, player, OUT), (max(end, known + HOUR_US), player, ACTIVE)]
    if random.random() < _DOUBT_SHARE:
        doubt = QUESTIONABLE if random.random() < _DOUBT_SHARE else DOUBTFUL
        told.append((known - int(random.integers(1, 10)) * HOUR_US, player, doubt))
    return told


def _tidy(players: tuple[Player, ...], reports: list[tuple[int, int, int]]) -> Injuries:
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
