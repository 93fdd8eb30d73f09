"""People with accounts practise each for themselves, and instructors see what others do not."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.pages.app_server import AppServer
from tests.pages.browser_page import BrowserPage
from tests.pages.conftest import Look
from tests.pages.platform_server import ADA, PASSWORD
from tests.pages.trainer_server import EVE, TrainerServer

_WORDS = "I would ask which patients each hospital takes in, because that decides the matter."


@pytest.fixture(scope="module")
def school(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    served = AppServer(TrainerServer(tmp_path_factory.mktemp("school"), accounts=True))
    served.start()
    yield served
    served.stop()


def _log_in(watched: BrowserPage, name: str, path: str) -> Page:
    watched.page.goto(f"{watched.url}/login?next={path}")
    watched.page.get_by_label("Name").fill(name)
    watched.page.get_by_label("Password").fill(PASSWORD)
    watched.page.get_by_role("button", name="Log in").click()
    return watched.page


def test_a_draft_is_saved_for_whoever_logged_in_and_for_nobody_else(
    look: Look, school: AppServer
) -> None:
    watched, other = look(school.url), look(school.url)
    page = _log_in(watched, EVE, "/trainer/scenarios/two-hospitals")
    page.get_by_role("button", name="Start writing").click()

    page.locator("[data-answer=q1]").fill(_WORDS)
    expect(page.locator("[data-saved-text]")).to_have_text(re.compile("Saved at"))
    address = page.url
    _log_in(other, ADA, "/trainer")
    refused = other.page.request.get(address, headers={"accept": "text/html"})
    device = look(school.url, java_script_enabled=False)
    elsewhere = _log_in(device, EVE, address.removeprefix(school.url))

    expect(elsewhere.locator("[name='answer.q1']")).to_have_value(_WORDS)
    assert refused.status == 404
    assert watched.console == []


def test_a_draft_is_handed_in_by_a_form_with_its_proof(look: Look, school: AppServer) -> None:
    watched = look(school.url, java_script_enabled=False)
    page = _log_in(watched, EVE, "/trainer/scenarios/speed-cameras")
    page.get_by_role("button", name="Start writing").click()
    page.locator("[name='answer.q1']").fill(_WORDS)
    unproven = page.request.post(
        f"{page.url}/submit", form={"answer.q1": _WORDS}, headers={"origin": school.url}
    )

    page.get_by_role("button", name="Submit").click()

    expect(page.get_by_role("img", name="Overall score")).to_be_visible()
    assert unproven.status == 403


def test_only_administrators_see_everybody(look: Look, school: AppServer) -> None:
    watched, other = look(school.url), look(school.url)
    page = _log_in(watched, EVE, "/trainer")
    _log_in(other, ADA, "/trainer/instructor")

    refused = page.request.get(f"{school.url}/trainer/instructor", headers={"accept": "text/html"})

    expect(page.get_by_role("link", name="Instructor")).to_have_count(0)
    expect(other.page.get_by_role("heading", level=1)).to_have_text("Instructor")
    assert refused.status == 403


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize(
    "path", ["/trainer", "/trainer/profile", "/trainer/history", "/trainer/report"]
)
def test_a_page_with_nothing_on_it_yet_has_no_barrier(
    look: Look, school: AppServer, path: str, width: int
) -> None:
    watched = look(school.url, width=width)

    page = _log_in(watched, ADA, path)
    expect(page).to_have_url(f"{school.url}{path}")

    assert watched.violations() == []
    assert watched.overflow() == 0
    assert watched.console == []
