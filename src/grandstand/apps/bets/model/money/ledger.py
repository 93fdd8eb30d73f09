"""Kept here: the double-entry ledger: entries that add up to nothing, each chained to the last."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final, TypeAlias

from grandstand.base.errors import Broken, Conflict

Cents: TypeAlias = int

BENNY: Final = "benny"
HOUSE: Final = "house"
BANKROLL: Final = "bankroll"
STAKES: Final = "stakes"
BOOKMAKER: Final = "bookmaker"
PURSE: Final = "purse"
GENESIS: Final = "0" * 64

# Money may be missing only where it comes from and goes to: the budget, the bookmakers and what a
# person has outside. A bankroll falls below nothing by a corrected result alone.
_BOTTOMLESS: Final = frozenset({HOUSE, BOOKMAKER, PURSE})
_DOLLAR: Final = 100


class EntryUnbalanced(Broken):
    """The postings of an entry do not add up to nothing."""


class AccountOverdrawn(Conflict):
    """An account does not hold what an entry takes from it."""


@dataclass(frozen=True, slots=True)
class Posting:
    """What one account gains, or loses below 0, by an entry."""

    account: str
    cents: Cents


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a book: what moved and why; `key` names the event, which is entered once.

    `digest` covers everything here and the digest of the entry before.
    """

    book: str
    seq: int
    key: str
    kind: str
    at: datetime
    postings: tuple[Posting, ...]
    previous: str
    digest: str


@dataclass(frozen=True, slots=True)
class Head:
    """Where a book stands: its last entry and every account's balance."""

    book: str
    seq: int = 0
    digest: str = GENESIS
    balances: Mapping[str, Cents] = field(default_factory=dict)

    def balance(self, account: str) -> Cents:
        """Answer what an account holds."""
        return self.balances.get(account, 0)


@dataclass(frozen=True, slots=True)
class Event:
    """What is to be entered: its name, its kind, when, and what moves.

    A correction may leave any account below nothing.
    """

    key: str
    kind: str
    at: datetime
    postings: tuple[Posting, ...]
    correction: bool = False


def transfer(source: str, target: str, cents: Cents) -> tuple[Posting, ...]:
    """Answer the postings that move money; none when there is nothing to move."""
    if cents == 0:
        return ()
    return (Posting(source, -cents), Posting(target, cents))


def entered(head: Head, event: Event) -> tuple[Entry, Head]:
    """Answer the entry of an event after a head, and the head it makes.

    Raises EntryUnbalanced, and AccountOverdrawn for an account that would fall below nothing.
    """
    postings = _joined(event.postings)
    if sum(each.cents for each in postings):
        message = f"{event.key} moves {sum(each.cents for each in postings)} cents from nowhere"
        raise EntryUnbalanced(message)
    balances = dict(head.balances)
    for each in postings:
        after = balances.get(each.account, 0) + each.cents
        lacks = after < 0 and each.cents < 0 and each.account not in _BOTTOMLESS
        if lacks and not event.correction:
            held = balances.get(each.account, 0)
            message = f"{each.account} of {head.book} holds {held} cents, not {-each.cents}"
            raise AccountOverdrawn(message)
        balances[each.account] = after
    seq = head.seq + 1
    digest = _digest(head, seq, event, postings)
    entry = Entry(head.book, seq, event.key, event.kind, event.at, postings, head.digest, digest)
    return entry, Head(head.book, seq, digest, balances)


def reversal(postings: Iterable[Posting]) -> tuple[Posting, ...]:
    """Answer the postings that take others back."""
    return tuple(Posting(each.account, -each.cents) for each in postings)


def swept(postings: Iterable[Posting], source: str, target: str) -> tuple[Posting, ...]:
    """Answer the same postings with one account in the place of another."""
    return tuple(
        Posting(target if each.account == source else each.account, each.cents) for each in postings
    )


class Replay:
    """Recomputes a book from its entries, one after another, and notes whatever is wrong."""

    def __init__(self, book: str) -> None:
        self.head = Head(book)
        self.faults: list[str] = []
        self._keys: set[str] = set()

    def take(self, entry: Entry) -> None:
        """Take the next entry of the book."""
        where = f"entry {entry.seq} ({entry.key})"
        if entry.seq != self.head.seq + 1:
            self.faults.append(f"{where} follows entry {self.head.seq}")
        if entry.key in self._keys:
            self.faults.append(f"{where} enters its event a second time")
        self._keys.add(entry.key)
        event = Event(entry.key, entry.kind, entry.at, entry.postings, correction=True)
        try:
            before = Head(entry.book, entry.seq - 1, self.head.digest, self.head.balances)
            made, head = entered(before, event)
        except EntryUnbalanced as fault:
            self.faults.append(f"{where}: {fault}")
            return
        if (made.digest, made.previous) != (entry.digest, entry.previous):
            self.faults.append(f"{where} is not what was chained to its predecessor")
        self.head = head

    def close(self, kept: Head) -> tuple[str, ...]:
        """Hold the result against the head that is kept and answer every fault."""
        faults = list(self.faults)
        if (self.head.seq, self.head.digest) != (kept.seq, kept.digest):
            faults.append(f"the head is at entry {kept.seq}, the entries end at {self.head.seq}")
        for account in sorted({*self.head.balances, *kept.balances}):
            ours, theirs = self.head.balance(account), kept.balance(account)
            if ours != theirs:
                faults.append(f"{account} holds {theirs} cents, its entries add up to {ours}")
        if sum(self.head.balances.values()):
            faults.append(f"all accounts together hold {sum(self.head.balances.values())} cents")
        return tuple(faults)


def week_of(moment: datetime) -> datetime:
    """Answer the Monday 00:00 UTC a moment's week began with."""
    day = moment - timedelta(days=moment.weekday())
    return day.replace(hour=0, minute=0, second=0, microsecond=0)


def dollars(cents: Cents) -> Decimal:
    """Write cents as the exact dollars the table keeps."""
    return Decimal(cents) / _DOLLAR


def cents_of(amount: Decimal) -> Cents:
    """Read exact dollars; raise EntryUnbalanced when there is less than a cent in them."""
    cents = amount * _DOLLAR
    if cents != int(cents):
        message = f"{amount} dollars are no whole cents"
        raise EntryUnbalanced(message)
    return int(cents)


def _joined(postings: Sequence[Posting]) -> tuple[Posting, ...]:
    """Answer one posting an account, those that move nothing left out, in order of accounts."""
    sums: dict[str, Cents] = {}
    for each in postings:
        sums[each.account] = sums.get(each.account, 0) + each.cents
    return tuple(Posting(account, sums[account]) for account in sorted(sums) if sums[account])


def _digest(head: Head, seq: int, event: Event, postings: Sequence[Posting]) -> str:
    moved = ";".join(f"{each.account}={each.cents}" for each in postings)
    said = (head.digest, head.book, str(seq), event.key, event.kind, event.at.isoformat(), moved)
    # No part can hold the separator of ASCII's own, so no two entries are written alike.
    return hashlib.sha256("\x1f".join(said).encode()).hexdigest()
