"""Tables copied to another engine arrive whole, also after a stop; a wrong target says so."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from grandstand.core.errors import InvalidInput, NotFound
from grandstand.host.backup.archive import Progress
from grandstand.host.backup.copying import (
    TableCopyReport,
    TableCopyRequest,
    TableCopyResult,
    copy_tables,
)
from grandstand.host.infrastructure import open_store
from grandstand.host.registry import all_tables
from grandstand.host.settings import Settings
from grandstand.storage.tables.declaration.table import Table
from grandstand.storage.tables.maintenance import TableKeyMismatch
from grandstand.storage.tables.platform_tables import PLATFORM_TABLES
from grandstand.storage.tables.requests import DeleteItem, PutItem
from tests.host.backup.making import CLOCK, ITEMS, fill, lease, silent, standing

LEASES = "grandstand-leases"
_numbers = itertools.count(1)


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A filled home, whose tables have names no other test uses, for all its processes."""
    monkeypatch.setenv("GRANDSTAND_TABLES_PREFIX", f"m{next(_numbers)}-")
    return fill(tmp_path / "home")


def copied(settings: Settings, order: TableCopyRequest) -> TableCopyReport:
    return copy_tables(settings, order, CLOCK, silent)


def leases_of(moved: TableCopyReport) -> TableCopyResult:
    [found] = [each for each in moved.parts if each.name.endswith(LEASES)]
    return found


def test_a_copy_killed_in_the_middle_is_gone_on_with_and_ends_equal(
    settings: Settings, dynamodb_local: str
) -> None:
    target = f"dynamodb:{dynamodb_local}"
    told: list[Progress] = []

    with standing("copy", str(settings.home), target):
        pass
    looked = copied(settings, TableCopyRequest("sqlite", target, all_tables(), check=True))
    moved = copy_tables(
        settings, TableCopyRequest("sqlite", target, all_tables()), CLOCK, told.append
    )
    again = copied(settings, TableCopyRequest("sqlite", target, all_tables()))

    leases = leases_of(moved)
    first = next(reached for reached in told if reached.what.endswith(LEASES))
    assert not leases_of(looked).equal
    assert moved.resumed_from is not None, "looking in between changes nothing"
    assert first.done == 500
    assert leases.equal
    assert (leases.copied.read, leases.target.items) == (ITEMS, ITEMS)
    assert again.resumed_from is None
    assert leases_of(again).copied.written == 0
    assert leases_of(again).copied.same == ITEMS
    assert leases_of(again).target == leases.target
    assert not [*(settings.home / "copying").iterdir()]


def test_there_and_back_again_is_the_same(settings: Settings, dynamodb_local: str) -> None:
    cloud, other = f"dynamodb:{dynamodb_local}", f"sqlite:{settings.home / 'other.db'}"

    there = copied(settings, TableCopyRequest("sqlite", cloud, PLATFORM_TABLES, create=True))
    back = copied(settings, TableCopyRequest(cloud, other, PLATFORM_TABLES, create=True))

    assert leases_of(there).source == leases_of(back).target
    assert all(each.equal for each in (*there.parts, *back.parts))


def test_the_target_keeps_what_it_has_unless_it_is_to_mirror(settings: Settings) -> None:
    order = TableCopyRequest(
        "sqlite", f"sqlite:{settings.home / 'other.db'}", PLATFORM_TABLES, create=True
    )
    copied(settings, order)
    with open_store(settings) as store:
        name, engine = store.session.name(PLATFORM_TABLES[0]), store.session.engine
        engine.put(PutItem(name, {**lease(1), "epoch": 99}))
        engine.delete(DeleteItem(name, {"leaseKey": "LEASE#00002"}))

    added = leases_of(copied(settings, order))
    looked = leases_of(
        copied(settings, TableCopyRequest(order.source, order.target, PLATFORM_TABLES, check=True))
    )
    mirrored = leases_of(
        copied(settings, TableCopyRequest(order.source, order.target, PLATFORM_TABLES, mirror=True))
    )

    assert (added.copied.other, added.equal) == (1, False)
    assert (looked.copied.read, looked.equal) == (0, False)
    assert (mirrored.copied.other, mirrored.copied.removed) == (1, 1)
    assert mirrored.equal


def test_a_target_without_the_tables_says_how_to_make_them(settings: Settings) -> None:
    target = f"sqlite:{settings.home / 'other.db'}"

    with pytest.raises(NotFound, match=r"tables create`, or add --create"):
        copied(settings, TableCopyRequest("sqlite", target, PLATFORM_TABLES))


def test_a_target_with_another_table_of_that_name_is_refused(settings: Settings) -> None:
    target = f"sqlite:{settings.home / 'other.db'}"
    with open_store(settings.model_copy(update={"tables": target}), new=True) as store:
        store.create([Table(LEASES, partition="id"), PLATFORM_TABLES[1]])

    with pytest.raises(TableKeyMismatch, match="GRANDSTAND_TABLES_PREFIX"):
        copied(settings, TableCopyRequest("sqlite", target, PLATFORM_TABLES))


@pytest.mark.parametrize(
    ("source", "target", "said"),
    [
        ("sqlite", "sqlite", "Both sides are sqlite"),
        ("sqlite:/nowhere/tables.db", "sqlite", "No tables at /nowhere/tables.db"),
        ("sqlite", "sqlit", "Use sqlite, sqlite:PATH, dynamodb"),
    ],
)
def test_places_that_cannot_be_are_refused_with_what_to_do(
    settings: Settings, source: str, target: str, said: str
) -> None:
    with pytest.raises((InvalidInput, NotFound), match=said):
        copied(settings, TableCopyRequest(source, target, PLATFORM_TABLES))


def test_tables_the_source_does_not_have_are_named_and_nothing_is_made_of_them(
    settings: Settings,
) -> None:
    target = f"sqlite:{settings.home / 'other.db'}"

    moved = copied(settings, TableCopyRequest("sqlite", target, all_tables(), create=True))

    with open_store(settings.model_copy(update={"tables": target})) as store:
        made = store.session.engine.list_tables()
    assert len(moved.absent) == len(all_tables()) - len(PLATFORM_TABLES)
    assert len(made) == len(PLATFORM_TABLES)
