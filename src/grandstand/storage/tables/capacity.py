"""DynamoDB's capacity units of reads and writes, and their price."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from grandstand.storage.tables.requests import IndexWrite

SECONDS_A_MONTH: Final = 730 * 3600


@dataclass(frozen=True, slots=True)
class Rates:
    """Prices of a million on-demand units in dollars; they differ by region."""

    million_reads: Decimal = Decimal("0.125")
    million_writes: Decimal = Decimal("0.625")


def read_units(size: int, *, consistent: bool = False, transactional: bool = False) -> Decimal:
    """Return the units of one read; reading nothing costs as much as a small item."""
    blocks = max(1, -(-size // 4096))
    if transactional:
        return Decimal(2 * blocks)
    return Decimal(blocks) if consistent else Decimal(blocks) / 2


def write_units(old: int, new: int, *, transactional: bool = False) -> Decimal:
    """Return the units of one write: the larger of the old and the new item counts."""
    blocks = max(1, -(-max(old, new) // 1024))
    return Decimal(2 * blocks if transactional else blocks)


def index_write_units(write: IndexWrite, *, transactional: bool = False) -> Decimal:
    """Return the units one index adds to a write: a changed key costs a delete and a put."""
    if write.old_bytes and write.new_bytes and not write.key_changed:
        return write_units(write.old_bytes, write.new_bytes, transactional=transactional)
    sizes = [size for size in (write.old_bytes, write.new_bytes) if size]
    return total(write_units(size, 0, transactional=transactional) for size in sizes)


def total(units: Iterable[Decimal]) -> Decimal:
    return sum(units, Decimal(0))


def dollars_a_month(
    units: Decimal, per_second: Decimal, *, write: bool, rates: Rates | None = None
) -> Decimal:
    """Return the monthly on-demand price of an operation at a rate per second."""
    prices = rates or Rates()
    price = prices.million_writes if write else prices.million_reads
    return units * per_second * SECONDS_A_MONTH * price / 1_000_000
