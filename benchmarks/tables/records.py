"""Records of about a kilobyte for the tables benchmark, and a store for them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from grandstand.core.clock import SystemClock
from grandstand.storage.tables import Entity, Index, Naming, Store, Table, key
from grandstand.storage.tables.engines.sqlite import SqliteEngine

PER_GROUP = 50

plain = Table("bench-plain", partition="pk", sort="sk")
indexed = Table(
    "bench-watched",
    partition="pk",
    sort="sk",
    stream="NEW_AND_OLD_IMAGES",
    indexes=(Index("ByKind", "kind_pk", "at"),),
)


class Fields(Entity):
    """The fields of every record."""

    group: str
    name: str
    one: str
    two: str
    three: str
    four: str
    count: int
    price: Decimal
    at: datetime
    live: bool


class Record(Fields, table=plain):
    """A record without index or stream."""

    row = key("GROUP#{group}", "THING#{name}")


class IndexedRecord(Fields, table=indexed):
    """A record with one sparse index and a stream."""

    row = key("GROUP#{group}", "THING#{name}")
    kind = key("KIND#{group}", "{at}", index="ByKind", when="live")


def make_records(kind: type[Any], number: int, *, start: int = 0) -> list[Any]:
    """Return records of about a kilobyte, 50 to a group."""
    return [
        kind(
            group=f"g{n // PER_GROUP:06d}",
            name=f"{n:08d}",
            one="a" * 200,
            two="b" * 200,
            three="c" * 200,
            four="d" * 150,
            count=n,
            price=Decimal(n) / 4,
            at=datetime(2026, 1, 1, tzinfo=UTC),
            live=n % 2 == 0,
        )
        for n in range(start, start + number)
    ]


@contextmanager
def open_store(folder: Path, name: str, tables: Sequence[Table]) -> Iterator[Store]:
    """Open a store on a new file with the default durability."""
    engine = SqliteEngine.open(folder / f"{name}.db", clock=SystemClock())
    with Store(engine, naming=Naming(), clock=SystemClock()) as store:
        store.create(tables)
        yield store
