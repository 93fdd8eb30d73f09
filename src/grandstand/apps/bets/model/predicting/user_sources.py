"""Kept here: what each data source of a user model makes of a game, in points or in log-odds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from grandstand.apps.bets.model.known.asof import AsOf
from grandstand.apps.bets.model.known.facts import CustomRow, Fixture
from grandstand.apps.bets.model.known.timelines import Played
from grandstand.apps.bets.model.models.injury_aware import injury_parts
from grandstand.apps.bets.model.models.matchup import figure_parts, means
from grandstand.apps.bets.model.models.rest_schedule import rest_parts
from grandstand.apps.bets.model.predicting.forecasting import Part
from grandstand.apps.bets.model.prices.fair import move_at
from grandstand.apps.bets.model.ratings.sports import LOGIT_PER_SD, Scale, scale_of

_LAST: Final = 5
_MEETINGS: Final = 10
_SQUAD_ROWS: Final = 60
_SQUAD_STAT: Final = "PTS"


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a source expects: home's margin and both sides' total, each where it can tell."""

    text: str
    margin: float | None
    total: float | None
    known_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What a source is asked: the game, the market, its line, and the datasets of the model."""

    game: Fixture
    market: str
    line: float | None
    datasets: tuple[tuple[str, float], ...] = ()

    @property
    def scale(self) -> Scale:
        """The sizes of the game's sport."""
        return scale_of(self.game.sport)


def part_of(source: str, question: Question, view: AsOf) -> Part | None:
    """A source's answer as log-odds towards the first side of the market; None without data."""
    if source == "odds_movement":
        return _movement(question, view)
    estimate = _ESTIMATES[source](question, view)
    if estimate is None:
        return None
    scale, line = question.scale, question.line
    if question.market == "totals":
        if estimate.total is None or line is None:
            return None
        odds = (estimate.total - line) / scale.total_sd
    else:
        if estimate.margin is None:
            return None
        lead = line if question.market == "spreads" and line is not None else 0.0
        odds = (estimate.margin + lead) / scale.margin_sd
    return Part(source, estimate.text, LOGIT_PER_SD * odds, estimate.known_at)


def _movement(question: Question, view: AsOf) -> Part | None:
    game = question.game
    move = move_at(view, game.game_id, question.market, game.sport)
    if move is None:
        return None
    text = f"{move.books} books moved {move.size:+.3f} log-odds since opening"
    return Part("odds_movement", text, move.size, move.last_at)


def _recent_form(question: Question, view: AsOf) -> Estimate | None:
    game = question.game
    home = view.results(game.sport, game.home, _LAST)
    away = view.results(game.sport, game.away, _LAST)
    if not home or not away:
        return None
    trust = min(len(home), len(away)) / (min(len(home), len(away)) + 3.0)
    ahead = (_mean_margin(home, game.home) - _mean_margin(away, game.away)) * 0.5 * trust
    total = (_mean_total(home) + _mean_total(away)) / 2.0
    known = max(home[-1].score.known_at, away[-1].score.known_at)
    text = f"last {_LAST}: {game.home} ahead by {ahead:+.1f} in form"
    scale = question.scale
    drawn = scale.mean_total + trust * (total - scale.mean_total)
    return Estimate(text, ahead + scale.home_points, drawn, known)


def _head_to_head(question: Question, view: AsOf) -> Estimate | None:
    game = question.game
    met = view.meetings(game.sport, game.home, game.away, _MEETINGS)
    if not met:
        return None
    trust = len(met) / (len(met) + 5.0)
    margin = trust * _mean_margin(met, game.home)
    scale = question.scale
    total = scale.mean_total + trust * (_mean_total(met) - scale.mean_total)
    text = f"{len(met)} meetings: {game.home} by {_mean_margin(met, game.home):+.1f}"
    return Estimate(text, margin, total, met[-1].score.known_at)


def _team_stats(question: Question, view: AsOf) -> Estimate | None:
    game, scale = question.game, question.scale
    parts = figure_parts(game, view, 1.0)
    if not parts:
        return None
    gap = sum(part.towards_first for part in parts)
    home = means(view.figures(game.sport, game.home, _MEETINGS))
    away = means(view.figures(game.sport, game.away, _MEETINGS))
    wanted = ("points", "points_allowed")
    total = None
    if all(name in side for side in (home, away) for name in wanted):
        total = sum(side[name] for side in (home, away) for name in wanted) / 2.0
    known = max((part.known_at for part in parts if part.known_at), default=None)
    text = f"{len(parts)} figures: {game.home} better by {gap:+.1%}"
    return Estimate(text, 2.0 * gap * scale.margin_sd + scale.home_points, total, known)


def _injuries(question: Question, view: AsOf) -> Estimate | None:
    parts = injury_parts(question.game, view, 1.0)
    if not parts:
        return None
    gap = sum(part.towards_first for part in parts)
    text = "; ".join(part.text for part in parts)
    known = max((part.known_at for part in parts if part.known_at), default=None)
    return Estimate(text, gap * question.scale.margin_sd, None, known)


def _rest(question: Question, view: AsOf) -> Estimate | None:
    parts = rest_parts(question.game, view, 0.06, 0.12)
    if not parts:
        return None
    gap = sum(part.towards_first for part in parts)
    text = "; ".join(part.text for part in parts)
    return Estimate(text, gap * question.scale.margin_sd / LOGIT_PER_SD, None)


def _players(question: Question, view: AsOf) -> Estimate | None:
    game = question.game
    strengths = []
    known: list[datetime] = []
    for team in (game.home, game.away):
        rows = view.squad_games(game.sport, team, _SQUAD_ROWS)
        games = {row.game_id for row in rows}
        counted = [row.figures[_SQUAD_STAT] for row in rows if _SQUAD_STAT in row.figures]
        if not counted:
            return None
        strengths.append(sum(counted) / len(games))
        known.append(rows[-1].known_at)
    margin = (strengths[0] - strengths[1]) / 2.0
    text = f"players scored {strengths[0]:.1f} against {strengths[1]:.1f} a game"
    return Estimate(text, margin + question.scale.home_points, sum(strengths), max(known))


def _custom(question: Question, view: AsOf) -> Estimate | None:
    game = question.game
    gaps, known, weights = [], [], []
    for dataset, weight in question.datasets:
        home, away = view.custom(dataset, game.home), view.custom(dataset, game.away)
        if home is not None and away is not None:
            gaps.append(weight * _gap(home, away))
            weights.append(weight)
            known += [home.known_at, away.known_at]
    if not known or not sum(weights):
        return None
    gap = sum(gaps) / sum(weights)
    text = f"own data: {game.home} better by {gap:+.1%}"
    return Estimate(text, gap * question.scale.margin_sd, None, max(known))


def _gap(home: CustomRow, away: CustomRow) -> float:
    shared = [name for name in home.figures if name in away.figures]
    sizes = [abs(home.figures[name]) + abs(away.figures[name]) for name in shared]
    gaps = [
        (home.figures[name] - away.figures[name]) / size
        for name, size in zip(shared, sizes, strict=True)
        if size
    ]
    return sum(gaps) / len(gaps) if gaps else 0.0


def _mean_margin(played: Sequence[Played], team: str) -> float:
    return sum(own - other for own, other in (each.for_team(team) for each in played)) / len(played)


def _mean_total(played: Sequence[Played]) -> float:
    return sum(each.total for each in played) / len(played)


_ESTIMATES: Final[dict[str, Callable[[Question, AsOf], Estimate | None]]] = {
    "team_stats": _team_stats,
    "injuries": _injuries,
    "recent_form": _recent_form,
    "head_to_head": _head_to_head,
    "rest_schedule": _rest,
    "player_stats": _players,
    "custom_data": _custom,
}
SOURCES: Final = (*sorted((*_ESTIMATES, "odds_movement")),)
