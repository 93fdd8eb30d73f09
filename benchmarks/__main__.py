"""Every benchmark there is, by name; each module is imported only when it runs."""

import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from benchmarks.harness.command import main
from benchmarks.harness.rows import Row
from tests.parts.environment import tidy_environment

# Modules or packages in this folder, each with `run(*, full: bool) -> list[Row]`
NAMES: tuple[str, ...] = (
    "tables",
    "series",
    "host",
    "gatherer",
    "cricket",
    "keiba",
    "trainer",
    "bets",
    "demo",
)


def _benchmark(name: str) -> Callable[[bool], Sequence[Row]]:
    def run(full: bool) -> Sequence[Row]:  # noqa: FBT001
        rows: Sequence[Row] = import_module(f"benchmarks.{name}").run(full=full)
        return rows

    return run


if __name__ == "__main__":
    tidy_environment()
    sys.exit(main(sys.argv[1:], {name: _benchmark(name) for name in NAMES}))
