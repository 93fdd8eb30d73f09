"""A process that appends ticks, keeps the place up or reads it, until it is killed."""

import sys
from dataclasses import replace
from pathlib import Path

from grandstand.core.clock import SystemClock
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from tests.storage.series.engines.chunks.builders import EVERY, HOUR, TICKS, tick

FOREVER = replace(TICKS, retain=None)
BATCH = 40


def row_at(number: int) -> int:
    """Spread rows over a few chunks, so that most come late for one that is compressed."""
    return number % 4 * HOUR + number


def tell(what: object) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def append(engine: ChunkEngine, name: str) -> None:
    number = 0
    while True:
        rows = [tick(row_at(at), name) for at in range(number, number + BATCH)]
        engine.append(FOREVER, rows)
        tell(number)
        number += BATCH


def keep_up(engine: ChunkEngine) -> None:
    tell("ready")
    while True:
        engine.upkeep(FOREVER)


def read(engine: ChunkEngine) -> None:
    tell("ready")
    seen = 0
    while True:
        rows = [(row.at, row.who) for row in engine.read(replace(EVERY, series=FOREVER))]
        if rows != sorted(set(rows)) or len(rows) < seen:
            tell(f"wrong: {len(rows)} after {seen}")
        seen = len(rows)


def main(folder: Path, work: str) -> None:
    engine = ChunkEngine.open(folder, clock=SystemClock())
    engine.prepare(FOREVER)
    {"upkeep": keep_up, "read": read}.get(work, lambda opened: append(opened, work))(engine)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
