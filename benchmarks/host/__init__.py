"""The platform on its socket: beside bare FastAPI, with many pages open, starting and stopping."""

from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.harness.rows import Row
from benchmarks.host.pages import fifty_pages, five_hundred_pages
from benchmarks.host.process import help_text, start, stop
from benchmarks.host.reads import reads


def run(*, full: bool) -> list[Row]:
    """Measure every row; `full` measures longer."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        return [
            reads(folder / "reads", rounds=7 if full else 3),
            fifty_pages(folder / "fifty", seconds=30 if full else 10),
            five_hundred_pages(folder / "many", seconds=30 if full else 10),
            *start(folder / "start"),
            stop(folder / "stop"),
            help_text(),
        ]
