"""Kept here: the routes that say how good models are."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from grandstand.apps.bets.api.asking import Days, Kind, MaybeSport, Model, RoutesPart
from grandstand.apps.bets.api.score_models import (
    AdjustmentList,
    AdjustmentModel,
    ComparisonList,
    Mode,
    PerformanceModel,
    RankedModel,
    RankingList,
    RankingSummary,
)
from grandstand.apps.bets.service import Comparison, ModelUnknown, SportUnknown
from grandstand.kit.routes import Who, get
from grandstand.kit.who.caller import Caller

Which = Annotated[
    str | None,
    Query(
        pattern=r"^[a-z0-9_]{1,60}$",
        examples=["basketball_nba"],
        description="A sport; the first one without, `all` for all.",
    ),
]


class ScoreRoutes(RoutesPart):
    """How good models are."""

    @get(
        "/model-performance",
        summary="How a model has done",
        problems=(SportUnknown, ModelUnknown),
    )
    async def model_performance(
        self,
        sport: MaybeSport = None,
        model: Model = "ensemble",
        days: Days = 30,
        kind: Kind = "game",
        *,
        inverse: bool = False,
    ) -> PerformanceModel:
        """Accuracy, calibration, return and closing-line value of a built-in model."""
        found = await self._bets.performance(
            self._sport(sport), model, days=days, analysis_type=kind, inverse=inverse
        )
        return PerformanceModel.of(found)

    @get("/model-comparison", summary="Models beside each other", problems=(SportUnknown,))
    async def model_comparison(
        self, who: Who, sport: Which = None, days: Days = 90, kind: Kind = "game"
    ) -> ComparisonList:
        """Every model and the caller's own beside their inverses, and what to do with them."""
        found = await self._compared(who, sport, days, kind)
        return ComparisonList.of(found, days)

    @get("/model-rankings", summary="Models by return", problems=(SportUnknown,))
    async def model_rankings(
        self,
        who: Who,
        sport: Which = None,
        days: Days = 30,
        mode: Mode = "original",
        kind: Kind = "game",
    ) -> RankingList:
        """Models, their inverses or both by what flat stakes would have brought, best first."""
        told = [
            RankedModel.of(one, each)
            for one in await self._compared(who, sport, days, kind)
            for each in (one.original, one.inverse)
            if mode in {"both", "inverse" if each.inverse else "original"}
        ]
        told.sort(key=lambda each: (each.roi is None, -(each.roi or 0.0), each.model))
        return RankingList(
            rankings=tuple(told),
            summary=RankingSummary(
                total_models=len(told),
                total_bets=sum(each.total_bets for each in told),
                profitable=sum((each.roi or 0.0) > 0 for each in told),
            ),
            days=days,
            mode=mode,
        )

    @get("/model-adjustments", summary="What to do with each model", problems=(SportUnknown,))
    async def model_adjustments(
        self, sport: MaybeSport = None, kind: Kind = "game"
    ) -> AdjustmentList:
        """Whether each model is to be followed, inverted or avoided, and on what evidence."""
        found = await self._bets.adjustments(self._sport(sport), kind)
        return AdjustmentList(adjustments=tuple(map(AdjustmentModel.model_validate, found)))

    async def _compared(
        self, who: Caller, sport: str | None, days: int, kind: Kind
    ) -> list[Comparison]:
        sports = self._bets.sports() if sport == "all" else (self._sport(sport),)
        return [
            one
            for each in sports
            for one in await self._bets.comparison(who, each, days=days, analysis_type=kind)
        ]
