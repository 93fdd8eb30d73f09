"""The gatherer's pages: no barriers, live books, a slider through time, and choosing."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from grandstand.simulators.exchange.control import Pace
from grandstand.simulators.exchange.process import ExchangeOptions, exchange_process
from grandstand.simulators.exchange.rest import RequestBudget
from grandstand.simulators.exchange.world import WorldConfig
from tests.apps.gatherer.app_fixture import NOWHERE
from tests.pages.app_server import AppServer
from tests.pages.conftest import Look
from tests.pages.gatherer_server import GathererServer

_PAGES = {
    "markets": "/gatherer",
    "nothing like that": "/gatherer?markets.find=fishing",
    "before the start": "/gatherer/start",
    "recording": "/gatherer/recording",
    "coverage": "/gatherer/coverage",
    "earlier coverage": "/gatherer/coverage?until=400000&find=x",
    "market": "/gatherer/markets/{ticker}?hours=6",
    "check": "/gatherer/check",
}
# A recording begins and ends with some seconds of work, on a busy machine with more.
_SLOW = 20_000


@pytest.fixture(scope="module")
def gathering(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GathererServer]:
    world = WorldConfig(markets=12, depth=6)
    pace, budget = Pace(events_per_second=100), RequestBudget(read_per_second=5000)
    with exchange_process(ExchangeOptions(world=world, pace=pace, budget=budget)) as address:
        yield GathererServer(tmp_path_factory.mktemp("gathering"), address)


@pytest.fixture(scope="module")
def recorded(gathering: GathererServer) -> Iterator[AppServer]:
    """A platform that records, whose owner need not log in."""
    served = AppServer(gathering)
    served.start()
    yield served
    served.stop()


@pytest.fixture
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    """A platform whose exchange does not answer."""
    served = AppServer(GathererServer(tmp_path_factory.mktemp("alone"), NOWHERE, records=False))
    served.start()
    yield served
    served.stop()


def _rows(page: Page, ladder: str) -> list[str]:
    return page.locator(f"#{ladder} tbody tr").all_inner_texts()


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
@pytest.mark.parametrize("name", list(_PAGES))
def test_a_page_has_no_barrier_and_says_nothing_to_strangers(
    look: Look, recorded: AppServer, gathering: GathererServer, name: str, width: int, scheme: str
) -> None:
    watched = look(recorded.url, width=width, color_scheme=scheme)

    watched.go(_PAGES[name].format_map(gathering.names))
    expect(watched.page.locator("h1")).to_be_visible()

    assert watched.violations() == []
    assert watched.overflow() == 0
    assert watched.foreign == []
    assert watched.console == []


@pytest.mark.parametrize("name", list(_PAGES))
def test_a_page_says_all_it_has_to_say_without_a_script(
    look: Look, recorded: AppServer, gathering: GathererServer, name: str
) -> None:
    watched = look(recorded.url, java_script_enabled=False)

    answer = watched.page.goto(f"{recorded.url}{_PAGES[name].format_map(gathering.names)}")

    assert answer is not None
    assert answer.status == 200
    expect(watched.page.locator("main h1")).to_be_visible()
    expect(watched.page.locator(".apps a[aria-current]")).to_have_text("Gatherer")


def test_a_book_changes_while_it_is_looked_at(
    look: Look, recorded: AppServer, gathering: GathererServer
) -> None:
    watched = look(recorded.url)
    watched.go(f"/gatherer/markets/{gathering.names['ticker']}")
    before = watched.page.locator("#book tbody").inner_text()

    expect(watched.page.locator("#book tbody")).not_to_have_text(
        before, use_inner_text=True, timeout=_SLOW
    )

    assert watched.console == []


def test_the_slider_shows_the_exact_book_of_an_instant(
    look: Look, recorded: AppServer, gathering: GathererServer
) -> None:
    watched = look(recorded.url)
    watched.go(f"/gatherer/markets/{gathering.names['ticker']}")
    slider = watched.page.get_by_label("Instant")
    least, most = (int(slider.get_attribute(name) or "0") for name in ("min", "max"))
    between = least + (most - least) // 2000 * 1000

    slider.fill(str(between))
    expect(watched.page.locator("[data-exactness]")).to_contain_text(
        "since the last", timeout=_SLOW
    )

    shown = _rows(watched.page, "past")
    watched.go(f"/gatherer/markets/{gathering.names['ticker']}?at={between}")
    assert slider.input_value() == str(between)
    assert shown == _rows(watched.page, "past")


def test_new_trades_come_to_the_tape_by_themselves(
    look: Look, recorded: AppServer, gathering: GathererServer
) -> None:
    watched = look(recorded.url)
    watched.go(f"/gatherer/markets/{gathering.names['ticker']}")
    newest = watched.page.locator("#trades tbody tr").first.get_attribute("data-key")

    expect(watched.page.locator("#trades tbody tr").first).not_to_have_attribute(
        "data-key", newest or "", timeout=_SLOW
    )


def test_markets_are_left_out_by_their_marks_and_taken_back(
    look: Look, recorded: AppServer, gathering: GathererServer
) -> None:
    page = look(recorded.url).page
    page.goto(f"{recorded.url}/gatherer?markets.find=KX")
    boxes = page.locator("#markets tbody input[type=checkbox]")
    name = boxes.last.get_attribute("value") or ""

    boxes.last.check()
    page.get_by_role("button", name="Exclude", exact=True).click()
    expect(page.locator(".toast")).to_contain_text("Saved.")
    chosen = gathering.run(gathering.gatherer.markets.choices())
    expect(page.locator(f"tr[data-key='{name}'] .badge")).to_have_text("Excluded", timeout=_SLOW)
    page.get_by_role("button", name="Clear", exact=True).click()
    expect(page.locator("details.choices")).to_have_count(0)

    assert [(one.kind, one.name, one.recorded) for one in chosen] == [("market", name, False)]
    assert gathering.run(gathering.gatherer.markets.choices()) == ()


def test_nothing_begins_before_what_it_takes_is_shown(
    look: Look, recorded: AppServer, gathering: GathererServer
) -> None:
    page = look(recorded.url).page
    page.goto(f"{recorded.url}/gatherer/recording")

    page.get_by_role("button", name="Stop recording").click()
    expect(page.locator("#status .badge")).to_have_text("Not recording", timeout=_SLOW)
    page.get_by_role("link", name="Start recording …").click()
    expect(page.get_by_text("Per day", exact=True)).to_be_visible()
    asked = gathering.run(gathering.gatherer.recording.is_requested())
    page.get_by_role("button", name="Start recording").click()

    expect(page.locator("#status .badge")).to_have_text("Recording", timeout=_SLOW)
    assert asked is False
    assert page.url.startswith(f"{recorded.url}/gatherer/recording")


def test_the_list_is_looked_through_and_sorted(look: Look, recorded: AppServer) -> None:
    page = look(recorded.url).page
    page.goto(f"{recorded.url}/gatherer?markets.sort=volume")
    volumes = page.locator("#markets tbody td:nth-child(3)").evaluate_all(
        "cells => cells.map((cell) => Number(cell.dataset.value))"
    )

    page.goto(f"{recorded.url}/gatherer?markets.find=Recording")

    expect(page.locator("#markets tbody tr").first).to_contain_text("Recording", timeout=_SLOW)
    assert volumes == sorted(volumes)


def test_a_market_nobody_knows_is_a_page_that_says_so(look: Look, recorded: AppServer) -> None:
    watched = look(recorded.url)

    answer = watched.page.request.get(
        f"{recorded.url}/gatherer/markets/KXNONE-1", headers={"accept": "text/html"}
    )

    assert answer.status == 404
    assert answer.headers["content-type"].startswith("text/html")


def test_an_exchange_that_is_away_is_said_on_the_page(look: Look, alone: AppServer) -> None:
    watched = look(alone.url)

    watched.go("/gatherer")

    expect(watched.page.get_by_role("alert")).to_contain_text(re.compile("Cannot list the markets"))
    expect(watched.page.get_by_role("link", name="Run checks")).to_be_visible()
    assert watched.violations() == []
