"""Kept here: how far a copy has come, written down so that it goes on there after a stop."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

import msgspec

from grandstand.base.clock import Clock
from grandstand.host.moving.places import COPYING

_EVERY_SECONDS: Final = 0.5
_SHORT: Final = 16


class Stood(msgspec.Struct, frozen=True):
    """Where a copy of one table or series stood: done, or at a place, with what was counted."""

    done: bool = False
    place: str | None = None
    counts: tuple[int, ...] = ()
    chunks: tuple[int, ...] = ()


class _Kept(msgspec.Struct):
    begun_at: str
    parts: dict[str, Stood]


class CopyState:
    """What a copy from one place to another has done; the places themselves are not told."""

    def __init__(self, path: Path, kept: _Kept, clock: Clock, *, resumed: bool) -> None:
        self._path = path
        self._kept = kept
        self._clock = clock
        self._written_at = clock.monotonic()
        self.resumed = resumed

    @classmethod
    def open(cls, home: Path, question: tuple[object, ...], clock: Clock) -> CopyState:
        """Take up what an earlier copy of the same question left, or begin."""
        name = hashlib.sha256(repr(question).encode()).hexdigest()[:_SHORT]
        path = home / COPYING / f"{name}.json"
        try:
            kept = msgspec.json.decode(path.read_bytes(), type=_Kept)
        except (FileNotFoundError, msgspec.DecodeError):
            return cls(path, _Kept(clock.now().isoformat(), {}), clock, resumed=False)
        return cls(path, kept, clock, resumed=True)

    @property
    def begun_at(self) -> str:
        """When the copy was begun."""
        return self._kept.begun_at

    def stood(self, name: str) -> Stood:
        """Answer where the copy of a table or series stood."""
        return self._kept.parts.get(name, Stood())

    def keep(self, name: str, stood: Stood) -> None:
        """Note where a copy stands; it is written twice a second, and when a part is done."""
        self._kept.parts[name] = stood
        now = self._clock.monotonic()
        if stood.done or now - self._written_at >= _EVERY_SECONDS:
            self._written_at = now
            self._path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = self._path.with_suffix(".unfinished")
            unfinished.write_bytes(msgspec.json.encode(self._kept))
            unfinished.replace(self._path)

    def forget(self) -> None:
        """Remove what was noted: the copy is over, and the next one begins at the beginning."""
        self._path.unlink(missing_ok=True)
