"""Handmade games, prices, picks and performance records."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from grandstand.apps.bets.domain.records import Interval, PricedOutcome
from grandstand.apps.bets.services.games import GameSummary, MarketOdds
from grandstand.apps.bets.services.predictions import Contribution, Pick
from grandstand.apps.bets.services.scoreboard import ModelComparison, ModelPerformance

NOON = datetime(2026, 2, 11, 12, tzinfo=UTC)
LAKERS, CELTICS = "Los Angeles Lakers", "Boston Celtics"
NBA = "basketball_nba"


def quoted(
    bookmaker: str, market: str, *outcomes: tuple[str, int, str | None], age: int = 60
) -> MarketOdds:
    """A bookmaker's prices: the name, the price and the line of each side."""
    priced = tuple(
        PricedOutcome(name, price, None if point is None else Decimal(point))
        for name, price, point in outcomes
    )
    return MarketOdds(bookmaker, market, priced, NOON - timedelta(seconds=age), age)


def game(*quotes: MarketOdds, picks: tuple[Pick, ...] = ()) -> GameSummary:
    """The Lakers at home to the Celtics, this evening."""
    path = ((NOON - timedelta(hours=2), 0.5), (NOON, 0.54))
    return GameSummary(
        "g1", NBA, LAKERS, CELTICS, NOON + timedelta(hours=8), quotes, picks, home_path=path
    )


def pick(
    model: str,
    prediction: str = LAKERS,
    probability: float = 0.6,
    *,
    market: str = "h2h",
    inverse: bool = False,
    reasons: tuple[Contribution, ...] = (),
    expected_return: float | None = None,
) -> Pick:
    """What a model predicts of that game."""
    return Pick(
        model=model,
        analysis_type="game",
        sport=NBA,
        bookmaker="fanduel",
        game_id="g1",
        home_team=LAKERS,
        away_team=CELTICS,
        market_key=market,
        side="home",
        point=None,
        prediction=prediction,
        probability=probability,
        reasoning="",
        commence_time=NOON + timedelta(hours=8),
        created_at=NOON,
        expected_return=expected_return,
        is_inverse=inverse,
        reasons=reasons,
    )


def performance(decided: int, correct: int, *, needed: int | None = None) -> ModelPerformance:
    """How a model has done that breaks even at 52.38 %."""
    rate = correct / decided if decided else 0.0
    return ModelPerformance(
        model="elo",
        sport=NBA,
        analysis_type="game",
        inverse=False,
        days=90,
        predictions=decided,
        decided=decided,
        correct=correct,
        accuracy=Interval(rate, rate - 0.05, rate + 0.05) if decided else None,
        break_even=0.5238 if decided else None,
        roi=Interval(0.02, -0.1, 0.14) if decided else None,
        bets_needed=needed,
    )


def compared(model: str, done: ModelPerformance, name: str = "") -> ModelComparison:
    """A model on the scoreboard."""
    return ModelComparison(model, bool(name), NBA, done, done, "AVOID", None, name)
