"""What people do with cricket in a browser: look, follow, choose, and steer replays."""

import re

from playwright.sync_api import expect

from grandstand.kit.auth.caller import LOCAL_OWNER
from tests.pages.app_server import AppServer
from tests.pages.conftest import Look
from tests.pages.cricket_server import COMING, LIVE, CricketServer


def test_matches_stand_under_their_stage_with_times_of_the_viewers_zone(
    look: Look, played: AppServer
) -> None:
    watched = look(played.url)

    watched.go("/cricket")

    page = watched.page
    expect(page.locator("section:has(#live-title)")).to_contain_text("Australia v Sri Lanka")
    expect(page.locator("section:has(#upcoming-title)")).to_contain_text("Stonebridge v Marsh End")
    expect(page.locator("section:has(#completed-title)")).to_contain_text("Rajasthan Royals")
    expect(page.locator(".match-time time").first).to_have_attribute("title", re.compile("UTC$"))


def test_a_wicket_appears_on_an_open_page_and_on_its_lock_screen(
    look: Look, played: AppServer, cricketing: CricketServer
) -> None:
    watched = look(played.url)
    watched.go(f"/cricket/matches/{LIVE}")
    before = watched.page.locator(".island").inner_text()

    cricketing.run(cricketing.bowl(186))

    expect(watched.page.locator(".island")).not_to_have_text(before)
    expect(watched.page.locator(".overs li").first).to_contain_text("10")
    expect(watched.page.locator(".event-log .filtered .why").first).to_contain_text("Not pushed")
    expect(watched.page.locator(".event-log .pushed").first).to_be_visible()


def test_a_match_is_followed_for_a_side_and_unfollowed(look: Look, played: AppServer) -> None:
    watched = look(played.url)
    page = watched.page
    watched.go(f"/cricket/matches/{COMING}")

    page.get_by_role("button", name="Neutral").click()
    expect(page.get_by_role("button", name="Neutral")).to_have_attribute("aria-pressed", "true")
    page.locator(".follow button").first.click()
    expect(page.locator(".follow button").first).to_have_attribute("aria-pressed", "true")
    watched.go("/cricket/mine")
    row = page.locator(".own-list li", has_text="Stonebridge")
    expect(row.first).to_contain_text("Stonebridge")
    row.first.get_by_role("button", name="Unfollow").click()

    expect(page.locator("toast-stack")).to_contain_text("no longer")
    expect(page.locator(".own-list li", has_text="Stonebridge")).to_have_count(0)


def test_the_lock_screen_shows_the_side_one_is_for_first(look: Look, played: AppServer) -> None:
    watched = look(played.url)
    page = watched.page
    watched.go(f"/cricket/matches/{LIVE}")

    page.get_by_role("link", name="SL", exact=True).click()

    expect(page.locator(".activity-code").first).to_have_text("SL")
    expect(page.locator(".tabs a[aria-current]")).to_have_text("SL")


def test_what_alerts_somebody_is_chosen_by_a_form(
    look: Look, played: AppServer, cricketing: CricketServer
) -> None:
    watched = look(played.url)
    page = watched.page
    watched.go("/cricket/mine")

    page.get_by_label("Use the default events").uncheck()
    page.get_by_label("Fifty").uncheck()
    page.get_by_label("Mute all alerts").select_option("hour")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("toast-stack")).to_contain_text("Saved")
    choice = cricketing.run(cricketing.cricket.follows.alert_preferences(LOCAL_OWNER.user_id))

    assert choice.kinds is not None
    assert ("fifty" in choice.kinds, "wicket" in choice.kinds) == (False, True)
    assert choice.muted_until is not None


def test_a_test_says_that_nothing_is_pushed_here(look: Look, played: AppServer) -> None:
    watched = look(played.url)
    watched.go("/cricket/mine")

    watched.page.get_by_role("button", name="Send a test notification").click()

    expect(watched.page.locator("toast-stack")).to_contain_text("APNs key is not set")


def test_a_replay_is_begun_paused_moved_and_stopped(look: Look, played: AppServer) -> None:
    watched = look(played.url)
    page = watched.page
    watched.go("/cricket/hub")

    page.get_by_label("Recording").select_option("1370353")
    page.get_by_role("button", name="Start replay").click()
    begun = page.locator("#replays .card", has=page.locator('a[href$="/1370353"]'))
    begun.get_by_role("button", name="Pause").click()
    begun.get_by_label("Ball", exact=True).fill("33")
    begun.get_by_role("button", name="Seek").click()
    expect(begun).to_contain_text("Ball 33 of")
    begun.get_by_role("button", name="Stop").click()

    expect(begun).to_have_count(0)
    expect(page.locator("toast-stack")).to_contain_text("Done")


def test_the_hub_looks_at_a_match_when_told(look: Look, played: AppServer) -> None:
    watched = look(played.url)
    watched.go("/cricket/hub")

    watched.page.get_by_role("button", name="Poll now: Australia").click()

    expect(watched.page.locator("toast-stack")).to_contain_text("was polled")


def test_the_swift_file_can_be_seen_and_taken(look: Look, played: AppServer) -> None:
    watched = look(played.url)
    watched.go("/cricket/connect")

    watched.page.get_by_text("Show", exact=True).click()
    with watched.page.expect_download() as taken:
        watched.page.get_by_role("link", name="CricketMatchAttributes.swift").click()

    expect(watched.page.locator("pre.swift").first).to_contain_text("ActivityAttributes")
    assert taken.value.suggested_filename == "CricketMatchAttributes.swift"
