"""A process that writes and says what it wrote, until it is killed: python writer.py FILE NAME."""

import sys
from pathlib import Path as FilePath

from grandstand.core.clock import SystemClock
from grandstand.storage.tables.attribute_values import Item, Key
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.expressions.nodes import Literal, UpdateNode
from grandstand.storage.tables.requests import PutItem, Transaction, UpdateItem
from tests.storage.tables.engines.sqlite.plays import path


def item(name: str, number: int) -> Item:
    """An item that is in the sparse index one time in three."""
    sparse: Item = {} if number % 3 else {"team": name, "points": number}
    return {"game": name, "play": f"p{number:07d}", "n": number, **sparse}


def say(what: str, number: int) -> None:
    """Acknowledge a write to whoever listens."""
    sys.stdout.write(f"{what} {number}\n")
    sys.stdout.flush()


def main() -> None:
    """Write for ever: a put, an update of one counter, a transaction of both kinds."""
    file, name = sys.argv[1:]
    engine = SqliteEngine.open(FilePath(file), clock=SystemClock())
    count = UpdateNode(adds=((path("n"), Literal(1)),))
    counter: Key = {"game": f"count-{name}", "play": "all"}
    number = 0
    while True:
        engine.put(PutItem("plays", item(name, number)))
        say("put", number)
        engine.update(UpdateItem("plays", counter, count))
        say("count", number)
        engine.transact_write(
            Transaction(
                (
                    PutItem("plays", item(name, number + 1)),
                    UpdateItem("plays", counter, count),
                )
            )
        )
        say("both", number + 1)
        number += 2


if __name__ == "__main__":
    main()
