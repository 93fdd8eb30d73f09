"""Somebody follows odds in a real browser: games, models, Benny and bets of their own."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.pages.app_server import AppServer
from tests.pages.bets_server import NBA, BetsServer
from tests.pages.browser_page import BrowserPage
from tests.pages.conftest import Look

_NARROW = {
    "board": "/bets",
    "three-way": "/bets?sport=soccer_epl",
    "game over": "/bets/games/{over}",
    "scoreboard": "/bets/scoreboard",
    "model": "/bets/models/{model}",
    "builder": "/bets/models/{model}/edit",
    "benny": "/bets/benny",
    "mine": "/bets/mine",
    "calculators": "/bets/calculators",
    "tools": "/bets/tools",
}
_SLOW = 30_000


@pytest.fixture(scope="module")
def betting(tmp_path_factory: pytest.TempPathFactory) -> BetsServer:
    return BetsServer(tmp_path_factory.mktemp("betting"))


@pytest.fixture(scope="module")
def followed(betting: BetsServer) -> Iterator[AppServer]:
    """A platform some days into a season, whose owner need not log in."""
    served = AppServer(betting)
    served.start()
    betting.run(betting.play())
    yield served
    served.stop()


@pytest.fixture
def seen(look: Look, followed: AppServer) -> BrowserPage:
    watched = look(followed.url)
    watched.page.set_default_timeout(_SLOW)
    return watched


def _assert_well(watched: BrowserPage) -> None:
    assert watched.violations() == []
    assert watched.overflow() == 0
    assert watched.foreign == []
    assert watched.console == []


def test_from_the_board_to_a_game_and_who_is_to_be_believed(seen: BrowserPage) -> None:
    page = seen.page
    seen.go("/bets")
    expect(page.locator(".game").first.locator(".price.best").first).to_be_visible()
    expect(page.locator(".game").first.locator(".agreed li").first).to_be_visible()
    _assert_well(seen)

    page.locator(".game h2 a").first.click()
    expect(page.locator("#lines-h2h .chart-line").first).to_be_visible()
    page.locator(".ranked summary").nth(1).click()
    expect(page.locator(".ranked").nth(1).locator(".reasons .lever").first).to_be_visible()
    _assert_well(seen)

    page.get_by_role("link", name="Scoreboard").click()
    expect(page.locator("#models .interval").first).to_be_visible()
    page.locator("#models tbody a", has_text="Consensus").click()
    expect(page.get_by_role("heading", name="Consensus", exact=True)).to_be_visible()
    expect(page.locator("#calibration .chart-dots").first).to_be_visible()
    _assert_well(seen)


def test_a_model_is_built_with_sliders_tried_at_once_and_saved(seen: BrowserPage) -> None:
    page = seen.page
    seen.go("/bets/models/new?sport=soccer_epl")
    page.get_by_label("Name", exact=True).fill("Form rules")
    page.get_by_label("First day", exact=True).fill("2025-10-07")
    page.get_by_label("Training days").fill("20")

    page.get_by_label("Injuries: slider").fill("60")
    expect(page.locator("[data-sum]")).to_have_class(re.compile("tone-bad"))
    expect(page.locator("[data-sum] output")).to_have_text("140")
    page.get_by_role("button", name="Scale to 100%").click()
    expect(page.locator("[data-sum] output")).to_have_text("100")
    page.get_by_role("button", name="Test", exact=True).click()
    expect(page.get_by_role("heading", name="Backtest result")).to_be_visible()
    expect(page.locator("#result .figures")).to_contain_text("ROI")
    _assert_well(seen)
    page.get_by_role("button", name="Save model").click()

    expect(page.get_by_role("heading", name="Form rules")).to_be_visible()
    expect(page.locator(".weight-list li").first).to_contain_text("%")


def test_benny_shows_his_money_and_what_his_rules_are_worth(seen: BrowserPage) -> None:
    seen.go("/bets/benny")

    expect(seen.page.get_by_text("virtual money", exact=True)).to_be_visible()
    expect(seen.page.locator("#bankroll .chart-line").first).to_be_visible()
    expect(seen.page.locator(".bet details").first).to_contain_text("Reasoning")
    seen.page.locator("#rules tbody a").first.click()
    expect(seen.page.locator(".bet-list")).to_contain_text("rejected by")
    _assert_well(seen)


def test_a_bet_is_recorded_from_its_game_and_held_against_a_limit(
    seen: BrowserPage, betting: BetsServer
) -> None:
    page = seen.page
    coming = betting.run(betting.bets.games.upcoming(NBA, limit=1)).items[0]
    seen.go(f"/bets/games/{coming.game_id}")
    page.get_by_role("link", name="Record a bet").click()

    page.get_by_label("Price", exact=True).fill("1.91")
    page.get_by_label("Stake, $").fill("75")
    page.get_by_role("button", name="Record bet").click()
    expect(page.get_by_role("alert")).to_contain_text("limit of $50.00 per bet")
    page.get_by_label("Stake, $").fill("12.50")
    page.get_by_role("button", name="Record bet").click()

    expect(page.locator(".toast")).to_contain_text("Bet recorded.")
    expect(page.locator(".bet").first).to_contain_text(f"{coming.home_team} at 1.91")
    expect(page.locator(".bet").first).to_contain_text("$12.50")
    assert seen.violations() == []


def test_new_prices_come_to_the_board_by_themselves(seen: BrowserPage, betting: BetsServer) -> None:
    page = seen.page
    seen.go("/bets")
    before = page.locator("#board").inner_text()

    betting.clock.go(betting.clock.now().replace(hour=22))
    betting.run(betting.bets.odds_collector.collect(NBA))

    expect(page.locator("#board")).not_to_have_text(before, use_inner_text=True, timeout=_SLOW)


@pytest.mark.parametrize("name", list(_NARROW))
def test_a_page_is_open_to_everybody_on_a_narrow_dark_screen(
    look: Look, followed: AppServer, betting: BetsServer, name: str
) -> None:
    watched = look(followed.url, width=360, color_scheme="dark")
    watched.page.set_default_timeout(_SLOW)

    watched.go(_NARROW[name].format_map(betting.ids))
    expect(watched.page.locator("h1")).to_be_visible()

    _assert_well(watched)


def test_calculators_and_forms_work_without_a_script(look: Look, followed: AppServer) -> None:
    watched = look(followed.url, java_script_enabled=False)
    watched.page.set_default_timeout(_SLOW)
    page = watched.page

    watched.go("/bets/calculators")
    page.get_by_label("Prices of all outcomes").fill("-110 cheap")
    page.get_by_role("button", name="Calculate").first.click()
    expect(page.locator("#about-prices")).to_contain_text("“cheap” is not a price")
    watched.go("/bets/models/new")
    page.locator("[name='weight.injuries']").fill("60")
    page.get_by_role("button", name="Scale to 100%").click()

    expect(page.locator("[data-sum] output")).to_have_text("100")
