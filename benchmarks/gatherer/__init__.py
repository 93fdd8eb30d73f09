"""The gatherer: how fast frames of the exchange become books and rows, beside its peers."""

from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.gatherer import day, decoding, instants, recording, replaying, sockets
from benchmarks.harness.rows import Row


def run(*, full: bool) -> list[Row]:
    """Measure every row; `full` records the specification's peak day and 20,000 markets."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        # Another user may have to reach the server's files.
        folder.chmod(0o755)
        found = [
            *decoding.rows(),
            *recording.rows(folder),
            *sockets.rows(folder / "sockets"),
            *instants.rows(folder / "instants"),
            *replaying.rows(folder / "replaying"),
        ]
        return (
            [*found, *day.rows(folder / "day"), *sockets.many(folder / "many")] if full else found
        )
