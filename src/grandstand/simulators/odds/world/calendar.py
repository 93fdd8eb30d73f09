"""Kept here: who plays whom and when: rounds of all teams, days of rest, hours of the day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np
import numpy.typing as npt

from grandstand.simulators.odds.world.leagues import League

HOUR_US: Final = 3_600_000_000
DAY_US: Final = 24 * HOUR_US
MOST_REST: Final = 7
_BREAK_DAYS: Final = 90
_HALVES_AN_EVENING: Final = 9
_HALVES_A_DAY: Final = 48


@dataclass(frozen=True, slots=True)
class Calendar:
    """The games in the order of their start: teams by number, starts, full days of rest."""

    home: npt.NDArray[np.int64]
    away: npt.NDArray[np.int64]
    commence_us: npt.NDArray[np.int64]
    rest_home: npt.NDArray[np.int64]
    rest_away: npt.NDArray[np.int64]
    season: npt.NDArray[np.int64]


def calendar(
    league: League,
    games: int,
    starts_at: datetime,
    random: np.random.Generator,
    *,
    all_day: bool = False,
) -> Calendar:
    """Answer a calendar of so many games; after a season comes a break, then the next.

    With `all_day` games begin at any hour of any day between two rounds.
    """
    teams, per_season = len(league.teams), league.season_games
    per_round = teams // 2
    rounds = -(-games // per_round)
    rounds_a_season = per_season // per_round
    pairs = np.concatenate([_round(at, league, random) for at in range(rounds)])[:games]
    number = np.repeat(np.arange(rounds), per_round)[:games]
    season = number // rounds_a_season
    days = number * league.days_between_rounds + season * _BREAK_DAYS
    between = league.days_between_rounds
    days = days + random.integers(0, between if all_day else min(2, between), games)
    halves = random.integers(0, _HALVES_A_DAY if all_day else _HALVES_AN_EVENING, games)
    first_hour = 0 if all_day else league.first_hour
    base = int(starts_at.timestamp()) * 1_000_000
    start = base + days * DAY_US + first_hour * HOUR_US + halves * (HOUR_US // 2)
    order = np.lexsort((np.arange(games), start))
    pairs, start, season = pairs[order], start[order], season[order]
    rest = _rest(pairs, start - first_hour * HOUR_US, teams)
    return Calendar(pairs[:, 0], pairs[:, 1], start, rest[:, 0], rest[:, 1], season)


def _round(number: int, league: League, random: np.random.Generator) -> npt.NDArray[np.int64]:
    """Pair all teams once: by turns in leagues of two halves, by lot elsewhere."""
    teams = len(league.teams)
    if league.kind == "points":
        return random.permutation(teams).reshape(-1, 2)
    turn, half = number % (teams - 1), number // (teams - 1) % 2
    ring = np.concatenate(([0], 1 + (np.arange(teams - 1) + turn) % (teams - 1)))
    one, other = ring[: teams // 2], ring[::-1][: teams // 2]
    swapped = (np.arange(teams // 2) + turn + half) % 2 == 1
    return np.where(swapped[:, None], np.stack((other, one), 1), np.stack((one, other), 1))


def _rest(
    pairs: npt.NDArray[np.int64], start: npt.NDArray[np.int64], teams: int
) -> npt.NDArray[np.int64]:
    """Full days between a team's games, a back-to-back being 0; a week before the first."""
    last = np.full(teams, np.iinfo(np.int64).min // 2)
    found = np.empty_like(pairs)
    for at, (pair, begins) in enumerate(zip(pairs, start, strict=True)):
        days = begins // DAY_US - last[pair] // DAY_US - 1
        found[at] = np.clip(days, 0, MOST_REST)
        last[pair] = begins
    return found
