"""Somebody follows the races in a real browser: a day, a card, its runners, and what is watched."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from grandstand.apps.keiba.services.page_cache import today_in_japan
from grandstand.simulators.faults import Fault
from grandstand.simulators.malformed import MalformedReply
from tests.pages.app_server import AppServer
from tests.pages.browser_page import BrowserPage
from tests.pages.conftest import Look
from tests.pages.keiba_server import KeibaServer

_NAMES = "[...document.querySelectorAll('#runners tbody tr')].map((row) => row.dataset.key)"


@pytest.fixture
def seen(look: Look, raced: AppServer) -> BrowserPage:
    return look(raced.url)


@pytest.fixture
def spoiling(racing: KeibaServer, raced: AppServer) -> Iterator[KeibaServer]:
    """The site, to be spoilt for the length of a test; the platform before it runs."""
    assert raced.url
    yield racing
    racing.site.faults.ask_for()
    racing.site.malformed.ask_for()
    racing.clock.skip(70)


def test_it_opens_on_the_next_day_of_racing_with_post_times_in_japan(seen: BrowserPage) -> None:
    seen.go("/keiba")

    expect(seen.page.locator("h1")).to_have_text("Sunday 15 November 2026")
    expect(seen.page.locator(".meeting h2").first).to_contain_text("Tokyo")
    expect(seen.page.locator(".race-list .race-time").first).to_have_text("10:05")
    expect(seen.page.locator(".coming")).to_have_count(1)
    expect(seen.page.locator(".lead")).to_contain_text("JST")
    expect(seen.page.locator(".origins")).to_contain_text("race_list_sub.html?kaisai_date=20261115")
    expect(seen.page.locator(".origins time").first).to_have_text(re.compile("ago|now"))


def test_other_days_and_circuits_are_a_press_away(seen: BrowserPage) -> None:
    seen.go("/keiba")

    seen.page.get_by_role("link", name="Next", exact=True).click()
    expect(seen.page.locator("h1")).to_have_text("Saturday 21 November 2026")
    seen.page.get_by_label("Circuit").select_option("nar")
    seen.page.get_by_role("button", name="Show").click()

    expect(seen.page.locator("h1")).to_have_text("Saturday 21 November 2026")
    expect(seen.page.locator(".meeting .badge").first).to_have_text("NAR")
    expect(seen.page.locator(".meeting .badge", has_text="JRA")).to_have_count(0)


def test_a_cold_card_fills_before_ones_eyes_and_resumes_where_it_was(
    look: Look, seen: BrowserPage, spoiling: KeibaServer
) -> None:
    race_id = spoiling.ids["slow"]
    spoiling.site.faults.ask_for(Fault("delay", path="/db", seconds=0.12))
    before = len(spoiling.asked())

    seen.go(f"/keiba/races/{race_id}")
    bar = seen.page.locator(".loading progress")
    expect(bar).to_be_visible()
    expect(seen.page.locator("#runners tbody tr").first).to_be_visible()
    expect(seen.page.locator(".loading")).to_contain_text(re.compile(r"[1-9]\d* of \d+ pages"))
    seen.go("/keiba/watched")
    seen.go(f"/keiba/races/{race_id}")
    other = look(seen.url)
    other.go(f"/keiba/races/{race_id}")

    expect(seen.page.locator(".loading")).to_have_count(0, timeout=60_000)
    expect(seen.page.locator(".ranked").first).to_be_visible()
    expect(other.page.locator(".loading")).to_have_count(0, timeout=10_000)
    asked = spoiling.asked()[before:]
    horses = [path for path in asked if path.startswith("/horse/result/")]
    assert len(set(asked)) == len(asked)
    assert len(horses) == seen.page.locator("#runners tbody tr td input").count()
    assert seen.console == []


def test_a_page_that_cannot_be_read_leaves_its_runner_partial_until_asked_again(
    seen: BrowserPage, spoiling: KeibaServer
) -> None:
    race_id = spoiling.ids["spoilt"]
    horse = spoiling.site.world.race(race_id)
    assert horse is not None
    path = f"/db/horse/result/{horse.horses[0].id}/"
    spoiling.site.malformed.ask_for(MalformedReply("empty", path=path))

    seen.go(f"/keiba/races/{race_id}")
    expect(seen.page.locator(".loading")).to_contain_text(
        "1 page could not be fetched", timeout=30_000
    )
    expect(seen.page.locator(".ranked").first).to_be_visible()
    expect(seen.page.locator("#runners small", has_text="incomplete")).to_have_count(1)
    spoiling.site.malformed.ask_for()
    spoiling.clock.skip(11)
    seen.page.get_by_role("button", name="Fetch missing pages").click()

    expect(seen.page.locator(".loading")).to_have_count(0, timeout=30_000)


def test_a_card_that_cannot_be_had_says_why_and_is_not_asked_for_again_and_again(
    seen: BrowserPage, racing: KeibaServer
) -> None:
    seen.go("/keiba/races/202605050499")
    expect(seen.page.get_by_role("alert")).to_contain_text("race_id=202605050499")
    asked = len(racing.asked())

    seen.page.reload()

    expect(seen.page.get_by_role("button", name="Fetch missing pages")).to_be_visible()
    assert len(racing.asked()) == asked
    assert seen.violations() == []


def test_runners_are_sorted_by_any_column_and_opened_for_their_reasons(
    seen: BrowserPage, racing: KeibaServer
) -> None:
    seen.go(f"/keiba/races/{racing.ids['race']}")
    page = seen.page
    drawn = page.evaluate(_NAMES)

    page.locator("#runners").get_by_role("link", name="Win", exact=True).click()
    page.locator("#runners").get_by_role("link", name="Win", exact=True).click()
    ranked = page.evaluate(_NAMES)
    page.locator(".ranked summary").first.click()

    best = page.locator(".ranked").first
    assert ranked != drawn
    assert sorted(ranked) == sorted(drawn)
    assert best.get_attribute("id") == f"runner-{ranked[0]}"
    expect(best.locator(".reasons tbody tr")).to_have_count(14)
    expect(best.get_by_role("heading", name="Pedigree")).to_be_visible()
    expect(best.locator(".origin").first).to_contain_text("cached")
    assert page.url.endswith(racing.ids["race"])


def test_the_other_races_of_the_meeting_are_a_press_away(
    seen: BrowserPage, racing: KeibaServer
) -> None:
    seen.go(f"/keiba/races/{racing.ids['run']}/result")

    strip = seen.page.get_by_role("navigation", name="Races at this meeting")
    expect(strip.get_by_role("link")).to_have_count(12)
    strip.get_by_role("link", name="2R", exact=True).click()

    expect(seen.page.locator("h1")).to_contain_text("Tokyo 2R")


def test_what_is_old_is_fetched_again_on_request(seen: BrowserPage, spoiling: KeibaServer) -> None:
    spoiling.clock.skip(11)
    seen.go(f"/keiba/jockeys/{spoiling.ids['jockey']}")
    age = seen.page.locator(".origins time")
    fetched, before = age.get_attribute("datetime") or "", len(spoiling.asked())

    seen.page.get_by_role("button", name="Refresh").click()

    expect(age).not_to_have_attribute("datetime", fetched)
    assert spoiling.asked()[before:] == [f"/jockey/result.html?id={spoiling.ids['jockey']}"]


def test_chosen_runners_stand_side_by_side(seen: BrowserPage, racing: KeibaServer) -> None:
    seen.go(f"/keiba/races/{racing.ids['race']}")
    boxes = seen.page.locator("#runners tbody input[type=checkbox]")
    boxes.nth(0).check()
    boxes.nth(2).check()

    seen.page.locator("#compare button").click()

    expect(seen.page.locator(".comparison thead th a")).to_have_count(2)
    expect(seen.page.locator(".comparison tbody tr", has_text="Career")).to_be_visible()
    expect(seen.page.locator(".comparison .best").first).to_be_visible()
    expect(seen.page.locator("chart-plot#speeds .chart-line").first).to_be_visible()


def test_odds_come_to_a_card_that_has_none_without_a_press(
    seen: BrowserPage, spoiling: KeibaServer
) -> None:
    spoiling.clock.skip(61)

    seen.go(f"/keiba/races/{spoiling.ids['race']}")

    expect(seen.page.locator("#odds header")).to_contain_text("live")
    expect(seen.page.locator(".ranked-odds .badge").first).to_be_visible()


def test_a_preview_names_five_horses_and_how_sure_it_is(
    seen: BrowserPage, racing: KeibaServer
) -> None:
    seen.go(f"/keiba/races/{racing.ids['race']}/preview")

    seen.page.get_by_label("Focus").fill("Who likes wet ground?")
    seen.page.get_by_role("button", name="Write preview").click()

    expect(seen.page.locator(".picks li")).to_have_count(5)
    expect(seen.page.locator(".picks .badge").first).to_contain_text("Confidence")
    expect(seen.page.get_by_role("heading", name="Runners")).to_be_visible()
    expect(seen.page.get_by_label("Focus")).to_have_value("Who likes wet ground?")
    assert seen.violations() == []


def test_a_result_shows_who_won_what_it_paid_and_what_we_had_said(
    seen: BrowserPage, racing: KeibaServer
) -> None:
    racing.run(racing.keiba.cards.assemble(racing.ids["run"]))

    seen.go(f"/keiba/races/{racing.ids['run']}/result")

    expect(seen.page.locator("#finishers tbody tr").first).to_be_visible()
    expect(seen.page.locator("#finishers th").last).to_have_text("Our rank")
    expect(seen.page.locator(".figures")).to_contain_text("Our top pick finished")
    expect(seen.page.locator(".payouts tbody tr", has_text="Trifecta")).to_contain_text("¥")


def test_the_language_is_switched_and_stays(seen: BrowserPage, racing: KeibaServer) -> None:
    seen.go(f"/keiba/races/{racing.ids['race']}?runners.sort=-win")

    seen.page.get_by_role("button", name="日本語").click()

    expect(seen.page).to_have_url(re.compile(r"runners\.sort=-win"))
    expect(seen.page.get_by_role("heading", name="評価順")).to_be_visible()
    seen.go("/keiba/cache")
    expect(seen.page.get_by_text("ヒット率")).to_be_visible()
    seen.page.get_by_role("button", name="English").click()
    expect(seen.page.get_by_text("Hit rate")).to_be_visible()


def test_a_horse_is_watched_with_a_note_and_let_go(seen: BrowserPage, racing: KeibaServer) -> None:
    seen.go(f"/keiba/horses/{racing.ids['horse']}")
    page = seen.page

    page.get_by_label("Your note").fill("Likes the left")
    page.get_by_role("button", name="Watch this horse").click()
    expect(page.get_by_text("You watch this horse.")).to_be_visible()
    page.get_by_role("link", name="Watched horses").click()
    expect(page.get_by_label("Your note")).to_have_value("Likes the left")
    expect(page.locator(".entered")).to_contain_text("Tokyo")
    barriers = seen.violations()
    page.get_by_role("button", name="Stop watching").click()

    expect(page.get_by_text("No watched horses yet.")).to_be_visible()
    assert barriers == []


def test_from_home_the_search_box_leads_to_a_horse(seen: BrowserPage, racing: KeibaServer) -> None:
    seen.go(f"/keiba/horses/{racing.ids['horse']}")
    name = seen.page.locator("h1").inner_text()
    seen.go("/")

    seen.page.get_by_role("searchbox", name="Search teams").fill(racing.ids["horse"])
    seen.page.keyboard.press("Enter")
    expect(seen.page.locator(".found .badge").first).to_have_text("horse")
    seen.page.locator(".found a").first.click()

    expect(seen.page.locator("h1")).to_have_text(name)
    assert seen.page.url.endswith(racing.ids["horse"])


def test_a_horse_shows_its_career_and_five_generations(
    seen: BrowserPage, racing: KeibaServer
) -> None:
    seen.go(f"/keiba/horses/{racing.ids['horse']}")

    expect(seen.page.locator(".pedigree td")).to_have_count(62)
    expect(seen.page.locator("#career .chart-line").first).to_be_visible()
    expect(seen.page.locator("#runs tbody tr").nth(2)).to_be_visible()
    seen.page.locator(".pedigree td a").first.click()
    expect(seen.page).not_to_have_url(re.compile(racing.ids["horse"]))
    expect(seen.page.locator("h1")).to_be_visible()


def test_a_site_that_turns_us_away_is_left_alone_and_that_is_shown(
    seen: BrowserPage, spoiling: KeibaServer
) -> None:
    spoiling.site.malformed.ask_for(MalformedReply("denied", path="/nar/race/result"))

    answer = seen.page.goto(f"{seen.url}/keiba/races/{spoiling.ids['local']}/result")
    said = seen.page.locator(".state-error").inner_text()
    seen.go("/keiba/cache")

    assert answer is not None
    assert answer.status == 429
    assert "is paused until" in said
    expect(seen.page.locator(".sites .badge.tone-bad")).to_have_count(1)
    expect(seen.page.locator(".sites")).to_contain_text("it returned HTTP 403")
    expect(seen.page.locator(".sites")).to_contain_text("left today")
    assert seen.violations() == []


def test_what_is_kept_is_looked_into_and_removed_after_a_count(
    seen: BrowserPage, racing: KeibaServer
) -> None:
    racing.run(racing.keiba.days.meeting_days(today_in_japan(racing.keiba.clock)))
    seen.go("/keiba/cache/entries")
    page = seen.page

    _remove(page, "Racing days")
    expect(page.locator(".toast")).to_contain_text("entries removed")
    page.get_by_label("Key prefix").first.fill("JOCKEY#")
    page.get_by_role("button", name="Show").click()
    page.locator("#entries tbody a").first.click()

    expect(page.locator(".payload")).to_contain_text("jockey_name")


def _remove(page: Page, kind: str) -> None:
    page.get_by_label("Kind").select_option(label=kind)
    page.get_by_label("Expired only").uncheck()
    page.get_by_role("button", name="Count").click()
    expect(page.get_by_text(re.compile("[1-9] entries"))).to_be_visible()
    page.get_by_role("button", name="Remove").click()
