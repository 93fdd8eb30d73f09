"""Transactions with retries, and iteration that yields to the event loop."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime
from random import Random
from typing import TypeAlias, TypeVar

from grandstand.storage.tables import AsyncStore, Entity
from grandstand.storage.tables.errors import TransactionCancelled
from grandstand.storage.tables.operations.item_ops import Write
from grandstand.storage.tables.operations.queries import ReadQuery

E = TypeVar("E", bound=Entity)
Sleep: TypeAlias = Callable[[float], Awaitable[object]]


def truncate_to_ms(moment: datetime) -> datetime:
    """Return a time truncated to milliseconds, as tables store it."""
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


async def iterate_yielding(
    store: AsyncStore, reading: ReadQuery[E], sleep: Sleep
) -> AsyncIterator[E]:
    """Yield items one by one and let other tasks run in between."""
    count = 0
    async for item in store.each(reading):
        yield item
        count += 1
        if count % 50 == 0:
            await sleep(0)


async def try_transaction(store: AsyncStore, *writes: Write, random: Random, sleep: Sleep) -> bool:
    """Write all items or none; False if a condition failed.

    Retries conflicts with other transactions. Raises TransactionCancelled if the conflict persists
    after 8 attempts.
    """
    for tries_left in reversed(range(8)):
        try:
            await store.all(*writes)
        except TransactionCancelled as cancelled:
            if any(reason.code == "ConditionalCheckFailed" for reason in cancelled.reasons):
                return False
            if not tries_left:
                raise
            await sleep(random.uniform(0.01, 0.1))
        else:
            break
    return True
