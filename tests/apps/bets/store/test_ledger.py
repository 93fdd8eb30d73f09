"""Access patterns of the ledger on each engine."""

from datetime import UTC, datetime

import pytest

from grandstand.apps.bets.domain.ledger import GENESIS, Posting
from grandstand.apps.bets.store.wagers import LedgerBook, LedgerEntry, LedgerHead, LedgerMark
from grandstand.storage.tables import Store
from grandstand.storage.tables.errors import ConditionFailed, TransactionCancelled

AT = datetime(2026, 2, 11, 14, 0, 0, 123456, tzinfo=UTC)


def entry(seq: int) -> LedgerEntry:
    return LedgerEntry(
        book="benny",
        seq=seq,
        event=f"place:g{seq}#h2h",
        kind="place",
        at=AT,
        postings=(Posting("bankroll", -5), Posting("stakes", 5)),
        previous=GENESIS,
        digest=f"{seq:064x}",
    )


def head(seq: int) -> LedgerHead:
    return LedgerHead(book="benny", seq=seq, digest=f"{seq:064x}", balances={"stakes": 5 * seq})


def test_entries_come_back_in_order_to_the_microsecond(store: Store) -> None:
    entries = [entry(seq) for seq in (2, 10, 1)]
    store.write_many(each.put() for each in entries)

    found = store(LedgerEntry.of_book("benny"))

    assert found == sorted(entries, key=lambda each: each.seq)
    assert store(LedgerEntry.by_place("benny", "000000000010")) == entries[1]
    assert store(LedgerEntry.of_book("other")) == []


def test_an_entry_and_its_mark_are_written_once(store: Store) -> None:
    mark = LedgerMark(book="benny", event="place:g1#h2h", seq=1)
    store.all(entry(1).append(), mark.set_once())

    assert store(LedgerMark.of_event("benny", "place:g1#h2h")) == mark
    with pytest.raises(ConditionFailed):
        store(entry(1).append())
    with pytest.raises(ConditionFailed):
        store(mark.set_once())


def test_a_head_moves_only_from_where_it_was_read(store: Store) -> None:
    store(head(1).advance(0))
    store(head(2).advance(1))

    assert store(LedgerHead.of_book("benny")) == head(2)
    with pytest.raises(ConditionFailed):
        store(head(1).advance(0))
    with pytest.raises(ConditionFailed):
        store(head(2).advance(1))


def test_an_entry_is_not_written_when_the_head_has_moved(store: Store) -> None:
    store(head(2).advance(0))

    with pytest.raises(TransactionCancelled):
        store.all(head(2).advance(1), entry(2).append())

    assert store(LedgerEntry.of_book("benny")) == []


def test_books_are_listed_and_a_persons_can_be_forgotten(store: Store) -> None:
    store.write_many((LedgerBook(book="benny").save(), LedgerBook(book="user:ada").save()))
    store.write_many((head(1).replace(book="user:ada").put(), entry(1).put()))

    store(LedgerBook.remove("user:ada"))
    store(LedgerHead.remove("user:ada"))

    assert [each.book for each in store(LedgerBook.all_books())] == ["benny"]
    assert store(LedgerHead.of_book("user:ada")) is None
    assert store(LedgerEntry.of_book("benny")) == [entry(1)]
