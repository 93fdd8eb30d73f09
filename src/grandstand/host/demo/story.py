"""Kept here: what is done by itself while the demo plays: the jobs that keep it in motion."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from grandstand.base.errors import GrandstandError
from grandstand.base.log import log
from grandstand.host.demo.own_jobs import OWN_JOBS
from grandstand.host.demo.past import play_past
from grandstand.host.demo.world import Demo
from grandstand.host.thrift import give_back
from grandstand.kit.jobs.job import Always, Every, Job, Run
from grandstand.kit.live import Teller

PHONES: Final = "demo/phones"
_MARK: Final = "past.done"
_PHONE_SECONDS: Final = 3.0
_SCENE_SECONDS: Final = 1800.0
# Of what is done a few times a day where requests cost money.
_PACES: Final[Mapping[str, float]] = {
    "bets.odds_collector": 120.0,
    "bets.outcome_collector": 180.0,
    "bets.analysis_generator": 1200.0,
    "bets.model_adjustment_calculator": 3600.0,
    "bets.benny_trader": 1800.0,
    "bets.props_collector": 3600.0,
}
# What leaves much to be collected.
_HEAVY: Final = frozenset({"bets.analysis_generator", "bets.benny_trader"})


def paced(job: Job, demo: Demo) -> Job:
    """Answer a job as often as a made-up world allows; bets wait until there is a past."""
    if "bets" not in demo.apps or not job.name.startswith("bets."):
        return job
    when = Every(_PACES[job.name]) if job.name in _PACES else job.when

    async def work(run: Run) -> str | None:
        if not has_past(demo):
            return "waits until the simulated past is played"
        try:
            return await job.work(run)
        finally:
            if job.name in _HEAVY:
                give_back()

    return replace(job, when=when, work=work)


def demo_jobs(demo: Demo, services: Mapping[str, Any], teller: Teller) -> tuple[Job, ...]:
    """Answer the demo's own jobs, for the applications that are here and simulated."""
    here = demo.apps & set(services)
    found: list[Job] = []
    if "bets" in here:
        found.append(_bets(demo, services["bets"]))
    if "cricket" in here and demo.phones is not None:
        found.append(_cricket(demo, services["cricket"], teller))
    if "keiba" in here:
        found.append(_keiba(services["keiba"]))
    return tuple(found)


def has_past(demo: Demo) -> bool:
    """Tell whether the simulated past of bets has been played."""
    return (demo.folder / _MARK).exists()


def _bets(demo: Demo, bets: Any) -> Job:  # noqa: ANN401 - the service, by its name
    async def work(run: Run) -> str | None:
        if has_past(demo):
            return "the past was played before"
        run.tell("collecting today's odds")
        await _each(bets, bets.collect_odds)
        run.tell("playing the days before today")
        await play_past(demo, run.tell)
        for step in (bets.collect_outcomes, bets.collect_injuries, bets.collect_stats):
            await _each(bets, step)
        for sport in bets.settings.prop_sports:
            await bets.collect_props(sport)
        for step in (bets.collect_schedules, bets.analyse, bets.adjust):
            await _each(bets, step)
        await bets.trade()
        (demo.folder / _MARK).write_text("done\n", encoding="utf-8")
        give_back()
        return "the past is played, and today is predicted"

    return Job(
        OWN_JOBS["bets"],
        "Play the simulated days before today, once.",
        Every(86_400),
        work,
        timeout_seconds=_SCENE_SECONDS,
    )


async def _each(bets: Any, step: Callable[[str], Awaitable[object]]) -> None:  # noqa: ANN401
    """Go through the sports; one that fails is logged, and the others go on."""
    for sport in bets.sports():
        try:
            await step(sport)
        except GrandstandError as fault:
            log("demo").warning("a step of the first day failed", sport=sport, error=str(fault))


def _cricket(demo: Demo, cricket: Any, teller: Teller) -> Job:  # noqa: ANN401
    async def work(run: Run) -> str | None:
        phones, fixtures = demo.phones, demo.fixtures
        if phones is None or fixtures is None:
            return None
        await _first_matches(cricket, (*fixtures.past_ids, fixtures.live_id))
        await phones.begin(cricket)
        told = -1
        while True:
            await phones.look(cricket)
            changes = phones.changes()
            if changes != told:
                told = changes
                await asyncio.to_thread(phones.put_screen)
                teller.tell(PHONES, {"changes": changes})
                run.tell(f"{changes} changes on the lock screen")
            await asyncio.sleep(_PHONE_SECONDS)

    return Job(
        OWN_JOBS["cricket"],
        "Let a simulated phone follow the match that is on.",
        Always(),
        work,
        timeout_seconds=None,
    )


async def _first_matches(cricket: Any, known: tuple[int, ...]) -> None:  # noqa: ANN401
    """Know leagues and fixtures, follow every league, and look once at what is over and on."""
    await cricket.sync_reference()
    for league in await cricket.leagues():
        if not league.active:
            await cricket.amend_league(league.league_id, active=True)
    await cricket.sync_fixtures()
    await cricket.orchestrate()
    for match_id in known:
        await cricket.tick(str(match_id))


def _keiba(keiba: Any) -> Job:  # noqa: ANN401
    return Job(
        OWN_JOBS["keiba"],
        "Look at the races of today and gather the next card.",
        Every(300),
        partial(_look_at_races, keiba),
        timeout_seconds=_SCENE_SECONDS,
    )


async def _look_at_races(keiba: Any, run: Run) -> str | None:  # noqa: ANN401
    for circuit in ("jra", "nar"):
        day = await keiba.next_meeting(circuit)
        if day is not None:
            run.tell(f"{circuit} {day}")
            await keiba.day(day, circuit)
    race = await keiba.next_off()
    if race is None:
        return "no race is known"
    card = await keiba.card(race.entry.race_id)
    return f"{race.entry.race_id}: {len(card.runners)} runners"
