"""What every engine promises of queries, pages, batches and transactions."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from grandstand.storage.tables import AsyncStore, Store, TransactGet, present, require
from grandstand.storage.tables.errors import CursorInvalid, TransactionCancelled
from tests.storage.tables.library import Book, Loan, Reader, readers, shelf

DAY = datetime(2026, 2, 11, 19, 0, tzinfo=UTC)


def book(number: int, **changes: object) -> Book:
    start = Book(series="cities", number=number, author="vance", published_at=DAY, on_sale=True)
    return start.replace(published_at=DAY + timedelta(days=number), **changes)


@pytest.fixture(autouse=True)
def _shelf(store: Store) -> None:
    store.create((shelf,))
    store.write_many(book(number).put() for number in range(1, 31))
    store(Loan(series="cities", reader="ada", since=DAY).put())
    store(Loan(series="cities", reader="ada", since=DAY + timedelta(hours=1)).put())
    store(Loan(series="cities", reader="bob", since=DAY).put())


def numbers(books: list[Book]) -> list[int]:
    return [one.number for one in books]


def test_a_query_answers_in_order_and_only_its_own_entity(store: Store) -> None:
    everything = store(Book.of_series("cities"))
    last = store(Book.of_series("cities").newest(3))

    assert numbers(everything) == list(range(1, 31))
    assert numbers(last) == [30, 29, 28]


def test_a_prefix_of_the_sort_key_narrows(store: Store) -> None:
    loans = store(Loan.of_reader("cities", "ada"))

    assert [loan.reader for loan in loans] == ["ada", "ada"]


def test_bounds_include_and_exclude_as_they_say(store: Store) -> None:
    rows = Book.row(series="cities")

    assert numbers(store(rows.since(number=28))) == [28, 29, 30]
    assert numbers(store(rows.after(number=28))) == [29, 30]
    assert numbers(store(rows.until(number=2))) == [1, 2]
    assert numbers(store(rows.before(number=2))) == [1]
    assert numbers(store(rows.between(number=(4, 6)))) == [4, 5, 6]


def test_bounds_before_a_later_field_take_whole_values(store: Store) -> None:
    loans = Loan.row(series="cities")

    assert len(store(loans.until(reader="ada"))) == 2
    assert len(store(loans.after(reader="ada"))) == 1
    assert len(store(loans.before(reader="bob"))) == 2
    assert len(store(loans.since(reader="bob"))) == 1


def test_a_sparse_index_holds_what_is_on_sale(store: Store) -> None:
    store(Book.update(series="cities", number=30).set(on_sale=False))

    sold = store(Book.by_author("vance", DAY + timedelta(days=28)))

    assert numbers(sold) == [28, 29]


def test_pages_follow_each_other_without_loss_or_repetition(store: Store) -> None:
    question = Book.of_series("cities").where(Book.number > 3)
    seen: list[int] = []

    page = store.page(question, 7)
    seen += numbers(list(page.items))
    while page.cursor is not None:
        page = store.page(question, 7, after=page.cursor)
        seen += numbers(list(page.items))

    assert seen == list(range(4, 31))


def test_a_cursor_serves_its_own_question_only(store: Store) -> None:
    cursor = store.page(Book.of_series("cities"), 5).cursor
    assert cursor is not None

    with pytest.raises(CursorInvalid):
        store.page(Loan.row(series="cities"), 5, after=cursor)
    with pytest.raises(CursorInvalid):
        store.page(Book.of_series("cities"), 5, after=cursor[:-2] + "xx")


def test_many_are_read_in_the_order_asked(store: Store) -> None:
    asked = [3, 99, 1, 3]

    answers = store.get_many(Book.one("cities", number) for number in asked)

    assert [one.number if one else None for one in answers] == [3, None, 1, 3]


def test_many_more_than_a_batch_are_written_and_read(store: Store) -> None:
    store.create((readers,))
    store.write_many(Reader(reader_id=f"r{n}", place="home#1").put() for n in range(130))

    answers = store.get_many(Reader.get(reader_id=f"r{n}", place="home#1") for n in range(130))

    assert [reader.reader_id for reader in answers if reader] == [f"r{n}" for n in range(130)]


def test_a_transaction_writes_all(store: Store) -> None:
    store.create((readers,))
    store.all(
        Book.update(series="cities", number=1).set(price=Decimal(9)),
        Reader(reader_id="ada", place="home#1").put().if_absent(),
        Loan.delete(series="cities", reader="bob", since=DAY),
        require(Book.one("cities", 2), present(Book.author)),
    )

    together = store(TransactGet((Book.one("cities", 1), Book.one("cities", 2))))
    assert [one.price for one in together if one] == [Decimal(9), Decimal(0)]
    assert store(Loan.of_reader("cities", "bob")) == []


def test_a_transaction_that_fails_writes_nothing_and_says_which(store: Store) -> None:
    with pytest.raises(TransactionCancelled) as cancelled:
        store.all(
            Book.update(series="cities", number=1).set(price=Decimal(9)),
            book(2).put().if_absent(),
        )

    assert [reason.code for reason in cancelled.value.reasons] == ["None", "ConditionalCheckFailed"]
    assert store.read(Book.one("cities", 1)).price == Decimal(0)


def test_the_same_token_is_carried_out_once(store: Store) -> None:
    store.create((readers,))
    store(Reader(reader_id="ada", place="home#1").put())
    visit = Reader.came("ada", "home#1")

    store.all(visit, token="one-visit")
    store.all(visit, token="one-visit")

    assert store.read(Reader.get(reader_id="ada", place="home#1")).visits == 1


@pytest.mark.anyio
async def test_the_same_operations_can_be_awaited(store: Store) -> None:
    waiting = AsyncStore(store)

    books = await waiting(Book.of_series("cities").newest(2))
    page = await waiting.page(Book.of_series("cities"), 5)
    each = [one.number async for one in waiting.each(Book.row(series="cities").until(number=3))]

    assert numbers(books) == [30, 29]
    assert len(page.items) == 5
    assert each == [1, 2, 3]
