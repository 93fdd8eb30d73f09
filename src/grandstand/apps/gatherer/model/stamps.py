"""Kept here: receive stamps that grow strictly, whatever the clock does."""

from __future__ import annotations


class Stamps:
    """The last stamp given; one of these serves a whole process."""

    __slots__ = ("last",)

    def __init__(self, last: int = 0) -> None:
        self.last = last

    def next(self, now_us: int) -> int:
        """Answer now, or one microsecond after the last stamp when that is later."""
        last = self.last + 1
        self.last = stamp = now_us if now_us > last else last  # noqa: FURB136 - for every frame
        return stamp
