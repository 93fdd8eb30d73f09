"""A table is sorted, filtered, walked through and saved, with scripts and without."""

import csv
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.pages.app_server import AppServer
from tests.pages.browser_page import BrowserPage
from tests.pages.conftest import Look


@pytest.fixture
def seen(look: Look, gallery: AppServer) -> BrowserPage:
    watched = look(gallery.url)
    watched.go("/platform/gallery")
    return watched


def _table(watched: BrowserPage) -> Locator:
    return watched.page.locator("data-table#runners")


def _column(table: Locator, place: int) -> list[str]:
    shown = table.locator(f"tbody tr:not([hidden]) td:nth-child({place})")
    return shown.all_inner_texts()


def test_a_title_sorts_up_and_then_down(seen: BrowserPage) -> None:
    table = _table(seen)
    title = table.get_by_role("link", name="Odds")

    title.click()
    up = [float(text) for text in _column(table, 3)]
    title.press("Enter")
    down = [float(text) for text in _column(table, 3)]

    assert up == sorted(up)
    assert down == up[::-1]
    expect(table.locator("th", has_text="Odds")).to_have_attribute("aria-sort", "descending")
    expect(title).to_be_focused()
    assert seen.page.url.endswith("/platform/gallery")


def test_words_filter_rows_and_escape_shows_all(seen: BrowserPage) -> None:
    table = _table(seen)
    field = table.get_by_role("searchbox")

    field.fill("NEST runs")
    found = _column(table, 2)
    field.press("Escape")

    assert found == ["Rook's Nest"]
    expect(table.locator("[data-count]")).to_have_text("24 rows")


def test_words_nobody_holds_say_what_to_do(seen: BrowserPage) -> None:
    table = _table(seen)

    table.get_by_role("searchbox").fill("zebra")

    expect(table.get_by_text("Clear the filter to see all rows.")).to_be_visible()
    expect(table.locator("[data-count]")).to_have_text("0 of 24 rows")


def test_arrow_keys_move_through_the_rows(seen: BrowserPage) -> None:
    table = _table(seen)
    table.locator(".table-scroll").focus()

    for pressed in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp"):
        seen.page.keyboard.press(pressed)
    second = seen.page.evaluate("document.activeElement.cells[1].textContent")
    seen.page.keyboard.press("End")
    last = seen.page.evaluate("document.activeElement.cells[1].textContent")

    assert second == "Brass Lantern"
    assert last == "Yarrow Hill"


def test_csv_saves_the_rows_shown_as_they_are_sorted(seen: BrowserPage, tmp_path: Path) -> None:
    table = _table(seen)
    table.get_by_role("link", name="Runner").click()
    table.get_by_role("searchbox").fill("late")

    with seen.page.expect_download() as waiting:
        table.get_by_role("link", name="CSV").click()
    waiting.value.save_as(tmp_path / "runners.csv")

    lines = list(csv.reader((tmp_path / "runners.csv").read_text("utf-8").splitlines()))
    names = [line[1] for line in lines[1:]]
    assert lines[0] == ["Draw", "Runner", "Odds", "Move", "Form", "Last run", "State"]
    assert names == ["Evening Post", "Juniper Lane", "Old Foundry", "Tamarisk"]


def test_without_scripts_titles_are_links_and_the_filter_is_a_form(
    look: Look, gallery: AppServer
) -> None:
    watched = look(gallery.url, java_script_enabled=False)
    watched.page.goto(f"{gallery.url}/platform/gallery")
    table = _table(watched)

    table.get_by_role("link", name="Odds").click()
    odds = [float(text) for text in _column(table, 3)]
    table.get_by_role("searchbox").fill("rook")
    table.get_by_role("button", name="Filter").click()

    assert odds == sorted(odds)
    assert len(odds) == 24
    assert _column(table, 2) == ["Rook's Nest"]


def test_the_server_saves_the_same_table(look: Look, gallery: AppServer, tmp_path: Path) -> None:
    watched = look(gallery.url, java_script_enabled=False)
    watched.page.goto(f"{gallery.url}/platform/gallery")

    with watched.page.expect_download() as waiting:
        _table(watched).get_by_role("link", name="CSV").click()
    waiting.value.save_as(tmp_path / "runners.csv")

    lines = list(csv.reader((tmp_path / "runners.csv").read_text("utf-8").splitlines()))
    assert len(lines) == 25


def test_a_table_by_pages_is_turned_sorted_and_filtered_by_the_server(seen: BrowserPage) -> None:
    paged = seen.page.locator("data-table#paged")

    paged.get_by_role("link", name="Later").click()
    expect(paged.get_by_text("Page 2 of 4")).to_be_visible()
    second = _column(paged, 2)
    paged.get_by_role("link", name="Runner").click()
    expect(paged.locator("th", has_text="Runner")).to_have_attribute("aria-sort", "ascending")
    paged.get_by_role("searchbox").fill("ro")
    paged.get_by_role("searchbox").press("Enter")

    expect(paged.locator("tbody tr")).to_have_count(3)
    assert second[0] == "Gallant Thrush"
    assert _column(paged, 2) == ["Merrow", "Rook's Nest", "Yarrow Hill"]
    assert seen.console == []
