"""Kept here: the matchup model: earlier meetings of the two teams, and how their figures differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from grandstand.apps.bets.model.known.asof import AsOf
from grandstand.apps.bets.model.known.facts import Fixture, TeamFigures
from grandstand.apps.bets.model.predicting.forecasting import TEAM_MARKETS, Forecast, Part, log_odds
from grandstand.apps.bets.model.predicting.making import signalled

_GAMES: Final = 10
# What a team has more of when it wins (1) or when it loses (-1), by the words feeds use.
_BETTER: Final = {
    "field_goal_pct": 1,
    "three_point_pct": 1,
    "rebounds": 1,
    "assists": 1,
    "turnovers": -1,
    "points": 1,
    "points_allowed": -1,
    "total_yards": 1,
    "third_down_pct": 1,
    "shots": 1,
    "shots_on_goal": 1,
    "shots_on_target": 1,
    "possession_pct": 1,
    "power_play_pct": 1,
    "batting_average": 1,
    "era": -1,
}


@dataclass(frozen=True, slots=True)
class Matchup:
    """Who does better against the other: earlier meetings and the figures of both."""

    name: str = "matchup"
    markets: tuple[str, ...] = TEAM_MARKETS
    meetings: int = 10
    meeting_weight: float = 0.1
    style_weight: float = 0.5

    def predict(self, game: Fixture, view: AsOf, market: str = "h2h") -> Forecast | None:
        """The side that fits the other badly; None when they never met and no figures are known."""
        parts = [
            *meeting_parts(game, view, self.meetings, self.meeting_weight),
            *figure_parts(game, view, self.style_weight),
        ]
        return signalled(self.name, game, view, market, parts)


def meeting_parts(game: Fixture, view: AsOf, limit: int, weight: float) -> list[Part]:
    """Earlier meetings as log-odds towards home: its share of wins, drawn to a half."""
    met = view.meetings(game.sport, game.home, game.away, limit)
    if not met:
        return []
    pairs = [each.for_team(game.home) for each in met]
    wins = sum(1.0 if own > other else 0.5 if own == other else 0.0 for own, other in pairs)
    share = (wins + 2.0) / (len(pairs) + 4.0)
    text = f"{game.home} won {wins:g} of {len(pairs)} meetings"
    return [Part("head_to_head", text, weight * log_odds(share), met[-1].score.known_at)]


def figure_parts(game: Fixture, view: AsOf, weight: float) -> list[Part]:
    """The gap of each figure both teams have, relative to their size, towards home."""
    home = view.figures(game.sport, game.home, _GAMES)
    away = view.figures(game.sport, game.away, _GAMES)
    ours, theirs = means(home), means(away)
    shared = [name for name in ours if name in theirs and name in _BETTER]
    parts = []
    for name in shared:
        size = abs(ours[name]) + abs(theirs[name])
        gap = 0.0 if not size else 2.0 * (ours[name] - theirs[name]) / size
        text = f"{name.replace('_', ' ')}: {ours[name]:.1f} against {theirs[name]:.1f}"
        known = max(home[-1].known_at, away[-1].known_at)
        parts.append(Part("team_stats", text, weight * _BETTER[name] * gap / len(shared), known))
    return parts


def means(rows: Sequence[TeamFigures]) -> dict[str, float]:
    """The mean of each figure over the rows that have it."""
    sums: dict[str, list[float]] = {}
    for row in rows:
        for name, value in row.figures.items():
            sums.setdefault(name, []).append(value)
    return {name: sum(values) / len(values) for name, values in sums.items()}
