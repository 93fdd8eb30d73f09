"""Wrong declarations fail where they are written, with a sentence that names the fix."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Self

import pytest

from grandstand.storage.tables import (
    Entity,
    Index,
    Naming,
    Query,
    Table,
    attribute,
    field,
    key,
    ttl,
    version,
)
from grandstand.storage.tables.errors import DeclarationFault
from tests.storage.tables.library import Book, Loan, Reader


def table(**changes: Any) -> Table:
    given = {"partition": "pk", "sort": "sk", "ttl": "ttl", "indexes": (Index("G", "gpk", "gsk"),)}
    return Table("some-table", **(given | changes))


def missing_partition_field() -> None:
    class Wrong(Entity, table=table()):
        name: str
        row = key("A#{name}", "B")

        @classmethod
        def all(cls) -> Query[Self]:
            return cls.row()


def hole_in_the_sort_prefix() -> None:
    class Wrong(Entity, table=table()):
        a: str
        b: str
        c: str
        row = key("{a}", "{b}#{c}")

        @classmethod
        def some(cls, a: str, c: str) -> Query[Self]:
            return cls.row(a=a, c=c)


def unknown_field_in_a_template() -> None:
    class Wrong(Entity, table=table()):
        a: str
        row = key("{a}", "{nobody}")


def boolean_key() -> None:
    class Wrong(Entity, table=table(partition="active", sort=None)):
        active: bool
        row = key("{active}")


def boolean_in_a_template() -> None:
    class Wrong(Entity, table=table()):
        active: bool
        row = key("A#{active}", "B")


def unpadded_number() -> None:
    class Wrong(Entity, table=table()):
        n: int
        row = key("A", "{n}")


def expiry_that_is_text() -> None:
    class Wrong(Entity, table=table()):
        a: str
        expires: str | None = ttl()
        row = key("{a}", "B")


def expiry_without_a_table_attribute() -> None:
    class Wrong(Entity, table=table(ttl=None)):
        a: str
        expires: datetime | None = ttl()
        row = key("{a}", "B")


def float_field() -> None:
    class Wrong(Entity, table=table()):
        a: str
        price: float
        row = key("{a}", "B")


def no_key() -> None:
    class Wrong(Entity, table=table()):
        a: str


def sort_template_missing() -> None:
    class Wrong(Entity, table=table()):
        a: str
        row = key("{a}")


def fields_that_run_together() -> None:
    class Wrong(Entity, table=table()):
        a: str
        b: str
        row = key("{a}{b}", "X")


def unknown_index() -> None:
    class Wrong(Entity, table=table()):
        a: str
        row = key("{a}", "B")
        other = key("{a}", "B", index="Nope")


def nothing_to_leave_out() -> None:
    class Wrong(Entity, table=table(indexes=(Index("G", "gpk", "gsk"),))):
        gpk: str
        gsk: str
        live: bool
        row = key("{gpk}", "B")
        other = key("{gpk}", "{gsk}", index="G", when="live")


def two_fields_stored_as_one() -> None:
    class Wrong(Entity, table=table()):
        a: str
        b: str = attribute("a")
        row = key("{a}", "B")


def key_attribute_of_two_types() -> None:
    shared = table(partition="id", sort=None, indexes=())

    class Right(Entity, table=shared):
        id: str
        row = key("{id}")

    class Wrong(Entity, table=shared):
        id: int
        row = key("{id}")


def version_that_is_text() -> None:
    class Wrong(Entity, table=table()):
        a: str
        rev: str = version()
        row = key("{a}", "B")


def local_index_of_another_partition() -> None:
    table(indexes=(Index("L", "other", "gsk", local=True),))


@pytest.mark.parametrize(
    ("declare", "sentence"),
    [
        (missing_partition_field, "reads one partition: give name"),
        (hole_in_the_sort_prefix, "b is missing before c"),
        (unknown_field_in_a_template, "neither a field nor a property"),
        (boolean_key, "use a text key that exists only if it is set: when='active'"),
        (boolean_in_a_template, "cannot be part of a key"),
        (unpadded_number, "{n:08d}"),
        (expiry_that_is_text, "epoch seconds. Declare it as datetime"),
        (expiry_without_a_table_attribute, "declares no ttl attribute"),
        (float_field, "Declare the field as Decimal"),
        (no_key, "needs one key for its table"),
        (sort_template_missing, "give the sort template"),
        (fields_that_run_together, "put text such as #"),
        (unknown_index, "has no index Nope. Declared indexes: G"),
        (nothing_to_leave_out, "no item can be left out"),
        (two_fields_stored_as_one, "are both stored as a"),
        (key_attribute_of_two_types, "elsewhere it is S"),
        (version_that_is_text, "Declare it as int"),
        (local_index_of_another_partition, "the partition key of the table"),
    ],
)
def test_a_wrong_declaration_names_the_fix(declare: Callable[[], None], sentence: str) -> None:
    with pytest.raises(DeclarationFault) as fault:
        declare()

    assert sentence in str(fault.value)


def test_an_update_that_would_leave_an_index_key_stale_is_refused_when_built() -> None:
    update = Book.update(series="s", number=1)

    with pytest.raises(DeclarationFault, match="Set author, published_at in the same set"):
        update.set(on_sale=True)
    whole = update.set(on_sale=True, author="a", published_at=datetime(2026, 1, 1, tzinfo=UTC))

    assert [path.root for path in whole.changes.paths][-1] == "author_pk"


def test_an_update_cannot_touch_the_key_or_the_version() -> None:
    with pytest.raises(DeclarationFault, match="part of the key"):
        Book.update(series="s", number=1).set(number=2)
    with pytest.raises(DeclarationFault, match="is the version of Loan"):
        Loan.update(series="s", reader="r", since=datetime.now(UTC)).set(rev=4)


def test_an_upsert_must_set_what_the_entity_needs() -> None:
    from grandstand.core.clock import ManualClock
    from grandstand.storage.tables.store import Session

    session = Session(None, Naming(), ManualClock())  # type: ignore[arg-type]

    with pytest.raises(DeclarationFault, match="set author, published_at too"):
        Book.update(series="s", number=1).set(price=Decimal(1)).upsert().request(session)


def test_a_condition_is_neither_true_nor_false() -> None:
    with pytest.raises(DeclarationFault, match="not and/or"):
        bool(Book.author == "vance")
    with pytest.raises(DeclarationFault, match="is not a condition"):
        Book.of_series("s").where(check=True)
    with pytest.raises(DeclarationFault, match="Conditions start from the class"):
        field("vance")


def test_names_follow_the_place() -> None:
    naming = Naming(prefix="x-", environment="prod", renamed=(("readers", "people"),))

    assert naming.physical("shelf-{environment}") == "x-shelf-prod"
    assert naming.physical("readers") == "x-people"
    with pytest.raises(DeclarationFault, match="Invalid table name"):
        Naming(prefix="ä").physical("readers")


def test_stored_names_are_those_of_the_declaration() -> None:
    reader = Reader(reader_id="ada", place="home#1", home_id="h", full_name="Ada")

    item = Reader.__plan__.encode(reader)

    assert item == {
        "readerId": "ada",
        "homeId#cardId": "home#1",
        "homeId": "h",
        "visits": 0,
        "fullName": "Ada",
        "schemaVersion": "2.0",
    }
