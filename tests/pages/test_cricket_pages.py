"""Every page of cricket, narrow and wide, in both colour schemes, is open to everybody."""

import pytest
from playwright.sync_api import expect

from tests.pages.app_server import AppServer
from tests.pages.conftest import Look
from tests.pages.cricket_server import COMING, DONE, LIVE

_PAGES = {
    "matches": "/cricket",
    "one league": "/cricket?league=nothing",
    "a match that is on": f"/cricket/matches/{LIVE}",
    "for one side": f"/cricket/matches/{LIVE}?for=neutral",
    "a match that is over": f"/cricket/matches/{DONE}",
    "a match to come": f"/cricket/matches/{COMING}",
    "my own": "/cricket/mine",
    "connecting": "/cricket/connect",
    "hub": "/cricket/hub",
}


@pytest.mark.parametrize("name", list(_PAGES))
def test_a_page_has_no_barrier_and_says_nothing_to_strangers(
    look: Look, played: AppServer, name: str
) -> None:
    watched = look(played.url)

    faults = watched.faults(_PAGES[name])

    assert faults == []


def test_pages_say_all_they_have_to_say_without_a_script(look: Look, played: AppServer) -> None:
    watched = look(played.url, java_script_enabled=False)

    watched.go(f"/cricket/matches/{LIVE}")

    expect(watched.page.locator(".phone")).to_contain_text("needed off")
    expect(watched.page.locator(".chart-summary").first).to_contain_text("Worm.")
    expect(watched.page.locator(".overs li").last).to_contain_text("AUS 1")
    expect(watched.page.locator(".apps a[aria-current]")).to_have_text("Cricket")
