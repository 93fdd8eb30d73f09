"""Every change of a public name shows up as a difference from a snapshot."""

from __future__ import annotations

import asyncio
import difflib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.surface import surface
from tests.surface.outbox import write_outbox
from tests.surface.surface import AppSurface

FOLDER = Path(__file__).parent / "snapshots"
UPDATE = "UPDATE_SNAPSHOTS"
MAX_LINES = 60

WITHOUT_APPS: dict[str, Callable[[], str]] = {
    "activity.swift": surface.write_swift,
    "cli.txt": surface.write_cli,
    "errors.txt": surface.write_errors,
    "metrics.txt": surface.write_metrics,
    "series.sql": surface.write_series,
    "settings.txt": surface.write_settings,
    "tables.json": surface.write_tables,
}
WITH_APPS = ("http.txt", "jobs.txt", "openapi.json")


@pytest.fixture(scope="module")
def apps() -> AppSurface:
    """Open the apps once, because it takes seconds."""
    return asyncio.run(surface.read_apps())


def _compare(name: str, current: str) -> None:
    """Fail with a diff if a snapshot differs; write it instead if an update was requested."""
    path = FOLDER / name
    if os.environ.get(UPDATE):
        path.write_text(current, encoding="utf-8")
        return
    snapshot = path.read_text(encoding="utf-8") if path.exists() else ""
    if current != snapshot:
        pytest.fail(_describe(name, snapshot, current), pytrace=False)


def _describe(name: str, snapshot: str, current: str) -> str:
    lines = [
        *difflib.unified_diff(
            snapshot.splitlines(), current.splitlines(), f"snapshots/{name}", "current", lineterm=""
        )
    ]
    hidden = len(lines) - MAX_LINES
    shown = [*lines[:MAX_LINES], f"... {hidden} more lines"] if hidden > 0 else lines
    advice = (
        f"The public surface differs from tests/surface/snapshots/{name}. If the change is "
        f"deliberate, run `{UPDATE}=1 ./test tests/surface` and commit the result."
    )
    return "\n".join([advice, "", *shown])


@pytest.mark.parametrize("name", WITHOUT_APPS)
def test_surface_matches_snapshot(name: str) -> None:
    _compare(name, WITHOUT_APPS[name]())


@pytest.mark.parametrize("name", WITH_APPS)
def test_surface_of_apps_matches_snapshot(name: str, apps: AppSurface) -> None:
    _compare(name, apps.snapshots[name])


def test_outbox_messages_match_snapshot(apps: AppSurface) -> None:
    _compare("outbox.json", asyncio.run(write_outbox(apps.outbox_topics)))


def test_every_snapshot_has_a_test() -> None:
    names = {*WITHOUT_APPS, *WITH_APPS, "outbox.json"}

    assert {path.name for path in FOLDER.iterdir()} == names


def test_difference_is_shown_up_to_a_limit() -> None:
    snapshot = "\n".join(f"old {number}" for number in range(50))
    current = "\n".join(f"new {number}" for number in range(50))

    message = _describe("cli.txt", snapshot, current)

    assert f"{UPDATE}=1 ./test tests/surface" in message
    assert "-old 0" in message
    assert "... 43 more lines" in message
