"""Kept here: everything keiba keeps of one person, to be taken along or erased."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from grandstand.apps.keiba.service.means import Means
from grandstand.apps.keiba.store import Watch, Watching


class KeibaBelongings:
    """What keiba keeps of one person: the horses they watch, with their notes."""

    def __init__(self, means: Means) -> None:
        self._means = means

    async def export(self, user_id: str) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Answer everything kept of a person: a kind and a plain value each."""
        async for watch in self._means.store.each(Watch.of_user(user_id)):
            yield (
                "watched horse",
                {
                    "horseId": watch.horse_id,
                    "horseName": watch.horse_name,
                    "note": watch.note,
                    "watchedAt": watch.watched_at.isoformat(),
                },
            )

    async def erase(self, user_id: str) -> int:
        """Erase everything kept of a person and answer how many things that were."""
        store = self._means.store
        kept = [watch async for watch in store.each(Watch.of_user(user_id))]
        for watch in kept:
            await store.all(
                Watch.end(user_id, watch.horse_id), Watching.end(watch.horse_id, user_id)
            )
        return len(kept)
