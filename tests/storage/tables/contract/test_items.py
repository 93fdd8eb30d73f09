"""What every engine promises of single items, through the typed store."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from grandstand.core.errors import NotFound
from grandstand.storage.tables import Store, absent, contains, one_of, size
from grandstand.storage.tables.attribute_values import Item
from grandstand.storage.tables.errors import ConditionFailed, DeclarationFault
from grandstand.storage.tables.requests import PutItem
from tests.storage.tables.library import Book, Chapter, Loan, Reader, readers, shelf

DAY = datetime(2026, 2, 11, 19, 0, tzinfo=UTC)


def book(number: int = 1, **changes: object) -> Book:
    return Book(series="cities", number=number, author="vance", published_at=DAY).replace(**changes)


@pytest.fixture(autouse=True)
def _tables(store: Store) -> None:
    store.create((shelf,))


def test_what_is_put_is_what_is_got(store: Store) -> None:
    full = book(
        price=Decimal("15.50"),
        on_sale=True,
        tags=frozenset({"sf", "ö"}),
        chapters=(Chapter("one", 12, Decimal("0.1")), Chapter("two", 9)),
        notes={"ink": "blue"},
    )

    store(full.put())

    assert store(Book.one("cities", 1)) == full


def test_what_was_never_put_is_none_and_reading_it_is_an_error(store: Store) -> None:
    missing = Book.one("cities", 77)

    assert store(missing) is None
    with pytest.raises(NotFound, match="There is no Book with"):
        store.read(missing)


def test_a_second_publication_is_refused_and_shows_what_is_there(store: Store) -> None:
    store(book(author="vance").publish())

    with pytest.raises(ConditionFailed) as refused:
        store(book(author="leiber").publish())

    found = refused.value.found
    assert isinstance(found, Book)
    assert found.author == "vance"
    assert store.read(Book.one("cities", 1)).author == "vance"


def test_a_record_read_before_another_write_cannot_overwrite_it(store: Store) -> None:
    first = store(Loan(series="cities", reader="ada", since=DAY).put())
    store(first.put())

    with pytest.raises(ConditionFailed):
        store(first.put())

    key = {"series": "cities", "reader": "ada", "since": DAY}
    assert store.read(Loan.get(**key)).rev == 2


def test_an_update_changes_what_it_names_and_answers_the_whole(store: Store) -> None:
    store(book(tags=frozenset({"sf"}), chapters=(Chapter("one", 1),)).put())

    after = store(
        Book.update(series="cities", number=1)
        .set(price=Decimal("3.10"))
        .add(tags=frozenset({"new"}))
        .append(chapters=(Chapter("two", 2),))
        .set_if_absent(notes={"a": "b"})
    )

    assert after.price == Decimal("3.10")
    assert after.tags == {"sf", "new"}
    assert [chapter.title for chapter in after.chapters] == ["one", "two"]
    assert after.notes == {"a": "b"}
    assert store.read(Book.one("cities", 1)) == after


def test_an_update_of_what_is_not_there_makes_nothing(store: Store) -> None:
    store.create((readers,))
    update = Reader.came("ada", "home#1")

    with pytest.raises(ConditionFailed):
        store(update)

    assert store(Reader.get(reader_id="ada", place="home#1")) is None


def test_an_upsert_makes_the_item_and_counts_on(store: Store) -> None:
    store.create((readers,))
    visit = Reader.came("ada", "home#1").upsert()

    first = store(visit)
    second = store(visit)

    assert (first.visits, second.visits) == (1, 2)


def test_a_change_under_a_condition_is_all_or_nothing(store: Store) -> None:
    store(book(price=Decimal(5)).put())
    cheaper = Book.update(series="cities", number=1).set(price=Decimal(4))

    with pytest.raises(ConditionFailed):
        store(cheaper.when((Book.price < Decimal(5)) | absent(Book.author)))
    after = store(cheaper.when((Book.price >= Decimal(5)) & one_of(Book.author, "vance", "leiber")))

    assert after.price == Decimal(4)


def test_conditions_reach_into_lists_maps_and_sets(store: Store) -> None:
    store(book(tags=frozenset({"sf"}), chapters=(Chapter("one", 12),), notes={"ink": "blue"}).put())
    update = Book.update(series="cities", number=1)

    store(update.set(price=Decimal(1)).when(contains(Book.tags, "sf") & (size(Book.chapters) == 1)))
    blue = (Book.notes["ink"] == "blue") & (Book.chapters[0]["pages"] == 12)  # type: ignore[index]
    after = store(update.set(price=Decimal(2)).when(blue))

    assert after.price == Decimal(2)
    with pytest.raises(ConditionFailed):
        store(update.set(price=Decimal(3)).when(~blue))


def test_a_deletion_answers_what_was_there(store: Store) -> None:
    store(book().put())

    gone = store(Book.delete(series="cities", number=1))

    assert gone == book()
    assert store(Book.delete(series="cities", number=1)) is None


def test_what_has_expired_is_not_there_unless_asked_for(store: Store) -> None:
    store.create((readers,))
    now = datetime.now(UTC)
    past, future = now - timedelta(minutes=1), now + timedelta(days=1)
    store(Reader(reader_id="ada", place="home#1", expires=past).put())
    store(Reader(reader_id="ada", place="home#2", expires=future).put())

    assert store(Reader.get(reader_id="ada", place="home#1")) is None
    assert store(Reader.get(reader_id="ada", place="home#1").with_expired()) is not None
    assert [reader.place for reader in store(Reader.everyone())] == ["home#2"]


def test_an_older_item_is_upgraded_when_it_is_read(store: Store) -> None:
    store.create((readers,))
    older: Item = {
        "readerId": "ada",
        "homeId#cardId": "home#1",
        "first": "Ada",
        "last": "L",
        "schemaVersion": "1.0",
    }
    store.session.engine.put(PutItem(store.session.name(readers), older))

    reader = store.read(Reader.get(reader_id="ada", place="home#1"))

    assert reader.full_name == "Ada L"


def test_a_key_part_that_holds_the_separator_is_refused(store: Store) -> None:
    loan = Loan(series="cities", reader="a#b", since=DAY)

    with pytest.raises(DeclarationFault, match="separates the fields"):
        store(loan.put())
