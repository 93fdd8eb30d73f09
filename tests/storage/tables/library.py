"""A small library, declared in both platform styles, for tests of the typed tables."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Self

from grandstand.storage.tables import (
    Delete,
    Entity,
    Get,
    Index,
    Put,
    Query,
    Scan,
    Table,
    Update,
    attribute,
    key,
    ttl,
    version,
)
from grandstand.storage.tables.attribute_values import Item

shelf = Table(
    "shelf-{environment}",
    partition="pk",
    sort="sk",
    stream="NEW_AND_OLD_IMAGES",
    indexes=(Index("ByAuthor", "author_pk", "published_at"),),
    purpose="Many entities in one table.",
)


@dataclass(frozen=True)
class Chapter:
    """A nested value."""

    title: str
    pages: int
    price: Decimal | None = None


class Book(Entity, table=shelf, times="seconds"):
    """A book of a series, on sale or not."""

    series: str
    number: int
    author: str
    published_at: datetime
    price: Decimal = Decimal(0)
    on_sale: bool = False
    tags: frozenset[str] = frozenset()
    chapters: tuple[Chapter, ...] = ()
    notes: dict[str, str] | None = None

    row = key("SERIES#{series}", "BOOK#{number:04d}")
    sold = key("AUTHOR#{author}", "{published_at}", index="ByAuthor", when="on_sale")

    @classmethod
    def of_series(cls, series: str) -> Query[Self]:
        """Books of a series, in order."""
        return cls.row(series=series)

    @classmethod
    def by_author(cls, author: str, since: datetime) -> Query[Self]:
        """What an author has on sale, from a moment on."""
        return cls.sold(author=author).since(published_at=since)

    @classmethod
    def one(cls, series: str, number: int) -> Get[Self]:
        """One book."""
        return cls.get(series=series, number=number)

    def publish(self) -> Put[Self]:
        """Put a book that is not there yet."""
        return self.put().if_absent()


class Loan(Entity, table=shelf, times="milliseconds"):
    """A loan, beside the books of its series."""

    series: str
    reader: str
    since: datetime
    rev: int = version()

    row = key("SERIES#{series}", "LOAN#{reader}#{since}")

    @classmethod
    def of_reader(cls, series: str, reader: str) -> Query[Self]:
        """A reader's loans of a series."""
        return cls.row(series=series, reader=reader)


readers = Table(
    "readers",
    partition="readerId",
    sort="homeId#cardId",
    ttl="expiresAt",
    indexes=(Index("byHome", "homeId"),),
    purpose="One entity, with the names of its specification.",
)


class Reader(Entity, table=readers, names="camel", schema_version="2.0"):
    """A reader's card at a home."""

    reader_id: str
    place: str = attribute("homeId#cardId")
    home_id: str | None = None
    visits: int = 0
    full_name: str = ""
    expires: datetime | None = ttl()

    row = key("{reader_id}", "{place}")
    at_home = key("{home_id}", index="byHome")

    @classmethod
    def everyone(cls) -> Scan[Self]:
        """Every reader."""
        return cls.scan()

    @classmethod
    def came(cls, reader_id: str, place: str) -> Update[Self]:
        """Count a visit."""
        return cls.update(reader_id=reader_id, place=place).add(visits=1)

    @classmethod
    def left(cls, reader_id: str, place: str) -> Delete[Self]:
        """Forget a card."""
        return cls.delete(reader_id=reader_id, place=place)

    @classmethod
    def upgrade(cls, item: Item) -> Item:
        """Version 1.0 kept the name in two attributes."""
        first, last = item.pop("first", ""), item.pop("last", "")
        return {"fullName": f"{first!s} {last!s}".strip(), **item}
