"""Kept here: attack and defence of every team in points, followed result by result."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from grandstand.apps.bets.model.known.asof import AsOf
from grandstand.apps.bets.model.known.facts import Fixture
from grandstand.apps.bets.model.known.timelines import Fold, Played
from grandstand.apps.bets.model.ratings.margins import Shape, shape_for
from grandstand.apps.bets.model.ratings.sports import scale_of

_SUMMER: Final = timedelta(days=60)
_KEPT_OVER_SUMMER: Final = 0.7
_SLOWEST: Final = 0.045
_FIRST_GAMES: Final = 10.0
_PRIOR_GAMES: Final = 60.0
_LEAGUE_RATE: Final = 0.01


@dataclass(slots=True)
class Team:
    """How many points a team scores above the mean, and how many it allows above it."""

    attack: float = 0.0
    defence: float = 0.0
    games: int = 0
    last: datetime | None = None


@dataclass(slots=True)
class League:
    """Every team's strengths, the mean score, the home advantage, and how far results scatter."""

    mean: float
    home: float
    margin_variance: float
    total_variance: float
    teams: dict[str, Team] = field(default_factory=dict)
    games: int = 0


@dataclass(frozen=True, slots=True)
class Expected:
    """What a game should come to, and how many games each team has shown what it can."""

    margin: float
    total: float
    least_games: int
    shape: Shape


def followed(sport: str) -> Fold[League]:
    """The fold that follows a sport's strengths."""
    return Fold("strengths", sport, partial(_begun, sport), _took)


def expected(game: Fixture, view: AsOf) -> Expected | None:
    """What is expected of a game by the results so far; None before both teams have played."""
    league = view.fold(followed(game.sport))
    home, away = league.teams.get(game.home), league.teams.get(game.away)
    if home is None or away is None:
        return None
    ours, theirs = _points(league, home, away, neutral=game.neutral)
    shape = replace(
        shape_for(game.sport),
        margin_deviation=league.margin_variance**0.5,
        total_deviation=league.total_variance**0.5,
    )
    return Expected(ours - theirs, ours + theirs, min(home.games, away.games), shape)


def _begun(sport: str) -> League:
    scale = scale_of(sport)
    return League(scale.mean_total / 2.0, scale.home_points, scale.margin_sd**2, scale.total_sd**2)


def _points(league: League, home: Team, away: Team, *, neutral: bool) -> tuple[float, float]:
    edge = 0.0 if neutral else league.home / 2.0
    return (
        league.mean + edge + home.attack + away.defence,
        league.mean - edge + away.attack + home.defence,
    )


def _took(league: League, played: Played) -> None:
    game, score = played.game, played.score
    home = _rested(league.teams.setdefault(game.home, Team()), game.commence_time)
    away = _rested(league.teams.setdefault(game.away, Team()), game.commence_time)
    ours, theirs = _points(league, home, away, neutral=game.neutral)
    more, other = score.home_score - ours, score.away_score - theirs
    _scatter(league, more - other, more + other)
    for team, scored, allowed in ((home, more, other), (away, other, more)):
        rate = max(_SLOWEST, 0.5 / (team.games + _FIRST_GAMES))
        team.attack += rate * scored
        team.defence += rate * allowed
        team.games += 1
    rate = max(_LEAGUE_RATE / 4.0, _LEAGUE_RATE * 10.0 / (league.games + 10.0))
    league.mean += rate * (more + other) / 2.0
    if not game.neutral:
        league.home += rate * (more - other)
    league.games += 1


def _scatter(league: League, margin: float, total: float) -> None:
    rate = 1.0 / (_PRIOR_GAMES + min(league.games, 1_000))
    league.margin_variance += rate * (margin * margin - league.margin_variance)
    league.total_variance += rate * (total * total - league.total_variance)


def _rested(team: Team, now: datetime) -> Team:
    if team.last is not None and now - team.last > _SUMMER:
        team.attack *= _KEPT_OVER_SUMMER
        team.defence *= _KEPT_OVER_SUMMER
    team.last = now
    return team
