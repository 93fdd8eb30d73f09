"""The gatherer over HTTP: what each route answers, and to whom."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx2
import pytest

from grandstand.apps.gatherer.app import APP
from grandstand.apps.gatherer.services import Gatherer
from grandstand.host.settings import ServerSettings, Settings
from tests.apps.gatherer.app_fixture import NOWHERE, recording, settings_at
from tests.host.server.serving import Served, serving

A = "/api/gatherer"


@dataclass
class Housed:
    """A served gatherer, somebody who uses it and somebody who runs it."""

    served: Served
    gatherer: Gatherer
    ada: httpx2.Client
    root: httpx2.Client

    def get(self, path: str, **params: Any) -> Any:
        reply = self.ada.get(f"{A}{path}", params=params)
        assert reply.status_code == 200, reply.text
        return reply.json()


@contextmanager
def _housed(folder: Path, address: str) -> Iterator[Housed]:
    settings = Settings(
        home=folder,
        tables="sqlite",
        gatherer=settings_at(address),
        server=ServerSettings(requests_per_minute=1_000_000),
    )
    with serving(settings, apps=(APP,)) as served:
        clients = [_client(served, "ada"), _client(served, "root", admin=True)]
        try:
            yield Housed(served, served.platform.services["gatherer"], *clients)
        finally:
            for client in clients:
                client.close()


def _client(served: Served, name: str, *, admin: bool = False) -> httpx2.Client:
    async def keyed() -> str:
        people = served.platform.people
        account = await people.add(name, "a stand with a view", admin=admin)
        made = await people.keys.issue(account.user_id, "test", admin=admin)
        return str(made.text)

    return served.client(authorization=f"Bearer {served.do(keyed())}")


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory, exchange_address: str) -> Iterator[Housed]:
    """A platform that records."""
    with _housed(tmp_path_factory.mktemp("api"), exchange_address) as housed:
        begun, over = asyncio.Event(), asyncio.Event()

        async def record() -> None:
            async with recording(housed.gatherer):
                begun.set()
                await over.wait()

        running = asyncio.run_coroutine_threadsafe(record(), housed.served.loop)
        housed.served.do(begun.wait())
        yield housed
        housed.served.loop.call_soon_threadsafe(over.set)
        running.result(30)


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Housed]:
    """A platform that records nothing, and whose exchange does not answer."""
    with _housed(tmp_path_factory.mktemp("idle"), NOWHERE) as housed:
        yield housed


@pytest.fixture(scope="module")
def ticker(platform: Housed) -> str:
    """The market of which most was traded."""
    told: str = platform.get("/volumes", limit=1)["volumes"][0]["ticker"]
    return told


def _ago(seconds: float) -> str:
    return (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat()


def _proven(platform: Housed, path: str, at: str) -> Any:
    """The book of an instant, once it is proven that everything up to it is kept."""
    end = time.monotonic() + 30
    while not (found := platform.get(path, at=at))["exact"]:
        assert time.monotonic() < end, found["doubt"]
        time.sleep(0.2)
    return found


def test_markets_are_listed_most_traded_first_page_by_page(platform: Housed) -> None:
    whole = platform.get("/markets", limit=1000)["markets"]

    first = platform.get("/markets", limit=10)
    second = platform.get("/markets", limit=10, cursor=first["cursor"])

    volumes = [Decimal(one["volume_24h"]) for one in whole]
    assert volumes == sorted(volumes, reverse=True)
    assert len(whole) > 20
    assert [one["ticker"] for one in first["markets"] + second["markets"]] == [
        one["ticker"] for one in whole[:20]
    ]


def test_words_narrow_the_list_and_a_cursor_is_for_one_question(platform: Housed) -> None:
    one = platform.get("/markets")["markets"][0]

    found = platform.get("/markets", search=one["ticker"].lower(), series=one["series_ticker"])
    cursor = platform.get("/markets", limit=5)["cursor"]
    other = platform.ada.get(f"{A}/markets", params={"search": "x", "cursor": cursor})

    assert [each["ticker"] for each in found["markets"]] == [one["ticker"]]
    assert other.status_code == 400


def test_a_market_that_is_followed_tells_its_best_prices(platform: Housed, ticker: str) -> None:
    told = platform.get(f"/markets/{ticker}")
    missing = platform.ada.get(f"{A}/markets/KXNONE-1")

    assert (told["followed"], told["stale"], told["chosen"]) == (True, False, True)
    assert missing.status_code == 404
    assert missing.json()["type"].endswith("market-not-found")


def test_a_book_is_live_now_and_exact_at_an_instant(platform: Housed, ticker: str) -> None:
    live = platform.get(f"/markets/{ticker}/book")

    then = _proven(platform, f"/markets/{ticker}/book", _ago(0))

    bids = [Decimal(level["price"]) for level in then["bids"]]
    asks = [Decimal(level["price"]) for level in then["asks"]]
    assert (live["live"], live["at"]) == (True, None)
    assert (then["live"], then["exact"], then["doubt"]) == (False, True, None)
    assert bids == sorted(bids, reverse=True)
    assert asks == sorted(asks)
    assert [then["best_yes_bid"]] == ([level["price"] for level in then["bids"][:1]] or [None])
    assert [then["best_yes_ask"]] == ([level["price"] for level in then["asks"][:1]] or [None])


def test_trades_candles_and_volumes_add_up_to_the_same(platform: Housed, ticker: str) -> None:
    before = platform.get(f"/markets/{ticker}/trades", limit=1)["trades"][0]["exchange_ts"]
    until = datetime.fromisoformat(before) + timedelta(microseconds=1)
    start = (until - timedelta(minutes=50)).isoformat()

    trades = platform.get(f"/markets/{ticker}/trades", limit=1000, before=until.isoformat())[
        "trades"
    ]
    span = {"start": start, "end": until.isoformat(), "interval_seconds": 60}
    candles = platform.get(f"/markets/{ticker}/candles", **span)["candles"]

    within = [one for one in trades if one["exchange_ts"] >= start and not one["is_block"]]
    assert sum(candle["trades"] for candle in candles) == len(within)
    assert sum(Decimal(candle["size"]) for candle in candles) == sum(
        Decimal(one["size"]) for one in within
    )
    assert candles[-1]["close"] == within[0]["price"]


def test_spread_and_depth_are_told_over_time(platform: Housed, ticker: str) -> None:
    span = {"start": _ago(2), "end": _ago(0), "interval_seconds": 1}

    points = platform.get(f"/markets/{ticker}/depth", **span)["points"]

    assert len(points) == 3
    assert all(Decimal(point["bid_depth"]) >= 0 for point in points)


def test_an_order_is_filled_from_the_best_level_on(platform: Housed) -> None:
    at = _ago(1)
    tickers = [one["ticker"] for one in platform.get("/markets")["markets"] if one["followed"]]
    books = (platform.get(f"/markets/{ticker}/book", at=at) for ticker in tickers)
    book = next(book for book in books if book["asks"])
    place, best = f"/markets/{book['ticker']}/fill", book["asks"][0]

    filled = platform.get(place, size=best["size"], at=at)
    dear = platform.get(place, size="1.00", limit="0.0000", at=at)

    assert (filled["complete"], filled["levels"]) == (True, [best])
    assert Decimal(filled["average_price"]) == Decimal(best["price"])
    assert (dear["complete"], dear["filled"], dear["unfilled"]) == (False, "0.00", "1.00")


@pytest.mark.parametrize(
    ("path", "params", "status"),
    [
        ("/markets/KXA/fill", {"size": "0.00"}, 400),
        ("/markets/KXA/fill", {"size": "1.001"}, 400),
        ("/markets/KXA/fill", {"size": "1", "limit": "1.5"}, 400),
        ("/markets/KXA/fill", {"size": "many"}, 422),
        ("/markets/KXA/candles", {"interval_seconds": 0}, 422),
        ("/markets/KXA/book", {"at": "2026-11-16T12:00:00"}, 422),
        ("/markets/KXA/book", {"at": "1794830400"}, 422),
        ("/markets/a%20b/book", {}, 422),
        ("/coverage", {"start": "2020-01-01T00:00:00Z"}, 400),
        ("/gaps", {"start": "2026-01-02T00:00:00Z", "end": "2026-01-01T00:00:00Z"}, 400),
    ],
)
def test_what_makes_no_sense_is_refused(
    idle: Housed, path: str, params: dict[str, str], status: int
) -> None:
    assert idle.ada.get(f"{A}{path}", params=params).status_code == status


def test_what_became_known_of_a_market_is_told_with_its_title(
    platform: Housed, ticker: str
) -> None:
    market = platform.get(f"/markets/{ticker}")

    events = platform.get(f"/markets/{ticker}/events")["events"]

    assert events[-1]["title"] == market["title"]
    assert {event["ticker"] for event in events} == {ticker}


def test_coverage_and_report_say_how_whole_the_recording_is(platform: Housed, ticker: str) -> None:
    hours = platform.get("/coverage", ticker=ticker)["hours"]
    report = platform.get("/report")
    gaps = platform.get("/gaps")["gaps"]

    assert sum(hour["expected_us"] for hour in hours) > 0
    assert all(hour["complete"] for hour in hours)
    assert (report["complete"], report["gaps"], gaps) == (True, 0, [])
    assert report["markets"] == platform.get("/recording")["markets"]


def test_ingest_tells_counts_lag_and_connections(platform: Housed) -> None:
    told = platform.get("/recording")

    assert told["state"] == "recording"
    assert told["rows"]["orderbook_deltas"] >= 200
    assert told["lag_p99_seconds"] > 0
    assert sum(line["markets"] for line in told["connections"]) == told["markets"]


def test_the_estimate_counts_the_markets_that_are_chosen(platform: Housed) -> None:
    told = platform.get("/estimate")

    assert told["markets"] == platform.get("/recording")["markets"]
    assert told["bytes_per_day"] > 0
    assert told["days_left"] >= 0


def test_choices_are_made_and_forgotten_by_who_runs_the_house(idle: Housed) -> None:
    place = f"{A}/choices/series/KXBTCD"

    refused = idle.ada.put(place, json={"recorded": False})
    made = idle.root.put(place, json={"recorded": False})
    forgotten = idle.root.delete(place)

    assert refused.status_code == 403
    assert [(one["kind"], one["name"], one["recorded"]) for one in made.json()["choices"]] == [
        ("series", "KXBTCD", False)
    ]
    assert forgotten.status_code == 204
    assert idle.get("/choices")["choices"] == []


def test_recording_is_started_and_stopped_by_who_runs_the_house(idle: Housed) -> None:
    refused = idle.ada.post(f"{A}/recording", json={"recording": True})
    started = idle.root.post(f"{A}/recording", json={"recording": True})
    stopped = idle.root.post(f"{A}/recording", json={"recording": False})

    assert refused.status_code == 403
    assert (started.json()["recording"], stopped.json()["recording"]) == (True, False)


def test_a_check_names_what_is_not_well(idle: Housed) -> None:
    told = idle.root.post(f"{A}/check").json()

    well = {finding["name"]: finding["ok"] for finding in told["checks"]}
    assert told["ok"] is False
    assert (well["exchange"], well["key"], well["disk"]) == (False, False, True)


def test_an_exchange_that_is_away_is_said_to_be(idle: Housed) -> None:
    told = idle.ada.get(f"{A}/markets")

    assert told.status_code == 503
    assert idle.get("/recording")["state"] == "off"
