"""What a process and all its children take, seen from outside once a second."""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_PARENT, _USER, _PAGES = 1, 11, 21


@dataclass(frozen=True)
class Watched:
    """The most memory at any look, and the share of a core over all of them."""

    most_bytes: int
    cpu_share: float


@dataclass(frozen=True)
class _Look:
    resident_bytes: int
    cpu_seconds: float


def watch(pid: int, seconds: float, every: float = 1.0) -> Watched:
    """Watch a process and its children for a while."""
    begun, first = time.monotonic(), look_at(pid)
    most, last = first.resident_bytes, first
    while time.monotonic() - begun < seconds:
        time.sleep(every)
        last = look_at(pid)
        most = max(most, last.resident_bytes)
    spent = last.cpu_seconds - first.cpu_seconds
    return Watched(most, spent / (time.monotonic() - begun))


def look_at(pid: int) -> _Look:
    """Return what a process, its children and theirs hold now, and have worked so far.

    The work of children that have ended counts as their parent's.
    """
    ticks, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    resident, worked = 0, 0
    for words in _family(pid):
        resident += int(words[_PAGES]) * page
        worked += sum(int(words[at]) for at in range(_USER, _USER + 4))
    return _Look(resident, worked / ticks)


def _family(pid: int) -> Iterator[list[str]]:
    everyone = {int(each.name): _words(each) for each in _PROC.iterdir() if each.name.isdigit()}
    waiting = [pid]
    while waiting:
        one = waiting.pop()
        words = everyone.get(one)
        if words:
            yield words
            waiting += [p for p, of in everyone.items() if of and int(of[_PARENT]) == one]


def _words(process: Path) -> list[str]:
    """The figures behind the name, which may hold anything; none when the process is gone."""
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
