"""A process that takes trades into a buffer until it is killed, and says what became durable."""

import sys
import threading
from pathlib import Path
from random import Random

from grandstand.apps.gatherer.store import TRADES
from grandstand.core.clock import SystemClock
from grandstand.storage.series.buffer import Buffer, Limits
from tests.storage.series.buffer.builders import SERIES, FailingEngine, open_failing_engine, trades

BATCH = 20
LIMITS = Limits(
    batch_rows=100,
    age_seconds=0.01,
    memory_bytes=300_000,
    spill_after_seconds=0.05,
    first_wait_seconds=0.01,
    longest_wait_seconds=0.02,
    file_bytes=20_000,
)


def say(what: object) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def waver(engine: FailingEngine) -> None:
    """Make the engine fail, before or after, and work again, in turns."""
    chance, clock = Random(3), SystemClock()
    while True:
        engine.fails = chance.choice(["", "before", "after"])
        clock.sleep(chance.uniform(0.01, 0.1))


def main(folder: Path, first: int) -> None:
    engine = open_failing_engine(folder)
    buffer = Buffer.open(
        folder / "spill",
        SERIES,
        lambda: engine,
        clock=SystemClock(),
        chance=Random(first),
        limits=LIMITS,
        on_event=lambda _: None,
    )
    threading.Thread(target=buffer.run, daemon=True).start()
    threading.Thread(target=waver, args=(engine,), daemon=True).start()
    number = first
    while True:
        buffer.take(TRADES, trades(number, number + BATCH))
        number += BATCH
        say(first + buffer.durable)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
