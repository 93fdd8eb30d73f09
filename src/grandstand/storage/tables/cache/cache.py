"""Kept here: the cache as callers use it, waiting or awaiting."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from random import Random
from typing import TYPE_CHECKING, Any, TypeVar

from grandstand.storage.tables.cache.counting import Statistics
from grandstand.storage.tables.cache.flight import AsyncFlights, Flights
from grandstand.storage.tables.cache.form import CacheKey
from grandstand.storage.tables.cache.script import Script, play, play_async
from grandstand.storage.tables.cache.work import (
    Cached,
    CacheSettings,
    Notice,
    Work,
    log_notice,
)
from grandstand.storage.tables.errors import DeclarationFault

if TYPE_CHECKING:
    from grandstand.storage.tables.store import AsyncStore, Store

R = TypeVar("R")
V = TypeVar("V")


def _nothing() -> None:
    """Stand in where a script has no use for it."""


async def _nothing_async() -> None:
    """Stand in where a script has no use for it."""


def _identity(key: CacheKey[Any]) -> tuple[object, ...]:
    return (key.form.plan.table.name, *key.values)


def _shared(work: Work, key: CacheKey[V], answer: Cached[V]) -> Cached[V]:
    """Count what another caller of this process got, and hand it on."""
    work.tally.add([key.form.kind], shared=1)
    return answer


class Cache:
    """Keeps what is dear to fetch, for entries of any forms; safe to share between threads.

    The store's failures are counted and told, never raised: what cannot be read is a miss, what
    cannot be kept is not kept. `owner` names this process among those that share the tables, which
    are the entities' own and `grandstand-leases`. A form that revalidates needs `later`, which has
    to run what it is given on another thread.
    """

    def __init__(
        self,
        store: Store,
        *,
        owner: str,
        random: Random,
        settings: CacheSettings | None = None,
        later: Callable[[Callable[[], None]], object] | None = None,
        notice: Callable[[Notice], None] = log_notice,
    ) -> None:
        self._store = store
        self._later = later
        self._flights = Flights()
        self._work = Work(
            store.session, settings or CacheSettings(), owner=owner, random=random, notice=notice
        )

    def get(self, key: CacheKey[V], *, stale: bool = False) -> Cached[V]:
        """Answer an entry; an expired one still there only if `stale`, as its form allows."""
        return self.get_many([key], stale=stale)[0]

    def get_many(self, keys: Iterable[CacheKey[V]], *, stale: bool = False) -> list[Cached[V]]:
        """Answer many entries in one go, in the order of the keys."""
        return self._play(self._work.look(list(keys), stale=stale))

    def get_or_fetch(self, key: CacheKey[V], fetch: Callable[[], V | None]) -> Cached[V]:
        """Answer an entry, or what `fetch` answers, which is kept; None means there is nothing.

        Of all who want the same entry, in this process and others, one fetches; the others wait a
        bounded time and then fetch as well. Raises what `fetch` raises, unless a stale entry may
        stand in; DeclarationFault when the form revalidates and there is no `later`.
        """
        if key.form.revalidates and self._later is None:
            message = f"{key.form.kind} is revalidated in the background: give the cache `later`"
            raise DeclarationFault(message)

        def refresh() -> None:
            self._play(self._work.refresh(key), fetch)

        def later() -> None:
            assert self._later is not None  # noqa: S101 - asked above
            self._later(refresh)

        answer, shared = self._flights.fly(
            _identity(key),
            lambda: play(self._work.through(key), self._store, fetch, later),
            lambda: self._play(self._work.alone(key), fetch),
            self._work.settings.wait_seconds,
        )
        return _shared(self._work, key, answer) if shared else answer

    def put(self, key: CacheKey[V], value: V | None) -> bool:
        """Keep a payload as fetched now, or that there is none; False when it was not kept."""
        return self._play(self._work.keep(key, value, self._work.session.clock.now()))

    def forget(self, key: CacheKey[Any]) -> bool:
        """Delete an entry; False when there was none, or the store does not answer."""
        return self._play(self._work.forget(key))

    def statistics(self) -> Statistics:
        """Answer what the cache has done so far."""
        return self._work.tally.statistics()

    def _play(self, script: Script[R], fetch: Callable[[], object] = _nothing) -> R:
        return play(script, self._store, fetch, _nothing)


class AsyncCache:
    """The same cache for the tasks of one event loop; `settle` awaits what runs behind it."""

    def __init__(
        self,
        store: AsyncStore,
        *,
        owner: str,
        random: Random,
        settings: CacheSettings | None = None,
        notice: Callable[[Notice], None] = log_notice,
    ) -> None:
        self._store = store
        self._flights = AsyncFlights()
        self._behind: set[asyncio.Task[None]] = set()
        self._work = Work(
            store.store.session,
            settings or CacheSettings(),
            owner=owner,
            random=random,
            notice=notice,
        )

    async def get(self, key: CacheKey[V], *, stale: bool = False) -> Cached[V]:
        """Answer an entry; an expired one still there only if `stale`, as its form allows."""
        return (await self.get_many([key], stale=stale))[0]

    async def get_many(
        self, keys: Iterable[CacheKey[V]], *, stale: bool = False
    ) -> list[Cached[V]]:
        """Answer many entries in one go, in the order of the keys."""
        return await self._play(self._work.look(list(keys), stale=stale))

    async def get_or_fetch(
        self, key: CacheKey[V], fetch: Callable[[], Awaitable[V | None]]
    ) -> Cached[V]:
        """Answer an entry, or what `fetch` answers, which is kept, as `Cache.get_or_fetch` does."""

        def later() -> None:
            task = asyncio.create_task(self._play(self._work.refresh(key), fetch))
            self._behind.add(task)
            task.add_done_callback(self._behind.discard)

        answer, shared = await self._flights.fly(
            _identity(key),
            lambda: play_async(self._work.through(key), self._store, fetch, later),
            lambda: self._play(self._work.alone(key), fetch),
            self._work.settings.wait_seconds,
        )
        return _shared(self._work, key, answer) if shared else answer

    async def put(self, key: CacheKey[V], value: V | None) -> bool:
        """Keep a payload as fetched now, or that there is none; False when it was not kept."""
        return await self._play(self._work.keep(key, value, self._work.session.clock.now()))

    async def forget(self, key: CacheKey[Any]) -> bool:
        """Delete an entry; False when there was none, or the store does not answer."""
        return await self._play(self._work.forget(key))

    async def settle(self) -> None:
        """Return when nothing is being fetched in the background any more."""
        while self._behind:
            await asyncio.gather(*self._behind)

    def statistics(self) -> Statistics:
        """Answer what the cache has done so far."""
        return self._work.tally.statistics()

    async def _play(
        self, script: Script[R], fetch: Callable[[], Awaitable[object]] = _nothing_async
    ) -> R:
        return await play_async(script, self._store, fetch, _nothing)
