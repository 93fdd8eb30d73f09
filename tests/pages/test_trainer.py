"""Somebody practises in a real browser: writes, leaves, comes back, hands in and learns."""

import re

import pytest
from playwright.sync_api import Page, expect

from grandstand.kit.auth.caller import LOCAL_OWNER
from tests.pages.app_server import AppServer
from tests.pages.browser_page import BrowserPage
from tests.pages.conftest import Look
from tests.pages.trainer_server import TrainerServer, answer_to

_ENOUGH = "Both figures may be right, because the groups differ; I would ask for the counts."


@pytest.fixture
def seen(look: Look, practised: AppServer) -> BrowserPage:
    return look(practised.url)


@pytest.fixture
def plain(look: Look, practised: AppServer) -> BrowserPage:
    """A browser without scripts."""
    return look(practised.url, java_script_enabled=False)


def _begin(watched: BrowserPage, scenario_id: str) -> Page:
    watched.page.goto(f"{watched.url}/trainer/scenarios/{scenario_id}")
    watched.page.locator(".begin button").click()
    expect(watched.page).to_have_url(re.compile("/trainer/attempts/"))
    return watched.page


def test_what_is_written_is_kept_resumed_handed_in_judged_and_counted(seen: BrowserPage) -> None:
    seen.go("/trainer/profile")
    attempts = seen.page.locator(".figure", has_text="Attempts scored").locator("strong")
    before = int(attempts.inner_text())
    page = _begin(seen, "two-hospitals")
    first, second = answer_to("two-hospitals").answers[:2]

    page.locator("[data-answer=q1]").press_sequentially(first.answer[:30])
    page.locator("[data-answer=q1]").fill(first.answer)
    expect(page.locator("[data-saved]")).to_have_attribute("data-state", "saved")
    page.reload()
    expect(page.locator("[data-answer=q1]")).to_have_value(first.answer)
    page.locator("[data-answer=q3]").fill(second.answer)
    page.get_by_role("button", name="Submit").click()

    expect(page.get_by_role("img", name="Overall score")).to_be_visible()
    expect(page.locator(".dimension")).to_have_count(8)
    expect(page.locator(".answers mark").first).to_be_visible()
    page.get_by_role("link", name="View profile").click()
    expect(attempts).to_have_text(str(before + 1), timeout=40_000)
    assert seen.console == []
    assert seen.foreign == []


def test_the_state_of_saving_words_and_time_are_seen_while_one_types(seen: BrowserPage) -> None:
    page = _begin(seen, "puzzle-interview")
    saved = page.locator("[data-saved]")
    expect(saved).to_contain_text("Not started")
    kept = page.locator("[data-saved-text]")

    page.locator("[data-answer=q1]").fill("Five words are written here, don't count 1,200 wrong")

    expect(page.locator("[data-words]").first).to_have_text("9")
    expect(kept).to_have_text(re.compile(r"Saved at \d\d:\d\d"))
    expect(page.locator("[data-clock]")).to_have_text(re.compile(r"0:0[1-9]"))
    page.get_by_role("button", name="Hide clock").click()
    expect(page.locator("[data-clock]")).to_be_hidden()


def test_what_cannot_be_saved_says_so_and_is_saved_later(seen: BrowserPage) -> None:
    page = _begin(seen, "benefit-fraud-score")
    page.route("**/api/trainer/attempts/*", lambda route: route.abort())
    page.locator("[data-answer=q1]").fill(_ENOUGH)
    expect(page.locator("[data-saved]")).to_have_attribute("data-state", "failed")
    expect(page.locator(".toast")).to_contain_text("the server does not respond")
    page.unroute("**/api/trainer/attempts/*")

    expect(page.locator("[data-saved]")).to_have_attribute("data-state", "saved")
    page.reload()
    expect(page.locator("[data-answer=q1]")).to_have_value(_ENOUGH)


def test_words_left_in_the_browser_are_offered_when_one_comes_back(seen: BrowserPage) -> None:
    page = _begin(seen, "benefit-fraud-score")
    written, state = page.locator("[data-answer=q1]"), page.locator("[data-saved]")
    page.route("**/api/trainer/attempts/*", lambda route: route.abort())
    written.fill(_ENOUGH)
    expect(state).to_have_attribute("data-state", "failed")
    left = page.evaluate("({ ...localStorage })")
    page.unroute("**/api/trainer/attempts/*")
    written.fill("Written elsewhere meanwhile.")
    expect(state).to_have_attribute("data-state", "saved")
    # As if this browser had been closed before it could save.
    page.evaluate("(left) => Object.assign(localStorage, left)", left)
    page.reload()

    page.get_by_role("button", name="Restore").click()

    expect(written).to_have_value(_ENOUGH)
    expect(state).to_have_attribute("data-state", "saved")


def test_keys_alone_lead_from_the_case_to_the_scores(seen: BrowserPage) -> None:
    seen.go("/trainer/scenarios/checkout-experiment")
    page = seen.page

    _tab_to(page, ".begin button")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/trainer/attempts/"))
    _tab_to(page, "[data-answer=q1]")
    page.keyboard.type(_ENOUGH)
    page.keyboard.press("Control+s")
    expect(page.locator("[data-saved]")).to_have_attribute("data-state", "saved")
    _tab_to(page, "[data-submit]")
    page.keyboard.press("Enter")
    expect(page.get_by_role("img", name="Overall score")).to_be_visible()
    _tab_to(page, ".dimension summary")
    page.keyboard.press("Enter")

    assert page.evaluate("document.activeElement.closest('details') !== null")
    assert seen.console == []


def _tab_to(page: Page, selector: str) -> None:
    """Press Tab until something that is looked for has the focus, and shows that it has."""
    script = f"document.activeElement.matches('{selector}')"
    presses = 0
    while not page.evaluate(script):
        page.keyboard.press("Tab")
        presses += 1
        assert presses < 60, selector
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(outline) != "none"


def test_forms_alone_save_hand_in_and_show_scores(plain: BrowserPage) -> None:
    page = _begin(plain, "top-quartile-fund")

    page.locator("[name='answer.q1']").fill(_ENOUGH)
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".toast")).to_have_text("Saved.")
    expect(page.locator("[name='answer.q1']")).to_have_value(_ENOUGH)
    expect(page.locator("[data-words]").first).to_have_text("15")
    page.get_by_role("button", name="Submit").click()

    expect(page.get_by_role("img", name="Overall score")).to_be_visible()
    expect(page.locator(".written").first).to_have_text(re.compile("Both figures may be right"))


def test_what_is_written_is_shown_as_text_and_nothing_else(seen: BrowserPage) -> None:
    page = _begin(seen, "two-hospitals")
    words = "<img src=x onerror=alert(1)> <b>Both</b> may be right, because the groups differ."
    page.locator("[data-answer=q1]").fill(words)

    page.get_by_role("button", name="Submit").click()

    expect(page.locator(".written").first).to_contain_text("<img src=x onerror=alert(1)>")
    expect(page.locator(".written :is(img, b)")).to_have_count(0)
    assert seen.console == []


def test_what_is_refused_is_kept_and_says_which_answer(plain: BrowserPage) -> None:
    page = _begin(plain, "dna-database-match")
    page.locator("[name='answer.q1']").fill(_ENOUGH)
    page.locator("[name='answer.q3']").fill("No.")

    page.get_by_role("button", name="Submit").click()

    expect(page.get_by_role("alert")).to_contain_text("at least 10 characters")
    expect(page.locator("[name='answer.q3']")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("[name='answer.q1']")).to_have_value(_ENOUGH)
    page.goto(page.url.removesuffix("/submit"))
    expect(page.locator("[name='answer.q3']")).to_have_value("No.")


def test_a_forecast_without_a_probability_is_refused(plain: BrowserPage) -> None:
    page = _begin(plain, "battery-plant-deadline")
    page.locator("[name='answer.q1']").fill(_ENOUGH)

    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("alert")).to_contain_text("Enter a probability")
    page.locator("[name='probability.q1']").fill("30")
    page.get_by_role("button", name="Submit").click()

    expect(page.locator(".answer").first).to_contain_text("Forecast: 30 %")
    expect(page.locator(".answer").first).to_contain_text("It did not happen")


def test_a_draft_is_given_up_by_a_form(plain: BrowserPage) -> None:
    page = _begin(plain, "sleep-gene")
    address = page.url

    page.get_by_text("Abandon this draft").click()
    page.get_by_role("button", name="Abandon").click()

    expect(page.locator(".toast")).to_contain_text("Draft abandoned")
    page.goto(address)
    expect(page.locator(".note")).to_contain_text("does not count")


def test_scores_appear_by_themselves_when_the_judge_is_back(
    seen: BrowserPage, training: TrainerServer
) -> None:
    title = "The gene for needing little sleep"
    training.judge.away_from.add(title)
    page = _begin(seen, "sleep-gene")
    page.locator("[data-answer=q1]").fill(answer_to("sleep-gene").answers[0].answer)
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", name="Judge unavailable")).to_be_visible()
    expect(page.locator(".dimension")).to_have_count(0)
    page.evaluate("window.stayed = true")

    training.judge.away_from.remove(title)
    training.run(training.trainer.evaluations.evaluate(page.url.rpartition("/")[2]))

    expect(page.locator(".dimension")).to_have_count(8)
    expect(page.get_by_role("button", name="Revise this attempt")).to_be_visible()
    assert page.evaluate("window.stayed") is True
    assert seen.console == []


def test_a_reason_leads_to_its_passage_and_the_passage_back(
    seen: BrowserPage, training: TrainerServer
) -> None:
    seen.go(f"/trainer/attempts/{training.ids['dam-sensor']}")
    page = seen.page
    reason = page.locator(".dimension[open] a.quote").first
    words = reason.inner_text().strip("“”.…")

    reason.click()
    led = page.locator("mark:has(:target)")
    expect(led).to_be_in_viewport()
    assert led.inner_text().startswith(words[:40])
    page.locator(".dimension").first.evaluate("fold => { fold.open = false; }")
    page.locator("a.ref", has_text="1").first.click()

    expect(page.locator("#dimension-1")).to_be_visible()


def test_the_model_answer_is_told_after_handing_in_only(
    seen: BrowserPage, training: TrainerServer
) -> None:
    hidden = seen.page.request.get(f"{seen.url}/trainer/attempts/{training.ids['draft']}")
    seen.go(f"/trainer/attempts/{training.ids['dam-sensor']}")

    seen.page.get_by_text("Model answer and author's notes").first.click()

    expect(seen.page.locator(".model-answer").first).to_be_visible()
    assert "model answer" not in hidden.text()


def test_a_revision_starts_from_the_answers_and_is_set_beside_them(
    seen: BrowserPage, training: TrainerServer
) -> None:
    seen.go(f"/trainer/attempts/{training.ids['cafe-loyalty-card']}")
    page = seen.page
    good = answer_to("cafe-loyalty-card").answers

    page.get_by_role("button", name="Revise this attempt").click()
    expect(page.locator("[data-answer=q1]")).not_to_have_value("")
    for answer in good:
        page.locator(f"[data-answer={answer.question_id}]").fill(answer.answer)
    page.get_by_role("button", name="Submit").click()

    compared = page.locator("#before-after")
    expect(compared.get_by_role("row", name="Overall")).to_contain_text("12")
    expect(compared.locator(".side-by-side")).to_have_count(2)


def test_a_second_opinion_stands_beside_the_first(
    seen: BrowserPage, training: TrainerServer
) -> None:
    seen.go(f"/trainer/attempts/{training.ids['positive-test']}")

    seen.page.get_by_role("button", name="Request a second opinion").click()

    expect(seen.page.locator("#second tbody tr")).to_have_count(10)
    expect(seen.page.locator(".toast")).to_contain_text("The second opinion is ready.")


def test_scenarios_are_filtered_by_a_form(plain: BrowserPage) -> None:
    page = plain.page
    page.goto(f"{plain.url}/trainer")
    everything = page.locator(".scenario-card").count()

    page.get_by_label("Difficulty").select_option("Advanced")
    page.get_by_label("Topic").select_option("Forecasting")
    page.get_by_role("button", name="Apply", exact=True).click()

    expect(page.locator(".scenario-card h3")).to_have_text(
        ["One sensor says the dam is moving", "Will the battery plant open on time?"]
    )
    expect(page.get_by_text(f"2 of {everything} scenarios")).to_be_visible()
    page.get_by_role("link", name="Show all").click()
    expect(page.locator(".scenario-card")).to_have_count(everything)


def test_the_history_goes_back_page_by_page(plain: BrowserPage, training: TrainerServer) -> None:
    for _ in range(21):
        begun = training.run(training.trainer.attempts.start(LOCAL_OWNER.user_id, "two-hospitals"))
        training.run(training.trainer.attempts.abandon(LOCAL_OWNER.user_id, begun.attempt_id))
    page = plain.page
    page.goto(f"{plain.url}/trainer/history")
    newest = page.locator("#attempts tbody tr").all_inner_texts()

    page.get_by_role("link", name="Older").click()

    assert len(newest) == 20
    expect(page.locator("#attempts tbody")).to_contain_text("Draft")
    page.get_by_role("link", name="Newest").click()
    expect(page.locator("#attempts tbody tr")).to_have_count(20)


def test_an_attempt_is_deleted_after_one_has_said_so_twice(
    plain: BrowserPage, training: TrainerServer
) -> None:
    given = answer_to("harvest-fair", "poor")
    made = training.run(
        training.trainer.attempts.submit_new(LOCAL_OWNER.user_id, "harvest-fair", given)
    )
    page = plain.page
    page.goto(f"{plain.url}/trainer/attempts/{made.attempt_id}")

    page.get_by_role("link", name="Delete …").click()
    expect(page.get_by_text("This cannot be undone")).to_be_visible()
    page.get_by_role("button", name="Delete permanently").click()

    expect(page.locator(".toast")).to_contain_text("Attempt deleted")
    gone = page.request.get(f"{plain.url}/trainer/attempts/{made.attempt_id}")
    assert gone.status == 404


@pytest.mark.parametrize(("name", "kind"), [("JSON", "application/json"), ("CSV", "text/csv")])
def test_the_history_is_to_be_had_as_a_file(seen: BrowserPage, name: str, kind: str) -> None:
    seen.go("/trainer/history")

    link = seen.page.get_by_role("link", name=name, exact=True).get_attribute("href")
    answer = seen.page.request.get(f"{seen.url}{link}")

    assert answer.headers["content-type"].startswith(kind)
    assert "dam-sensor" in answer.text()


def test_the_report_is_printed_without_what_is_for_the_screen(seen: BrowserPage) -> None:
    seen.go("/trainer/report")
    seen.page.emulate_media(media="print")

    expect(seen.page.locator(".rooms")).to_be_hidden()
    expect(seen.page.locator(".top")).to_be_hidden()
    expect(seen.page.get_by_role("heading", name="Training report")).to_be_visible()
    expect(seen.page.locator(".report-attempt").first).to_be_visible()


def test_the_profile_has_a_bar_for_each_dimension_and_lines_over_time(seen: BrowserPage) -> None:
    seen.go("/trainer/profile")

    expect(seen.page.locator(".band-bar")).to_have_count(8)
    expect(seen.page.locator("#trend .chart-key")).to_have_count(8)
    expect(seen.page.locator("#calibration svg path").first).to_be_attached()
    expect(seen.page.locator(".figure", has_text="Brier score")).to_be_visible()


def test_the_lines_of_a_profile_reach_over_the_whole_scale(seen: BrowserPage) -> None:
    seen.page.goto(f"{seen.url}/trainer/profile")

    trend, overall, *_ = seen.page.locator("chart-plot").all()

    expect(trend.locator(".chart-tick", has_text=re.compile(r"^4(\.0)?$"))).to_have_count(1)
    expect(overall.locator(".chart-tick", has_text=re.compile("^100$"))).to_have_count(1)


def test_an_instructor_changes_a_score_for_a_reason_that_stays(
    plain: BrowserPage, training: TrainerServer
) -> None:
    page = plain.page
    page.goto(f"{plain.url}/trainer/instructor")
    page.get_by_role("link", name="Which hospital is safer?").first.click()
    made = len(page.locator(".trail li").all())

    page.get_by_label("Evidence").select_option("3")
    page.get_by_label("Reason", exact=True).fill("It names the figures it rests on.")
    page.get_by_role("button", name="Override").click()

    expect(page.locator(".trail li")).to_have_count(made + 1)
    expect(page.locator(".trail li").first).to_contain_text("It names the figures it rests on.")
    expect(page.locator(".trail li").first).to_contain_text("owner")
    kept = training.run(training.trainer.instructor.get(training.ids["flagged"]))
    assert kept.attempt.overrides is not None
    assert kept.attempt.overrides[-1].by == "owner"


def test_changing_nothing_is_refused_and_keeps_the_reason(
    plain: BrowserPage, training: TrainerServer
) -> None:
    page = plain.page
    page.goto(f"{plain.url}/trainer/instructor/attempts/{training.ids['flagged']}")
    page.get_by_label("Reason", exact=True).fill("I agree.")

    page.get_by_role("button", name="Override").click()

    expect(page.get_by_role("alert")).to_contain_text("The scores are unchanged")
    expect(page.get_by_label("Reason", exact=True)).to_have_value("I agree.")
