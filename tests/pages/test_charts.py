"""A chart can be seen, pointed at, walked through by keys, read as a table and taken away."""

import csv
import random
import re
from pathlib import Path

import pytest
from playwright.sync_api import Download, Locator, Page, expect

from tests.pages.app_server import AppServer
from tests.pages.browser_page import BrowserPage
from tests.pages.conftest import Look


@pytest.fixture
def seen(look: Look, gallery: AppServer) -> BrowserPage:
    watched = look(gallery.url)
    watched.go("/platform/gallery")
    return watched


def _chart(watched: BrowserPage, name: str) -> Locator:
    chart = watched.page.locator(f"chart-plot#{name}")
    chart.scroll_into_view_if_needed()
    return chart


def _saved(page: Page, button: Locator, folder: Path) -> Path:
    with page.expect_download() as waiting:
        button.click()
    download: Download = waiting.value
    path = folder / download.suggested_filename
    download.save_as(path)
    return path


def _marks(seen: BrowserPage) -> str:
    """The address of the module that draws marks."""
    module = seen.page.locator("script[type=module]").get_attribute("src") or ""
    return module.replace("platform.js", "chart/marks.js")


@pytest.mark.parametrize(
    ("name", "mark"),
    [
        ("price", ".chart-line"),
        ("price", ".chart-band"),
        ("candles", ".chart-up"),
        ("candles", ".chart-down"),
        ("runs", ".chart-bar"),
        ("many", ".chart-area"),
        ("scatter", ".chart-dots"),
    ],
)
def test_every_mark_is_drawn_inside_its_frame(seen: BrowserPage, name: str, mark: str) -> None:
    chart = _chart(seen, name)

    drawn = chart.locator(mark).first.bounding_box()
    face = chart.locator("svg").bounding_box()

    assert drawn is not None
    assert face is not None
    assert drawn["width"] > face["width"] / 3
    assert drawn["x"] >= face["x"] - 1
    assert drawn["y"] >= face["y"] - 1
    assert drawn["x"] + drawn["width"] <= face["x"] + face["width"] + 1
    assert drawn["y"] + drawn["height"] <= face["y"] + face["height"] + 1


def test_a_step_goes_along_and_then_up(seen: BrowserPage) -> None:
    path = _chart(seen, "runs").locator(".chart-line").get_attribute("d")

    assert re.fullmatch(r"M[\d.]+ [\d.]+(H[\d.]+V[\d.]+)+", path or "")


def test_many_points_are_thinned_to_the_pixels(seen: BrowserPage) -> None:
    chart = _chart(seen, "many")
    width = chart.locator("svg").evaluate("svg => svg.viewBox.baseVal.width")

    path = chart.locator(".chart-line").get_attribute("d") or ""

    assert 500 < path.count("L") < 4 * width


def test_of_every_column_of_pixels_the_ends_and_extremes_are_kept(seen: BrowserPage) -> None:
    chance = random.Random(4)
    rows = [[at, round(chance.gauss(0, 10), 6)] for at in range(20_000)]
    thinning = f"""async (rows) => {{
        const {{ decimate }} = await import("{_marks(seen)}");
        return decimate(rows, (at) => Math.floor(at / 100));
    }}"""

    kept = seen.page.evaluate(thinning, rows)

    columns = [rows[start : start + 100] for start in range(0, 20_000, 100)]
    wanted = {
        tuple(row)
        for column in columns
        for row in (
            column[0],
            column[-1],
            min(column, key=lambda row: row[1]),
            max(column, key=lambda row: row[1]),
        )
    }
    assert {tuple(row) for row in kept} == wanted
    assert [row[0] for row in kept] == sorted(row[0] for row in kept)


def test_a_gap_breaks_the_line(seen: BrowserPage) -> None:
    path = _chart(seen, "price").locator(".chart-line").get_attribute("d") or ""

    assert path.count("M") == 2


def test_a_line_of_one_point_is_a_dot(seen: BrowserPage) -> None:
    drawing = f"""async (rows) => {{
        const {{ draw }} = await import("{_marks(seen)}");
        return draw("step", rows, (at) => at, (value) => value, 1);
    }}"""

    alone = seen.page.evaluate(drawing, [[3, 5], [4, None], [6, 7], [7, 8]])
    together = seen.page.evaluate(drawing, [[6, 7], [7, 8]])

    assert dict(alone)["chart-dots"] == "M3 5h0"
    assert "chart-dots" not in dict(together)


def test_pointing_shows_the_values_there(seen: BrowserPage) -> None:
    chart = _chart(seen, "price")
    tip = chart.locator(".chart-tip")

    chart.locator("svg").hover(position={"x": 300, "y": 80})

    expect(tip).to_be_visible()
    expect(tip).to_contain_text("Last")
    expect(tip).to_contain_text(re.compile(r"\d+\.\d – \d+\.\d\s¢"))


def test_keys_move_a_cursor_that_is_also_spoken(seen: BrowserPage) -> None:
    chart = _chart(seen, "runs")
    tip, spoken = chart.locator(".chart-tip strong"), chart.locator("p[aria-live]")
    chart.locator(".chart-face").focus()

    walked = []
    for pressed in ("ArrowRight", "ArrowRight", "End", "ArrowRight", "ArrowLeft", "Home"):
        seen.page.keyboard.press(pressed)
        walked.append(tip.inner_text())
    said = spoken.inner_text()
    seen.page.keyboard.press("Escape")

    assert walked == ["1", "2", "20", "20", "19", "1"]
    assert said.startswith("1, Runs")
    expect(chart.locator(".chart-tip")).to_be_hidden()


def test_a_key_hides_and_shows_its_series(seen: BrowserPage) -> None:
    chart = _chart(seen, "runs")
    key = chart.get_by_role("button", name="Total ÷ 8")

    key.click()

    expect(key).to_have_attribute("aria-pressed", "false")
    expect(chart.locator(".chart-line")).to_have_count(0)
    key.click()
    expect(chart.locator(".chart-line")).to_have_count(1)


def test_the_table_behind_a_chart_holds_its_values(seen: BrowserPage) -> None:
    chart = _chart(seen, "runs")
    button = chart.get_by_role("button", name="Table")

    button.click()

    expect(button).to_have_attribute("aria-expanded", "true")
    expect(chart.locator("table thead th")).to_have_text(["Over", "Runs", "Total ÷ 8"])
    expect(chart.locator("table tbody tr")).to_have_count(20)
    assert seen.violations() == []


def test_csv_has_a_line_for_every_point(seen: BrowserPage, tmp_path: Path) -> None:
    button = _chart(seen, "candles").get_by_role("button", name="CSV")

    saved = _saved(seen.page, button, tmp_path)

    lines = list(csv.reader(saved.read_text(encoding="utf-8").splitlines()))
    assert saved.name == "candles.csv"
    assert lines[0] == ["Day", "Day open", "Day high", "Day low", "Day close"]
    assert len(lines) == 61
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", lines[1][0])


def test_png_is_a_picture_with_more_than_a_background(seen: BrowserPage, tmp_path: Path) -> None:
    button = _chart(seen, "price").get_by_role("button", name="PNG")

    saved = _saved(seen.page, button, tmp_path)

    content = saved.read_bytes()
    width, height = int.from_bytes(content[16:20]), int.from_bytes(content[20:24])
    assert content.startswith(b"\x89PNG")
    assert width > 1000
    assert height > 500
    assert len(content) > 20_000


def test_news_append_a_point(seen: BrowserPage) -> None:
    count = "document.querySelector('#price').data.plots[1].rows.length"
    expect(seen.page.locator("live-state")).to_have_attribute("data-state", "open")
    before = seen.page.evaluate(count)

    seen.page.get_by_role("button", name="Publish sample messages").click()

    expect(seen.page.locator("toast-stack")).to_contain_text("Sample messages published.")
    seen.until(f"{count} === {before + 1}")
    assert seen.console == []


def test_a_chart_without_values_says_so(seen: BrowserPage) -> None:
    expect(_chart(seen, "nothing").locator("svg")).to_contain_text("No data yet.")


def test_without_scripts_a_chart_says_in_words_what_it_would_show(
    look: Look, gallery: AppServer
) -> None:
    watched = look(gallery.url, java_script_enabled=False)

    watched.page.goto(f"{gallery.url}/platform/gallery")

    words = watched.page.locator("chart-plot#price .chart-summary")
    expect(words).to_be_visible()
    expect(words).to_contain_text("lowest")
