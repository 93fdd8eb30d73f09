"""What an operation tells of itself: its request, its cost, its line in the document."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from grandstand.core.clock import ManualClock
from grandstand.storage.tables import GetMany, Naming, TransactWrite, WriteMany
from grandstand.storage.tables.declaration.patterns import patterns
from grandstand.storage.tables.documents import markdown_section
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.errors import DeclarationFault
from grandstand.storage.tables.operations.explain import cost, explain
from grandstand.storage.tables.store import Session
from tests.storage.tables.library import Book, Reader, readers, shelf

DAY = datetime(2026, 2, 11, tzinfo=UTC)


@pytest.fixture
def session() -> Session:
    clock = ManualClock()
    return Session(SqliteEngine.open(None, clock=clock), Naming(environment="test"), clock)


def test_a_query_is_explained_to_the_letter(session: Session) -> None:
    told = explain(session, Book.by_author("vance", DAY).newest(5))

    assert told.operation == "Query"
    assert told.request == {
        "TableName": "shelf-test",
        "IndexName": "ByAuthor",
        "KeyConditionExpression": "#n0 = :v0 AND #n1 >= :v1",
        "ScanIndexForward": False,
        "Limit": 5,
        "ExpressionAttributeNames": {"#n0": "author_pk", "#n1": "published_at"},
        "ExpressionAttributeValues": {
            ":v0": {"S": "AUTHOR#vance"},
            ":v1": {"S": "2026-02-11T00:00:00Z"},
        },
    }


def test_an_odd_attribute_name_goes_through_a_placeholder(session: Session) -> None:
    told = explain(session, Reader.row(reader_id="ada", place="home#1"))

    assert "homeId#cardId" not in told.request["KeyConditionExpression"]
    assert "homeId#cardId" in told.request["ExpressionAttributeNames"].values()


def test_batches_and_transactions_are_explained_whole(session: Session) -> None:
    gets = GetMany((Book.one("s", 1), Book.one("s", 2)))
    puts = WriteMany((Reader(reader_id="a", place="p").put(),))
    both = TransactWrite((Reader.came("a", "p"), Book.delete(series="s", number=1)))

    assert len(explain(session, gets).request["RequestItems"]["shelf-test"]["Keys"]) == 2
    assert explain(session, puts).request["RequestItems"]["readers"][0]["PutRequest"]
    actions = explain(session, both).request["TransactItems"]
    assert [next(iter(action)) for action in actions] == ["Update", "Delete"]


def test_what_is_no_operation_cannot_be_explained(session: Session) -> None:
    with pytest.raises(DeclarationFault, match="is not a table operation"):
        explain(session, "a text")


def test_costs_follow_size_consistency_indexes_and_transactions() -> None:
    book = Book(series="s", number=1, author="a", published_at=DAY)

    assert cost(Book.one("s", 1), item_bytes=5_000).read_units == Decimal(1)
    assert cost(Book.one("s", 1).consistent(), item_bytes=5_000).read_units == Decimal(2)
    assert cost(Book.of_series("s"), item_bytes=1_000, found=20).read_units == Decimal("2.5")
    assert cost(book.put(), item_bytes=1_500).write_units == Decimal(4)
    assert cost(TransactWrite((book.put(),)), item_bytes=1_000).write_units == Decimal(4)


def test_a_rate_gives_dollars_a_month() -> None:
    priced = cost(Book.one("s", 1), item_bytes=4_000, per_second=Decimal(10))

    assert priced.dollars is not None
    assert round(priced.dollars, 2) == Decimal("1.64")


def test_patterns_are_read_off_the_class() -> None:
    told = {pattern.name: pattern for pattern in patterns(shelf)}

    assert told["by_author"].where == "author_pk = AUTHOR#‹author› AND published_at >= ‹since›"  # noqa: RUF001
    assert told["by_author"].index == "ByAuthor"
    assert told["publish"].operation == "PutItem"
    assert told["publish"].condition == "attribute_not_exists(pk)"
    assert told["of_reader"].where == "pk = SERIES#‹series› AND begins_with(sk, LOAN#‹reader›#)"  # noqa: RUF001


def test_the_document_names_keys_indexes_and_patterns() -> None:
    text = markdown_section(readers)

    assert "| Expiry | `expiresAt`, epoch seconds |" in text
    assert "| `byHome` | `homeId` | – | ALL |" in text
    assert "Reader.came" in text
