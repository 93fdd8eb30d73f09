"""Somebody goes across applications in a real browser: home, search, what happened, scoreboard."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.pages.app_server import AppServer
from tests.pages.browser_page import BrowserPage
from tests.pages.conftest import Look
from tests.pages.sample_platform import GAME, MATCH, TICKER, SamplePlatform

_PAGES = ("/", "/search?q=lakers", "/search?q=zebra", "/scoreboard")


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    served = AppServer(SamplePlatform(tmp_path_factory.mktemp("telling")))
    served.start()
    yield served
    served.stop()


@pytest.fixture
def seen(look: Look, told: AppServer) -> BrowserPage:
    return look(told.url)


@pytest.mark.parametrize(
    ("words", "kind", "path", "heading"),
    [
        ("lakers", "team", f"/bets/games/{GAME}", "Lakers"),
        (TICKER.lower(), "market", f"/gatherer/markets/{TICKER}", "Lakers to beat Celtics?"),
        ("sixers scorchers", "match", f"/cricket/matches/{MATCH}", "Sydney Sixers"),
        ("hospital", "scenario", "/trainer/scenarios/two-hospitals", "Which hospital is safer?"),
    ],
)
def test_from_home_the_search_box_leads_to_what_is_sought(
    seen: BrowserPage, words: str, kind: str, path: str, heading: str
) -> None:
    seen.go("/")

    seen.page.get_by_role("searchbox", name="Search teams").fill(words)
    seen.page.keyboard.press("Enter")
    found = seen.page.locator(".found li", has=seen.page.get_by_text(kind, exact=True)).first
    found.get_by_role("link").click()

    expect(seen.page).to_have_url(f"{seen.url}{path}")
    expect(seen.page.locator("h1")).to_contain_text(heading)
    assert seen.console == []


def test_the_key_leads_to_the_box_unless_somebody_is_writing(seen: BrowserPage) -> None:
    seen.go("/scoreboard")
    box = seen.page.get_by_role("searchbox", name="Search teams")

    seen.page.keyboard.press("/")
    expect(box).to_be_focused()
    seen.page.keyboard.type("a/b")

    expect(box).to_have_value("a/b")


def test_what_happened_in_each_application_leads_to_its_page(seen: BrowserPage) -> None:
    seen.go("/")
    events = seen.page.locator(".events li")
    expect(events).to_have_count(4)
    told = events.locator(".event-app").all_inner_texts()

    events.filter(has_text="Your bet on").get_by_role("link").click()

    assert sorted(told) == ["Bets", "Cricket", "Gatherer", "Keiba"]
    expect(seen.page).to_have_url(f"{seen.url}/bets/games/{GAME}")
    expect(seen.page.locator("h1")).to_contain_text("Lakers")


def test_home_says_what_is_on_today(seen: BrowserPage) -> None:
    seen.go("/")

    cards = seen.page.locator(".app-card")
    expect(cards.filter(has_text="Bets").locator(".headline")).to_have_text("1 game today")
    expect(cards.filter(has_text="Cricket")).to_contain_text("Next: Sydney Sixers v Perth")


def test_the_scoreboard_has_ones_own_chances_beside_bennys_and_the_models(
    seen: BrowserPage,
) -> None:
    seen.go("/")

    seen.page.get_by_role("link", name="Scoreboard").click()

    rows = seen.page.locator("#chances tbody tr")
    expect(rows.locator("td:first-child a")).to_have_text(
        ["Your bets", "Your forecasts", "Benny", "Consensus"]
    )
    expect(rows.nth(0)).to_contain_text("75.0")
    expect(rows.nth(1)).to_contain_text("Not enough data yet")
    expect(rows.nth(2)).to_contain_text("62.5")
    expect(seen.page.locator("chart-plot")).to_contain_text("Benny")
    rows.nth(0).get_by_role("link").click()
    expect(seen.page).to_have_url(f"{seen.url}/bets/mine")


@pytest.mark.parametrize("width", [360, 1280])
def test_the_pages_across_applications_have_no_barrier(
    look: Look, told: AppServer, width: int
) -> None:
    watched = look(told.url, width=width)

    faults = {path: _faults(watched, path) for path in _PAGES}

    assert faults == {path: [] for path in _PAGES}
    assert (watched.foreign, watched.console) == ([], [])


def _faults(watched: BrowserPage, path: str) -> list[str]:
    watched.go(path)
    expect(watched.page.locator("h1")).to_be_visible()
    wider = watched.overflow()
    return watched.violations_in_both_schemes() + [f"{wider} pixels too wide"] * bool(wider)


def test_an_empty_house_says_what_to_do(look: Look, platform: AppServer) -> None:
    watched = look(platform.url)

    watched.go("/scoreboard")

    expect(watched.page.locator(".state-title")).to_have_text("No resolved forecasts yet.")
    assert watched.console == []
