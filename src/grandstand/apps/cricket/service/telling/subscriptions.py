"""Kept here: alerts to browsers, for those who subscribed one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import msgspec

from grandstand.apps.cricket.model.alerts import wakes
from grandstand.apps.cricket.service.means import WEBPUSH, Means
from grandstand.apps.cricket.service.ports import Browsers
from grandstand.apps.cricket.service.refusals import PushingOff
from grandstand.apps.cricket.service.telling.bulletins import Bulletin, Told
from grandstand.apps.cricket.store import Browser, Delivery, Follower, MatchFollow
from grandstand.base.errors import InvalidInput
from grandstand.base.log import log
from grandstand.kit.outbox import Consequence
from grandstand.storage.tables.errors import ConditionFailed

_MOST: Final = 5
_TRIES: Final = 8
_PAGE: Final = 100

_Known: TypeAlias = tuple[Browser, ...]


@dataclass(frozen=True, slots=True)
class Shouted:
    """An event for the browsers of those who follow a match."""

    match_id: str
    told: Told


class Subscriptions:
    """Keeps which browsers a person has, and tells them what wakes that person, once."""

    def __init__(self, means: Means) -> None:
        self._means = means

    def _open(self) -> Browsers:
        if self._means.browsers is None:
            raise PushingOff("Browsers are not pushed to: set cricket.webpush and its key")
        return self._means.browsers

    @property
    def public_key(self) -> str:
        """What a page subscribes with; raises PushingOff."""
        return self._open().public_key

    async def subscribe(self, user_id: str, browser: Browser) -> None:
        """Keep a browser, of the newest five of a person; raise PushingOff and InvalidInput."""
        self._open().check(browser)

        def added(known: _Known) -> _Known:
            return (*_without(known, browser.endpoint), browser)[-_MOST:]

        await self._change(user_id, added)

    async def unsubscribe(self, user_id: str, endpoint: str) -> None:
        """Forget a browser; one that is not known is fine."""

        def left(known: _Known) -> _Known:
            return _without(known, endpoint)

        await self._change(user_id, left)

    async def of_user(self, user_id: str) -> _Known:
        """Answer the browsers of a person."""
        follower = await self._means.store(Follower.by_id(user_id))
        return () if follower is None else follower.browsers

    async def _change(self, user_id: str, change: Callable[[_Known], _Known]) -> None:
        """Change which browsers are kept; whoever changes them meanwhile is not undone."""
        for tries_left in reversed(range(_TRIES)):
            known = await self.of_user(user_id)
            changed = change(known)
            if changed == known:
                return
            kept = Follower.subscribe(user_id, changed, self._means.now(), before=known)
            try:
                await self._means.store(kept)
            except ConditionFailed:
                if not tries_left:
                    raise
            else:
                return

    async def shout(self, bulletin: Bulletin) -> None:
        """Write down that browsers are to be told of a bulletin's event."""
        told = bulletin.told
        if self._means.browsers is None or told is None or bulletin.quiet:
            return
        shouted = Shouted(bulletin.match_id, told)
        await self._means.outbox.put(WEBPUSH, f"{bulletin.key}:{told.event.key}", shouted)

    async def deliver(self, consequence: Consequence) -> None:
        """Tell the browsers of everybody whom an event wakes, once."""
        shouted = msgspec.json.decode(consequence.body, type=Shouted)
        store, now = self._means.store, self._means.now()
        if self._means.browsers is None:
            return
        delivery = f"web#{consequence.idempotency_key}"
        mark = Delivery(match_id=shouted.match_id, delivery=delivery, begun_at=now)
        try:
            await store(mark.begin())
        except ConditionFailed:
            return
        cursor = None
        while True:
            page = await store.page(MatchFollow.of_match(shouted.match_id), _PAGE, after=cursor)
            gets = [Follower.by_id(each.user_id) for each in page.items]
            for follower in await store.get_many(gets) if gets else []:
                if follower is not None and wakes(follower.choice, shouted.told.event, now):
                    await self._tell(follower, shouted)
            cursor = page.cursor
            if cursor is None:
                return

    async def _tell(self, follower: Follower, shouted: Shouted) -> None:
        told, browsers = shouted.told, self._open()
        message = msgspec.json.encode(
            {"matchId": shouted.match_id, "title": told.title, "body": told.body}
        )
        for browser in follower.browsers:
            try:
                verdict = await browsers.send(
                    browser, message, topic=f"match-{shouted.match_id}"[:32]
                )
            except InvalidInput as fault:
                log("cricket").warning("a browser cannot be pushed to", error=str(fault))
                continue
            if verdict.fate == "gone":
                await self.unsubscribe(follower.user_id, browser.endpoint)


def _without(known: _Known, endpoint: str) -> _Known:
    return tuple(each for each in known if each.endpoint != endpoint)
