"""Kept here: the work of bets that is done by itself: collecting, predicting, settling, Benny."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from grandstand.apps.bets.service import Bets
from grandstand.base.errors import GrandstandError
from grandstand.kit.jobs.job import Cron, Every, Job, Run

_FOUR_HOURS: Final = 4 * 3600.0
_EIGHT_HOURS: Final = 8 * 3600.0
_LONGEST_SECONDS: Final = 1800.0
_AT_NIGHT: Final = Cron("30 3 * * *")
_AT_ELEVEN: Final = Cron("0 11 * * *")
_MONDAYS: Final = Cron("0 5 * * 1")
_OUTCOMES: Final = "Collect scores of three days, verify predictions and settle bets."
_ANALYSES: Final = "Let every model predict the games to come."
_ADJUSTMENTS: Final = "Work out which models to follow, invert or avoid."
_PROPS: Final = "Collect odds about players."
_CLEANUP: Final = "Remove prices of games a week past their start without a result."
_WEIGHTS: Final = "Weigh people's models anew that allow it."
_WEIGHED: Final = "models weighed anew"
_ALERTS: Final = "Tell of favourite teams' games, arbitrages and stale lines."


def jobs(bets: Bets) -> tuple[Job, ...]:
    """Answer the jobs of bets, by the names of the specification."""
    sports, props = bets.sports(), bets.settings.prop_sports
    each_sport = tuple(
        _job(name, purpose, when, _each(sports, ask))
        for name, purpose, when, ask in (
            ("odds_collector", "Collect odds.", Every(_FOUR_HOURS), bets.collect_odds),
            ("outcome_collector", _OUTCOMES, Every(_FOUR_HOURS), bets.collect_outcomes),
            ("analysis_generator", _ANALYSES, Every(_FOUR_HOURS), bets.analyse),
            ("model_adjustment_calculator", _ADJUSTMENTS, Cron("0 6 * * *"), bets.adjust),
            ("injury_collector", "Collect injuries.", Cron("10 6 * * *"), bets.collect_injuries),
            ("stats_collector", "Collect figures.", Cron("0 7 * * *"), bets.collect_stats),
            ("schedule_collector", "Collect schedules.", _AT_ELEVEN, bets.collect_schedules),
        )
    )
    return (
        *each_sport,
        _job("props_collector", _PROPS, Every(_EIGHT_HOURS), _each(props, bets.collect_props)),
        _job("odds_cleanup", _CLEANUP, _AT_NIGHT, _told(bets.clean_up, "prices removed")),
        _job("benny_trader", "Let Benny bet.", Cron("0 14 * * *"), _traded(bets)),
        _job(
            "user_model_weight_adjuster", _WEIGHTS, _MONDAYS, _told(bets.adjust_weights, _WEIGHED)
        ),
        _job("alerts", _ALERTS, Every(_FOUR_HOURS / 4), _told(bets.alert, "alerts noted")),
    )


def _job(name: str, purpose: str, when: Every | Cron, work: Callable[[Run], Awaitable[str]]) -> Job:
    return Job(f"bets.{name}", purpose, when, work, timeout_seconds=_LONGEST_SECONDS)


def _each(
    sports: tuple[str, ...], ask: Callable[[str], Awaitable[object]]
) -> Callable[[Run], Awaitable[str]]:
    async def work(run: Run) -> str:
        """Go through the sports; one that fails is told, and the others go on."""
        failed: list[GrandstandError] = []
        done = 0
        for sport in sports:
            try:
                run.tell(_said(sport, await ask(sport)))
                done += 1
            except GrandstandError as fault:
                run.tell(f"{sport}: {fault}")
                failed.append(fault)
        if failed and not done:
            raise failed[0]
        return f"{done} of {len(sports)} sports"

    return work


def _said(sport: str, answer: object) -> str:
    counts = {
        name: value
        for name in ("seen", "written", "games", "published", "completed", "bets", "credits")
        if isinstance(value := getattr(answer, name, None), int)
    }
    return f"{sport}: " + (", ".join(f"{n} {v}" for n, v in counts.items()) or "done")


def _told(work: Callable[[], Awaitable[int]], what: str) -> Callable[[Run], Awaitable[str]]:
    async def counted(_: Run) -> str:
        return f"{what}: {await work()}"

    return counted


def _traded(bets: Bets) -> Callable[[Run], Awaitable[str]]:
    async def work(_: Run) -> str:
        done = await bets.trade()
        if done.elsewhere:
            return "another instance trades"
        return f"{done.placed} bets placed, {done.rejected} rejected"

    return work
