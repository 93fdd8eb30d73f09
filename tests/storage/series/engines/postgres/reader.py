"""A program that reads a series whole and prints how many rows, and by how much its memory grew."""

import resource
import sys

from grandstand.base.clock import SystemClock
from grandstand.storage.series.engines.postgres import PostgresEngine
from grandstand.storage.series.window import Window
from tests.storage.series.contract.growing import MARKS


def main(dsn: str, schema: str, way: str) -> None:
    """Read in that way: `read` for rows, `tables` for Arrow tables."""
    engine = PostgresEngine.open(dsn, clock=SystemClock(), schema=schema, edition="plain")
    asked = Window(MARKS, -(2**63), 2**63, order="any")
    few = Window(MARKS, -(2**63), 2**63, most=50)
    [*engine.read(few)], [*engine.tables(few)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if way == "read":
        rows = sum(1 for _ in engine.read(asked))
    else:
        rows = sum(table.num_rows for table in engine.tables(asked))
    sys.stdout.write(f"{rows} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before}\n")
    engine.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
