"""Pages hear news without being loaded again, and find back when the server was away."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.pages.app_server import AppServer
from tests.pages.browser_page import BrowserPage
from tests.pages.conftest import Look
from tests.pages.gallery import open_gallery
from tests.pages.platform_server import ADA, PASSWORD


@pytest.fixture
def seen(look: Look, gallery: AppServer) -> BrowserPage:
    watched = look(gallery.url)
    watched.go("/platform/gallery")
    expect(watched.page.locator("live-state")).to_have_attribute("data-state", "open")
    return watched


@pytest.fixture
def fragile() -> Iterator[AppServer]:
    """A gallery that a test may stop and begin again."""
    served = AppServer(open_gallery)
    served.start()
    yield served
    served.stop()


@pytest.fixture
def hasty() -> Iterator[AppServer]:
    """A gallery whose sockets live for half a second."""
    served = AppServer(lambda: open_gallery(0.5))
    served.start()
    yield served
    served.stop()


def _tell(watched: BrowserPage) -> None:
    watched.page.get_by_role("button", name="Publish sample messages").click()


def test_a_ladder_and_a_bar_move_with_the_news(seen: BrowserPage) -> None:
    levels = seen.page.locator("order-ladder#book tbody th")
    work = seen.page.locator("#work [data-words]")
    before, done = levels.all_inner_texts(), work.inner_text()

    _tell(seen)

    expect(work).not_to_have_text(done)
    expect(levels).not_to_have_text(before)
    expect(levels).to_have_count(len(before))
    assert seen.console == []


def test_other_open_pages_hear_the_same(seen: BrowserPage, look: Look, gallery: AppServer) -> None:
    other = look(gallery.url)
    other.go("/platform/gallery")
    expect(other.page.locator("live-state")).to_have_attribute("data-state", "open")
    work = other.page.locator("#work [data-words]")
    done = work.inner_text()

    _tell(seen)

    expect(work).not_to_have_text(done)


def test_all_parts_of_a_page_share_one_socket(look: Look, gallery: AppServer) -> None:
    watched = look(gallery.url)
    opened: list[str] = []
    watched.page.on("websocket", lambda socket: opened.append(socket.url))

    watched.go("/platform/gallery")
    expect(watched.page.locator("live-state")).to_have_attribute("data-state", "open")

    assert len(opened) == 1


def test_a_page_says_that_it_reconnects_and_then_fetches_what_it_missed(
    look: Look, fragile: AppServer
) -> None:
    watched = look(fragile.url)
    watched.go("/platform/gallery")
    state = watched.page.locator("live-state")
    expect(state).to_have_attribute("data-state", "open")
    _tell(watched)
    expect(watched.page.locator("#work [data-words]")).to_have_text("1 of 40")

    fragile.stop()
    expect(state).to_be_visible()
    expect(state).to_have_text("Reconnecting …")
    fragile.start()

    expect(state).to_have_text("Live", timeout=20_000)
    _tell(watched)
    expect(watched.page.locator("toast-stack")).to_contain_text("Sample messages published.")
    expect(watched.page.locator("#work [data-words]")).to_have_text("1 of 40")


def test_a_page_asked_to_come_again_does_so_without_a_word(look: Look, hasty: AppServer) -> None:
    watched = look(hasty.url)
    opened: list[str] = []
    watched.page.on("websocket", lambda socket: opened.append(socket.url))
    watched.page.add_init_script("""
        window.states = [];
        document.addEventListener('live-state', ({ detail }) => window.states.push(detail.state));
    """)
    watched.go("/platform/gallery")

    watched.until("window.states.length >= 3")

    assert len(opened) >= 3
    assert set(watched.page.evaluate("window.states")) == {"open"}
    assert watched.console == []


def test_whoever_was_logged_out_is_told_so(look: Look, locked_platform: AppServer) -> None:
    watched = look(locked_platform.url)
    watched.go("/login")
    watched.page.get_by_label("Name").fill(ADA)
    watched.page.get_by_label("Password").fill(PASSWORD)
    watched.page.get_by_role("button", name="Log in").click()
    state = watched.page.locator("live-state")
    expect(state).to_have_attribute("data-state", "open")

    watched.page.context.clear_cookies()
    locked_platform.stop()
    locked_platform.start()

    expect(state).to_have_text("You are logged out. Reload the page to log in.", timeout=20_000)


def test_ladder_rows_can_be_walked_through(seen: BrowserPage) -> None:
    seen.page.locator("order-ladder table").focus()

    seen.page.keyboard.press("ArrowDown")
    first = seen.page.evaluate("document.activeElement.textContent.trim()")
    seen.page.keyboard.press("End")
    last = seen.page.evaluate("document.activeElement.className")

    assert first.startswith("62")
    assert last == "bid"


def test_a_toast_can_be_closed(seen: BrowserPage) -> None:
    _tell(seen)
    toast = seen.page.locator(".toast")
    expect(toast).to_have_count(1)

    toast.get_by_role("button", name="Close").click()

    expect(toast).to_have_count(0)


def test_without_scripts_news_are_told_by_a_form(look: Look, gallery: AppServer) -> None:
    watched = look(gallery.url, java_script_enabled=False)
    watched.page.goto(f"{gallery.url}/platform/gallery")

    _tell(watched)

    expect(watched.page.locator(".toast")).to_have_text("Sample messages published.")
