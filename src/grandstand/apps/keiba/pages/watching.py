"""Kept here: the page of the horses a person watches."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.keiba.model import ids
from grandstand.apps.keiba.pages.part import PagesPart
from grandstand.apps.keiba.pages.tongue import Tongue, tongue_of
from grandstand.apps.keiba.service import Entered
from grandstand.kit.routes import Who, page


class WatchPages(PagesPart):
    """Watched horses with their notes and the races they are entered in."""

    @page("/watched")
    async def watched(self, request: Request, who: Who) -> Response:
        """The horses one watches, by name."""
        t = tongue_of(request)
        return self._render(
            request,
            "watched",
            t=t,
            here="watched",
            watched=await self._keiba.watched(who),
            track_of=lambda race: _track(race, t),
        )


def _track(race: Entered, t: Tongue) -> str:
    known = ids.track_of(race.race_id)
    return t.either(known.english if known else None, race.track_name)
