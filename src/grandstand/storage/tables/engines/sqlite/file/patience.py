"""Kept here: waiting for another process's write to end."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event, get_ident
from typing import Final

# Measured with 4 writing processes on 2 cores: SQLite's own handler, which sleeps ever longer,
# made the slowest of 60 000 writes a second take 130 ms; short even pauses 16 ms at 90 000.
_AT_ONCE: Final = 3
_PAUSE_SECONDS: Final = 0.0002
_LONG_PAUSE_SECONDS: Final = 0.002
_SHORT_WAIT_SECONDS: Final = 1.0
_GOLDEN: Final = 0.6180339887498949


def waits(seconds: float) -> Iterator[None]:
    """Yield each time the work is worth trying again, until that many seconds have been waited.

    A file's lock is waited for in real time, whatever clock the engine goes by.
    """
    for _ in range(_AT_ONCE):
        yield
    spread, spent, never = get_ident() * _GOLDEN, 0.0, Event()
    while spent < seconds:
        pause = _PAUSE_SECONDS if spent < _SHORT_WAIT_SECONDS else _LONG_PAUSE_SECONDS
        spread = (spread + _GOLDEN) % 1
        pause *= 0.5 + spread
        never.wait(pause)
        spent += pause
        yield
