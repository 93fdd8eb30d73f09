"""The feed is asked within its budget, with its key kept secret, and its failures are named."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random
from urllib.parse import parse_qs

import msgspec
import pytest

from grandstand.apps.cricket.domain.errors import FeedNotConfigured, MatchNotFound
from grandstand.apps.cricket.settings import CricketSettings
from grandstand.apps.cricket.sources.sportmonks import (
    MAX_RESPONSE_BYTES,
    SportMonksClient,
    read_quota_headers,
)
from grandstand.core.clock import ManualClock
from grandstand.core.errors import SourceFailed
from grandstand.core.metrics import Metrics
from grandstand.net.client import SourceRegistry
from grandstand.net.errors import InvalidResponse, QuotaExceeded, RateLimited
from grandstand.simulators.asgi import Message, Receive, Send
from grandstand.simulators.serving import serve
from tests.apps.cricket.sources.sportmonks_rows import fixture

pytestmark = pytest.mark.anyio

KEY = "s3cr3t-of-the-feed"


@dataclass
class Feed:
    """Answers by path, one after the other where there are several, and what was asked."""

    answers: dict[str, list[object]]
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, list[str]]]] = field(default_factory=list)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Return a request."""
        del receive
        path = scope["path"].removeprefix("/api/v2.0")
        self.asked.append((path, parse_qs(scope["query_string"].decode())))
        said = self.answers.get(path, [])
        found = said.pop(0) if len(said) > 1 else (said or [None])[0]
        body = found if isinstance(found, bytes) else msgspec.json.encode(found)
        headers = [(name.encode(), value.encode()) for name, value in self.headers.items()]
        headers.append((b"content-length", str(len(body)).encode()))
        status = self.status if found is not None else 404
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


@asynccontextmanager
async def reached(feed: Feed, **chosen: object) -> AsyncIterator[SportMonksClient]:
    """The feed as our side sees it, with a clock that moves when somebody waits."""
    clock = ManualClock()

    async def sleep(seconds: float) -> None:
        clock.advance(seconds)

    async with serve(feed) as address:
        settings = CricketSettings.model_validate(
            {"feed_url": f"http://{address}/api/v2.0", "feed_token": KEY, **chosen}
        )
        async with SourceRegistry(
            clock=clock, random=Random(1), metrics=Metrics(), sleep=sleep
        ) as web:
            yield SportMonksClient(web, settings)


async def test_the_live_list_is_one_request_with_what_is_needed() -> None:
    feed = Feed({"/livescores": [{"data": [fixture(), fixture(id=71345)]}]})

    async with reached(feed) as site:
        parsed = await site.livescores(balls=True, since={"71344": 101})

    ((path, asked),) = feed.asked
    assert [each.snapshot.match_id for each in parsed.value] == ["71344", "71345"]
    assert (path, asked["api_token"]) == ("/livescores", [KEY])
    assert {"balls", "runs", "lineup"} <= set(asked["include"][0].split(","))


async def test_a_match_comes_with_the_feeds_words_but_without_their_length() -> None:
    feed = Feed({"/fixtures/71344": [{"data": fixture()}]})

    async with reached(feed) as site:
        parsed = await site.fixture("71344")

    assert len(parsed.value.snapshot.balls) == 2
    assert parsed.value.raw["round"] == "1st T20"
    assert parsed.value.raw["runs"] == [{**fixture()["runs"][0], "overs": Decimal("1.2")}]
    assert "balls" not in parsed.value.raw


@pytest.mark.parametrize("match_id", ["9", "../leagues", "7 1", ""])
async def test_a_match_the_feed_does_not_know_is_unknown(match_id: str) -> None:
    feed = Feed({})

    async with reached(feed) as site:
        with pytest.raises(MatchNotFound):
            await site.fixture(match_id)

    assert all(path == "/fixtures/9" for path, _ in feed.asked)


async def test_without_a_key_nobody_is_asked() -> None:
    feed = Feed({})

    async with reached(feed, feed_token=None) as site:
        with pytest.raises(FeedNotConfigured):
            await site.livescores()

    assert feed.asked == []


async def test_a_long_list_is_read_page_by_page() -> None:
    pages = [
        [fixture(id=page * 1000 + n) for n in range(size)] for page, size in ((1, 100), (2, 3))
    ]
    feed = Feed({"/fixtures": [{"data": page} for page in pages]})

    async with reached(feed) as site:
        parsed = await site.fixtures(date(2026, 11, 16), date(2026, 11, 20), league_id="5")

    assert len(parsed.value) == 103
    assert [asked["page"] for _, asked in feed.asked] == [["1"], ["2"]]
    assert feed.asked[0][1]["filter[starts_between]"] == ["2026-11-16,2026-11-20"]
    assert feed.asked[0][1]["filter[league_id]"] == ["5"]


async def test_leagues_teams_and_tables_are_read() -> None:
    table = {"season_id": 1700, "team_id": 1, "league_id": 5, "played": 3, "won": 2, "position": 1}
    feed = Feed(
        {
            "/leagues": [
                {"data": [{"id": 5, "name": "City League", "code": "CL", "season_id": 9}]}
            ],
            "/teams": [{"data": [{"id": 1, "name": "Harbour Town", "national_team": False}, {}]}],
            "/standings/season/1700": [{"data": [table]}],
        }
    )

    async with reached(feed) as site:
        leagues, teams = await site.leagues(), await site.teams()
        standings, none = await site.standings("1700"), await site.standings("1")

    assert (leagues.value[0].code, leagues.value[0].season_id) == ("CL", "9")
    assert ([team.name for team in teams.value], len(teams.warnings)) == (["Harbour Town"], 1)
    assert (standings.value[0].won, standings.value[0].position) == (2, 1)
    assert none.value == ()


async def test_the_hourly_budget_holds_for_each_part() -> None:
    feed = Feed({"/livescores": [{"data": []}], "/leagues": [{"data": []}]})

    async with reached(feed, feed_hourly_requests=2) as site:
        await site.livescores()
        await site.livescores()
        with pytest.raises(QuotaExceeded, match="this hour"):
            await site.livescores()
        await site.leagues()

    assert [path for path, _ in feed.asked] == ["/livescores", "/livescores", "/leagues"]


@pytest.mark.parametrize(
    ("left", "renewed_in", "wait"),
    [("30", "600", 20.0), ("30", "60", 5.0), ("0", "90", 90.0)],
    ids=["little is left", "it lasts", "nothing is left"],
)
async def test_what_the_feed_says_is_left_lasts_until_there_is_more(
    left: str, renewed_in: str, wait: float
) -> None:
    feed = Feed({"/livescores": [{"data": []}]})
    feed.headers = {"x-ratelimit-remaining": left, "x-ratelimit-reset": renewed_in}

    async with reached(feed) as site:
        before = await site.next_poll_seconds(5.0)
        await site.livescores()
        after = await site.next_poll_seconds(5.0)

    assert (before, after) == (5.0, wait)


async def test_a_feed_that_says_too_often_is_not_asked_for_long() -> None:
    feed = Feed({"/livescores": [{"data": []}]}, status=429, headers={"retry-after": "600"})

    async with reached(feed) as site:
        with pytest.raises(RateLimited) as refused:
            await site.livescores()

    assert len(feed.asked) == 1
    assert KEY not in str(refused.value)


@pytest.mark.parametrize(
    ("said", "error"),
    [
        (b"<html>", InvalidResponse),
        ([1], InvalidResponse),
        ({"message": "no"}, SourceFailed),
        ({"data": 7}, SourceFailed),
        ({"data": {"status": "NS"}}, SourceFailed),
        (b" " * (MAX_RESPONSE_BYTES + 1), SourceFailed),
    ],
)
async def test_an_answer_that_is_none_is_named(said: object, error: type[Exception]) -> None:
    feed = Feed({"/fixtures/71344": [said]})

    async with reached(feed) as site:
        with pytest.raises(error):
            await site.fixture("71344")


def test_the_budget_is_read_from_headers_in_either_form() -> None:
    now = datetime(2026, 11, 16, 12, tzinfo=UTC)
    soon, epoch = "1800", str(int(now.timestamp()) + 1800)

    readings = [
        read_quota_headers({"x-ratelimit-remaining": "9", "x-ratelimit-reset": reset}, now)
        for reset in (soon, epoch)
    ]

    assert [each.resets_at for each in readings if each] == [now + timedelta(minutes=30)] * 2
    assert read_quota_headers({"x-ratelimit-remaining": "soon"}, now) is None
