"""Kept here: predictions as they are shown."""

from __future__ import annotations

from grandstand.apps.bets.model.selections import parse_code
from grandstand.apps.bets.service.predicting.publishing import expected_return, risk_of
from grandstand.apps.bets.service.values import Contribution, Pick
from grandstand.apps.bets.store import Analysis


def pick_of(row: Analysis) -> Pick:
    """Answer a prediction as it is shown."""
    probability = float(row.confidence)
    selection = None if row.selection is None else parse_code(row.selection)
    market = "h2h" if selection is None else selection.stat or selection.market
    return Pick(
        model=row.model,
        analysis_type=row.analysis_type,
        sport=row.sport,
        bookmaker=row.bookmaker,
        game_id=row.game_id,
        home_team=row.home_team,
        away_team=row.away_team,
        market_key=row.market_key or market,
        side="" if selection is None else selection.side or "",
        point=None if selection is None else selection.point,
        prediction=row.prediction,
        probability=probability,
        reasoning=row.reasoning,
        commence_time=row.commence_time,
        created_at=row.created_at,
        player_name=row.player_name,
        price=row.price,
        expected_return=expected_return(probability, row.price),
        risk_level=risk_of(probability),
        is_inverse=bool(row.is_inverse),
        original_prediction=row.original_prediction,
        reasons=tuple(
            Contribution(each.source, float(each.contribution), each.text)
            for each in row.reasons or ()
        ),
        verdict=row.verdict,
        correct=row.analysis_correct,
        closing_probability=None if row.closing is None else float(row.closing),
    )
