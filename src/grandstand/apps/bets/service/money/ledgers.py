"""Kept here: entering events into books of the ledger, once each, and proving the books."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from grandstand.apps.bets.model.money.ledger import (
    BANKROLL,
    BENNY,
    Entry,
    Event,
    Head,
    Posting,
    Replay,
    cents_of,
    entered,
)
from grandstand.apps.bets.model.money.limits import Usage
from grandstand.apps.bets.service.means import Means
from grandstand.apps.bets.service.money_values import LedgerProof
from grandstand.apps.bets.service.refusals import LedgerBusy
from grandstand.apps.bets.store import Bankroll, LedgerBook, LedgerEntry, LedgerHead, LedgerMark
from grandstand.base.errors import GrandstandError
from grandstand.storage.tables.operations.batches import Write

_TRIES: Final = 32
_REST_SECONDS: Final = 0.05

Posted: TypeAlias = Literal["entered", "known", "refused"]


@dataclass(frozen=True, slots=True)
class Standing:
    """A book as it was read: its head, and what counts for a person's limits."""

    head: Head
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """What happens to a book at once: its events, the writes that belong to them, and the usage."""

    events: Sequence[Event]
    writes: Sequence[Write] = ()
    usage: Usage | None = None


class Ledgers:
    """Enters events and everything they change in one transaction, and proves books."""

    def __init__(self, means: Means) -> None:
        self._means = means

    async def standing(self, book: str) -> Standing:
        """Answer how a book stands, every write counted."""
        kept = await self._means.store(LedgerHead.of_book(book))
        return Standing(Head(book)) if kept is None else standing_of(kept)

    async def known(self, book: str, event: str) -> bool:
        """Tell whether an event is entered."""
        return await self._means.store(LedgerMark.one(book, event)) is not None

    async def entry(self, book: str, event: str) -> Entry | None:
        """Answer the entry of an event; None when it is not entered."""
        mark = await self._means.store(LedgerMark.one(book, event))
        if mark is None:
            return None
        kept = await self._means.store(LedgerEntry.one(book, f"{mark.seq:012d}"))
        return None if kept is None else entry_of(kept)

    async def post(self, book: str, key: str, step: Callable[[Standing], Step | None]) -> Posted:
        """Enter an event and carry out its writes, all or nothing.

        `step` makes it from the book as it stands, and is asked again when the book has moved on;
        None refuses. Answers known when the event was entered before, and refused when one of its
        writes does not find what it demands. Raises what `entered` and `step` do, and LedgerBusy.
        """
        for attempt in range(_TRIES):
            standing = await self.standing(book)
            try:
                made = step(standing)
                writes = () if made is None else self._writes(standing, made)
            except GrandstandError:
                # The event itself may have taken what it needs, before a crash.
                if await self.known(book, key):
                    return "known"
                raise
            if not writes:
                return "refused"
            if await self._means.wrote(*writes):
                return "entered"
            if await self.known(book, key):
                return "known"
            if (await self.standing(book)).head.seq == standing.head.seq:
                return "refused"
            await self._means.sleep(self._means.random.uniform(0, _REST_SECONDS * (attempt + 1)))
        message = f"The book {book} moves on faster than {key} can be entered: try again"
        raise LedgerBusy(message)

    def _writes(self, standing: Standing, step: Step) -> Sequence[Write]:
        head, lines = standing.head, list[Write]()
        for event in step.events:
            entry, head = entered(head, event)
            mark = LedgerMark(book=entry.book, event=entry.key, seq=entry.seq)
            lines += [line_of(entry).append(), mark.set_once()]
        usage = step.usage or standing.usage
        kept = LedgerHead(
            book=head.book,
            seq=head.seq,
            digest=head.digest,
            balances=dict(head.balances),
            day=None if usage is None else usage.day,
            staked_cents=0 if usage is None else usage.staked,
            week=None if usage is None else usage.week,
            profit_cents=0 if usage is None else usage.profit,
        )
        first = [] if standing.head.seq else [LedgerBook(book=head.book).note()]
        return [kept.move(standing.head.seq), *lines, *first, *step.writes]

    async def verify(self, book: str) -> LedgerProof:
        """Recompute a book from its first entry on; Benny's bankroll must be what it says."""
        replay, count = Replay(book), 0
        async for kept in self._means.each(LedgerEntry.of_book(book)):
            replay.take(entry_of(kept))
            count += 1
        standing = await self.standing(book)
        faults = [*replay.close(standing.head)]
        if book == BENNY:
            faults += await self._bankroll_faults(standing.head)
        return LedgerProof(book, count, dict(replay.head.balances), tuple(faults))

    async def verify_all(self) -> AsyncIterator[LedgerProof]:
        """Do so for every book."""
        async for each in self._means.store.each(LedgerBook.every()):
            yield await self.verify(each.book)

    async def _bankroll_faults(self, head: Head) -> list[str]:
        kept = await self._means.store(Bankroll.current())
        shown = 0 if kept is None else cents_of(kept.amount)
        held = head.balance(BANKROLL)
        return [] if shown == held else [f"the bankroll shows {shown} cents, the book has {held}"]


def standing_of(kept: LedgerHead) -> Standing:
    """Answer a book as its head has it."""
    head = Head(kept.book, kept.seq, kept.digest, dict(kept.balances))
    if kept.day is None or kept.week is None:
        return Standing(head)
    return Standing(head, Usage(kept.day, kept.staked_cents, kept.week, kept.profit_cents))


def line_of(entry: Entry) -> LedgerEntry:
    """Answer an entry as the table keeps it."""
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


def entry_of(kept: LedgerEntry) -> Entry:
    """Answer an entry as the ledger's rules read it."""
    return Entry(
        kept.book,
        kept.seq,
        kept.event,
        kept.kind,
        kept.at,
        tuple(Posting(each.account, each.cents) for each in kept.postings),
        kept.previous,
        kept.digest,
    )
