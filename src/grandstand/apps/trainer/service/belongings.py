"""Kept here: everything the trainer keeps of one person, to be taken along or erased."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final

from grandstand.apps.trainer.service.means import Means
from grandstand.apps.trainer.store import Attempt, Profile, UserTotals
from grandstand.kit.plain import plain
from grandstand.storage.tables.errors import ConditionFailed

# Indexes of DynamoDB show a write a moment later, as a rule within a second.
_INDEX_LAG_SECONDS: Final = 1.0


class TrainerBelongings:
    """What the trainer keeps of one person: attempts, profiles and totals."""

    def __init__(self, means: Means) -> None:
        self._means = means

    async def export(self, user_id: str) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Answer everything kept of a person: a kind and a plain value each."""
        store = self._means.store
        async for attempt in self._means.each(Attempt.of_user(user_id)):
            yield "attempt", plain(attempt)
        async for profile in self._means.each(Profile.history(user_id)):
            yield "profile", plain(profile)
        totals = await store(UserTotals.of_user(user_id))
        if totals is not None:
            yield "totals", plain(totals)

    async def erase(self, user_id: str) -> int:
        """Erase everything kept of a person and answer how many things that were.

        The totals go before the profiles: without them no profile is made any more.
        """
        store, erased = self._means.store, await self._erase_attempts(user_id)
        if store.store.session.engine.remote:
            await self._means.sleep(_INDEX_LAG_SECONDS)
            erased += await self._erase_attempts(user_id)
        if await store(UserTotals.of_user(user_id)) is not None:
            await store(UserTotals.forget(user_id))
            erased += 1
        profiles = await store(Profile.history(user_id))
        await store(Profile.erase(user_id, tuple(each.timestamp for each in profiles)))
        return erased + len(profiles)

    async def _erase_attempts(self, user_id: str) -> int:
        erased = 0
        async for attempt in self._means.each(Attempt.of_user(user_id)):
            try:
                await self._means.store(Attempt.erase(attempt.attempt_id, user_id))
            except ConditionFailed:
                continue
            erased += 1
        return erased
