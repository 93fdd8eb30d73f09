"""Every page, in both colour schemes, narrow and wide, is open to everybody and stays at home."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.pages.app_server import AppServer
from tests.pages.browser_page import BrowserPage
from tests.pages.conftest import Look
from tests.pages.platform_server import ADA, PASSWORD

_PAGES = ("/", "/status", "/status/jobs/platform.sweep", "/account", "/platform/gallery", "/bets")
_SIZES = (360, 1280)

# What Tab can reach, as far as it is shown.
_REACHABLE = """() => [...document.querySelectorAll(
    'a[href], button, input:not([type=hidden]), select, textarea, [tabindex="0"]'
  )].filter((one) => one.checkVisibility() && !one.disabled).length"""
_FOCUSED = """() => {
  const one = document.activeElement;
  const ring = one.closest('.app-card') ?? one;
  const { outlineStyle, outlineWidth } = getComputedStyle(ring);
  (window.walked ??= new Set()).add(one);
  const shown = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2;
  return { where: one.outerHTML.slice(0, 120), ring: shown };
}"""


def _log_in(watched: BrowserPage) -> None:
    watched.go("/login")
    watched.page.get_by_label("Name").fill(ADA)
    watched.page.get_by_label("Password").fill(PASSWORD)
    watched.page.get_by_role("button", name="Log in").click()
    expect(watched.page).to_have_url(f"{watched.url}/")


def _assert_well(watched: BrowserPage) -> None:
    assert watched.violations_in_both_schemes() == []
    assert watched.overflow() == 0
    assert watched.foreign == []
    assert watched.console == []


@pytest.mark.parametrize("path", _PAGES)
def test_a_page_has_no_barrier_and_says_nothing_to_strangers(
    look: Look, platform: AppServer, path: str
) -> None:
    watched = look(platform.url)

    faults = watched.faults(path)

    assert faults == []


@pytest.mark.parametrize("width", _SIZES)
def test_logging_in_and_ones_account_have_no_barrier(
    look: Look, locked_platform: AppServer, width: int
) -> None:
    watched = look(locked_platform.url, width=width)

    watched.go("/account")
    expect(watched.page).to_have_url(f"{locked_platform.url}/login?next=/account")
    _assert_well(watched)
    _log_in(watched)
    watched.go("/account")
    expect(watched.page.get_by_role("heading", name="Sessions")).to_be_visible()

    _assert_well(watched)


def test_an_address_that_leads_nowhere_says_what_to_do(look: Look, platform: AppServer) -> None:
    watched = look(platform.url, width=360)

    watched.go("/nowhere/at/all")

    expect(watched.page.get_by_role("link", name="Go home")).to_be_visible()
    assert watched.violations_in_both_schemes() == []
    assert watched.foreign == []


@pytest.mark.parametrize("path", _PAGES)
def test_keys_alone_reach_everything_and_show_where_they_are(
    look: Look, platform: AppServer, path: str
) -> None:
    watched = look(platform.url)
    watched.go(path)
    expect(watched.page.locator("h1")).to_be_visible()
    reachable = watched.page.evaluate(_REACHABLE)

    steps: list[dict[str, Any]] = []
    for _ in range(reachable):
        watched.page.keyboard.press("Tab")
        steps.append(watched.page.evaluate(_FOCUSED))
    walked = watched.page.evaluate("window.walked.size")

    assert reachable > 8
    assert [step for step in steps if not step["ring"]] == []
    assert walked == reachable


def test_the_first_key_leads_past_the_navigation(look: Look, platform: AppServer) -> None:
    watched = look(platform.url)
    watched.go("/status")

    watched.page.keyboard.press("Tab")
    expect(watched.page.get_by_role("link", name="Skip to content")).to_be_focused()
    watched.page.keyboard.press("Enter")

    assert watched.page.evaluate("document.activeElement.id") == "main"


def test_the_description_of_the_api_works_offline(look: Look, platform: AppServer) -> None:
    watched = look(platform.url)

    watched.go("/api/docs")
    expect(watched.page.get_by_text("/api/platform/me")).to_be_visible()

    assert watched.foreign == []
    assert watched.console == []


def test_what_is_inline_is_not_run(look: Look, platform: AppServer) -> None:
    watched = look(platform.url)
    watched.go("/")

    ran = watched.page.evaluate("""() => {
        const script = document.createElement('script');
        script.textContent = 'window.ran = true';
        document.body.append(script);
        document.body.insertAdjacentHTML('beforeend', '<p style="color: red">x</p>');
        return [window.ran ?? false, getComputedStyle(document.body.lastElementChild).color];
    }""")

    assert ran[0] is False
    assert ran[1] != "rgb(255, 0, 0)"
    assert len(watched.console) == 2


def test_nothing_moves_for_whoever_asked_for_that(look: Look, platform: AppServer) -> None:
    watched = look(platform.url)

    watched.go("/platform/gallery")

    assert watched.page.evaluate("document.getAnimations().length") == 0
