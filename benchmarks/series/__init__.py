"""Series of order-book deltas, compared with sqlite3, hand-written PostgreSQL, and Polars."""

from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.harness.rows import Row
from benchmarks.series.embedded import appending, growth
from benchmarks.series.reading import reading
from benchmarks.series.server import on_server
from benchmarks.series.stream import hour_of_deltas

_ROWS_PER_HOUR = 1_000_000
_SHORT = (200_000, 1_000_000)
_LONG = (1_000_000, 10_000_000, 50_000_000)


def run(*, full: bool) -> list[Row]:
    """Run all measurements; `full` appends 50 million rows."""
    hour = hour_of_deltas(_ROWS_PER_HOUR)
    with TemporaryDirectory() as name:
        folder = Path(name)
        rows = appending(folder, hour)
        rows += [growth(folder, hour, _LONG if full else _SHORT)]
        rows += reading(folder / "compressed", hour)
        # PostgreSQL may run as another user.
        folder.chmod(0o755)
        return rows + on_server(folder, hour)
