"""Every page of keiba, narrow and wide, in both colour schemes and languages, is open to all."""

import pytest
from playwright.sync_api import expect

from tests.pages.app_server import AppServer
from tests.pages.conftest import Look
from tests.pages.keiba_server import KeibaServer

_PAGES = {
    "the next meeting day": "/keiba",
    "a day without racing": "/keiba?date=2026-11-16&circuit=jra",
    "a card": "/keiba/races/{race}",
    "side by side": "/keiba/races/{race}/compare",
    "asking for a preview": "/keiba/races/{race}/preview",
    "a result": "/keiba/races/{run}/result",
    "a result to come": "/keiba/races/{race}/result",
    "a horse": "/keiba/horses/{horse}",
    "a jockey": "/keiba/jockeys/{jockey}",
    "no watched horses": "/keiba/watched",
    "the cache": "/keiba/cache",
    "its entries": "/keiba/cache/entries?prefix=HORSE%23",
    "an entry": "/keiba/cache/entry?pk=RACE%23{race}&sk=METADATA",
}


@pytest.mark.parametrize("name", list(_PAGES))
def test_a_page_has_no_barrier_and_says_nothing_to_strangers(
    look: Look, raced: AppServer, racing: KeibaServer, name: str
) -> None:
    watched = look(raced.url)

    faults = watched.faults(_PAGES[name].format_map(racing.ids))

    assert faults == []


@pytest.mark.parametrize("name", ["the next meeting day", "a card", "a horse", "the cache"])
def test_a_page_in_japanese_has_no_barrier(
    look: Look, raced: AppServer, racing: KeibaServer, name: str
) -> None:
    watched = look(raced.url, width=360, locale="ja-JP")

    watched.go(_PAGES[name].format_map(racing.ids))

    expect(watched.page.get_by_role("link", name="注目馬")).to_be_visible()
    assert watched.page.locator("main > .stacked").get_attribute("lang") == "ja"
    assert watched.violations() == []
    assert watched.overflow() == 0


@pytest.mark.parametrize("name", ["the next meeting day", "a card", "a horse", "a jockey"])
def test_a_page_says_all_it_has_to_say_without_a_script(
    look: Look, raced: AppServer, racing: KeibaServer, name: str
) -> None:
    watched = look(raced.url, java_script_enabled=False)

    answer = watched.page.goto(f"{raced.url}{_PAGES[name].format_map(racing.ids)}")

    assert answer is not None
    assert answer.status == 200
    expect(watched.page.locator("main h1")).to_be_visible()
    expect(watched.page.locator(".apps a[aria-current]")).to_have_text("Keiba")


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/keiba/races/none", 400),
        ("/keiba/races/202605050499/result", 404),
        ("/keiba/horses/1999000000", 404),
        ("/keiba/cache/entry?pk=RACE%23none&sk=METADATA", 404),
    ],
)
def test_what_is_not_there_is_a_page_that_says_so(
    look: Look, raced: AppServer, path: str, status: int
) -> None:
    watched = look(raced.url)

    answer = watched.page.request.get(f"{raced.url}{path}", headers={"accept": "text/html"})

    assert answer.status == status
    assert answer.headers["content-type"].startswith("text/html")
