"""A process that writes causes with their consequences, and is killed: causing.py PLACE PREFIX."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import Self

from grandstand.core.clock import SystemClock
from grandstand.kit.outbox import Outbox
from grandstand.storage.tables import Entity, Get, Table, key
from tests.kit.stores import open_at

causes = Table("causes", partition="name", purpose="What has consequences.")
CAUSE_TABLES = (causes,)


class Cause(Entity, table=causes):
    """Something that has a consequence."""

    name: str

    row = key("{name}")

    @classmethod
    def one(cls, name: str) -> Get[Self]:
        """A cause."""
        return cls.get(name=name)


async def cause(place: str, prefix: str) -> None:
    """Write three causes, each in one transaction with its consequence."""
    store = open_at(place, prefix)
    outbox = Outbox(store, SystemClock())
    for number in range(3):
        name = f"cause {number}"
        await store.all(
            Cause(name=name).put().if_absent(), outbox.write("told", name, {"number": number})
        )


def main() -> None:
    """Write, then die without a chance to deliver."""
    asyncio.run(cause(*sys.argv[1:]))
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
