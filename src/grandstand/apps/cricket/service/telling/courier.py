"""Kept here: telling bulletins as soon as they are made: one match at a time, the newest first."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from functools import partial
from typing import Final

from grandstand.apps.cricket.service.means import BULLETIN, Means
from grandstand.apps.cricket.service.telling.bulletins import Bulletin
from grandstand.apps.cricket.service.telling.delivering import Delivering
from grandstand.base.errors import GrandstandError
from grandstand.base.log import log, redact
from grandstand.kit.outbox import Consequence
from grandstand.storage.tables.errors import ConditionFailed

_CLAIMED: Final = timedelta(seconds=30)
_AGAIN: Final = timedelta(seconds=2)


class Courier:
    """Tells what this instance has just written; whatever it does not, the outbox does later.

    While a match is being told, its further bulletins wait; of those, only the newest is told,
    with the most important alert among them.
    """

    def __init__(self, means: Means, delivering: Delivering) -> None:
        self._means = means
        self._delivering = delivering
        self._waiting: dict[str, list[Bulletin]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def offer(self, bulletin: Bulletin) -> None:
        """Tell a bulletin soon; never waits."""
        match_id = bulletin.match_id
        self._waiting.setdefault(match_id, []).append(bulletin)
        if match_id not in self._tasks:
            task = asyncio.create_task(self._run(match_id), name=f"telling {match_id}")
            self._tasks[match_id] = task
            task.add_done_callback(partial(self._put_away, match_id))

    async def settle(self) -> None:
        """Wait until everything offered was tried."""
        while self._tasks:
            await asyncio.wait(list(self._tasks.values()))

    async def stop(self) -> None:
        """Stop telling; the outbox has what is left."""
        self._waiting.clear()
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _put_away(self, match_id: str, task: asyncio.Task[None]) -> None:
        self._tasks.pop(match_id, None)
        fault = None if task.cancelled() else task.exception()
        if fault is not None:
            log("cricket").error("telling broke off", match=match_id, error=redact(str(fault)))

    async def _run(self, match_id: str) -> None:
        while bulletins := self._waiting.pop(match_id, None):
            *older, newest = bulletins
            claimed = [await self._claim(each) for each in bulletins]
            if claimed[-1] is None:
                continue
            mine = [each for each, claim in zip(older, claimed, strict=False) if claim]
            held = [each for each in claimed if each]
            try:
                await self._delivering.fan_out(newest, tuple(mine))
            except GrandstandError as fault:
                log("cricket").warning("not told yet", match=match_id, error=redact(str(fault)))
                await self._give_back(held, str(fault), _AGAIN)
            except asyncio.CancelledError:
                await self._give_back(held, "this instance stopped", timedelta(0))
                raise
            else:
                await self._note_told(held)

    async def _claim(self, bulletin: Bulletin) -> Consequence | None:
        found = await self._means.outbox.find(BULLETIN, bulletin.key)
        if found is None or found.stage != "waiting":
            return None
        try:
            return await self._means.store(found.claim(self._means.clock.now() + _CLAIMED))
        except ConditionFailed:
            return None

    async def _note_told(self, claimed: list[Consequence]) -> None:
        for each in claimed:
            await self._means.store(each.delivered(self._means.clock.now()))

    async def _give_back(self, claimed: list[Consequence], why: str, wait: timedelta) -> None:
        for each in claimed:
            try:
                await self._means.store(each.postpone(self._means.clock.now() + wait, why))
            except ConditionFailed:
                log("cricket").info("another took it over", about=each.idempotency_key)
