"""The gatherer at a terminal: recording, asking, merging, replaying, exporting."""

from __future__ import annotations

import asyncio
import csv
import json
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from grandstand.apps.gatherer.cli import commands, format_time, parse_time
from grandstand.apps.gatherer.services import Gatherer
from grandstand.core.errors import InvalidInput
from tests.apps.gatherer.app_fixture import NOWHERE, gatherer_of, has_recorded, opened
from tests.apps.gatherer.exchange_fixture import until

Say = Callable[..., Result]
NOW = 1_794_830_400_000_000


def _saying(folder: Path, address: str, *, stops: bool = False) -> Say:
    """Give commands to a platform in a folder; where it records, it stops when it has enough."""

    @asynccontextmanager
    async def opening() -> AsyncIterator[Gatherer]:
        async with opened(folder, address) as platform:
            gatherer = gatherer_of(platform)
            stopping = asyncio.create_task(_stopped(gatherer) if stops else asyncio.sleep(0))
            yield gatherer
            stopping.cancel()

    group = commands(opening)
    return lambda *words: CliRunner().invoke(group, [*words], terminal_width=200)


async def _stopped(gatherer: Gatherer) -> None:
    await until(lambda: has_recorded(gatherer))
    gatherer.recording.stop()


@dataclass
class Recorded:
    """A platform that has recorded for a moment, what that said, and a market of it."""

    folder: Path
    say: Say
    told: Result
    ticker: str


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory, exchange_address: str) -> Recorded:
    folder = tmp_path_factory.mktemp("cli")
    told = _saying(folder, exchange_address, stops=True)("run", "--yes")
    say = _saying(folder, exchange_address)
    file = folder / "all.csv"
    say("export", "trades", str(file))
    with file.open(newline="") as read:
        ticker = next(csv.DictReader(read))["ticker"]
    return Recorded(folder, say, told, ticker)


@pytest.fixture
def alone(tmp_path: Path) -> Say:
    """A platform whose exchange does not answer."""
    return _saying(tmp_path, NOWHERE)


def test_running_says_what_it_takes_first_and_what_was_kept_last(recorded: Recorded) -> None:
    assert recorded.told.exit_code == 0
    assert "markets chosen, about 0." in recorded.told.stderr
    assert "GB per day" in recorded.told.stderr
    assert recorded.told.stdout.rstrip().endswith("rows")


def test_after_running_recording_is_not_asked_for_any_more(
    recorded: Recorded, exchange_address: str
) -> None:
    async def asked() -> bool:
        async with opened(recorded.folder, exchange_address) as platform:
            return await gatherer_of(platform).recording.is_requested()

    assert asyncio.run(asked()) is False


def test_a_check_that_finds_something_wrong_fails(alone: Say) -> None:
    told = alone("check")

    assert told.exit_code == 1
    assert "failed  exchange:" in told.stdout
    assert "ok      disk:" in told.stdout


def test_a_check_looks_from_the_exchange_to_the_disk(recorded: Recorded) -> None:
    told = json.loads(recorded.say("check", "--json").stdout)

    assert {finding["name"]: finding["ok"] for finding in told} == {
        "exchange": True,
        "clock": True,
        "key": False,
        "stream": True,
        "disk": True,
    }


def test_markets_are_listed_and_looked_through(recorded: Recorded) -> None:
    shown = recorded.say("markets", "--limit", "3")
    found = recorded.say("markets", recorded.ticker.lower(), "--json")

    assert "3 of " in shown.stderr
    assert [one["ticker"] for one in json.loads(found.stdout)] == [recorded.ticker]


def test_what_is_chosen_is_all_that_is_estimated(recorded: Recorded) -> None:
    one = recorded.say("choose", "market", recorded.ticker)
    back = recorded.say("choose", "market", recorded.ticker, "--clear")

    assert one.stdout.startswith("1 markets chosen")
    assert not back.stdout.startswith("1 markets chosen")


def test_a_book_is_shown_now_and_at_an_instant(recorded: Recorded) -> None:
    shown = recorded.say("book", recorded.ticker)
    last = json.loads(recorded.say("book", recorded.ticker, "--json").stdout)
    base = json.loads(recorded.say("book", recorded.ticker, "--json", "--at", last["base"]).stdout)

    assert f"{recorded.ticker} after the last recorded change" in shown.stdout
    assert "connection" in last["doubt"]
    assert base["at"] == last["base"]
    assert last["bids"] or last["asks"]


def test_trades_are_shown_newest_first(recorded: Recorded) -> None:
    shown = recorded.say("trades", recorded.ticker)
    trades = json.loads(recorded.say("trades", recorded.ticker, "--json").stdout)
    earlier = recorded.say("trades", recorded.ticker, "--before", trades[-1]["at"], "--json")

    assert trades[0]["at"] in shown.stdout
    assert [one["at"] for one in trades] == sorted((one["at"] for one in trades), reverse=True)
    assert trades[0] not in json.loads(earlier.stdout)


def test_coverage_says_what_was_expected_and_seen(recorded: Recorded) -> None:
    shown = recorded.say("coverage", recorded.ticker)
    cells = json.loads(recorded.say("coverage", "--json").stdout)
    gaps = recorded.say("coverage", "--gaps", "--json")

    assert "% recorded" in shown.stderr
    assert recorded.ticker in {cell["ticker"] for cell in cells}
    assert all(cell["expected_us"] > 0 for cell in cells)
    assert json.loads(gaps.stdout) == []


def test_a_stretch_is_exported_by_the_end_of_the_files_name(
    recorded: Recorded, tmp_path: Path
) -> None:
    file = tmp_path / "trades.csv"

    told = recorded.say("export", "trades", str(file), "--ticker", recorded.ticker)
    again = recorded.say("export", "trades", str(file))
    strange = recorded.say("export", "trades", str(tmp_path / "trades.txt"))

    with file.open(newline="") as read:
        assert {row["ticker"] for row in csv.DictReader(read)} == {recorded.ticker}
    assert told.exit_code == 0
    assert type(again.exception).__name__ == "ExportExists"
    assert isinstance(strange.exception, InvalidInput)


def test_what_was_merged_is_asked_like_what_was_recorded(
    recorded: Recorded, tmp_path: Path
) -> None:
    source, into = f"local:{recorded.folder / 'series'}", str(tmp_path / "merged")

    first = recorded.say("merge", source, "--into", into, "--once")
    again = recorded.say("merge", source, "--into", into, "--once")

    own = recorded.say("trades", recorded.ticker, "--json").stdout
    merged = recorded.say("trades", recorded.ticker, "--merged", into, "--json").stdout
    assert first.exit_code == 0
    assert "local trades:" in first.stdout
    assert " 0 new" in again.stdout
    assert merged == own


def test_merging_nothing_and_a_place_that_is_none_are_refused(
    recorded: Recorded, tmp_path: Path
) -> None:
    nothing = recorded.say("merge", "--into", str(tmp_path / "merged"), "--once")
    nowhere = recorded.say("book", recorded.ticker, "--merged", str(tmp_path / "none"))

    assert "MERGE_FROM" in str(nothing.exception)
    assert type(nowhere.exception).__name__ == "InvalidLocation"


@pytest.fixture
def listener() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


def test_a_recorded_stretch_is_played_over_the_exchanges_protocol(
    recorded: Recorded, listener: ThreadPoolExecutor
) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    heard: Future[list[dict[str, Any]]] = listener.submit(_listened, port, recorded.ticker)

    told = recorded.say("replay", recorded.ticker, "--speed", "0", "--port", str(port))

    kinds = {frame["type"] for frame in heard.result(30)}
    assert told.exit_code == 0
    assert f"ws://127.0.0.1:{port}/trade-api/ws/v2" in told.stdout
    assert {"orderbook_snapshot", "trade"} <= kinds


def _listened(port: int, ticker: str) -> list[dict[str, Any]]:
    """Subscribe as a strategy would, and answer every frame until the server closes."""
    frames: list[dict[str, Any]] = []
    with _connected(f"ws://127.0.0.1:{port}/trade-api/ws/v2") as client:
        asked = {"channels": ["orderbook_delta", "trade"], "market_tickers": [ticker]}
        client.send(json.dumps({"id": 1, "cmd": "subscribe", "params": asked}))
        with suppress(ConnectionClosed):
            frames.extend(json.loads(frame) for frame in client)
    return frames


def _connected(address: str) -> ClientConnection:
    end = time.monotonic() + 20
    while True:
        try:
            return connect(address, proxy=None)
        except OSError:
            assert time.monotonic() < end
            time.sleep(0.05)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1794830400000001", NOW + 1),
        ("2026-11-16T12:00:00Z", NOW),
        ("2026-11-16T12:00:00.000001", NOW + 1),
        ("2026-11-16T13:00:00+01:00", NOW),
        ("-5m", NOW - 300_000_000),
        ("-2d", NOW - 172_800_000_000),
        ("999999999999999999", 253_402_300_799_999_999),
    ],
)
def test_a_moment_is_written_in_several_ways(text: str, expected: int) -> None:
    assert parse_time(text, NOW) == expected


def test_a_moment_is_told_to_the_microsecond(alone: Say) -> None:
    refused = alone("book", "KXA-1", "--at", "yesterday")

    assert format_time(NOW + 1) == "2026-11-16T12:00:00.000001+00:00"
    assert format_time(parse_time("9" * 18, NOW)) == "9999-12-31T23:59:59.999999+00:00"
    assert "Invalid time" in str(refused.exception)
