"""Kept here: the gaps of one connection that are open, and the markets that wait in them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from grandstand.apps.gatherer.model.incidents import (
    BackfillWanted,
    Gap,
    GapClosed,
    GapOpened,
    GapReason,
    Incident,
)

# After these the next changes are kept again, whether their book is true or not.
_PASSING: Final = frozenset({GapReason.MISSED, GapReason.REFUSED})


@dataclass(slots=True)
class _Open:
    gap: Gap
    waiting: set[str] = field(default_factory=set)


class OpenGaps:
    """The gaps that are not closed; a snapshot of its last market closes one."""

    def __init__(self) -> None:
        self._held: list[_Open] = []

    def open(self, gap: Gap) -> tuple[Incident, ...]:
        """Hold a gap; one that no snapshot can close wants what was missed to be fetched."""
        self.carry((gap,))
        return (GapOpened(gap),) if gap.tickers else (GapOpened(gap), BackfillWanted(gap))

    def carry(self, gaps: Iterable[Gap]) -> None:
        """Hold gaps that were opened elsewhere."""
        self._held += [_Open(gap, set(gap.tickers)) for gap in gaps]

    def close(self, gap: Gap, at: int) -> tuple[Incident, ...]:
        """Close a gap whatever waits in it; nothing when it is not open."""
        found = [each for each in self._held if _place(each.gap) == _place(gap)]
        self._held = [each for each in self._held if each not in found]
        return tuple(GapClosed(each.gap, at) for each in found)

    def settle(self, tickers: frozenset[str], at: int) -> tuple[Incident, ...]:
        """Let these markets wait no longer; answer the gaps that closes."""
        if not self._held:
            return ()
        closed: list[Incident] = []
        for each in [each for each in self._held if each.waiting & tickers]:
            each.waiting -= tickers
            if not each.waiting:
                self._held.remove(each)
                closed.append(GapClosed(each.gap, at))
        return tuple(closed)

    def cover(self, ticker: str) -> bool:
        """Say whether a market waits in a gap that lasts until its snapshot."""
        return any(
            ticker in each.waiting and each.gap.reason not in _PASSING for each in self._held
        )

    def left(self) -> tuple[Gap, ...]:
        """Answer the open gaps, each with the markets that still wait."""
        return tuple(replace(each.gap, tickers=frozenset(each.waiting)) for each in self._held)


def _place(gap: Gap) -> tuple[int, int, int, int]:
    return gap.conn, gap.sid, gap.expected_seq, gap.detected_at
