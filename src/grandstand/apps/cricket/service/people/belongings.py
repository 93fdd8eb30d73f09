"""Kept here: everything cricket keeps of one person, to be taken along or erased."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final

from grandstand.apps.cricket.service.means import Means
from grandstand.apps.cricket.store import Device, Follower, LiveActivity, MatchFollow
from grandstand.kit.plain import plain

# Indexes of DynamoDB show a write a moment later, as a rule within a second.
_INDEX_LAG_SECONDS: Final = 1.0


class CricketBelongings:
    """What cricket keeps of one person: devices, follows, sessions and choices."""

    def __init__(self, means: Means) -> None:
        self._means = means

    async def export(self, user_id: str) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Answer everything kept of a person: a kind and a plain value each."""
        store = self._means.store
        for device in await store(Device.of_user(user_id)):
            yield "device", plain(device)
        follower = await store(Follower.by_id(user_id))
        if follower is not None:
            yield "follower", plain(follower)
            for match_id in sorted(follower.match_ids):
                follow = await store(MatchFollow.one(match_id, user_id))
                if follow is not None:
                    yield "follow", plain(follow)
        async for session in self._means.each(LiveActivity.of_user(user_id)):
            yield "activity", plain(session)

    async def erase(self, user_id: str) -> int:
        """Erase everything kept of a person and answer how many things that were.

        The follows go first: without them nothing is started any more.
        """
        store, erased = self._means.store, 0
        follower = await store(Follower.by_id(user_id))
        for match_id in sorted(follower.match_ids) if follower else ():
            gone = await store(MatchFollow.unfollow(match_id, user_id))
            erased += gone is not None
        for device in await store(Device.of_user(user_id)):
            await store(Device.forget(user_id, device.device_token))
            erased += 1
        erased += await self._erase_sessions(user_id)
        if store.store.session.engine.remote:
            await self._means.sleep(_INDEX_LAG_SECONDS)
            erased += await self._erase_sessions(user_id)
        if follower is not None:
            await store(Follower.forget(user_id))
            erased += 1
        return erased

    async def _erase_sessions(self, user_id: str) -> int:
        erased = 0
        for session in await self._means.store(LiveActivity.of_user(user_id)):
            erased += await self._means.store(LiveActivity.erase(session.seat)) is not None
        return erased
