"""The gatherer's own work: recording while it is asked for, news for pages, the daily report."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.domain.rows import OrderbookSnapshot
from grandstand.apps.gatherer.jobs import jobs
from grandstand.apps.gatherer.services import Gatherer
from grandstand.apps.gatherer.sources.kalshi.signing import InvalidSigningKey
from grandstand.host.runtime import Platform
from grandstand.kit.app import HomeCard
from grandstand.kit.auth.caller import LOCAL_OWNER
from grandstand.kit.jobs.job import Job, JobContext
from tests.apps.gatherer.app_fixture import NOWHERE, gatherer_of, has_recorded, opened
from tests.apps.gatherer.exchange_fixture import until

pytestmark = pytest.mark.anyio

DAY_US = 86_400_000_000


def _named(gatherer: Gatherer, name: str) -> Job:
    return {job.name: job for job in jobs(gatherer)}[name]


def _run(said: list[str]) -> JobContext:
    return JobContext("gatherer", 1, 1, datetime(2026, 1, 1, tzinfo=UTC), said.append)


@asynccontextmanager
async def _running(job: Job, said: list[str]) -> AsyncIterator[asyncio.Future[str | None]]:
    task = asyncio.ensure_future(job.work(_run(said)))
    yield task
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_it_records_while_that_is_asked_for_and_pages_are_told(
    tmp_path: Path, exchange_address: str
) -> None:
    async with opened(tmp_path, exchange_address) as platform:
        gatherer, said = gatherer_of(platform), list[str]()
        async with (
            _running(_named(gatherer, "gatherer.recording"), said) as recording,
            _running(_named(gatherer, "gatherer.live-updates"), []),
        ):
            before = await gatherer.recording.status()
            await gatherer.recording.request(recording=True)
            await until(lambda: has_recorded(gatherer))
            (busiest,) = await gatherer.recordings.history.volumes(gatherer.now_us(), 1)
            topics = [f"gatherer/{kind}/{busiest.ticker}" for kind in ("book", "price")]
            numbers = [platform.hub.number(topic) for topic in topics]
            gatherer.live_updates.subscribe(busiest.ticker)
            await until(lambda: platform.hub.number(topics[1]) > numbers[1])
            shown = await _now(gatherer)
            await gatherer.recording.request(recording=False)
            told = await recording

    assert before.state == "off"
    assert (shown.live, shown.href) == (True, "/gatherer/recording")
    assert platform.hub.number(topics[0]) > numbers[0]
    assert said[-1].endswith("markets")
    assert told is not None
    assert told.endswith("rows")


async def test_what_does_not_mend_by_itself_is_asked_for_no_more(tmp_path: Path) -> None:
    wrong = {"key_id": "key-1", "private_key": "no key at all"}
    async with opened(tmp_path, NOWHERE, **wrong) as platform:
        gatherer = gatherer_of(platform)
        await gatherer.recording.request(recording=True)

        with pytest.raises(InvalidSigningKey):
            await _named(gatherer, "gatherer.recording").work(_run([]))

        assert await gatherer.recording.is_requested() is False


async def test_a_day_on_which_nothing_was_to_be_recorded_is_not_reported(tmp_path: Path) -> None:
    async with opened(tmp_path, NOWHERE) as platform:
        gatherer = gatherer_of(platform)

        told = await _named(gatherer, "gatherer.report").work(_run([]))

        events = [event async for event in platform.events.export(LOCAL_OWNER.user_id)]
    assert told == "nothing to report"
    assert events == []


async def test_the_report_says_how_much_of_the_day_before_was_seen(tmp_path: Path) -> None:
    async with opened(tmp_path, NOWHERE) as platform:
        gatherer = gatherer_of(platform)
        _keep_half_a_day(platform, gatherer.now_us() // DAY_US * DAY_US - DAY_US)

        told = await _named(gatherer, "gatherer.report").work(_run([]))

    assert told is not None
    assert told.startswith("1 markets, 50.000 % recorded; 1 gaps, 0 closed;")


async def test_the_card_says_whether_it_records(tmp_path: Path) -> None:
    async with opened(tmp_path, NOWHERE) as platform:
        shown = await _now(gatherer_of(platform))

    assert (shown.headline, shown.href, shown.live) == ("Not recording", "/gatherer", False)


async def _now(gatherer: Gatherer) -> HomeCard:
    return await gatherer.recording.home_card(LOCAL_OWNER)


def _keep_half_a_day(platform: Platform, start: int) -> None:
    """Let a gatherer follow a market from midnight, and stop at noon."""
    snapshot = OrderbookSnapshot(
        snapshot_ts=start,
        exchange_ts=None,
        ticker="KXA-1",
        source="ws",
        yes_bids="[]",
        yes_asks="[]",
        no_bids="[]",
        no_asks="[]",
        gatherer="local",
    )
    stopped = store.Session(start + DAY_US // 2, "local", 0, "stopped")
    for series in (store.SNAPSHOTS, store.SESSIONS):
        platform.series.prepare(series)
    platform.series.append(store.SNAPSHOTS, [snapshot])
    platform.series.append(store.SESSIONS, [stopped])
