"""The double-entry ledger: posting events exactly once and verifying books."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from grandstand.apps.bets.domain.ledger import (
    BANKROLL,
    BENNY,
    LedgerEvent,
    LedgerLine,
    LedgerReplay,
    LedgerState,
    Posting,
    append_event,
    dollars_to_cents,
)
from grandstand.apps.bets.domain.limits import Usage
from grandstand.apps.bets.services.database import Database
from grandstand.apps.bets.store.benny import Bankroll
from grandstand.apps.bets.store.wagers import LedgerBook, LedgerEntry, LedgerHead, LedgerMark
from grandstand.core.errors import Conflict, GrandstandError
from grandstand.storage.tables.operations.batches import Write

_MAX_ATTEMPTS: Final = 32
_BACKOFF_SECONDS: Final = 0.05

PostStatus: TypeAlias = Literal["entered", "known", "refused"]


class LedgerBusy(Conflict):
    """The book changes too often to post an event."""

    code = "ledger-busy"

    retry = True


@dataclass(frozen=True, slots=True)
class LedgerVerification:
    """A recomputed book: the number of entries, balances by account, and errors."""

    book: str
    entries: int
    balances: dict[str, int]
    faults: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """Whether all balances and links are correct."""
        return not self.faults


@dataclass(frozen=True, slots=True)
class BookState:
    """The head of a book and the usage that counts for the owner's limits."""

    head: LedgerState
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class LedgerStep:
    """The events of one posting, the writes that belong to them, and the new usage."""

    events: Sequence[LedgerEvent]
    writes: Sequence[Write] = ()
    usage: Usage | None = None


class LedgerService:
    """Posts events with everything they change in one transaction, and verifies books."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def state(self, book: str) -> BookState:
        """Return the current state of a book, read consistently."""
        head = await self._db.store(LedgerHead.of_book(book))
        return BookState(LedgerState(book)) if head is None else to_book_state(head)

    async def is_posted(self, book: str, event: str) -> bool:
        """Return whether an event is posted."""
        return await self._db.store(LedgerMark.of_event(book, event)) is not None

    async def entry(self, book: str, event: str) -> LedgerLine | None:
        """Return the entry of an event; None if it is not posted."""
        mark = await self._db.store(LedgerMark.of_event(book, event))
        if mark is None:
            return None
        row = await self._db.store(LedgerEntry.by_place(book, f"{mark.seq:012d}"))
        return None if row is None else to_entry(row)

    async def post(
        self, book: str, key: str, step: Callable[[BookState], LedgerStep | None]
    ) -> PostStatus:
        """Post an event with its writes, all or nothing.

        `step` derives the posting from the state of the book and is called again if the book has
        changed
        meanwhile; None refuses. Returns "known" if the event was posted before and "refused" if a
        condition
        of its writes does not hold. Raises the errors of `step`, and LedgerBusy.
        """
        for attempt in range(_MAX_ATTEMPTS):
            state = await self.state(book)
            try:
                next_step = step(state)
                writes = () if next_step is None else self._writes(state, next_step)
            except GrandstandError:
                # The event itself may have taken what it needs, before a crash.
                if await self.is_posted(book, key):
                    return "known"
                raise
            if not writes:
                return "refused"
            if await self._db.try_transaction(*writes):
                return "entered"
            if await self.is_posted(book, key):
                return "known"
            if (await self.state(book)).head.seq == state.head.seq:
                return "refused"
            await self._db.sleep(self._db.random.uniform(0, _BACKOFF_SECONDS * (attempt + 1)))
        message = f"Book {book!r} changes too often to post {key!r}. Try again."
        raise LedgerBusy(message)

    def _writes(self, state: BookState, step: LedgerStep) -> Sequence[Write]:
        head, lines = state.head, list[Write]()
        for event in step.events:
            entry, head = append_event(head, event)
            mark = LedgerMark(book=entry.book, event=entry.key, seq=entry.seq)
            lines += [entry_row(entry).append(), mark.set_once()]
        usage = step.usage or state.usage
        new_head = LedgerHead(
            book=head.book,
            seq=head.seq,
            digest=head.digest,
            balances=dict(head.balances),
            day=None if usage is None else usage.day,
            staked_cents=0 if usage is None else usage.staked,
            week=None if usage is None else usage.week,
            profit_cents=0 if usage is None else usage.profit,
        )
        first = [] if state.head.seq else [LedgerBook(book=head.book).save()]
        return [new_head.advance(state.head.seq), *lines, *first, *step.writes]

    async def verify(self, book: str = BENNY) -> LedgerVerification:
        """Recompute a book from its first entry. Benny's bankroll must match his book."""
        replay, count = LedgerReplay(book), 0
        async for row in self._db.each(LedgerEntry.of_book(book)):
            replay.check(to_entry(row))
            count += 1
        state = await self.state(book)
        faults = [*replay.finish(state.head)]
        if book == BENNY:
            faults += await self._bankroll_errors(state.head)
        return LedgerVerification(book, count, dict(replay.head.balances), tuple(faults))

    async def verify_all(self) -> AsyncIterator[LedgerVerification]:
        """Verify every book."""
        async for row in self._db.store.each(LedgerBook.all_books()):
            yield await self.verify(row.book)

    async def _bankroll_errors(self, head: LedgerState) -> list[str]:
        stored = await self._db.store(Bankroll.current())
        bankroll = 0 if stored is None else dollars_to_cents(stored.amount)
        balance = head.balance(BANKROLL)
        return (
            []
            if bankroll == balance
            else [f"the bankroll is {bankroll} cents, the book says {balance}"]
        )


def to_book_state(head: LedgerHead) -> BookState:
    state = LedgerState(head.book, head.seq, head.digest, dict(head.balances))
    if head.day is None or head.week is None:
        return BookState(state)
    return BookState(state, Usage(head.day, head.staked_cents, head.week, head.profit_cents))


def entry_row(entry: LedgerLine) -> LedgerEntry:
    return LedgerEntry(
        book=entry.book,
        seq=entry.seq,
        event=entry.key,
        kind=entry.kind,
        at=entry.at,
        postings=entry.postings,
        previous=entry.previous,
        digest=entry.digest,
    )


def to_entry(row: LedgerEntry) -> LedgerLine:
    return LedgerLine(
        row.book,
        row.seq,
        row.event,
        row.kind,
        row.at,
        tuple(Posting(posting.account, posting.cents) for posting in row.postings),
        row.previous,
        row.digest,
    )
