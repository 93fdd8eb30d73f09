"""Scheduled jobs of bets, by the names of the specification."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from grandstand.apps.bets.services import Bets
from grandstand.core.errors import GrandstandError
from grandstand.kit.jobs.job import Cron, Every, Job, JobContext

_HOUR: Final = 3600.0
_TIMEOUT_SECONDS: Final = 1800.0
_COUNTS: Final = ("received", "written", "games", "published", "completed", "bets", "credits")

_Work: TypeAlias = Callable[[JobContext], Awaitable[str]]


def jobs(bets: Bets) -> tuple[Job, ...]:
    sports, stats = bets.settings.sports, bets.stats_collector
    return (
        _job(
            "odds_collector",
            "Collect odds.",
            Every(4 * _HOUR),
            _per_sport(sports, bets.odds_collector.collect),
        ),
        _job(
            "props_collector",
            "Collect player props.",
            Every(8 * _HOUR),
            _per_sport(bets.settings.prop_sports, bets.odds_collector.collect_props),
        ),
        _job(
            "outcome_collector",
            "Collect scores, verify predictions and settle bets.",
            Every(4 * _HOUR),
            _per_sport(sports, bets.outcome_collector.collect),
        ),
        _job(
            "odds_cleanup",
            "Remove the odds of games without a result after a week.",
            Cron("30 3 * * *"),
            _count(bets.odds_cleanup.run, "odds removed"),
        ),
        _job(
            "analysis_generator",
            "Run all models for upcoming games.",
            Every(4 * _HOUR),
            _per_sport(sports, bets.analysis_generator.run),
        ),
        _job(
            "model_adjustment_calculator",
            "Recommend which models to follow, invert or avoid.",
            Cron("0 6 * * *"),
            _per_sport(sports, bets.adjustments.calculate),
        ),
        _job(
            "user_model_weight_adjuster",
            "Adjust the weights of user models that allow it.",
            Cron("0 5 * * 1"),
            _count(bets.weight_adjuster.run, "models adjusted"),
        ),
        _job("benny_trader", "Place Benny's bets.", Cron("0 14 * * *"), _trade(bets)),
        _job(
            "injury_collector",
            "Collect injuries.",
            Cron("10 6 * * *"),
            _per_sport(sports, stats.collect_injuries),
        ),
        _job(
            "stats_collector",
            "Collect statistics.",
            Cron("0 7 * * *"),
            _per_sport(sports, stats.collect_stats),
        ),
        _job(
            "schedule_collector",
            "Collect schedules.",
            Cron("0 11 * * *"),
            _per_sport(sports, stats.collect_schedules),
        ),
        _job(
            "alerts",
            "Announce games of favorite teams, arbitrages and stale lines.",
            Every(_HOUR),
            _count(bets.alerts.run, "alerts queued"),
        ),
    )


def _job(name: str, purpose: str, schedule: Every | Cron, work: _Work) -> Job:
    return Job(f"bets.{name}", purpose, schedule, work, timeout_seconds=_TIMEOUT_SECONDS)


def _per_sport(sports: tuple[str, ...], collect: Callable[[str], Awaitable[object]]) -> _Work:
    async def work(run: JobContext) -> str:
        """Go through the sports. A failure does not stop the others, unless all fail."""
        errors: list[GrandstandError] = []
        for sport in sports:
            try:
                run.tell(_describe(sport, await collect(sport)))
            except GrandstandError as error:
                run.tell(f"{sport}: {error}")
                errors.append(error)
        if errors and len(errors) == len(sports):
            raise errors[0]
        return f"{len(sports) - len(errors)} of {len(sports)} sports"

    return work


def _describe(sport: str, report: object) -> str:
    counts = {
        name: value for name in _COUNTS if isinstance(value := getattr(report, name, None), int)
    }
    return f"{sport}: " + (", ".join(f"{n} {v}" for n, v in counts.items()) or "done")


def _count(run: Callable[[], Awaitable[int]], label: str) -> _Work:
    async def work(_: JobContext) -> str:
        return f"{label}: {await run()}"

    return work


def _trade(bets: Bets) -> _Work:
    async def work(_: JobContext) -> str:
        report = await bets.benny_trader.trade()
        if report.elsewhere:
            return "another instance is trading"
        return f"{report.placed} bets placed, {report.rejected} rejected"

    return work
