"""Kept here: what is one's own: followed matches, activities, devices and alerts."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.cricket.model import EventKind
from grandstand.apps.cricket.model.alerts import AlertChoice
from grandstand.apps.cricket.model.errors import MatchUnknown
from grandstand.apps.cricket.model.events.kinds import ALERTING, EVENT_KINDS
from grandstand.apps.cricket.pages.part import MatchId, PagesPart
from grandstand.apps.cricket.pages.words import KINDS, end_of
from grandstand.apps.cricket.service import (
    ActivityUnknown,
    AlertsGiven,
    DeviceUnknown,
    MatchView,
    PushingOff,
    PushKeyMissing,
)
from grandstand.kit.pages.forms import lead_to, texts_of
from grandstand.kit.pages.policy import PAGE_HEADERS
from grandstand.kit.routes import Who, page

_SAID: Final = {
    "alerts": "Saved. It holds for all matches you follow.",
    "ended": "The activity has ended.",
    "unfollowed": "You follow the match no longer.",
    "changed": "Changed.",
    "forgotten": "The device is forgotten.",
    "pushed": "A test was sent to your devices.",
    "off": "Nothing can be pushed here: the push key is not set.",
    "no-device": "You have no device yet: the app registers it when you sign in there.",
}
_WORKER: Final = "cricket/js/alerts-worker.js"
_HOUR: Final = timedelta(hours=1)
MUTES: Final[dict[str, tuple[str, timedelta | None]]] = {
    "off": ("No", None),
    "hour": ("For an hour", _HOUR),
    "night": ("For eight hours", 8 * _HOUR),
    "on": ("Until I change it", None),
}


class MinePages(PagesPart):
    """Follows, Live Activities, devices, and what wakes their owner."""

    @page("/mine")
    async def mine(self, request: Request, who: Who) -> Response:
        """Everything of the caller."""
        choice = await self._cricket.alert_choice(who)
        activities = await self._cricket.activities(who)
        follows = await self._cricket.follows(who)
        named = {each.match_id for each in activities} | {each.match_id for each in follows}
        now = self._cricket.now()
        return self._render(
            request,
            "mine",
            here="mine",
            follows=follows,
            activities=activities,
            devices=await self._cricket.devices(who),
            browser_key=self._browser_key(),
            browsers=await self._cricket.browsers(who),
            matches={match_id: await self._found(match_id) for match_id in named},
            kinds=[(kind, KINDS[kind], kind in chosen(choice)) for kind in EVENT_KINDS],
            own=choice.kinds is not None,
            mutes=[(name, text) for name, (text, _) in MUTES.items()],
            mute=mute_of(choice, now),
            muted_until=choice.muted_until,
            end_of=end_of,
            said=_SAID.get(request.query_params.get("said", ""), ""),
        )

    @page("/mine/alerts", method="POST")
    async def alerts(self, request: Request, who: Who) -> Response:
        """Keep what wakes the caller, and lead back."""
        async with request.form() as form:
            kinds = tuple(value for value in form.getlist("kind") if isinstance(value, str))
            mute, usual = str(form.get("mute", "off")), bool(form.get("usual"))
        await self._cricket.choose_alerts(
            who, given_of(kinds, mute, self._cricket.now(), usual=usual)
        )
        return lead_to("/cricket/mine?said=alerts#alerts")

    @page("/mine/test", method="POST")
    async def test(self, who: Who) -> Response:
        """Push a test to the caller's devices, and lead back."""
        try:
            await self._cricket.push_test(who)
        except PushKeyMissing:
            return lead_to("/cricket/mine?said=off#devices")
        except DeviceUnknown:
            return lead_to("/cricket/mine?said=no-device#devices")
        return lead_to("/cricket/mine?said=pushed#devices")

    @page("/mine/activities/{match_id}/end", method="POST")
    async def end(self, request: Request, who: Who, match_id: MatchId) -> Response:
        """End an activity on one device, and lead back."""
        texts = await texts_of(request)
        try:
            await self._cricket.end_activity(who, match_id, texts.get("device") or None)
        except ActivityUnknown:
            return lead_to("/cricket/mine")
        return lead_to("/cricket/mine?said=ended")

    @page("/mine/devices/forget", method="POST")
    async def forget(self, request: Request, who: Who) -> Response:
        """Forget a device, and lead back."""
        texts = await texts_of(request)
        try:
            await self._cricket.forget_device(who, texts.get("token", ""))
        except DeviceUnknown:
            return lead_to("/cricket/mine#devices")
        return lead_to("/cricket/mine?said=forgotten#devices")

    @page("/alerts-worker.js", access="anyone")
    async def alerts_worker(self) -> Response:
        """The script that shows what is pushed to a browser; its address must never change."""
        script = self._pages.assets.files[_WORKER]
        headers = {**PAGE_HEADERS, "content-type": "text/javascript; charset=utf-8"}
        return Response(script, headers=headers)

    def _browser_key(self) -> str | None:
        try:
            return self._cricket.browser_key
        except PushingOff:
            return None

    async def _found(self, match_id: str) -> MatchView | None:
        try:
            return await self._cricket.match(match_id)
        except MatchUnknown:
            return None


def chosen(choice: AlertChoice) -> frozenset[EventKind]:
    """Answer the kinds that wake somebody who chose so."""
    return ALERTING if choice.kinds is None else choice.kinds


def mute_of(choice: AlertChoice, now: datetime) -> str:
    """Answer which choice of muting is shown as chosen."""
    if choice.muted:
        return "on"
    if choice.muted_until is None or choice.muted_until <= now:
        return "off"
    return "hour" if choice.muted_until - now <= _HOUR else "night"


def given_of(kinds: tuple[str, ...], mute: str, now: datetime, *, usual: bool) -> AlertsGiven:
    """Answer what a form means; `usual` is what alerts by itself."""
    _, length = MUTES.get(mute, MUTES["off"])
    until = None if length is None else now + length
    return AlertsGiven(None if usual else kinds, mute == "on", until)
