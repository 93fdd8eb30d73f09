"""The score feed on a real socket: its addresses, its key, its budget, and all that goes wrong."""

from __future__ import annotations

from datetime import timedelta

import pytest

from grandstand.core.errors import Conflict
from grandstand.simulators.faults import CONTROL as FAULTS
from grandstand.simulators.malformed import MalformedReply
from grandstand.simulators.scores.control import Malformation
from grandstand.simulators.scores.feed import BASE
from grandstand.simulators.scores.matches import generate_match, read_recorded_match
from tests.simulators.scores.feed_server import NOON, feed_at_noon, visited

pytestmark = pytest.mark.anyio


async def test_nothing_is_told_without_the_key() -> None:
    feed, _ = feed_at_noon()
    async with visited(feed) as visitor:
        bare = await visitor.client.get(f"{BASE}/livescores")
        wrong = await visitor.ask("/livescores", api_token="guessed")

    assert bare.status_code == wrong.status_code == 401


async def test_off_season_the_live_scores_are_an_empty_list() -> None:
    feed, _ = feed_at_noon()
    async with visited(feed) as visitor:
        assert await visitor.data("/livescores") == []


async def test_the_live_scores_are_the_matches_on_now() -> None:
    feed, clock = feed_at_noon()
    feed.play(read_recorded_match(1001349))
    feed.play(read_recorded_match(1370353), starts_at=NOON + timedelta(hours=5))
    clock.advance(400)

    async with visited(feed) as visitor:
        rows = await visitor.data("/livescores", include="runs,balls")

    (row,) = rows
    assert (row["id"], row["status"], len(row["balls"])) == (1001349, "1st Innings", 10)
    assert row["runs"][0]["overs"] == 1.4


async def test_time_passes_between_two_looks() -> None:
    feed, clock = feed_at_noon()
    feed.play(read_recorded_match(1001349), speed=10)

    async with visited(feed) as visitor:
        before = await visitor.data("/fixtures/1001349", include="balls")
        clock.advance(8)
        after = await visitor.data("/fixtures/1001349", include="balls")

    assert (len(before["balls"]), len(after["balls"])) == (0, 2)


async def test_balls_come_with_numbers_that_rise_and_stay() -> None:
    feed, _ = feed_at_noon()
    replay = feed.play(read_recorded_match(1001349))

    async with visited(feed) as visitor:
        replay.seek_ball(100)
        early = await visitor.data("/fixtures/1001349", include="balls")
        replay.seek_ball(250)
        late = await visitor.data("/fixtures/1001349", include="balls")

    ids = [ball["id"] for ball in late["balls"]]
    assert ids == sorted(set(ids))
    assert late["balls"][:100] == early["balls"]


async def test_a_deleted_ball_takes_its_number_with_it() -> None:
    feed, _ = feed_at_noon()
    replay = feed.play(read_recorded_match(1001349), correction_seed=1)
    moment = next(
        each for each in replay.timeline.moments if each.correction and each.correction.deleted
    )

    async with visited(feed) as visitor:
        replay.seek(moment.at)
        wrong = (await visitor.data("/fixtures/1001349", include="balls"))["balls"][-1]
        replay.seek(moment.at + 10)
        right = (await visitor.data("/fixtures/1001349", include="balls"))["balls"][-1]

    assert wrong["id"] == right["id"] - 1
    assert (wrong["ball"], wrong["score"]["name"]) != (right["ball"], right["score"]["name"])


async def test_fixtures_are_found_by_their_day_and_league() -> None:
    feed, _ = feed_at_noon()
    feed.play(read_recorded_match(1001349))
    feed.play(read_recorded_match(1370353), starts_at=NOON + timedelta(days=2))
    async with visited(feed) as visitor:
        between = {"filter[starts_between]": "2026-11-16,2026-11-17"}
        today = await visitor.data("/fixtures", **between)
        of_league = await visitor.data("/fixtures", **{"filter[league_id]": "3"})
        backwards = await visitor.data("/fixtures", sort="-starting_at")

    assert [row["id"] for row in today] == [1001349]
    assert [row["id"] for row in of_league] == [1001349]
    assert [row["id"] for row in backwards] == [1370353, 1001349]


async def test_a_page_has_a_hundred_rows() -> None:
    feed, _ = feed_at_noon()
    record = read_recorded_match(1178424)
    for number in range(103):
        feed.play(record, match_id=5000 + number)

    async with visited(feed) as visitor:
        pages = [await visitor.data("/fixtures", page=page) for page in ("1", "2", "3")]

    assert [len(page) for page in pages] == [100, 3, 0]


async def test_only_the_fields_asked_for_are_sent() -> None:
    feed, _ = feed_at_noon()
    feed.play(read_recorded_match(1001349)).seek_ball(9)
    fields = {"fields[fixtures]": "id,status", "fields[balls]": "id,ball", "include": "balls"}

    async with visited(feed) as visitor:
        row = await visitor.data("/fixtures/1001349", **fields)

    assert {"resource", "id", "status", "balls"} <= set(row)
    assert "note" not in row
    assert "bowler_id" not in row["balls"][0]


async def test_includes_are_wrapped_in_lists_of_fixtures_and_bare_elsewhere() -> None:
    feed, _ = feed_at_noon()
    feed.play(read_recorded_match(1001349))

    async with visited(feed) as visitor:
        (listed,) = await visitor.data("/fixtures", include="localteam")
        (live,) = await visitor.data("/livescores", include="localteam")

    assert listed["localteam"]["data"]["name"] == live["localteam"]["name"] == "Australia"


async def test_an_include_that_does_not_exist_is_refused() -> None:
    feed, _ = feed_at_noon()
    async with visited(feed) as visitor:
        answers = [
            await visitor.ask("/livescores", include=include)
            for include in ("weather", "runs.umpire", "batting.batsman")
        ]

    assert [answer.status_code for answer in answers] == [400, 400, 200]


async def test_each_part_has_its_own_budget_from_its_first_call_on() -> None:
    feed, clock = feed_at_noon()
    feed.budget.hourly = 2
    async with visited(feed) as visitor:
        first, second, third = [await visitor.ask("/livescores") for _ in range(3)]
        other = await visitor.ask("/leagues")
        clock.advance(3600)
        later = await visitor.ask("/livescores")

    assert [each.status_code for each in (first, second, third)] == [200, 200, 429]
    assert (first.headers["x-ratelimit-limit"], first.headers["x-ratelimit-remaining"]) == (
        "2",
        "1",
    )
    assert third.headers["retry-after"] == "3600"
    assert third.headers["x-ratelimit-reset"] == str(int(NOON.timestamp()) + 3600)
    assert other.status_code == later.status_code == 200
    assert (feed.budget.exhausted, feed.budget.refused) == ({"livescores": 1}, {"livescores": 1})


@pytest.mark.parametrize(
    "path",
    [
        *("/leagues", "/seasons", "/stages", "/teams", "/players", "/venues", "/officials"),
        *("/positions", "/scores", "/team-rankings", "/countries", "/continents"),
    ],
)
async def test_every_list_has_rows_with_their_resource(path: str) -> None:
    feed, _ = feed_at_noon()
    feed.play(read_recorded_match(1001349))
    async with visited(feed) as visitor:
        rows = await visitor.data(path)

    assert rows
    assert all("resource" in row for row in rows)


@pytest.mark.parametrize("path", ["/leagues", "/stages", "/teams", "/scores"])
async def test_a_row_is_found_by_its_number(path: str) -> None:
    feed, _ = feed_at_noon()
    feed.play(read_recorded_match(1001349))
    async with visited(feed) as visitor:
        (first, *_) = await visitor.data(path)
        alone = await visitor.data(f"{path}/{first['id']}")
        missing = await visitor.ask(f"{path}/999999999")

    assert alone == first
    assert missing.status_code == 404


async def test_a_squad_is_that_of_a_team_in_a_season() -> None:
    feed, _ = feed_at_noon()
    feed.play(read_recorded_match(1001349))
    async with visited(feed) as visitor:
        row = await visitor.data("/fixtures/1001349")
        squad = await visitor.data(f"/teams/{row['localteam_id']}/squad/{row['season_id']}")

    assert squad["name"] == "Australia"
    assert len(squad["squad"]) == 11


async def test_the_table_of_a_season_counts_matches_that_are_over() -> None:
    feed, _ = feed_at_noon()
    won, void = feed.play(read_recorded_match(1370353)), feed.play(read_recorded_match(1178424))
    won.seek(won.timeline.ends_at)
    void.seek(void.timeline.ends_at)

    async with visited(feed) as visitor:
        seasons = [(await visitor.data(f"/fixtures/{n}"))["season_id"] for n in (1370353, 1178424)]
        tables = [await visitor.data(f"/standings/season/{season}") for season in seasons]

    points = [[(row["team"]["code"], row["points"], row["played"]) for row in t] for t in tables]
    assert points == [[("CSK", 2, 1), ("GT", 0, 1)], [("RR", 1, 1), ("RCB", 1, 1)]]


@pytest.mark.parametrize("path", ["/fixtures/1", "/fixtures/x", "/nothing", "/teams/1/squad/1"])
async def test_what_does_not_exist_is_not_found(path: str) -> None:
    feed, _ = feed_at_noon()
    async with visited(feed) as visitor:
        assert (await visitor.ask(path)).status_code == 404


async def test_a_match_is_on_the_air_once() -> None:
    feed, _ = feed_at_noon()
    feed.play(read_recorded_match(1001349))

    with pytest.raises(Conflict):
        feed.play(read_recorded_match(1001349))


async def test_a_super_over_is_told_by_its_flag_and_its_scoreboards() -> None:
    feed, _ = feed_at_noon()
    replay = feed.play(generate_match(3, "T20", tie=True))
    path = f"/fixtures/{replay.match_id}"

    async with visited(feed) as visitor:
        replay.seek_ball(100)
        before = await visitor.data(path)
        replay.seek(replay.timeline.ends_at)
        after = await visitor.data(path, include="runs,balls")

    assert (before["super_over"], after["super_over"]) == (False, True)
    assert [row["inning"] for row in after["runs"]] == [1, 2, 3, 4]
    assert after["balls"][-1]["scoreboard"] == "S4"
    assert "won the super over" in after["note"]


async def test_faults_strike_as_asked_for() -> None:
    feed, _ = feed_at_noon()
    async with visited(feed) as visitor:
        rules = [{"kind": "too many", "path": f"{BASE}/livescores", "times": 1, "seconds": 7}]
        await visitor.client.put(FAULTS, json=rules)
        answers = [await visitor.ask("/livescores") for _ in range(2)]

    assert [answer.status_code for answer in answers] == [429, 200]
    assert answers[0].headers["retry-after"] == "7"


@pytest.mark.parametrize(
    ("wrong", "sign"),
    [
        ("unknown status", b'"status":"Dew Inspection"'),
        ("wrong types", b'"batting":"nobody"'),
        ("no rows", b"[7]"),
        ("no data", b'{"oops":true}'),
        ("no ids", b'"id":null'),
    ],
)
async def test_answers_come_out_wrong_as_asked_for(wrong: Malformation, sign: bytes) -> None:
    feed, _ = feed_at_noon()
    feed.play(read_recorded_match(1001349))
    feed.malformed.ask_for(MalformedReply(wrong, path="/livescores", times=1))
    async with visited(feed) as visitor:
        spoilt, right = [await visitor.ask("/livescores", include="runs") for _ in range(2)]

    assert sign in spoilt.content
    assert sign not in right.content


async def test_an_answer_can_be_without_its_includes_or_far_too_long() -> None:
    feed, _ = feed_at_noon()
    feed.play(read_recorded_match(1001349))
    feed.malformed.ask_for(MalformedReply("no includes", times=1), MalformedReply("huge", times=1))
    async with visited(feed) as visitor:
        bare = (await visitor.data("/livescores", include="runs"))[0]
        long = await visitor.ask("/livescores")

    assert "runs" not in bare
    assert len(long.content) > 5 * 1024 * 1024
