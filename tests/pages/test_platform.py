"""Home and status show what happens in the platform while one looks at them."""

import csv

import pytest
from playwright.sync_api import expect

from tests.pages.app_server import AppServer
from tests.pages.browser_page import BrowserPage
from tests.pages.conftest import Look


@pytest.fixture
def seen(look: Look, platform: AppServer) -> BrowserPage:
    return look(platform.url)


def test_home_has_a_card_for_each_application_and_what_happened(seen: BrowserPage) -> None:
    seen.go("/")

    titles = seen.page.locator(".app-card h2 a")
    expect(titles).to_have_text(["Bets", "Gatherer", "Cricket", "Keiba", "Trainer"])
    expect(seen.page.locator(".events li").first).to_contain_text("Wicket: Northfield 142 for 4.")


def test_every_application_has_a_page(seen: BrowserPage) -> None:
    seen.go("/")

    seen.page.get_by_role("navigation", name="Applications").get_by_text("Bets").click()

    expect(seen.page.get_by_role("heading", level=1)).to_have_text("Games")
    current = seen.page.locator(".apps a[aria-current]")
    expect(current).to_have_text("Bets")


def test_a_run_asked_for_is_seen_on_the_page_without_loading_it_again(seen: BrowserPage) -> None:
    seen.go("/status/jobs/platform.storage")
    runs = seen.page.locator("#runs tbody tr")
    before = runs.count()
    seen.page.evaluate("window.stayed = true")
    asked = {"x-from": "page", "origin": seen.url}

    seen.page.request.post(f"{seen.url}/status/jobs/platform.storage/run", headers=asked)

    expect(runs).not_to_have_count(before, timeout=20_000)
    assert seen.page.evaluate("window.stayed") is True
    assert seen.console == []


def test_a_job_is_paused_and_resumed_by_a_form(look: Look, platform: AppServer) -> None:
    watched = look(platform.url, java_script_enabled=False)
    watched.page.goto(f"{platform.url}/status/jobs/platform.series")

    watched.page.get_by_role("button", name="Pause").click()
    expect(watched.page.locator(".figure").first).to_contain_text("paused")
    watched.page.get_by_role("button", name="Resume").click()

    expect(watched.page.get_by_role("button", name="Pause")).to_be_visible()


def test_a_sorted_and_filtered_table_stays_so_when_news_come(seen: BrowserPage) -> None:
    seen.go("/status")
    jobs = seen.page.locator("data-table#jobs")
    jobs.get_by_role("link", name="Job", exact=True).click()
    jobs.get_by_role("link", name="Job", exact=True).click()
    jobs.get_by_role("searchbox").fill("platform.s")
    asked = {"origin": seen.url}
    words = jobs.locator("tr[data-key='platform.sweep'] time").last
    before = words.get_attribute("datetime")

    seen.page.request.post(f"{seen.url}/status/jobs/platform.sweep/run", headers=asked)
    expect(words).not_to_have_attribute("datetime", before or "", timeout=20_000)

    names = jobs.locator("tbody tr:not([hidden]) td:first-child").all_inner_texts()
    assert names == sorted(names, reverse=True)
    expect(jobs.get_by_role("searchbox")).to_have_value("platform.s")
    expect(jobs.locator("th").first).to_have_attribute("aria-sort", "descending")


def test_what_no_news_tell_of_is_fetched_now_and_then(seen: BrowserPage) -> None:
    seen.page.clock.install()
    seen.go("/status")

    with seen.page.expect_request(f"{seen.url}/status") as asked:
        seen.page.clock.run_for(31_000)

    assert asked.value.resource_type == "fetch"
    assert seen.console == []


@pytest.mark.parametrize(
    ("table", "heads"),
    [
        ("jobs", ["Job", "State"]),
        ("storage", ["Name", "Kind"]),
        ("sources", ["Source", "Host"]),
    ],
)
def test_each_table_of_the_status_page_is_to_be_had_as_csv(
    seen: BrowserPage, table: str, heads: list[str]
) -> None:
    answer = seen.page.request.get(f"{seen.url}/status/{table}.csv")

    lines = list(csv.reader(answer.text().splitlines()))
    assert answer.headers["content-type"].startswith("text/csv")
    assert lines[0][:2] == heads


@pytest.mark.parametrize(
    "path", ["/status/none.csv", "/status/jobs/no.such", "/nothing", "/platform/none"]
)
def test_what_is_not_there_is_a_page_that_says_so(seen: BrowserPage, path: str) -> None:
    answer = seen.page.request.get(f"{seen.url}{path}", headers={"accept": "text/html"})

    assert answer.status == 404
    assert answer.headers["content-type"].startswith("text/html")
