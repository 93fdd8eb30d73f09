"""Kept here: an order book of bids on both sides, changed in place, its best prices at hand."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grandstand.apps.gatherer.model.messages import Delta, Levels, Snapshot

WHOLE: Final = 100_000
_SPARE: Final = 64


class Ladder:
    """The bids of one side: size by price, and the best price.

    A heap of prices stands beside the sizes, so that the next best is found without looking at
    every level. It may hold prices that are gone, which saves work when they come back, and is
    made anew when these are the most.
    """

    __slots__ = ("_heap", "_heaped", "best", "sizes")

    def __init__(self, levels: Iterable[tuple[int, int]] = ()) -> None:
        self.sizes: dict[int, int] = {}
        self._heap: list[int] = []
        self._heaped: set[int] = set()
        self.best: int | None = None
        self.replace(levels)

    def replace(self, levels: Iterable[tuple[int, int]]) -> None:
        """Forget all and hold these levels; those of size 0 are left out."""
        self.sizes = {price: size for price, size in levels if size}
        self._rebuild()

    def change(self, price: int, by: int) -> bool:
        """Change a level; answer False, and change nothing, when it would become negative."""
        sizes = self.sizes
        if price in sizes:
            size = sizes[price] + by
            if size > 0:
                sizes[price] = size
            elif size == 0:
                del sizes[price]
                if price == self.best:
                    self._fall()
            else:
                return False
            return True
        if by > 0:
            sizes[price] = by
            if price not in self._heaped:
                self._heap_up(price)
            if self.best is None or price > self.best:
                self.best = price
            return True
        return by == 0

    def levels(self) -> Levels:
        """Answer the levels, the lowest price first."""
        return tuple(sorted(self.sizes.items()))

    def _fall(self) -> None:
        """Find the next best price."""
        heap, sizes = self._heap, self.sizes
        while heap and -heap[0] not in sizes:
            self._heaped.discard(-heappop(heap))
        self.best = -heap[0] if heap else None

    def _heap_up(self, price: int) -> None:
        if len(self._heap) > 2 * len(self.sizes) + _SPARE:
            self._rebuild()
        else:
            self._heaped.add(price)
            heappush(self._heap, -price)

    def _rebuild(self) -> None:
        self._heaped = {*self.sizes}
        self._heap = [-price for price in self.sizes]
        heapify(self._heap)
        self.best = -self._heap[0] if self._heap else None


class Book:
    """The yes bids and the no bids of one market; a no bid at p is a yes ask at 100000 - p."""

    __slots__ = ("no", "yes")

    def __init__(
        self, yes: Iterable[tuple[int, int]] = (), no: Iterable[tuple[int, int]] = ()
    ) -> None:
        self.yes = Ladder(yes)
        self.no = Ladder(no)

    def replace(self, snapshot: Snapshot) -> None:
        """Become what the snapshot says."""
        self.yes.replace(snapshot.yes)
        self.no.replace(snapshot.no)

    def apply(self, delta: Delta) -> bool:
        """Change a level; answer False, and change nothing, when it would become negative."""
        return (self.yes if delta.side else self.no).change(delta.price, delta.size_delta)

    def change(self, *, side: bool, price: int, by: int) -> bool:
        """Change a level as `apply` does."""
        return (self.yes if side else self.no).change(price, by)

    @property
    def best_yes_bid(self) -> int | None:
        """The highest yes bid; None when there is none."""
        return self.yes.best

    @property
    def best_yes_ask(self) -> int | None:
        """The lowest price at which yes is offered; None when nobody bids for no."""
        best = self.no.best
        return None if best is None else WHOLE - best

    @property
    def spread(self) -> int | None:
        """The lowest yes ask less the highest yes bid; None when a side is empty."""
        yes, no = self.yes.best, self.no.best
        return None if yes is None or no is None else WHOLE - yes - no

    @property
    def crossed(self) -> bool:
        """Whether the best bids of both sides meet or overlap, which is suspect."""
        yes, no = self.yes.best, self.no.best
        return yes is not None and no is not None and yes + no >= WHOLE

    def levels(self) -> tuple[Levels, Levels]:
        """Answer the yes bids and the no bids, the lowest price first."""
        return self.yes.levels(), self.no.levels()

    def copy(self) -> Book:
        """Answer a book of its own with the same levels."""
        return Book(self.yes.sizes.items(), self.no.sizes.items())

    def __eq__(self, other: object) -> bool:
        """Say whether both hold the same levels."""
        if not isinstance(other, Book):
            return NotImplemented
        return self.yes.sizes == other.yes.sizes and self.no.sizes == other.no.sizes

    __hash__ = None  # type: ignore[assignment]
