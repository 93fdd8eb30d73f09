"""Kept here: how a service writes all or nothing, and reads many things in turns with others."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime
from random import Random
from typing import Final, TypeAlias, TypeVar

from grandstand.storage.tables import AsyncStore, Entity
from grandstand.storage.tables.errors import TransactionCancelled
from grandstand.storage.tables.operations.batches import Write
from grandstand.storage.tables.operations.queries import Reading

E = TypeVar("E", bound=Entity)
Sleep: TypeAlias = Callable[[float], Awaitable[object]]

_REFUSED: Final = "ConditionalCheckFailed"
_TRIES: Final = 8
_TURN: Final = 50
_REST_SECONDS: Final = (0.01, 0.1)


def to_the_millisecond(moment: datetime) -> datetime:
    """Answer a moment as tables keep it, without what is below a millisecond."""
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


async def each_in_turns(store: AsyncStore, reading: Reading[E], sleep: Sleep) -> AsyncIterator[E]:
    """Answer items one by one, and let others have their turn meanwhile."""
    count = 0
    async for item in store.each(reading):
        yield item
        count += 1
        if count % _TURN == 0:
            await sleep(0)


async def wrote(store: AsyncStore, *writes: Write, random: Random, sleep: Sleep) -> bool:
    """Write all or nothing; False when something was not in the state that was demanded.

    Whoever merely meets another transaction tries again; raises TransactionCancelled when that
    does not end.
    """
    for tries_left in reversed(range(_TRIES)):
        try:
            await store.all(*writes)
        except TransactionCancelled as cancelled:
            if any(reason.code == _REFUSED for reason in cancelled.reasons):
                return False
            if not tries_left:
                raise
            await sleep(random.uniform(*_REST_SECONDS))
        else:
            break
    return True
