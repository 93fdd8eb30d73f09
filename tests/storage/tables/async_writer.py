"""A process that awaits concurrent writes until it is killed: async_writer.py PATH NAME."""

from __future__ import annotations

import asyncio
import os
import sys
from itertools import count
from pathlib import Path

from grandstand.core.clock import SystemClock
from grandstand.storage.tables import AsyncStore, Entity, Naming, Store, Table, key
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.errors import ConditionFailed
from grandstand.storage.tables.platform_tables import Consumer

TASKS = 16

entries = Table(
    "entries",
    partition="pk",
    sort="sk",
    stream="NEW_AND_OLD_IMAGES",
    purpose="What the tasks of a killed process wrote.",
)


class Entry(Entity, table=entries):
    """A numbered entry of one task."""

    task: str
    number: int
    text: str

    row = key("TASK#{task}", "ENTRY#{number:06d}")


class Total(Entity, table=entries):
    """The number of entries that a task wrote in transactions."""

    task: str
    written: int = 0

    row = key("TOTAL#{task}", "TOTAL")


def open_store(path: Path) -> Store:
    engine = SqliteEngine.open(path, clock=SystemClock(), durability="process")
    store = Store(engine, naming=Naming(), clock=SystemClock())
    store.create([entries, Consumer.__plan__.table])
    return store


def in_transaction(number: int) -> bool:
    return number % 5 == 4


def entry(task: str, number: int) -> Entry:
    return Entry(task=task, number=number, text=f"{task} wrote this " * (number % 7))


async def write(store: AsyncStore, task: str) -> None:
    """Write entries and print each one's number once it is acknowledged."""
    await store(Total(task=task).put())
    for number in count():
        if in_transaction(number):
            await store.all(
                entry(task, number).put().if_absent(), Total.update(task=task).add(written=1)
            )
        else:
            await store(entry(task, number).put().if_absent())
        os.write(sys.stdout.fileno(), f"{task} {number}\n".encode())
        try:
            await store(Entry(task=task, number=number, text="again").put().if_absent())
        except ConditionFailed:
            continue
        raise AssertionError(f"{task} wrote {number} twice.")


async def main(path: Path, name: str) -> None:
    store = AsyncStore(open_store(path))
    await asyncio.gather(*(write(store, f"{name}-{number}") for number in range(TASKS)))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
