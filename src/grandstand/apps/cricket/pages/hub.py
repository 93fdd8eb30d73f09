"""Kept here: the administrators' hub: what is polled and pushed, and replays to steer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.cricket.model.errors import MatchUnknown
from grandstand.apps.cricket.model.replays import PlayAction, Replayed, ReplayOrder, ReplayWish
from grandstand.apps.cricket.pages.part import AWAY, MatchId, PagesPart
from grandstand.base.errors import GrandstandError, InvalidInput
from grandstand.kit.pages.forms import lead_to, texts_of
from grandstand.kit.routes import Admin, page

_SAID: Final = {
    "ticked": "The match was looked at.",
    "synced": "The fixture list was read.",
    "cleared": "This instance has forgotten what it remembered.",
    "replay": "The replayed feed does so.",
    "refused": "That did not work: the feed refused, or cannot be reached.",
}
_ACTIONS: Final[tuple[PlayAction, ...]] = ("play", "pause", "seek", "stop")
_FASTEST: Final = 1000.0


class HubPages(PagesPart):
    """What is going on behind the matches."""

    @page("/hub", access="admin")
    async def hub(self, request: Request, who: Admin) -> Response:
        """Active matches, owners, lags, pushes, the feed's budget and replays."""
        del who
        replays, tapes, replay_fault = await self._replays()
        return self._render(
            request,
            "hub",
            here="hub",
            hub=await self._cricket.hub(),
            replaying=self._cricket.replaying.on,
            replays=replays,
            tapes=tapes,
            replay_fault=replay_fault,
            settings=self._cricket.settings,
            connected=self._cricket.settings.feed_token is not None,
            said=_SAID.get(request.query_params.get("said", ""), ""),
        )

    @page("/hub/tick/{match_id}", access="admin", method="POST")
    async def tick(self, who: Admin, match_id: MatchId) -> Response:
        """Look at a match now, and lead back."""
        del who
        try:
            await self._cricket.tick(match_id)
        except (*AWAY, MatchUnknown):
            return _to_hub("refused")
        return _to_hub("ticked")

    @page("/hub/sync", access="admin", method="POST")
    async def sync(self, who: Admin) -> Response:
        """Read leagues, teams and fixtures now, and lead back."""
        del who
        try:
            await self._cricket.sync_reference()
            await self._cricket.sync_fixtures()
        except AWAY:
            return _to_hub("refused")
        return _to_hub("synced")

    @page("/hub/clear", access="admin", method="POST")
    async def clear(self, who: Admin) -> Response:
        """Forget what this instance remembers, and lead back."""
        del who
        self._cricket.clear_caches()
        return _to_hub("cleared")

    @page("/hub/replays", access="admin", method="POST")
    async def replay(self, request: Request, who: Admin) -> Response:
        """Have a tape played, and lead back."""
        del who
        texts = await texts_of(request)
        try:
            wish = ReplayWish(texts.get("tape", ""), speed_of(texts.get("speed", "1")))
            await self._cricket.replaying.play(wish)
        except GrandstandError:
            return _to_hub("refused")
        return _to_hub("replay")

    @page("/hub/replays/{match_id}", access="admin", method="POST")
    async def steer(self, request: Request, who: Admin, match_id: MatchId) -> Response:
        """Have a replay do something, and lead back."""
        del who
        texts = await texts_of(request)
        try:
            await self._cricket.replaying.control(match_id, order_of(texts))
        except GrandstandError:
            return _to_hub("refused")
        return _to_hub("replay")

    async def _replays(self) -> tuple[tuple[Replayed, ...], tuple[str, ...], str]:
        if not self._cricket.replaying.on:
            return (), (), ""
        try:
            replaying = self._cricket.replaying
            return await replaying.replays(), await replaying.tapes(), ""
        except GrandstandError as error:
            return (), (), str(error)


def order_of(given: Mapping[str, str]) -> ReplayOrder:
    """Answer what a form orders; raise InvalidInput."""
    action = next((each for each in _ACTIONS if each == given.get("action")), None)
    if action is None:
        raise InvalidInput("There is no such thing a replay can do")
    ball = given.get("ball", "")
    speed = speed_of(given["speed"]) if given.get("speed") and action == "play" else None
    wanted = int(ball) if action == "seek" and ball.isascii() and ball.isdigit() else None
    return ReplayOrder(action, speed, wanted)


def speed_of(text: str) -> float:
    """Answer a speed; raise InvalidInput when it is none."""
    try:
        speed = float(text)
    except ValueError as fault:
        raise InvalidInput(f"{text[:20]!r} is no speed") from fault
    if not 0 < speed <= _FASTEST:
        raise InvalidInput("A speed is more than 0 and at most 1000")
    return speed


def _to_hub(said: str) -> Response:
    return lead_to(f"/cricket/hub?said={said}")
