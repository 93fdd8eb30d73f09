"""Jobs that keep the demo going."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Final

import msgspec

from grandstand.core.clock import SystemClock
from grandstand.core.errors import GrandstandError, Unavailable
from grandstand.core.logging import get_logger
from grandstand.host.demo.sources import simulated_apps
from grandstand.host.demo.world import Demo
from grandstand.host.demo.world_state import WorldState
from grandstand.host.memory import release_memory
from grandstand.host.settings import Settings
from grandstand.kit.jobs.job import Continuous, Every, Job, JobContext
from grandstand.kit.live import Publisher

# By the app whose simulator they keep running.
DEMO_JOBS: Final = {"bets": "demo.past", "cricket": "demo.phone", "keiba": "demo.races"}


def unused_demo_jobs(settings: Settings) -> frozenset[str]:
    """Return demo jobs whose source is not simulated; the store may still list them."""
    simulated = simulated_apps(settings)
    return frozenset(name for app, name in DEMO_JOBS.items() if app not in simulated)


class HistoryRequest(msgspec.Struct, frozen=True):
    """What to generate: the folder, the world and the time range."""

    folder: str
    birth: WorldState
    until: datetime
    days: int = 6


async def generate_history(demo: Demo, report: Callable[[str], None]) -> None:
    """Generate the days before today in a separate process. Raises Unavailable."""
    past = HistoryRequest(str(demo.folder), demo.birth, SystemClock().now())
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "grandstand.host.demo.history",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    if process.stdin is None or process.stdout is None:
        raise Unavailable("The process that generates the demo history has no pipes")
    try:
        process.stdin.write(msgspec.json.encode(past))
        process.stdin.close()
        async for line in process.stdout:
            report(line.decode().strip())
        if await process.wait():
            raise Unavailable("The demo history could not be generated")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


_MARK: Final = "past.done"
_TIMEOUT_SECONDS: Final = 1800.0
# Seconds between runs of what runs a few times a day where requests cost money.
_INTERVALS: Final[Mapping[str, float]] = {
    "bets.odds_collector": 120.0,
    "bets.outcome_collector": 180.0,
    "bets.analysis_generator": 1200.0,
    "bets.model_adjustment_calculator": 3600.0,
    "bets.benny_trader": 1800.0,
    "bets.props_collector": 3600.0,
}
# Jobs after which much memory can be released.
_HEAVY: Final = frozenset({"bets.analysis_generator", "bets.benny_trader"})


def with_demo_schedule(job: Job, demo: Demo) -> Job:
    """Return a job with the demo's shorter interval; bets jobs wait for the history."""
    if "bets" not in demo.apps or not job.name.startswith("bets."):
        return job
    when = Every(_INTERVALS[job.name]) if job.name in _INTERVALS else job.when

    async def work(run: JobContext) -> str | None:
        if not has_history(demo):
            return "waiting for the demo history"
        try:
            return await job.work(run)
        finally:
            if job.name in _HEAVY:
                release_memory()

    return replace(job, when=when, work=work)


def demo_jobs(demo: Demo, services: Mapping[str, Any], publisher: Publisher) -> tuple[Job, ...]:
    """Return the demo's own jobs for the simulated apps."""
    here = demo.apps & set(services)
    jobs: list[Job] = []
    if "bets" in here:
        jobs.append(_bets(demo, services["bets"]))
    if "cricket" in here and demo.phones is not None:
        jobs.append(_cricket(demo, services["cricket"], publisher))
    if "keiba" in here:
        jobs.append(_keiba(services["keiba"]))
    return tuple(jobs)


def has_history(demo: Demo) -> bool:
    """Return whether the history of bets has been generated."""
    return (demo.folder / _MARK).exists()


def _bets(demo: Demo, bets: Any) -> Job:  # noqa: ANN401 - the service, by its name
    async def work(run: JobContext) -> str | None:
        if has_history(demo):
            return "history already generated"
        run.tell("collecting today's odds")
        await _each(bets, bets.odds_collector.collect)
        run.tell("generating the days before today")
        await generate_history(demo, run.tell)
        stats = bets.stats_collector
        steps = (bets.outcome_collector.collect, stats.collect_injuries, stats.collect_stats)
        for step in steps:
            await _each(bets, step)
        for sport in bets.settings.prop_sports:
            await bets.odds_collector.collect_props(sport)
        generate, adjust = bets.analysis_generator.run, bets.adjustments.calculate
        for step in (stats.collect_schedules, generate, adjust):
            await _each(bets, step)
        await bets.benny_trader.trade()
        (demo.folder / _MARK).write_text("done\n", encoding="utf-8")
        release_memory()
        return "history generated and today predicted"

    return Job(
        DEMO_JOBS["bets"],
        "Generate the demo history once.",
        Every(86_400),
        work,
        timeout_seconds=_TIMEOUT_SECONDS,
    )


async def _each(bets: Any, step: Callable[[str], Awaitable[object]]) -> None:  # noqa: ANN401
    """Run a function for each sport; log failures and continue."""
    for sport in bets.settings.sports:
        try:
            await step(sport)
        except GrandstandError as fault:
            get_logger("demo").warning("demo_step_failed", sport=sport, error=str(fault))


def _cricket(demo: Demo, cricket: Any, publisher: Publisher) -> Job:  # noqa: ANN401
    async def work(run: JobContext) -> str | None:
        phones, fixtures = demo.phones, demo.fixtures
        if phones is None or fixtures is None:
            return None
        await _sync_matches(cricket, (*fixtures.past_ids, fixtures.live_id))
        await phones.begin(cricket)
        published = -1
        while True:
            await phones.look(cricket)
            changes = phones.changes()
            if changes != published:
                published = changes
                await asyncio.to_thread(phones.put_screen)
                publisher.publish("demo/phones", {"changes": changes})
                run.tell(f"{changes} changes on the lock screen")
            await asyncio.sleep(3.0)

    return Job(
        DEMO_JOBS["cricket"],
        "Let the simulated phone follow the current match.",
        Continuous(),
        work,
        timeout_seconds=None,
    )


async def _sync_matches(cricket: Any, match_ids: tuple[int, ...]) -> None:  # noqa: ANN401
    """Sync leagues and fixtures, follow every league, and process recent matches once."""
    await cricket.league_sync.run()
    await cricket.team_sync.run()
    for league in await cricket.leagues.all():
        if not league.active:
            await cricket.leagues.update(league.league_id, active=True)
    await cricket.fixture_sync.run()
    await cricket.orchestrator.run()
    for match_id in match_ids:
        await cricket.ticker.poll_now(str(match_id))


def _keiba(keiba: Any) -> Job:  # noqa: ANN401
    return Job(
        DEMO_JOBS["keiba"],
        "Fetch today's races and the next card.",
        Every(300),
        partial(_fetch_races, keiba),
        timeout_seconds=_TIMEOUT_SECONDS,
    )


async def _fetch_races(keiba: Any, run: JobContext) -> str | None:  # noqa: ANN401
    for circuit in ("jra", "nar"):
        day = await keiba.days.next_meeting(circuit)
        if day is not None:
            run.tell(f"{circuit} {day}")
            await keiba.days.day(day, circuit)
    race = await keiba.days.next_race()
    if race is None:
        return "no races"
    card = await keiba.cards.assemble(race.entry.race_id)
    return f"{race.entry.race_id}: {len(card.runners)} runners"
