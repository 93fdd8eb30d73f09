"""Crawl of the demo from home, and the main task of each app in a real browser."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from fastapi import FastAPI
from playwright.sync_api import Page, expect
from starlette.responses import HTMLResponse, Response

from grandstand.core.clock import SystemClock
from grandstand.core.metrics import Metrics
from grandstand.host.registry import APPS
from grandstand.kit.live import LiveHub
from grandstand.kit.routes import build_router, page
from tests.pages.app_server import AppServer, OpenApp
from tests.pages.browser_page import BrowserPage
from tests.pages.conftest import Look
from tests.pages.crawler import Crawler, page_routes
from tests.pages.demo_server import DemoServer
from tests.pages.trainer_server import answer_to

_TIMEOUT_SECONDS = 400.0
_REJECTED_FORM = "target of a rejected form; the form is on another page"
# Pages that no link leads to, and why.
UNLINKED = {
    "/bets/mine/like": _REJECTED_FORM,
    "/bets/mine/limits": _REJECTED_FORM,
    "/bets/mine/record": _REJECTED_FORM,
    "/bets/mine/time-out": _REJECTED_FORM,
    "/bets/models/data": _REJECTED_FORM,
    "/bets/models/{model_id}/backtest": _REJECTED_FORM,
    "/gatherer/start": "recording is already running",
    "/login": "no sign-in without accounts",
    "/{name}": "app without pages; every app has some",
}


@pytest.fixture(scope="module")
def demo_server(tmp_path_factory: pytest.TempPathFactory) -> DemoServer:
    return DemoServer(tmp_path_factory.mktemp("demo_server"))


@pytest.fixture(scope="module")
def demo(demo_server: DemoServer) -> Iterator[AppServer]:
    served = AppServer(demo_server, _TIMEOUT_SECONDS)
    served.start()
    demo_server.fill()
    yield served
    served.stop()


def test_every_link_from_home_leads_to_a_page_without_a_fault(
    look: Look, demo: AppServer, demo_server: DemoServer
) -> None:
    crawler = Crawler(look(demo.url), demo_server.routes)

    crawler.run()

    missed = page_routes(demo_server.routes) - set(crawler.pages.values())
    assert crawler.faults == []
    assert {app.name for app in APPS} <= {path.split("/")[1] for path in crawler.pages}
    assert missed == set(UNLINKED)


@pytest.fixture
def seen(look: Look, demo: AppServer) -> BrowserPage:
    """Home, with the page open."""
    watched = look(demo.url)
    watched.go("/")
    return watched


def _go_to(watched: BrowserPage, app: str) -> Page:
    watched.page.get_by_role("banner").get_by_role("link", name=app, exact=True).click()
    expect(watched.page).to_have_url(f"{watched.url}/{app.lower()}")
    return watched.page


def test_from_home_a_game_is_chosen_and_a_bet_on_it_recorded(seen: BrowserPage) -> None:
    page = _go_to(seen, "Bets")
    page.locator("main a[href*='/bets/games/']").last.click()

    page.get_by_role("link", name="Record a bet").click()
    page.get_by_label("Price", exact=True).fill("1.91")
    page.get_by_label("Stake, $").fill("12.50")
    page.get_by_role("button", name="Record bet").click()

    expect(page.locator(".toast")).to_contain_text("Bet recorded.")
    expect(page.locator(".bet").first).to_contain_text("$12.50")
    assert seen.console == []


def test_from_home_the_book_of_a_market_is_seen_as_it_was(seen: BrowserPage) -> None:
    page = _go_to(seen, "Gatherer")
    page.locator("#markets tbody a[href*='/gatherer/markets/']").first.click()
    slider = page.get_by_label("Instant")
    least, most = (int(slider.get_attribute(name) or "0") for name in ("min", "max"))
    exactness = page.locator("[data-exactness]")

    # The demo's recording has gaps, and no book in a gap is exact.
    for share in (0.5, 0.25, 0.75, 0.1, 0.9):
        before = exactness.inner_text()
        slider.fill(str(least + int((most - least) * share) // 1000 * 1000))
        expect(exactness).not_to_have_text(before)
        if "since the last" in exactness.inner_text():
            break

    expect(exactness).to_contain_text("since the last")
    assert seen.console == []


def test_from_home_a_match_is_followed_and_its_lock_screen_seen(seen: BrowserPage) -> None:
    page = _go_to(seen, "Cricket")
    page.locator(".match-cards a").first.click()

    page.get_by_role("button", name="Neutral").click()

    expect(page.get_by_role("button", name="Neutral")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".island")).to_be_visible()
    assert seen.console == []


def test_from_home_a_card_is_opened_and_its_favourite_explained(seen: BrowserPage) -> None:
    page = _go_to(seen, "Keiba")
    page.locator(".lead a[href*='/keiba/races/']").click()

    page.locator(".ranked summary").first.click()

    expect(page.locator(".ranked").first.locator(".reasons tbody tr")).to_have_count(14)
    assert seen.console == []


def test_from_home_a_case_is_answered_and_judged(seen: BrowserPage) -> None:
    page = _go_to(seen, "Trainer")
    page.locator("main a[href='/trainer/scenarios/two-hospitals']").first.click()
    page.locator(".begin button").click()
    first, second = answer_to("two-hospitals").answers[:2]

    page.locator("[data-answer=q1]").fill(first.answer)
    page.locator("[data-answer=q3]").fill(second.answer)
    page.get_by_role("button", name="Submit").click()

    expect(page.get_by_role("img", name="Overall score")).to_be_visible()
    expect(page.locator(".dimension")).to_have_count(8)
    assert seen.console == []


class Broken:
    """A home with everything a walk must not overlook."""

    @page("/", access="anyone")
    async def home(self) -> Response:
        return HTMLResponse(
            """<!doctype html><html lang="en"><title>Home</title><main><h1>Home</h1>
            <img src="http://away.example/picture.png"><a href="#nowhere">Down</a>
            <a href="/gone">Gone</a><a href="/fails">Fails</a></main></html>"""
        )

    @page("/fails", access="anyone")
    async def fails(self) -> Response:
        return HTMLResponse("<!doctype html><title>Fails</title>", 500)


BROKEN = build_router(Broken(), "").routes


@asynccontextmanager
async def _broken() -> AsyncIterator[OpenApp]:
    app = FastAPI()
    app.router.routes.extend(BROKEN)
    yield OpenApp(app, LiveHub(SystemClock(), Metrics()))


@pytest.fixture
def broken() -> Iterator[AppServer]:
    served = AppServer(_broken)
    served.start()
    yield served
    served.stop()


def test_a_walk_overlooks_nothing_that_is_broken(look: Look, broken: AppServer) -> None:
    crawler = Crawler(look(broken.url), BROKEN)

    crawler.run()

    found = "\n".join(crawler.faults)
    assert "/: image-alt" in found
    assert "/: requested http://away.example/picture.png" in found
    assert "/: #nowhere is missing" in found
    assert "/gone: no route matches" in found
    assert f"/fails: {broken.url}/fails: status 500" in found
    assert "/fails: a heading is missing" in found
