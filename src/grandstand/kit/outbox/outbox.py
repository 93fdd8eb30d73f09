"""Kept here: writing consequences down, and seeing what has become of them."""

from __future__ import annotations

from datetime import datetime
from typing import Final

import msgspec

from grandstand.base.clock import Clock
from grandstand.base.errors import InvalidInput, NotFound
from grandstand.kit.outbox.tables import Consequence, waiting_shelf
from grandstand.storage.tables.errors import ConditionFailed
from grandstand.storage.tables.operations.single import Put
from grandstand.storage.tables.store import AsyncStore

_LONGEST_BODY_BYTES: Final = 200_000


class Outbox:
    """Where consequences are put that must not be forgotten, whatever happens next.

    A consequence is known by its topic and an idempotency key: the same key is the same
    consequence, and is delivered once as far as we can tell. A process that dies between
    delivering and noting it delivers again, with the same key for the receiver to know it by.
    """

    def __init__(self, store: AsyncStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def write(
        self, topic: str, idempotency_key: str, body: object, *, due_at: datetime | None = None
    ) -> Put[Consequence]:
        """Answer the write to be carried out in one transaction with its cause.

        The transaction is cancelled when the key is known already: what it causes was caused
        before. Raises InvalidInput when the body is too large or no plain value.
        """
        try:
            written = msgspec.json.encode(body)
        except (TypeError, ValueError, msgspec.MsgspecError) as fault:
            message = f"The body of {topic} {idempotency_key} cannot be written: {fault}"
            raise InvalidInput(message) from fault
        if len(written) > _LONGEST_BODY_BYTES:
            message = (
                f"The body of {topic} {idempotency_key} has {len(written)} bytes; keep it under "
                f"{_LONGEST_BODY_BYTES} and point to what is larger"
            )
            raise InvalidInput(message)
        now = self._clock.now()
        return Consequence(
            topic=topic,
            idempotency_key=idempotency_key,
            body=written.decode(),
            created_at=now,
            due_at=due_at or now,
            shelf=waiting_shelf(topic),
        ).write()

    async def put(
        self, topic: str, idempotency_key: str, body: object, *, due_at: datetime | None = None
    ) -> bool:
        """Write a consequence on its own; False when its key is known already."""
        try:
            await self._store(self.write(topic, idempotency_key, body, due_at=due_at))
        except ConditionFailed:
            return False
        return True

    async def find(self, topic: str, idempotency_key: str) -> Consequence | None:
        """Answer what has become of a consequence; None when it is not known, or no longer."""
        return await self._store(Consequence.one(topic, idempotency_key))

    async def waiting(self, topic: str, limit: int = 100) -> tuple[Consequence, ...]:
        """Answer what waits of a topic, what is due first at the front."""
        return (await self._store.page(Consequence.waiting(topic), limit)).items

    async def dead(self, limit: int = 100) -> tuple[Consequence, ...]:
        """Answer what was given up of any topic, newest first."""
        return (await self._store.page(Consequence.dead(), limit)).items

    async def again(self, topic: str, idempotency_key: str) -> None:
        """Let what was given up be tried once more; raise NotFound when it was not given up."""
        try:
            await self._store(Consequence.again(topic, idempotency_key, self._clock.now()))
        except ConditionFailed as refused:
            message = f"Nothing of {topic} with the key {idempotency_key} was given up"
            raise NotFound(message) from refused
