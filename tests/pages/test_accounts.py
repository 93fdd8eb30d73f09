"""People log in, see to their account and choose colours, without a line of script."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.pages.app_server import AppServer
from tests.pages.browser_page import BrowserPage
from tests.pages.conftest import Look
from tests.pages.platform_server import ADA, PASSWORD


@pytest.fixture
def plain(look: Look, locked_platform: AppServer) -> BrowserPage:
    """A browser without scripts before a platform that asks for a login."""
    return look(locked_platform.url, java_script_enabled=False)


def _log_in(watched: BrowserPage, password: str = PASSWORD, path: str = "/account") -> Page:
    watched.page.goto(f"{watched.url}{path}")
    watched.page.get_by_label("Name").fill(ADA)
    watched.page.get_by_label("Password").fill(password)
    watched.page.get_by_role("button", name="Log in").click()
    return watched.page


def test_logging_in_leads_to_where_one_wanted_to_go(plain: BrowserPage) -> None:
    page = _log_in(plain, path="/status?storage.sort=-rows")

    expect(page).to_have_url(f"{plain.url}/status?storage.sort=-rows")
    expect(page.get_by_role("link", name=ADA)).to_be_visible()


def test_a_wrong_password_says_so_and_keeps_the_name(plain: BrowserPage) -> None:
    page = _log_in(plain, password="not this one")

    expect(page.get_by_role("alert")).to_have_text("The name or the password is wrong.")
    expect(page.get_by_label("Name")).to_have_value(ADA)


def test_logging_out_ends_the_session(plain: BrowserPage) -> None:
    page = _log_in(plain)

    page.get_by_role("button", name="Log out", exact=True).last.click()
    page.goto(f"{plain.url}/account")

    expect(page).to_have_url(f"{plain.url}/login?next=/account")


def test_password_form_names_the_account_for_password_managers(plain: BrowserPage) -> None:
    page = _log_in(plain)

    username = page.locator('form[action="/account/password"] input[autocomplete="username"]')

    expect(username).to_have_value(ADA)
    expect(username).to_be_hidden()


def test_preferences_change_how_times_are_told(plain: BrowserPage) -> None:
    page = _log_in(plain)
    page.get_by_label("Time zone").fill("Asia/Tokyo")
    page.get_by_label("Odds").select_option("american")

    page.get_by_role("button", name="Save").click()

    expect(page.locator(".toast")).to_have_text("Preferences saved.")
    expect(page.get_by_label("Time zone")).to_have_value("Asia/Tokyo")
    expect(page.locator("html")).to_have_attribute("data-zone", "Asia/Tokyo")


def test_a_zone_that_is_none_is_refused_with_a_hint(plain: BrowserPage) -> None:
    page = _log_in(plain)
    page.get_by_label("Time zone").fill("Asia/Tokio")

    page.get_by_role("button", name="Save").click()

    expect(page.get_by_role("alert")).to_contain_text("did you mean Asia/Tokyo?")


def test_a_key_is_shown_once_works_and_can_be_revoked(plain: BrowserPage) -> None:
    page = _log_in(plain)
    page.get_by_label("Key name").fill("nightly report")
    page.get_by_role("button", name="Create key").click()
    key = page.locator(".secret").inner_text()
    asked = {"authorization": f"Bearer {key}"}
    me = f"{plain.url}/api/platform/me"

    known = page.request.get(me, headers=asked).json()
    page.goto(f"{plain.url}/account")
    expect(page.locator(".secret")).to_have_count(0)
    page.get_by_role("button", name="Revoke nightly report").click()
    refused = page.request.get(me, headers=asked)

    assert known["via"] == "key"
    expect(page.locator(".toast")).to_have_text("Key revoked.")
    assert refused.status == 401


def test_a_new_password_ends_the_other_sessions(
    plain: BrowserPage, look: Look, locked_platform: AppServer
) -> None:
    other = look(locked_platform.url, java_script_enabled=False)
    _log_in(other)
    page = _log_in(plain)

    for old, new in ((PASSWORD, "another good view"), ("another good view", PASSWORD)):
        page.get_by_label("Current password").fill(old)
        page.get_by_label("New password").fill(new)
        page.get_by_role("button", name="Change password").click()
        expect(page.locator(".toast")).to_contain_text("Password changed")
    other.page.goto(f"{locked_platform.url}/account")

    expect(other.page).to_have_url(re.compile("/login"))


def test_a_form_without_its_proof_is_refused(plain: BrowserPage) -> None:
    page = _log_in(plain)

    answer = page.request.post(
        f"{plain.url}/account/preferences",
        form={"time_zone": "UTC", "odds_format": "decimal"},
        headers={"origin": plain.url},
    )

    assert answer.status == 403


def test_colours_are_chosen_by_a_form(look: Look, platform: AppServer) -> None:
    watched = look(platform.url, java_script_enabled=False, color_scheme="light")
    watched.page.goto(f"{platform.url}/platform/gallery")

    seen = []
    for _ in range(3):
        watched.page.locator("[data-theme-toggle]").click()
        seen.append(watched.page.locator("html").get_attribute("data-theme"))

    assert seen == ["light", "dark", "system"]
    expect(watched.page).to_have_url(f"{platform.url}/platform/gallery")


def test_colours_are_chosen_at_once_and_kept(look: Look, platform: AppServer) -> None:
    watched = look(platform.url, color_scheme="light")
    watched.go("/status")
    paper = "getComputedStyle(document.body).backgroundColor"
    light = watched.page.evaluate(paper)

    for _ in range(2):
        watched.page.locator("[data-theme-toggle]").click()
    dark = watched.page.evaluate(paper)
    watched.go("/account")

    assert dark != light
    assert watched.page.evaluate(paper) == dark
    expect(watched.page.locator("html")).to_have_attribute("data-theme", "dark")
    assert watched.console == []
