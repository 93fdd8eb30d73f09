"""Kept here: the Elo model: ratings with home advantage and margin, and its own draws."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Final

from grandstand.apps.bets.model.known.asof import AsOf
from grandstand.apps.bets.model.known.facts import Fixture
from grandstand.apps.bets.model.known.timelines import Fold, Played
from grandstand.apps.bets.model.known.windows import Windows
from grandstand.apps.bets.model.predicting.forecasting import Belief, Forecast, Part
from grandstand.apps.bets.model.predicting.making import believed
from grandstand.apps.bets.model.prices.paths import sides_of
from grandstand.apps.bets.model.ratings import elo

_YEAR_IN_ONE: Final = ("baseball", "soccer_usa_mls", "basketball_wnba")
_SUMMER: Final = 7
_LEAST_TO_FIT: Final = 300
_MOST_TO_FIT: Final = 1_500
_LOG_ODDS_PER_POINT: Final = 0.005756462732485114
_FITTED: Final = Windows(test=timedelta(days=182))


@dataclass(slots=True)
class Standing:
    """The ratings so far, as a fold carries them along."""

    ratings: elo.Ratings = elo.EMPTY
    games: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Elo:
    """Who wins, by ratings folded over every result known; rules are fitted twice a year."""

    name: str = "elo"
    markets: tuple[str, ...] = ("h2h", "h2h_3way")
    least_games: int = 3

    def predict(self, game: Fixture, view: AsOf, market: str = "h2h") -> Forecast | None:
        """The likeliest result by the ratings; None before both teams have played a little."""
        rules = _rules(game.sport, view)
        standing = view.fold(rated(game.sport, rules))
        seen = min(standing.games.get(team, 0) for team in (game.home, game.away))
        if seen < self.least_games:
            return None
        season = season_of(game)
        home = standing.ratings.of(game.home, season, rules)
        away = standing.ratings.of(game.away, season, rules)
        ground = 0.0 if game.neutral else rules.home_advantage
        chances = elo.expect(
            standing.ratings, game.home, game.away, rules, season=season, neutral=game.neutral
        )
        parts = [
            Part("rating", f"{game.home} has {home:.0f}", _LOG_ODDS_PER_POINT * (home - elo.START)),
            Part("rating", f"{game.away} has {away:.0f}", _LOG_ODDS_PER_POINT * (elo.START - away)),
            Part("home", f"home counts {ground:.0f}", _LOG_ODDS_PER_POINT * ground),
        ]
        return believed(self.name, game, view, _belief(chances, market), parts)


def rated(sport: str, rules: elo.EloRules) -> Fold[Standing]:
    """The fold of a sport's ratings under the given rules: each result counts once."""
    return Fold(("elo", rules), sport, Standing, partial(_count, rules))


def season_of(game: Fixture) -> str:
    """The season of a game: the year it began in; most go from autumn to spring."""
    start = game.commence_time
    whole_year = game.sport.startswith(_YEAR_IN_ONE)
    return str(start.year if whole_year or start.month >= _SUMMER else start.year - 1)


def _count(rules: elo.EloRules, standing: Standing, played: Played) -> None:
    # Results of one evening come in any order; the fold itself counts no game twice.
    unordered = elo.Ratings(standing.ratings.by_team)
    standing.ratings = elo.advance(unordered, _rated_game(played), rules)
    for team in (played.game.home, played.game.away):
        standing.games[team] = standing.games.get(team, 0) + 1


def _rules(sport: str, view: AsOf) -> elo.EloRules:
    window = _FITTED.at(view.instant)
    return view.remembered(("elo rules", sport), window.until, partial(_fitted, sport))


def _fitted(sport: str, view: AsOf) -> elo.EloRules:
    rules = elo.rules_for(sport)
    played = view.played_in(sport)[-_MOST_TO_FIT:]
    if len(played) < _LEAST_TO_FIT:
        return rules
    return elo.fitted([_rated_game(each) for each in played], rules, rounds=2)


def _rated_game(played: Played) -> elo.RatedGame:
    game, score = played.game, played.score
    return elo.RatedGame(
        game.game_id,
        game.commence_time,
        season_of(game),
        game.home,
        game.away,
        score.home_score,
        score.away_score,
        game.neutral,
    )


def _belief(chances: elo.Outlook, market: str) -> Belief:
    if market == "h2h_3way":
        shares: tuple[float, ...] = (chances.home, chances.draw, chances.away)
    else:
        decided = chances.home + chances.away
        shares = (chances.home / decided, chances.away / decided)
    return Belief(market, sides_of(market), shares, None, 0)
