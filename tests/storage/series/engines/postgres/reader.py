"""A program that reads a series whole and prints how many rows, and by how much its memory grew."""

import resource
import sys

from grandstand.core.clock import SystemClock
from grandstand.storage.series.engines.postgres.engine import PostgresEngine
from grandstand.storage.series.query import Window
from tests.storage.series.contract.schema_changes import MARKS


def main(dsn: str, schema: str, way: str) -> None:
    """Read in that way: `read` for rows, `tables` for Arrow tables."""
    engine = PostgresEngine.open(dsn, clock=SystemClock(), schema=schema, edition="plain")
    requested = Window(MARKS, -(2**63), 2**63, order="any")
    few = Window(MARKS, -(2**63), 2**63, limit=50)
    [*engine.read(few)], [*engine.tables(few)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if way == "read":
        rows = sum(1 for _ in engine.read(requested))
    else:
        rows = sum(table.num_rows for table in engine.tables(requested))
    sys.stdout.write(f"{rows} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before}\n")
    engine.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
