"""Kept here: the hot and cold model: how the last games of both teams went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grandstand.apps.bets.model.known.asof import AsOf
from grandstand.apps.bets.model.known.facts import Fixture
from grandstand.apps.bets.model.known.timelines import Played
from grandstand.apps.bets.model.predicting.forecasting import TEAM_MARKETS, Forecast, Part, log_odds
from grandstand.apps.bets.model.predicting.making import signalled
from grandstand.apps.bets.model.ratings.sports import scale_of


@dataclass(frozen=True, slots=True)
class HotCold:
    """The team in better form over its last games; a draw counts half."""

    name: str = "hot_cold"
    markets: tuple[str, ...] = TEAM_MARKETS
    games: int = 10
    weight: float = 0.15

    def predict(self, game: Fixture, view: AsOf, market: str = "h2h") -> Forecast | None:
        """The side in form; None before both have played, or when they are level."""
        home = view.results(game.sport, game.home, self.games)
        away = view.results(game.sport, game.away, self.games)
        if not home or not away:
            return None
        parts = [
            form_part(home, game.home, game.sport, self.weight),
            form_part(away, game.away, game.sport, -self.weight),
        ]
        return signalled(self.name, game, view, market, parts)


def form_part(played: Sequence[Played], team: str, sport: str, weight: float) -> Part:
    """A team's form as log-odds: its share of wins, drawn to a half, and its mean margin."""
    pairs = [each.for_team(team) for each in played]
    wins = sum(1.0 if own > other else 0.5 if own == other else 0.0 for own, other in pairs)
    share = (wins + 2.0) / (len(pairs) + 4.0)
    margin = sum(own - other for own, other in pairs) / len(pairs)
    strength = log_odds(share) + margin / scale_of(sport).margin_sd
    text = f"{team} won {wins:g} of the last {len(pairs)}, by {margin:+.1f} a game"
    return Part("recent_form", text, weight * strength, played[-1].score.known_at)
