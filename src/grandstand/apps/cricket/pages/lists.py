"""Kept here: the list of matches: live, to come and over, with times in the viewer's zone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.cricket.pages.part import PagesPart
from grandstand.apps.cricket.service import LeagueUnknown, MatchView
from grandstand.kit.pages import shown
from grandstand.kit.routes import Who, page

_MOST: Final = 200


@dataclass(frozen=True, slots=True)
class Day:
    """The matches of a day in the viewer's zone."""

    name: str
    matches: tuple[MatchView, ...]


class ListPages(PagesPart):
    """Matches to choose from."""

    @page("")
    async def matches(self, request: Request, who: Who) -> Response:
        """Matches of the days around now, of one league or all."""
        asked = request.query_params.get("league") or None
        leagues = await self._cricket.leagues()
        try:
            found = (await self._cricket.matches(league=asked, limit=_MOST)).matches
        except LeagueUnknown:
            asked, found = None, (await self._cricket.matches(limit=_MOST)).matches
        followed = {each.match_id: each.team_id for each in await self._cricket.follows(who)}
        zone = who.preferences.time_zone
        done = [each for each in reversed(found) if each.stage == "completed"]
        return self._render(
            request,
            "matches",
            here="matches",
            live_now=[each for each in found if each.stage == "live"],
            upcoming=days([each for each in found if each.stage == "upcoming"], zone),
            done=days(done, zone),
            any_match=bool(found),
            followed=followed,
            leagues=leagues,
            league=asked or "",
            zone=zone,
            polled=self._cricket.settings.feed_token is not None,
        )


def days(matches: Sequence[MatchView], zone: str) -> tuple[Day, ...]:
    """Answer matches under the days they begin on, in the order given."""

    def day_of(match: MatchView) -> str:
        return shown.local_time(match.starts_at, zone, "day")

    grouped: Iterable[tuple[str, Iterable[MatchView]]] = groupby(matches, day_of)
    return tuple(Day(name, tuple(held)) for name, held in grouped)
