"""Kept here: the buttons that ask the site again for what a page shows."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import date
from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.keiba.pages.part import AWAY, HorseId, JockeyId, PagesPart, RaceId
from grandstand.kit.pages.forms import lead_to
from grandstand.kit.routes import page

RaceDate = Annotated[date, Path()]


class AnewPages(PagesPart):
    """What is kept, asked for again, unless it is too young for that; each leads back.

    Each raises IdInvalid and NotPublished.
    """

    @page("/days/{race_date}/anew", method="POST")
    async def day_anew(self, request: Request, race_date: RaceDate) -> Response:
        """Ask again for a day's lists."""
        return await self._anew(
            request, self._keiba.day(race_date, anew=True), f"/keiba?date={race_date}"
        )

    @page("/races/{race_id}/anew", method="POST")
    async def race_anew(self, request: Request, race_id: RaceId) -> Response:
        """Ask again for a card itself: scratched runners and weights come late."""
        return await self._anew(
            request, self._keiba.race(race_id, anew=True), f"/keiba/races/{race_id}"
        )

    @page("/races/{race_id}/result/anew", method="POST")
    async def result_anew(self, request: Request, race_id: RaceId) -> Response:
        """Ask again for a result."""
        return await self._anew(
            request, self._keiba.result(race_id, anew=True), f"/keiba/races/{race_id}/result"
        )

    @page("/horses/{horse_id}/anew", method="POST")
    async def horse_anew(self, request: Request, horse_id: HorseId) -> Response:
        """Ask again for all of a horse."""
        return await self._anew(
            request, self._keiba.horse(horse_id, anew=True), f"/keiba/horses/{horse_id}"
        )

    @page("/jockeys/{jockey_id}/anew", method="POST")
    async def jockey_anew(self, request: Request, jockey_id: JockeyId) -> Response:
        """Ask again for a jockey."""
        return await self._anew(
            request, self._keiba.jockey(jockey_id, anew=True), f"/keiba/jockeys/{jockey_id}"
        )

    async def _anew(self, request: Request, asked: Awaitable[object], back: str) -> Response:
        try:
            await asked
        except AWAY as error:
            return self._away(request, error)
        return lead_to(back)
