"""The site is asked gently, left alone when it says so, and every failure names its page."""

import asyncio
from datetime import timedelta

import pytest

from grandstand.apps.keiba.domain.errors import NotPublished, PageUnreadable, SiteCoolingDown
from grandstand.apps.keiba.domain.ids import InvalidId
from grandstand.apps.keiba.sources.html_reader import MAX_PAGE_BYTES
from grandstand.apps.keiba.sources.netkeiba import card_page, horse_profile_page, result_page
from grandstand.core.clock import ManualClock
from grandstand.net.errors import QuotaExceeded, RobotsDisallowed, SourceServerError
from tests.apps.keiba.sources.horse_pages import HORSE, profile
from tests.apps.keiba.sources.race_pages import RACE, THREE_RUNNERS
from tests.apps.keiba.sources.scripted_site import Reply, ScriptedSite, open_site

pytestmark = pytest.mark.anyio

CARD = f"/race/shutuba.html?race_id={RACE}"
CAPTCHA = b"<html><body>Please solve the captcha</body></html>"


@pytest.fixture
def scripted() -> ScriptedSite:
    pages = {
        "/race/shutuba.html": THREE_RUNNERS.encode(),
        f"/db/horse/{HORSE}/": profile().encode("euc_jp"),
    }
    return ScriptedSite(ManualClock(), pages)


async def test_a_card_is_fetched_and_read_by_who_we_say_we_are(scripted: ScriptedSite) -> None:
    async with open_site(scripted) as site:
        parsed = await site.fetch(card_page(RACE))

    assert [horse.horse_name for horse in parsed.value.horses] == [
        "アオイソラ",
        "ミナトカゼ",
        "ユウヤケ",
    ]
    assert scripted.requested == [CARD]
    assert all(agent.startswith(b"grandstand/") for agent in scripted.agents)


async def test_requests_to_a_host_go_one_at_a_time_two_seconds_apart(
    scripted: ScriptedSite,
) -> None:
    async with open_site(scripted) as site:
        await asyncio.gather(
            *(site.fetch(card_page(RACE)) for _ in range(4)), site.fetch(horse_profile_page(HORSE))
        )

    assert len(scripted.gaps) == 4
    assert all(2.0 <= gap <= 3.0 for gap in scripted.gaps)
    assert scripted.most_under_way == 1


@pytest.mark.parametrize("status", [400, 403, 429, 503])
async def test_a_refusal_leaves_the_host_alone_until_a_moment_that_is_shown(
    scripted: ScriptedSite, status: int
) -> None:
    scripted.first = [Reply(status)]

    async with open_site(scripted) as site:
        with pytest.raises(SiteCoolingDown, match=f"returned HTTP {status}") as refused:
            await site.fetch(card_page(RACE))
        with pytest.raises(SiteCoolingDown):
            await site.fetch(card_page(RACE))
        shown = (await site.status())[0]

    assert scripted.requested == [CARD]
    assert shown.paused_until == refused.value.until
    assert refused.value.until == scripted.clock.now() + timedelta(seconds=900)


async def test_after_the_pause_the_host_is_asked_again(scripted: ScriptedSite) -> None:
    scripted.first = [Reply(403)]

    async with open_site(scripted) as site:
        with pytest.raises(SiteCoolingDown):
            await site.fetch(card_page(RACE))
        scripted.clock.advance(900)
        parsed = await site.fetch(card_page(RACE))
        shown = (await site.status())[0]

    assert parsed.value.race_id == RACE
    assert (shown.paused_until, shown.why_paused) == (None, None)


async def test_a_second_refusal_in_a_row_doubles_the_pause(scripted: ScriptedSite) -> None:
    scripted.first = [Reply(403), Reply(403)]

    async with open_site(scripted) as site:
        with pytest.raises(SiteCoolingDown):
            await site.fetch(card_page(RACE))
        scripted.clock.advance(900)
        with pytest.raises(SiteCoolingDown) as again:
            await site.fetch(card_page(RACE))

    assert again.value.until - scripted.clock.now() == timedelta(seconds=1800)


async def test_a_site_that_asks_for_a_longer_pause_gets_it(scripted: ScriptedSite) -> None:
    scripted.first = [Reply(429, headers=((b"retry-after", b"7200"),))]

    async with open_site(scripted) as site:
        with pytest.raises(SiteCoolingDown) as refused:
            await site.fetch(card_page(RACE))

    assert refused.value.until - scripted.clock.now() == timedelta(seconds=7200)


async def test_a_page_that_asks_whether_we_are_human_pauses_the_host(
    scripted: ScriptedSite,
) -> None:
    scripted.first = [Reply(200, CAPTCHA)]

    async with open_site(scripted) as site:
        with pytest.raises(SiteCoolingDown, match="CAPTCHA"):
            await site.fetch(card_page(RACE))


async def test_a_pause_of_one_host_is_not_one_of_another(scripted: ScriptedSite) -> None:
    scripted.first = [Reply(403)]

    async with open_site(scripted) as site:
        with pytest.raises(SiteCoolingDown):
            await site.fetch(card_page(RACE))
        horse = await site.fetch(horse_profile_page(HORSE))

    assert horse.value.horse_name == "アオイソラ"


async def test_what_fails_is_tried_three_times_with_longer_waits(scripted: ScriptedSite) -> None:
    scripted.first = [Reply(500), Reply(502)]

    async with open_site(scripted) as site:
        parsed = await site.fetch(card_page(RACE))

    assert parsed.value.race_id == RACE
    assert len(scripted.requested) == 3
    assert scripted.gaps[1] >= 4.0


async def test_after_three_tries_the_failure_is_told(scripted: ScriptedSite) -> None:
    scripted.first = [Reply(500)] * 3

    async with open_site(scripted) as site:
        with pytest.raises(SourceServerError):
            await site.fetch(card_page(RACE))

    assert len(scripted.requested) == 3


@pytest.mark.parametrize(
    "body",
    [b"", THREE_RUNNERS.encode()[:2000], b"<html></html>", b"x" * (MAX_PAGE_BYTES + 1)],
    ids=["empty", "cut", "another page", "huge"],
)
async def test_garbage_is_an_error_that_names_the_page(scripted: ScriptedSite, body: bytes) -> None:
    scripted.first = [Reply(200, body)]

    async with open_site(scripted) as site:
        with pytest.raises(PageUnreadable) as unreadable:
            await site.fetch(card_page(RACE))

    assert unreadable.value.page.endswith(CARD)
    assert str(unreadable.value).startswith(unreadable.value.page)


async def test_a_page_that_is_not_there_is_not_published(scripted: ScriptedSite) -> None:
    async with open_site(scripted) as site:
        with pytest.raises(NotPublished, match="404"):
            await site.fetch(result_page(RACE))


async def test_what_robots_are_asked_not_to_read_is_not_read(scripted: ScriptedSite) -> None:
    scripted.robots = [Reply(200, b"User-agent: grandstand\nDisallow: /race/")]

    async with open_site(scripted) as site:
        with pytest.raises(RobotsDisallowed):
            await site.fetch(card_page(RACE))

    assert scripted.requested == []


async def test_a_longer_gap_that_robots_are_asked_for_is_kept(scripted: ScriptedSite) -> None:
    scripted.robots = [Reply(200, b"User-agent: *\nCrawl-delay: 7")]

    async with open_site(scripted) as site:
        await asyncio.gather(*(site.fetch(card_page(RACE)) for _ in range(3)))

    assert all(gap >= 7.0 for gap in scripted.gaps)


async def test_wishes_that_cannot_be_read_at_once_are_asked_for_again(
    scripted: ScriptedSite,
) -> None:
    scripted.robots = [Reply(500), Reply(200, b"User-agent: *\nDisallow: /odds/")]

    async with open_site(scripted) as site:
        parsed = await site.fetch(card_page(RACE))

    assert parsed.value.race_id == RACE


async def test_no_more_is_asked_in_a_day_than_was_set(scripted: ScriptedSite) -> None:
    async with open_site(scripted, daily_requests=2) as site:
        await site.fetch(card_page(RACE))
        with pytest.raises(QuotaExceeded):
            await site.fetch(card_page(RACE))
        shown = (await site.status())[0]

    assert (shown.requests_today, shown.requests_left) == (2, 0)


@pytest.mark.parametrize("race_id", ["", "2026", "20260504060#", "../202605040", "202605040604 "])
async def test_what_cannot_be_an_id_is_never_asked_for(
    scripted: ScriptedSite, race_id: str
) -> None:
    async with open_site(scripted) as site:
        with pytest.raises(InvalidId):
            await site.fetch(card_page(race_id))

    assert scripted.requested == []


async def test_a_pause_ends_the_tries_of_those_who_wait_behind_it(scripted: ScriptedSite) -> None:
    scripted.first = [Reply(403)]

    async with open_site(scripted) as site:
        found = await asyncio.gather(
            *(site.fetch(card_page(RACE)) for _ in range(5)), return_exceptions=True
        )

    assert {type(one) for one in found} == {SiteCoolingDown}
    assert scripted.requested == [CARD]
