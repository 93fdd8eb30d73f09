"""The race site on a real socket: three hosts, two encodings, rules, and all that goes wrong."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date, timedelta

import httpx2
import pytest

from grandstand.core.clock import ManualClock, SystemClock
from grandstand.net.robots import RobotsRules
from grandstand.simulators.faults import CONTROL as FAULTS
from grandstand.simulators.faults import Fault
from grandstand.simulators.malformed import MalformedReply
from grandstand.simulators.racing.race import Race
from grandstand.simulators.racing.site import (
    MALFORMED_PATH,
    Malformation,
    Site,
    SiteFormat,
    SiteRules,
)
from grandstand.simulators.racing.world import World
from grandstand.simulators.serving import serve
from tests.simulators.racing.conftest import NOON

pytestmark = pytest.mark.anyio

AGENT = "Grandstand-tests/1"
DAY = "/race/top/race_list_sub.html?kaisai_date=20261115"


@asynccontextmanager
async def visited(site: Site, agent: str = AGENT) -> AsyncIterator[httpx2.AsyncClient]:
    async with (
        serve(site.application) as address,
        httpx2.AsyncClient(
            base_url=f"http://{address}", headers={"user-agent": agent}, timeout=60
        ) as client,
    ):
        yield client


def site_of(world: World, form: SiteFormat | None = None, rules: SiteRules | None = None) -> Site:
    clock = ManualClock(NOON)
    return Site(world, clock, SystemClock(), form or SiteFormat(), rules or SiteRules())


def first_race(world: World) -> Race:
    return next(world.races_between("jra", date(2026, 11, 15), date(2026, 11, 15)))


async def test_pages_of_the_race_host_are_utf8_and_say_so(world: World) -> None:
    race = first_race(world)
    async with visited(site_of(world)) as client:
        card = await client.get(f"/race/race/shutuba.html?race_id={race.race_id}")
        listed = await client.get(DAY)

    assert card.headers["content-type"] == "text/html; charset=UTF-8"
    assert listed.headers["content-type"] == "text/html; charset=UTF-8"
    assert '<meta charset="UTF-8">' in card.content.decode("utf-8")
    assert "東京" in listed.content.decode("utf-8")


async def test_pages_of_the_archive_are_euc_jp_and_tell_it_only_inside(world: World) -> None:
    horse = first_race(world).horses[0]
    async with visited(site_of(world)) as client:
        profile = await client.get(f"/db/horse/{horse.id}/")

    assert profile.headers["content-type"] == "text/html"
    assert '<meta charset="EUC-JP">' in profile.content.decode("ascii", "ignore")
    assert horse.name in profile.content.decode("euc_jp")


async def test_in_2025_cards_were_euc_jp_and_tables_narrow(world: World) -> None:
    race = first_race(world)
    async with visited(site_of(world, SiteFormat.of_2025())) as client:
        card = await client.get(f"/race/race/shutuba.html?race_id={race.race_id}")
        results = await client.get(f"/db/horse/result/{race.horses[0].id}/")

    assert card.headers["content-type"] == "text/html"
    assert race.horses[0].name in card.content.decode("euc_jp")
    assert results.content.decode("euc_jp").count("<th") - 1 == 29


async def test_a_list_links_to_the_result_and_the_result_fills_once_it_is_confirmed(
    world: World,
) -> None:
    race = first_race(world)
    site = site_of(world)
    clock = ManualClock(race.confirmed_at - timedelta(seconds=1))
    site.clock = clock
    result = f"/race/race/result.html?race_id={race.race_id}"
    async with visited(site) as client:
        before = (await client.get(DAY)).text, (await client.get(result)).text
        clock.advance(1)
        after = (await client.get(DAY)).text, (await client.get(result)).text

    assert f"shutuba.html?race_id={race.race_id}" in before[0]
    assert f"result.html?race_id={race.race_id}" in after[0]
    assert 'class="Rank"' not in before[1]
    assert after[1].count('class="Rank"') == len(race.horses)


async def test_odds_move_with_the_clock_of_the_world(world: World) -> None:
    race = first_race(world)
    site = site_of(world)
    clock = ManualClock(race.off_at - timedelta(minutes=40))
    site.clock = clock
    odds = f"/race/api/api_get_jra_odds.html?race_id={race.race_id}&type=1&action=init"
    async with visited(site) as client:
        early = (await client.get(odds)).json()
        clock.advance(1_800)
        later = (await client.get(odds)).json()

    assert (early["status"], later["status"]) == ("middle", "middle")
    assert early["data"]["odds"]["1"] != later["data"]["odds"]["1"]
    assert early["data"]["official_datetime"] < later["data"]["official_datetime"]


async def test_a_host_may_also_be_named_instead_of_the_path(world: World) -> None:
    race = first_race(world)
    async with visited(site_of(world)) as client:
        card = await client.get(
            f"/race/shutuba.html?race_id={race.race_id}", headers={"host": "race.site.test"}
        )
        by_path = await client.get(f"/race/race/shutuba.html?race_id={race.race_id}")

    assert "http://db.site.test/horse/" in card.text
    assert f"{client.base_url}/db/horse/" in by_path.text
    assert "netkeiba" not in card.text + by_path.text


async def test_robots_are_told_what_is_closed_at_the_root_and_on_every_host(world: World) -> None:
    rules = SiteRules(closed=("/mypage/", "/horse/ped/"))
    async with visited(site_of(world, rules=rules)) as client:
        root = RobotsRules((await client.get("/robots.txt")).text, AGENT)
        file = (await client.get("/db/robots.txt")).text
        own = RobotsRules(file, AGENT)
        named = await client.get("/robots.txt", headers={"host": "db.site.test"})

    assert not root.allow("/db/horse/ped/2023100001/")
    assert root.allow("/db/horse/2023100001/")
    assert not own.allow("/horse/ped/2023100001/")
    assert named.text == file


async def test_what_is_not_there_is_not_found(world: World) -> None:
    async with visited(site_of(world)) as client:
        answers = [await client.get(path) for path in ("/", "/race/nothing.html", "/db/horse/1/")]

    assert [answer.status_code for answer in answers] == [404, 404, 404]


async def test_arrivals_are_noted_by_host_with_the_gaps_between_them(world: World) -> None:
    site = site_of(world)
    async with visited(site) as client:
        for path in (DAY, "/nar/top/", DAY, "/simulator/faults"):
            await client.get(path)

    assert [one.path for one in site.access_log.on("race")] == [DAY.removeprefix("/race")] * 2
    assert len(site.access_log.on("nar")) == 1
    assert {one.agent for one in site.access_log.requests} == {AGENT}
    [gap] = site.access_log.gaps("race")
    assert gap > 0
    assert site.access_log.max_concurrent == {"race": 1, "nar": 1}


async def test_an_impolite_visitor_is_told_to_wait(world: World) -> None:
    site = site_of(world, rules=SiteRules(min_gap_seconds=30, wait_seconds=7))
    async with visited(site) as client:
        first, second = await client.get(DAY), await client.get(DAY)
        elsewhere = await client.get("/nar/top/")

    assert (first.status_code, second.status_code, elsewhere.status_code) == (200, 429, 200)
    assert second.headers["retry-after"] == "7"
    assert len(site.access_log.on("race")) == 2


@pytest.mark.parametrize("agent", ["python-requests/2.32", "Python-urllib/3.11", ""])
async def test_agents_of_libraries_are_blocked(world: World, agent: str) -> None:
    async with visited(site_of(world), agent) as client:
        answer = await client.get(DAY)

    assert answer.status_code == 400


async def test_faults_strike_the_site_and_are_still_noted(world: World) -> None:
    site = site_of(world)
    async with visited(site) as client:
        rule = Fault(kind="too many", path="/race/", times=1, seconds=3)
        asked = [{"kind": rule.kind, "path": rule.path, "times": 1, "seconds": 3}]
        reply = await client.put(FAULTS, content=json.dumps(asked))
        refused, well = await client.get(DAY), await client.get(DAY)

    assert reply.status_code == 200
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "3")
    assert well.status_code == 200
    assert len(site.access_log.on("race")) == 2


@pytest.mark.parametrize(
    ("wrong", "status", "sign"),
    [
        ("truncated", 200, b"RaceList_NameBox"),
        ("empty", 200, b""),
        ("captcha", 200, b"g-recaptcha"),
        ("no table", 200, b'<section class="Shutuba_Table'),
        ("denied", 403, b"Access denied"),
        ("bad request", 400, b"Access denied"),
    ],
)
async def test_pages_come_out_wrong_on_request(
    world: World, wrong: Malformation, status: int, sign: bytes
) -> None:
    site = site_of(world)
    card = f"/race/race/shutuba.html?race_id={first_race(world).race_id}"
    async with visited(site) as client:
        site.malformed.ask_for(MalformedReply(wrong, path="/race/race/", times=1))
        broken, whole = await client.get(card), await client.get(card)

    assert broken.status_code == status
    assert sign in broken.content
    assert b"</html>" in whole.content
    assert len(broken.content) < len(whole.content) + 1_000
    assert broken.content != whole.content


async def test_a_page_in_the_wrong_letters_is_not_what_it_says(world: World) -> None:
    site = site_of(world)
    horse = first_race(world).horses[0]
    async with visited(site) as client:
        await client.put(MALFORMED_PATH, content=b'[{"wrong": "wrong letters"}]')
        broken = await client.get(f"/db/horse/{horse.id}/")

    assert b"EUC-JP" in broken.content
    assert horse.name in broken.content.decode("cp932")
    with pytest.raises(UnicodeDecodeError):
        broken.content.decode("euc_jp")


async def test_a_huge_page_has_ten_megabytes(world: World) -> None:
    site = site_of(world)
    site.malformed.ask_for(MalformedReply("huge"))
    async with visited(site) as client:
        answer = await client.get(DAY)

    assert len(answer.content) > 10 * 1024 * 1024


async def test_a_blemish_that_does_not_exist_is_refused(world: World) -> None:
    async with visited(site_of(world)) as client:
        refused = await client.put(MALFORMED_PATH, content=b'[{"wrong": "purple"}]')
        reply = await client.get(MALFORMED_PATH)

    assert refused.status_code == 400
    assert reply.json() == []


async def test_a_whole_card_can_be_gathered_by_its_ids(world: World) -> None:
    race = first_race(world)
    async with visited(site_of(world)) as client:
        answers = [
            await client.get(f"/db/{path}/")
            for horse, jockey in zip(race.horses[:5], race.finish.jockeys, strict=False)
            for path in (
                f"horse/{horse.id}",
                f"horse/result/{horse.id}",
                f"horse/ped/{horse.id}",
                f"horse/{horse.sire.id}",
                f"horse/{horse.dam.id}",
                f"jockey/{jockey.id}",
                f"jockey/result/recent/{jockey.id}",
            )
        ]

    assert [answer.status_code for answer in answers] == [200] * 35
