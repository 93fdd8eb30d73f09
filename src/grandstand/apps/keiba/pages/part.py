"""Kept here: what every group of keiba's pages is made with."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.keiba.model import ids
from grandstand.apps.keiba.pages import runners
from grandstand.apps.keiba.pages.tongue import Tongue, tongue_of
from grandstand.apps.keiba.service import DayRace, Keiba, Meeting, Origin
from grandstand.base.errors import (
    GrandstandError,
    LimitReached,
    NotFound,
    SourceFailed,
    Unavailable,
)
from grandstand.kit.pages.part import AppPages
from grandstand.kit.pages.rendering import Pages
from grandstand.wire.errors import RobotsForbid

RaceId = Annotated[str, Path(max_length=40)]
HorseId = Annotated[str, Path(max_length=40)]
JockeyId = Annotated[str, Path(max_length=40)]

AWAY: Final = (SourceFailed, Unavailable, LimitReached, RobotsForbid)
"""What a site that cannot or may not be asked now, or answers nonsense, raises."""


def host_of(page: str) -> str:
    """Answer the host of a page's address, which is what people know it by."""
    return urlsplit(page).hostname or page


_SHOWN: Final[dict[str, Any]] = {
    "badge_of": runners.badge_of,
    "body_weight": runners.body_weight,
    "finish": runners.finish,
    "host_of": host_of,
    "japanese": runners.japanese,
    "points": runners.points,
    "sex_age": runners.sex_age,
    "weighed": runners.weighed,
    "written_odds": runners.written_odds,
}
"""How single things are shown, for every template."""


class PagesPart(AppPages):
    """Some pages: what they show comes from keiba, how it looks from the templates."""

    def __init__(self, keiba: Keiba, pages: Pages) -> None:
        super().__init__(pages, "keiba", _SHOWN)
        self._keiba = keiba

    def _render(
        self,
        request: Request,
        template: str,
        **values: Any,  # noqa: ANN401 - whatever the template shows
    ) -> Response:
        tongue: Tongue = values.pop("t", None) or tongue_of(request)
        return super()._render(request, template, t=tongue, w=tongue.w, **values)

    async def _siblings(self, race_date: date | None, race_id: str) -> tuple[DayRace, ...]:
        """The races of the same track and day; none where the day's list is not to be had."""
        circuit = ids.circuit_of(race_id)
        if race_date is None or circuit == "overseas":
            return ()
        try:
            day = await self._keiba.day(race_date, circuit)
        except (*AWAY, NotFound):
            return ()
        return next((one.races for one in day.meetings if _holds(one, race_id)), ())

    def _away(self, request: Request, error: GrandstandError, *, here: str = "races") -> Response:
        """The page that says why a site could not be asked, and what can be done about it."""
        return self._render(
            request, "away", status=error.status, here=here, why=str(error) or type(error).__name__
        )


def _holds(meeting: Meeting, race_id: str) -> bool:
    return any(race.entry.race_id == race_id for race in meeting.races)


def origins(*held: Origin | None) -> tuple[Origin, ...]:
    """Answer those origins that are there, each page once."""
    known = {origin.page: origin for origin in _present(held)}
    return tuple(known.values())


def _present(held: Iterable[Origin | None]) -> Iterable[Origin]:
    return (origin for origin in held if origin is not None)
