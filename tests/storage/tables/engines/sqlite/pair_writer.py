"""A process that writes two items in every transaction, until it is killed: FILE."""

import sys
from itertools import count
from pathlib import Path

from grandstand.core.clock import SystemClock
from grandstand.storage.tables.attribute_values import Key
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.requests import PutItem, Transaction

KEYS: tuple[Key, Key] = ({"game": "left", "play": "n"}, {"game": "right", "play": "n"})


def main(path: Path) -> None:
    engine = SqliteEngine.open(path, clock=SystemClock())
    for number in count(1):
        actions = tuple(PutItem("plays", {**key, "n": number}) for key in KEYS)
        engine.transact_write(Transaction(actions))
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
