"""The backfill command, on items of an older version."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from grandstand.apps.trainer.store import TABLES
from grandstand.host.cli import app
from grandstand.host.infrastructure import open_store
from grandstand.host.settings import Settings
from grandstand.storage.tables.attribute_values import Item
from grandstand.storage.tables.requests import PutItem, ScanRequest

OLDER: Item = {"userId": "ada", "attemptCount": 3, "scoreSum": 210, "schemaVersion": "0.9"}


@pytest.fixture
def name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The totals table with one older item, in a data folder of its own."""
    monkeypatch.setenv("GRANDSTAND_HOME", str(tmp_path))
    with open_store(Settings()) as store:
        store.create(TABLES)
        totals = next(table for table in TABLES if table.name == "Totals")
        name = store.session.name(totals)
        store.session.engine.put(PutItem(name, OLDER))
    return name


def versions(name: str) -> list[object]:
    with open_store(Settings()) as store:
        page = store.session.engine.scan(ScanRequest(name))
        return [item["schemaVersion"] for item in page.items]


def test_older_items_are_brought_up_to_date_and_counted(name: str) -> None:
    runner = CliRunner()

    looked = runner.invoke(app, ["tables", "backfill", "UserTotals", "--dry-run"])
    before = versions(name)
    done = runner.invoke(app, ["tables", "backfill", "UserTotals"])
    again = runner.invoke(app, ["tables", "backfill", "UserTotals"])

    assert "1 would be upgraded" in looked.stdout
    assert before == ["0.9"]
    assert "1 upgraded, 0 were current" in done.stdout
    assert "0 upgraded, 1 were current" in again.stdout
    assert versions(name) == ["1.0"]


def test_an_unknown_entity_is_answered_with_those_that_have_a_version() -> None:
    result = CliRunner().invoke(app, ["tables", "backfill", "Nobody"])

    assert "No entity named Nobody" in str(result.exception)
    assert "Attempt" in str(result.exception)
