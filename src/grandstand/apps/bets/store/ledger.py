"""Kept here: the ledger's entries, where each book stands, and which events are entered."""

from __future__ import annotations

from datetime import date, datetime
from typing import Self

from grandstand.apps.bets.model.money.ledger import Posting
from grandstand.apps.bets.store.table import bets
from grandstand.storage.tables import Delete, Entity, Get, Put, Query, key


class LedgerEntry(Entity, table=bets, times="microseconds"):
    """One line of a book; never changed, and removed only with all that is kept of a person."""

    book: str
    seq: int
    event: str
    kind: str
    at: datetime
    postings: tuple[Posting, ...]
    previous: str
    digest: str

    row = key("LEDGER#{book}", "ENTRY#{place}")

    @property
    def place(self) -> str:
        """Its number as keys sort it."""
        return f"{self.seq:012d}"

    @classmethod
    def of_book(cls, book: str) -> Query[Self]:
        """Every entry of a book, first to last."""
        return cls.row(book=book).consistent()

    @classmethod
    def one(cls, book: str, place: str) -> Get[Self]:
        """One entry by its number."""
        return cls.get(book=book, place=place).consistent()

    def append(self) -> Put[Self]:
        """Write the next entry, once, in the transaction that moves the head."""
        return self.put().if_absent()

    def erase(self) -> Delete[Self]:
        """Erase an entry of a person's own book, with everything kept of them."""
        return type(self).delete(**self.identity())


class LedgerHead(Entity, table=bets, times="microseconds"):
    """Where a book stands: its last entry, every balance, and what counts for its limits."""

    book: str
    seq: int
    digest: str
    balances: dict[str, int]
    day: date | None = None
    staked_cents: int = 0
    week: date | None = None
    profit_cents: int = 0

    row = key("LEDGER#{book}", "HEAD")

    @classmethod
    def of_book(cls, book: str) -> Get[Self]:
        """Where a book stands, every write counted."""
        return cls.get(book=book).consistent()

    def move(self, before: int) -> Put[Self]:
        """Move on from an entry, if that is still the last one; 0 is none yet."""
        if before == 0:
            return self.put().if_absent()
        return self.put().when(LedgerHead.seq == before)

    @classmethod
    def forget(cls, book: str) -> Delete[Self]:
        """Erase where a person's own book stands, with everything kept of them."""
        return cls.delete(book=book)


class LedgerMark(Entity, table=bets, times="microseconds"):
    """That an event is entered in a book, and as which entry."""

    book: str
    event: str
    seq: int

    row = key("LEDGER_EVENT#{book}", "{event}")

    @classmethod
    def one(cls, book: str, event: str) -> Get[Self]:
        """Whether an event is entered, every write counted."""
        return cls.get(book=book, event=event).consistent()

    def set_once(self) -> Put[Self]:
        """Mark an event as entered, once."""
        return self.put().if_absent()

    @classmethod
    def forget(cls, book: str, event: str) -> Delete[Self]:
        """Erase that an event is entered, with everything kept of a person."""
        return cls.delete(book=book, event=event)


class LedgerBook(Entity, table=bets, times="microseconds"):
    """That there is a book."""

    book: str

    row = key("LEDGERS", "{book}")

    @classmethod
    def every(cls) -> Query[Self]:
        """Every book there is."""
        return cls.row()

    def note(self) -> Put[Self]:
        """Note that there is a book."""
        return self.put()

    @classmethod
    def forget(cls, book: str) -> Delete[Self]:
        """Erase that there is a book, with everything kept of a person."""
        return cls.delete(book=book)
