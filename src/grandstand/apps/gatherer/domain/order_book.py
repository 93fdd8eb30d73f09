"""Order books, exact prices and sizes, and simulated fills."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, TypeAlias

from pydantic import PlainSerializer

from grandstand.core.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grandstand.apps.gatherer.domain.messages import DeltaMessage, Levels, SnapshotMessage

DOLLAR: Final = 100_000
_MAX_STALE_PRICES: Final = 64


class BookSide:
    """The bids of one side: size by price, and the best price.

    A heap of prices finds the next best without scanning all levels. It may contain prices that
    are gone, which saves work when they come back, and is rebuilt when they dominate.
    """

    __slots__ = ("_heap", "_heaped", "best", "sizes")

    def __init__(self, levels: Iterable[tuple[int, int]] = ()) -> None:
        self.sizes: dict[int, int] = {}
        self._heap: list[int] = []
        self._heaped: set[int] = set()
        self.best: int | None = None
        self.replace(levels)

    def replace(self, levels: Iterable[tuple[int, int]]) -> None:
        """Replace all levels; those of size 0 are dropped."""
        self.sizes = {price: size for price, size in levels if size}
        self._rebuild()

    def change(self, price: int, by: int) -> bool:
        """Change a level, and return False, with no effect, if it would become negative."""
        sizes = self.sizes
        if price in sizes:
            size = sizes[price] + by
            if size > 0:
                sizes[price] = size
            elif size == 0:
                del sizes[price]
                if price == self.best:
                    self._find_best()
            else:
                return False
            return True
        if by > 0:
            sizes[price] = by
            if price not in self._heaped:
                self._push(price)
            if self.best is None or price > self.best:
                self.best = price
            return True
        return by == 0

    def levels(self) -> Levels:
        """Return the levels, lowest price first."""
        return tuple(sorted(self.sizes.items()))

    def _find_best(self) -> None:
        heap, sizes = self._heap, self.sizes
        while heap and -heap[0] not in sizes:
            self._heaped.discard(-heappop(heap))
        self.best = -heap[0] if heap else None

    def _push(self, price: int) -> None:
        if len(self._heap) > 2 * len(self.sizes) + _MAX_STALE_PRICES:
            self._rebuild()
        else:
            self._heaped.add(price)
            heappush(self._heap, -price)

    def _rebuild(self) -> None:
        self._heaped = {*self.sizes}
        self._heap = [-price for price in self.sizes]
        heapify(self._heap)
        self.best = -self._heap[0] if self._heap else None


class OrderBook:
    """The yes bids and the no bids of one market; a no bid at p is a yes ask at 100000 - p."""

    __slots__ = ("no", "yes")

    def __init__(
        self, yes: Iterable[tuple[int, int]] = (), no: Iterable[tuple[int, int]] = ()
    ) -> None:
        self.yes = BookSide(yes)
        self.no = BookSide(no)

    def replace(self, snapshot: SnapshotMessage) -> None:
        """Replace all levels by those of a snapshot."""
        self.yes.replace(snapshot.yes)
        self.no.replace(snapshot.no)

    def apply(self, delta: DeltaMessage) -> bool:
        """Apply a delta, and return False, with no effect, if a level would become negative."""
        return (self.yes if delta.side else self.no).change(delta.price, delta.size_delta)

    def change(self, *, side: bool, price: int, by: int) -> bool:
        """Change a level, as `apply` does."""
        return (self.yes if side else self.no).change(price, by)

    @property
    def best_yes_bid(self) -> int | None:
        """The highest yes bid; None if there is none."""
        return self.yes.best

    @property
    def best_yes_ask(self) -> int | None:
        """The lowest yes ask; None if there are no no bids."""
        best = self.no.best
        return None if best is None else DOLLAR - best

    @property
    def spread(self) -> int | None:
        """The best yes ask less the best yes bid; None if a side is empty."""
        yes, no = self.yes.best, self.no.best
        return None if yes is None or no is None else DOLLAR - yes - no

    @property
    def crossed(self) -> bool:
        """Whether the best bids of both sides meet or overlap."""
        yes, no = self.yes.best, self.no.best
        return yes is not None and no is not None and yes + no >= DOLLAR

    def levels(self) -> tuple[Levels, Levels]:
        """Return the yes bids and the no bids, lowest price first."""
        return self.yes.levels(), self.no.levels()

    def copy(self) -> OrderBook:
        return OrderBook(self.yes.sizes.items(), self.no.sizes.items())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OrderBook):
            return NotImplemented
        return self.yes.sizes == other.yes.sizes and self.no.sizes == other.no.sizes

    __hash__ = None  # type: ignore[assignment]


class InvalidNumber(InvalidInput):
    """A price or size has too many decimals, is out of range, or is not a number."""

    code: ClassVar[str] = "invalid-number"


class InvalidOrder(InvalidInput):
    """An order without size, or with an impossible limit."""

    code: ClassVar[str] = "invalid-order"


MAX_SIZE: Final = 2**63 - 1
_DECIMAL: Final = re.compile(r"(-?)([0-9]{1,18})(?:\.([0-9]{1,18}))?", re.ASCII)


def parse_price(text: str) -> int:
    """Return a price in hundred-thousandths of a dollar: "0.5255" is 52550.

    Raises InvalidNumber if it has more decimals, is below 0 or above 1, or is not a number.
    """
    price = _parse(text, digits=5)
    if not 0 <= price <= DOLLAR:
        raise InvalidNumber(f"The price {text!r} is not between 0 and 1 dollar.")
    return price


def parse_size(text: str) -> int:
    """Return a size, or a change of one, in hundredths of a contract: "12.50" is 1250.

    Raises InvalidNumber if it has more decimals, is too large, or is not a number.
    """
    size = _parse(text, digits=2)
    if not -MAX_SIZE <= size <= MAX_SIZE:
        raise InvalidNumber(f"The size {text!r} is too large.")
    return size


def require_non_negative(size: int) -> int:
    """Return the size, or raise InvalidNumber if it is negative."""
    if size < 0:
        raise InvalidNumber("A size is negative.")
    return size


def price_table() -> dict[str, int]:
    """Return all prices as the exchange writes them, "0.0000" to "1.0000", with their values."""
    return {f"{at // 10_000}.{at % 10_000:04}": at * 10 for at in range(10_001)}


def format_price(price: int) -> str:
    """Format a price in dollars with four decimals, or five if needed."""
    sign, price = ("-", -price) if price < 0 else ("", price)
    whole, part = divmod(price, DOLLAR)
    digits = f"{part:05}"
    return f"{sign}{whole}.{digits[:4] if digits[4] == '0' else digits}"


def format_size(size: int) -> str:
    """Format a size in contracts with two decimals."""
    sign, size = ("-", -size) if size < 0 else ("", size)
    whole, part = divmod(size, 100)
    return f"{sign}{whole}.{part:02}"


# Integers that API responses contain as decimal strings.
Price: TypeAlias = Annotated[int, PlainSerializer(format_price, return_type=str)]
Size: TypeAlias = Annotated[int, PlainSerializer(format_size, return_type=str)]


def _parse(text: str, digits: int) -> int:
    match = _DECIMAL.fullmatch(text)
    if match is None:
        raise InvalidNumber(f"{text[:40]!r} is not a decimal number.")
    sign, whole, part = match.groups(default="")
    if part[digits:].strip("0"):
        raise InvalidNumber(f"{text!r} has more than {digits} decimals.")
    value = int(whole + part[:digits].ljust(digits, "0"))
    return -value if sign else value


@dataclass(frozen=True, slots=True)
class Order:
    """An order for yes (`side` True) or no, at `limit` or better; None is a market order.

    The limit is in hundred-thousandths of a dollar, the size in hundredths of a contract.
    """

    side: bool
    is_buy: bool
    size: int
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Fill:
    """The levels an order would take, best first, and the size left unfilled."""

    levels: tuple[tuple[int, int], ...]
    unfilled: int

    @property
    def size(self) -> int:
        """The filled size in hundredths of a contract."""
        return sum(size for _, size in self.levels)

    @property
    def complete(self) -> bool:
        """Whether the order is filled completely."""
        return not self.unfilled

    @property
    def average(self) -> Fraction | None:
        """The average price in hundred-thousandths of a dollar; None if nothing is filled."""
        size = self.size
        return Fraction(sum(price * size for price, size in self.levels), size) if size else None

    @property
    def paid(self) -> Fraction:
        """The total in dollars, before fees."""
        return Fraction(sum(price * size for price, size in self.levels), DOLLAR * 100)


def simulate_fill(book: OrderBook, order: Order) -> Fill:
    """Fill an order from a book, ignoring other orders and fees.

    Raises InvalidOrder if the size is not positive or the limit is not a price.
    """
    if order.size <= 0:
        raise InvalidOrder("The size of an order must be positive.")
    if order.limit is not None and not 0 <= order.limit <= DOLLAR:
        raise InvalidOrder("The limit must be between 0 and 1 dollar.")
    unfilled, levels = order.size, []
    for price, size in _offers(book, order):
        beyond = order.limit is not None and (
            price > order.limit if order.is_buy else price < order.limit
        )
        if not unfilled or beyond:
            break
        got = min(size, unfilled)
        levels.append((price, got))
        unfilled -= got
    return Fill(tuple(levels), unfilled)


def _offers(book: OrderBook, order: Order) -> list[tuple[int, int]]:
    yes, no = book.levels()
    own, other = (yes, no) if order.side else (no, yes)
    if order.is_buy:
        return [(DOLLAR - price, size) for price, size in reversed(other)]
    return list(reversed(own))
