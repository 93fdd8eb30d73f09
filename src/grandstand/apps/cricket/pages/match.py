"""Kept here: the page of one match: figures, charts, balls, events, and a lock screen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.cricket.model import NEUTRAL_TEAM
from grandstand.apps.cricket.model.display import mark_of
from grandstand.apps.cricket.pages.boards import Sheet, sheets_of
from grandstand.apps.cricket.pages.part import AWAY, MatchId, PagesPart
from grandstand.apps.cricket.pages.plots import (
    Over,
    inning_names,
    overs_by_ball,
    rate_chart,
    worm_chart,
)
from grandstand.apps.cricket.service import (
    DisplayView,
    LoggedEvent,
    MatchView,
    Scorecard,
    TeamNotPlaying,
)
from grandstand.kit.charts import Chart
from grandstand.kit.pages.forms import lead_to, texts_of
from grandstand.kit.routes import Who, page

_EVENTS: Final = 60
_SAID: Final = {
    "followed": "You follow this match. Your devices hear of it when it is on.",
    "unfollowed": "You follow this match no longer.",
    "changed": "Changed: the lock screen shows your side first.",
}


@dataclass(frozen=True, slots=True)
class Figures:
    """What the scorecard is drawn as; nothing in it where the feed could not be asked."""

    card: Scorecard | None = None
    sheets: tuple[Sheet, ...] = ()
    overs: tuple[Over, ...] = ()
    charts: tuple[Chart, ...] = ()
    why_none: str = ""


class MatchPages(PagesPart):
    """One match, and following it."""

    @page("/matches/{match_id}")
    async def match(self, request: Request, who: Who, match_id: MatchId) -> Response:
        """A match with all that is known of it; raises MatchUnknown."""
        match = await self._cricket.match(match_id)
        follow = await self._cricket.find_follow(who, match_id)
        query = request.query_params
        team = query.get("for") or (follow.team_id if follow else NEUTRAL_TEAM)
        position = self._cricket.cursors.read(who, _question(match_id), query.get("after"))
        found = await self._cricket.events(match_id, limit=_EVENTS, position=position)
        figures = await self._figures(match)
        return self._render(
            request,
            "match",
            here="matches",
            match=match,
            follow=follow,
            team=team,
            display=await self._display(match_id, team),
            figures=figures,
            innings_names=inning_names(figures.card.scores) if figures.card else {},
            mark_of=mark_of,
            events=in_order(found.events),
            first=position is None,
            later=self._cricket.cursors.write(who, _question(match_id), found.position),
            said=_SAID.get(query.get("said", ""), ""),
        )

    @page("/matches/{match_id}/follow", method="POST")
    async def follow(self, request: Request, who: Who, match_id: MatchId) -> Response:
        """Follow a match for a team or none, and lead back; raises MatchUnknown and MatchOver."""
        texts = await texts_of(request)
        team = texts.get("team") or NEUTRAL_TEAM
        known = await self._cricket.find_follow(who, match_id)
        if known is None:
            await self._cricket.follow(who, match_id, None if team == NEUTRAL_TEAM else team)
        else:
            await self._cricket.change_team(who, match_id, team)
        return _back(texts.get("back", ""), match_id, "changed" if known else "followed")

    @page("/matches/{match_id}/unfollow", method="POST")
    async def unfollow(self, request: Request, who: Who, match_id: MatchId) -> Response:
        """Follow a match no longer and lead back."""
        texts = await texts_of(request)
        if await self._cricket.find_follow(who, match_id) is not None:
            await self._cricket.unfollow(who, match_id)
        return _back(texts.get("back", ""), match_id, "unfollowed")

    async def _display(self, match_id: str, team: str) -> DisplayView | None:
        try:
            return await self._cricket.display(match_id, team)
        except TeamNotPlaying:
            return await self._display(match_id, NEUTRAL_TEAM)
        except AWAY:
            return None

    async def _figures(self, match: MatchView) -> Figures:
        if match.phase == "prematch":
            return Figures()
        try:
            card = await self._cricket.scorecard(match.match_id)
        except AWAY as error:
            return Figures(why_none=str(error))
        scores = card.scores
        overs = overs_by_ball(scores.balls)
        charts = (worm_chart(scores, overs), rate_chart(scores, overs)) if overs else ()
        return Figures(card, sheets_of(scores), tuple(reversed(overs)), charts)


def in_order(events: Iterable[LoggedEvent]) -> list[LoggedEvent]:
    """Answer events newest first; of one look, the latest ball of the match at the front."""
    return sorted(events, key=lambda one: (one.seq, one.inning, one.position), reverse=True)


def _question(match_id: str) -> str:
    return f"cricket.match/{match_id}"


def _back(back: str, match_id: str, said: str) -> Response:
    if back == "mine":
        return lead_to(f"/cricket/mine?said={said}")
    return lead_to("/cricket" if back == "list" else f"/cricket/matches/{match_id}?said={said}")
