"""Every page of the trainer, narrow and wide, in both colour schemes, is open to everybody."""

import pytest
from playwright.sync_api import expect

from tests.pages.app_server import AppServer
from tests.pages.conftest import Look
from tests.pages.trainer_server import TrainerServer

_PAGES = {
    "scenarios": "/trainer",
    "filtered": "/trainer?difficulty=advanced&topic=statistics&exercise=logic&progress=new",
    "nothing like that": "/trainer?topic=fishing",
    "scenario": "/trainer/scenarios/battery-plant-deadline",
    "writing": "/trainer/attempts/{draft}",
    "results": "/trainer/attempts/{dam-sensor}",
    "forecast": "/trainer/attempts/{forecast}",
    "revision with a second opinion": "/trainer/attempts/{revision}",
    "waiting": "/trainer/attempts/{waiting}",
    "given up": "/trainer/attempts/{given up}",
    "deleting": "/trainer/attempts/{dam-sensor}/delete",
    "profile": "/trainer/profile",
    "history": "/trainer/history",
    "report": "/trainer/report",
    "instructor": "/trainer/instructor",
    "review": "/trainer/instructor/attempts/{flagged}",
    "person": "/trainer/instructor/people/bob",
    "nobody": "/trainer/instructor/people/nobody",
}


@pytest.mark.parametrize("name", list(_PAGES))
def test_a_page_has_no_barrier_and_says_nothing_to_strangers(
    look: Look, practised: AppServer, training: TrainerServer, name: str
) -> None:
    watched = look(practised.url)

    faults = watched.faults(_PAGES[name].format_map(training.ids))

    assert faults == []


@pytest.mark.parametrize("name", list(_PAGES))
def test_a_page_says_all_it_has_to_say_without_a_script(
    look: Look, practised: AppServer, training: TrainerServer, name: str
) -> None:
    watched = look(practised.url, java_script_enabled=False)

    answer = watched.page.goto(f"{practised.url}{_PAGES[name].format_map(training.ids)}")

    assert answer is not None
    assert answer.status == 200
    expect(watched.page.locator("main h1")).to_be_visible()
    expect(watched.page.locator(".apps a[aria-current]")).to_have_text("Trainer")


@pytest.mark.parametrize(
    "path", ["/trainer/attempts/none", "/trainer/scenarios/none", "/trainer/instructor/attempts/x"]
)
def test_what_is_not_there_is_a_page_that_says_so(
    look: Look, practised: AppServer, path: str
) -> None:
    watched = look(practised.url)

    answer = watched.page.request.get(f"{practised.url}{path}", headers={"accept": "text/html"})

    assert answer.status == 404
    assert answer.headers["content-type"].startswith("text/html")
