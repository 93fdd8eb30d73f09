"""Kept here: the page on which a person sees where they stand."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.trainer.model.rubric import BY_NAME
from grandstand.apps.trainer.pages.part import Id, PagesPart
from grandstand.apps.trainer.pages.plots import (
    brier_chart,
    calibration_chart,
    overall_chart,
    trend_chart,
)
from grandstand.kit.routes import Admin, Who, page

_SNAPSHOTS: Final = 100


class StandingPages(PagesPart):
    """Profiles: one's own, and for instructors everybody's."""

    @page("/profile")
    async def profile(self, request: Request, who: Who) -> Response:
        """One's own strengths, weaknesses, trends, next steps and forecasts."""
        record = await self._trainer.forecasts(who)
        held = (await self._trainer.profile_history(who, limit=_SNAPSHOTS)).profiles
        return self._render(
            request,
            "profile",
            here="profile",
            whose="",
            profile=await self._trainer.profile(who),
            snapshots=len(held),
            trend=trend_chart(held),
            overall=overall_chart(held),
            record=record,
            calibration=calibration_chart(record),
            brier=brier_chart(record),
            suggestion=await self._trainer.suggestion(who),
            dimensions=BY_NAME,
            window=self._trainer.settings.window,
            topic=f"trainer/attempts/user/{who.user_id}",
        )

    @page("/instructor/people/{user_id}", access="admin")
    async def person(self, request: Request, who: Admin, user_id: Id) -> Response:
        """Anybody's profile, for instructors."""
        held = (await self._trainer.profile_history(who, user_id, _SNAPSHOTS)).profiles
        return self._render(
            request,
            "profile",
            here="instructor",
            whose=user_id,
            profile=await self._trainer.profile(who, user_id),
            snapshots=len(held),
            trend=trend_chart(held),
            overall=overall_chart(held),
            record=None,
            suggestion=None,
            dimensions=BY_NAME,
            window=self._trainer.settings.window,
            topic="",
        )
