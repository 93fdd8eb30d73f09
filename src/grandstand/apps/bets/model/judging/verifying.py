"""Kept here: forecasts held against results: the verdict, the close, and what a bet returned."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction

from grandstand.apps.bets.model.known.facts import Fixture, Score, Verified
from grandstand.apps.bets.model.known.history import History
from grandstand.apps.bets.model.money.settlement import (
    PENDING,
    VOID,
    Abandoned,
    Cancelled,
    Final,
    Result,
    Verdict,
    factor,
    rules_for,
    settle,
)
from grandstand.apps.bets.model.predicting.forecasting import Belief, Forecast, selected
from grandstand.apps.bets.model.prices.fair import fair_of
from grandstand.apps.bets.model.ratings.margins import (
    chances_of_margin,
    chances_of_total,
    mean_behind,
    shape_for,
)
from grandstand.apps.bets.model.selections import Selection

_HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Judged:
    """A forecast and how it came out; `profit` is by one unit staked at its price.

    `closing` is the fair probability of the same bet at the close, its line included. `correct` is
    whether the pick was right, None when nothing was won or lost.
    """

    forecast: Forecast
    verdict: Verdict
    closing: float | None
    profit: float | None
    known_at: datetime
    correct: bool | None


@dataclass(slots=True)
class Judge:
    """Settles forecasts of a history; it remembers the closes it has worked out."""

    history: History
    _closes: dict[tuple[str, str, str | None], Belief | None] = field(default_factory=dict)
    _means: dict[tuple[str, str], float] = field(default_factory=dict)
    _moved: dict[tuple[str, Selection], float] = field(default_factory=dict)

    def judged(self, forecast: Forecast, result: Result, known_at: datetime) -> Judged:
        """How a forecast came out by a result that became known at a moment."""
        verdict = settle(forecast.selection, result, rules_for(forecast.sport))
        return self.with_verdict(forecast, verdict, known_at)

    def with_verdict(self, forecast: Forecast, verdict: Verdict, known_at: datetime) -> Judged:
        """How a forecast came out when its verdict is known."""
        profit = None
        if forecast.price is not None and verdict.name != "pending":
            profit = _profit(verdict, forecast.price)
        return Judged(forecast, verdict, self.close_of(forecast), profit, known_at, _right(verdict))

    def close_of(self, forecast: Forecast) -> float | None:
        """The fair probability of a forecast's bet at the close; None without closing prices."""
        picked = forecast.selection
        place = (forecast.game_id, forecast.market, picked.participant)
        if place not in self._closes:
            board = self.history.closing(*place)
            self._closes[place] = None if board is None else fair_of(board)
        close = self._closes[place]
        if close is None or picked.side is None:
            return None
        chance = close.of(picked.side)
        line = selected(close.market, picked.side, close.point, picked.participant).point
        if line != picked.point:
            if picked.market not in {"spreads", "totals"}:
                return None
            chance = self._on_line(forecast, close)
        return 1.0 - chance if picked.lay else chance

    def _on_line(self, forecast: Forecast, close: Belief) -> float:
        """The chance of the line that was taken by where the close expected the game to end."""
        picked = forecast.selection
        place = (forecast.game_id, picked)
        if place not in self._moved:
            shape, game = shape_for(forecast.sport), (forecast.game_id, forecast.market)
            if game not in self._means:
                first = selected(close.market, close.sides[0], close.point, None)
                self._means[game] = mean_behind(first, close.probabilities[0], shape)
            priced = chances_of_total if picked.market == "totals" else chances_of_margin
            self._moved[place] = priced(picked, self._means[game], shape).probability
        return self._moved[place]


# What most bets come to, so that no fractions are compared for each.
_KNOWN: dict[str, bool] = {"win": True, "half_win": True, "loss": False, "half_loss": False}


def _right(verdict: Verdict) -> bool | None:
    if verdict.name in _KNOWN:
        return _KNOWN[verdict.name]
    return verdict.correct


def _profit(verdict: Verdict, price: int) -> float:
    if verdict.name == "win":
        return price / 100.0 if price > 0 else 100.0 / -price
    if verdict.name == "loss":
        return -1.0
    return float(factor(verdict, price)) - 1.0


def result_of(score: Score) -> Result | None:
    """A score as what settles bets; None while a game is only put off."""
    if score.status == "postponed":
        return None
    if score.status == "void":
        return Cancelled()
    if score.status == "abandoned":
        return Abandoned(score.home_score, score.away_score, Fraction(0))
    return Final(score.home_score, score.away_score)


def verdict_of(forecast: Forecast, game: Fixture, score: Score) -> Verdict:
    """How a forecast of a game as it was announced then is decided by a score.

    A game played much later than its announced start is another game: bets on it are void.
    """
    result = result_of(score)
    rules = rules_for(forecast.sport)
    if result is None:
        return PENDING
    if (score.completed_at - game.commence_time) / _HOUR > rules.postponed_hours:
        return VOID
    return settle(forecast.selection, result, rules)


def verified(judged: Judged) -> Verified | None:
    """What is learnt from a judged forecast; None for inverses and what nobody won or lost."""
    forecast, correct = judged.forecast, judged.correct
    if correct is None or forecast.inverse_of is not None:
        return None
    return Verified(
        model=forecast.model,
        sport=forecast.sport,
        market=forecast.market,
        game_id=forecast.game_id,
        raw=forecast.raw,
        probability=forecast.probability,
        fair=forecast.fair,
        outcome=float(correct),
        predicted_at=forecast.as_of,
        known_at=judged.known_at,
        sources=tuple((each.source, each.contribution) for each in forecast.reasons),
    )
