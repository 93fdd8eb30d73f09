"""A process that moves data and stands still in the middle, to be killed there.

backup HOME FILE, copy HOME TARGET, or restore HOME FILE.
"""

import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

from grandstand.core.clock import SystemClock
from grandstand.host.backup.archive import Progress
from grandstand.host.backup.backup import back_up
from grandstand.host.backup.copying import TableCopyRequest, copy_tables
from grandstand.host.backup.restore import restore
from grandstand.host.registry import all_tables
from grandstand.host.settings import Settings


class HastyClock(SystemClock):
    """A clock on which each look takes a second, so that every step is written down."""

    def __init__(self) -> None:
        self._looks = count()

    def monotonic(self) -> float:
        return float(next(self._looks))


def stand_at(what: str, done: int) -> Callable[[Progress], None]:
    """Stand still when a piece of work has come so far."""

    def tell(reached: Progress) -> None:
        if reached.what.startswith(what) and reached.done >= done:
            sys.stdout.write("standing\n")
            sys.stdout.flush()
            sys.stdin.readline()

    return tell


def main(work: str, home: str, place: str) -> None:
    settings = Settings.model_validate({"home": Path(home)})
    clock = HastyClock()
    if work == "backup":
        tell = stand_at("packing", 0)
        back_up(settings, Path(place), clock=clock, report=tell, force=False, simulated=False)
    elif work == "restore":
        tell = stand_at("unpacking", 1)
        restore(settings, Path(place), clock=clock, report=tell, force=True)
    else:
        tell = stand_at("copy of ", 500)
        copy_tables(
            settings, TableCopyRequest("sqlite", place, all_tables(), create=True), clock, tell
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
