"""Kept here: carrying consequences out: claimed by one instance at a time, until they pass."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from random import Random
from typing import Any, Final, TypeAlias

from grandstand.base.clock import Clock
from grandstand.base.errors import GrandstandError
from grandstand.base.log import log, redact
from grandstand.base.metrics import Metrics
from grandstand.kit.outbox.tables import Consequence
from grandstand.storage.tables.errors import ConditionFailed
from grandstand.storage.tables.operations.single import Operation
from grandstand.storage.tables.store import AsyncStore

Deliver: TypeAlias = Callable[[Consequence], Awaitable[None]]

_LONGEST_TEXT: Final = 1000
_SHORTEST_REST_SECONDS: Final = 0.01
_LONGEST_REST_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class Persistence:
    """How long a try may take, how often it is tried, with which waits, and how often to look.

    Of each topic so many are delivered at once.

    With the defaults something that never passes is given up after about five hours.
    """

    try_seconds: float = 30.0
    tries: int = 16
    first_seconds: float = 2.0
    most_seconds: float = 3600.0
    look_seconds: float = 2.0
    stop_seconds: float = 3.0
    at_once: int = 16


class Deliverer:
    """Delivers what waits in the outbox of the topics it knows a way for, and of no others.

    Any number of deliverers may know the same topic: each consequence is claimed by one. A topic
    never waits for another. An error that says it may pass is tried again, as is one that is not
    ours; any other error of ours is final.
    """

    def __init__(
        self,
        store: AsyncStore,
        ways: Mapping[str, Deliver],
        *,
        clock: Clock,
        random: Random,
        metrics: Metrics,
        persistence: Persistence = Persistence(),  # noqa: B008 - a frozen value
    ) -> None:
        self._store = store
        self._ways = dict(ways)
        self._clock = clock
        self._random = random
        self._metrics = metrics
        self._persistence = persistence
        self._under_way: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._wake = asyncio.Event()
        self._stopping = False
        self._ended: asyncio.Event | None = None

    async def run(self) -> None:
        """Deliver what is due when it is due, until stopped."""
        self._ended = asyncio.Event()
        faults = 0
        try:
            while not self._stopping:
                try:
                    pause, faults = await self._look(), 0
                except GrandstandError as fault:
                    faults += 1
                    pause = min(self._persistence.look_seconds * 2**faults, _LONGEST_REST_SECONDS)
                    log("outbox").error("the outbox cannot be seen", error=redact(str(fault)))
                await self._rest(pause)
        finally:
            await self._wind_down()
            self._ended.set()

    async def stop(self) -> None:
        """Begin nothing new, let what is being delivered end or give it back, and return then."""
        self._stopping = True
        self._wake.set()
        if self._ended is not None:
            await self._ended.wait()

    async def _look(self) -> float:
        """Begin to deliver what is due; answer how many seconds may pass until the next look."""
        rest = self._persistence.look_seconds
        for topic in self._ways:
            rest = min(rest, await self._look_at(topic))
        return max(rest, _SHORTEST_REST_SECONDS)

    async def _look_at(self, topic: str) -> float:
        most, rest = self._persistence.at_once, self._persistence.look_seconds
        waiting = (await self._store.page(Consequence.waiting(topic), 2 * most)).items
        self._metrics.set("outbox_waiting", len(waiting), topic=topic)
        now, busy = self._clock.now(), sum(place[0] == topic for place in self._under_way)
        for each in waiting:
            if each.due_at > now:
                return min(rest, (each.due_at - now).total_seconds())
            if each.place not in self._under_way and busy < most:
                busy += 1
                task = asyncio.create_task(self._deliver(each), name=f"outbox {topic}")
                self._under_way[each.place] = task
                task.add_done_callback(partial(self._put_away, each.place))
        return rest

    def _put_away(self, place: tuple[str, str], task: asyncio.Task[None]) -> None:
        del self._under_way[place]
        fault = None if task.cancelled() else task.exception()
        if fault is None:
            self._wake.set()
        else:
            log("outbox").error("delivering broke off", about=place[1], error=redact(str(fault)))

    async def _wind_down(self) -> None:
        for cancelled in (False, True):
            tasks = list(self._under_way.values())
            for task in tasks if cancelled else ():
                task.cancel()
            if tasks:
                await asyncio.wait(tasks, timeout=self._persistence.stop_seconds / 2)

    async def _rest(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            pass
        self._wake.clear()

    async def _deliver(self, waiting: Consequence) -> None:
        # Twice the time of a try: whoever hangs on it has let go when another may take it.
        until = self._clock.now() + timedelta(seconds=2 * self._persistence.try_seconds)
        try:
            claimed = await self._store(waiting.claim(until))
        except ConditionFailed:
            # An index may lag behind: looking again at once would only find the same.
            await asyncio.sleep(self._persistence.look_seconds)
            return
        try:
            note = await self._try(claimed)
        except asyncio.CancelledError:
            await self._note(claimed, claimed.postpone(self._clock.now(), "this instance stopped"))
            raise
        await self._note(claimed, note)

    async def _note(self, claimed: Consequence, note: Operation[Any]) -> None:
        try:
            await self._store(note)
        except ConditionFailed:
            log("outbox").warning("another took it over", **_named(claimed))

    async def _try(self, claimed: Consequence) -> Operation[Any]:
        """Try to deliver, and answer what is to be written down about it."""
        persistence = self._persistence
        try:
            async with asyncio.timeout(persistence.try_seconds):
                await self._ways[claimed.topic](claimed)
        except Exception as fault:  # noqa: BLE001 - whatever went wrong, the consequence stays
            told = redact(f"{type(fault).__name__}: {fault}")[:_LONGEST_TEXT]
            final = isinstance(fault, GrandstandError) and not fault.retry
            now = self._clock.now()
            if final or claimed.tries >= persistence.tries:
                log("outbox").error("given up", error=told, **_named(claimed))
                return claimed.give_up(now, told)
            log("outbox").warning("not delivered", error=told, **_named(claimed))
            return claimed.postpone(now + self._wait(claimed.tries, fault), told)
        return claimed.delivered(self._clock.now())

    def _wait(self, tries: int, fault: Exception) -> timedelta:
        persistence = self._persistence
        doubled = persistence.first_seconds * 2 ** min(tries - 1, 30)
        wait = self._random.uniform(0.75, 1.25) * min(doubled, persistence.most_seconds)
        asked = getattr(fault, "retry_after_seconds", None) or 0.0
        return timedelta(seconds=max(wait, asked))


def _named(consequence: Consequence) -> dict[str, str]:
    return {"topic": consequence.topic, "about": consequence.idempotency_key}
