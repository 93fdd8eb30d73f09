"""Kept here: which models are to be followed, betted against or left alone; good for a day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from grandstand.apps.bets.model import AnalysisType, VerifiedType
from grandstand.apps.bets.service.means import Means
from grandstand.apps.bets.service.money.settled import rounded
from grandstand.apps.bets.service.predicting.engine import model_names
from grandstand.apps.bets.service.values import Adjustment
from grandstand.apps.bets.store import Analysis, ModelAdjustment
from grandstand.apps.bets.store.analyses import ADJUSTMENT_LIFETIME

if TYPE_CHECKING:
    from grandstand.apps.bets.model.judging.recommending import Advice, Record

LOOKBACK_DAYS: Final = 30
_NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)
_KINDS: Final[tuple[AnalysisType, ...]] = ("game", "prop")
_VERIFIED: Final[dict[AnalysisType, tuple[VerifiedType, VerifiedType]]] = {
    "game": ("game", "game#inverse"),
    "prop": ("prop", "prop#inverse"),
}


class Adjusting:
    """Works out what to do with each model, all models and kinds of a sport held together."""

    def __init__(self, means: Means) -> None:
        self._means = means

    async def of_sport(self, sport: str, analysis_type: AnalysisType) -> tuple[Adjustment, ...]:
        """Answer what was worked out within a day, or work it out; raise SportUnknown."""
        self._means.sport(sport)
        kept = ModelAdjustment.of_sport(sport, analysis_type)
        found = [view_of(row) async for row in self._means.each(kept)]
        if found:
            return tuple(sorted(found, key=lambda each: each.model))
        made = await self.calculate(sport)
        return tuple(each for each in made if each.analysis_type == analysis_type)

    async def calculate(self, sport: str) -> tuple[Adjustment, ...]:
        """Work out anew what to do with each model, and keep it for a day."""
        from grandstand.apps.bets.model.judging.recommending import recommend

        now = self._means.now()
        records = [
            await self._record(self._means.sport(sport), model, kind, now)
            for kind in _KINDS
            for model in model_names()
        ]
        rows = [row_of(each, now) for each in recommend(records)]
        await self._means.store.write_many([row.keep() for row in rows])
        return tuple(view_of(row) for row in rows)

    async def _record(self, sport: str, model: str, kind: AnalysisType, now: datetime) -> Record:
        """Answer a model's decided picks of a month, each game once, with both sides' prices."""
        from grandstand.apps.bets.model.judging.recommending import Pick, Record
        from grandstand.apps.bets.service.judging.scoring import once_each

        since = now - timedelta(days=LOOKBACK_DAYS)
        both: list[list[Analysis]] = []
        for verified in _VERIFIED[kind]:
            reading = Analysis.performance(model, sport, since, verified)
            rows = [row async for row in self._means.each(reading)]
            both.append(once_each(rows, self._means.settings.bookmakers))
        against = {(row.game_id, row.subject): row.price for row in both[1]}
        picks = tuple(
            Pick(
                row.analysis_correct,
                float(row.confidence),
                row.price,
                against.get((row.game_id, row.subject)),
            )
            for row in both[0]
            if row.analysis_correct is not None and row.price is not None
        )
        return Record(model, sport, kind, picks)


def row_of(advice: Advice, now: datetime) -> ModelAdjustment:
    """Answer advice as the table keeps it."""
    kind: AnalysisType = "prop" if advice.bet_type == "prop" else "game"
    return ModelAdjustment(
        model=advice.model,
        sport=advice.sport,
        bet_type=kind,
        recommendation=advice.recommendation,
        original_accuracy=rounded(advice.original.rate),
        inverse_accuracy=rounded(advice.inverse_accuracy),
        sample_size=advice.original.total,
        confidence_multiplier=rounded(advice.multiplier),
        lookback_days=LOOKBACK_DAYS,
        updated_at=now,
        calculated_at=now,
        expires_at=now + ADJUSTMENT_LIFETIME,
        evidence=advice.evidence,
    )


def view_of(row: ModelAdjustment) -> Adjustment:
    """Answer advice as it is shown."""
    return Adjustment(
        row.model,
        row.sport,
        row.bet_type,
        row.recommendation,
        float(row.original_accuracy),
        float(row.inverse_accuracy),
        row.sample_size,
        float(row.confidence_multiplier),
        row.evidence,
        row.calculated_at or row.updated_at or row.expires_at or _NEVER,
    )
