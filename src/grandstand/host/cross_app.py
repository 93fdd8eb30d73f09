"""Search and scoreboard across all apps."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from grandstand.core.errors import Broken, GrandstandError
from grandstand.core.logging import get_logger
from grandstand.kit.app import App, AppServices, CalibrationSeries, SearchHit
from grandstand.kit.calibration import CalibrationSummary, summarize

if TYPE_CHECKING:
    from grandstand.host.runtime import Platform
    from grandstand.kit.auth.caller import Caller

T = TypeVar("T")

MAX_QUERY_LENGTH: Final = 100


@dataclass(frozen=True, slots=True)
class AppResult(Generic[T]):
    """The result of one app, or why it failed."""

    app: App[Any]
    items: tuple[T, ...] = ()
    error: str = ""


async def search_apps(
    platform: Platform, query: str, caller: Caller, *, timeout_seconds: float = 3.0
) -> tuple[AppResult[SearchHit], ...]:
    """Return the search hits of every app; one that fails reports why."""
    text = " ".join(query.split())[:MAX_QUERY_LENGTH]
    if not text:
        return ()
    return await _ask_apps(
        platform, lambda app: app.search and app.search(text, caller), timeout_seconds
    )


async def collect_calibration(
    platform: Platform, caller: Caller
) -> tuple[AppResult[CalibrationSeries], ...]:
    """Return the resolved forecasts of every app; one that fails reports why."""
    return await _ask_apps(platform, lambda app: app.calibration and app.calibration(caller), 20.0)


async def _ask_apps(
    platform: Platform,
    request: Callable[[AppServices[Any]], Awaitable[tuple[T, ...]] | None],
    timeout_seconds: float,
) -> tuple[AppResult[T], ...]:
    async def ask(app: App[Any], reply: Awaitable[tuple[T, ...]]) -> AppResult[T]:
        try:
            async with asyncio.timeout(timeout_seconds):
                return AppResult(app, await reply)
        except TimeoutError:
            return AppResult(app, error="It did not respond in time")
        except Exception as error:  # noqa: BLE001 - the results of the other apps are shown
            if isinstance(error, GrandstandError) and not isinstance(error, Broken):
                return AppResult(app, error=str(error))
            get_logger("platform").exception("app_request_failed", app=app.name)
            return AppResult(app, error="It failed. The log has details.")

    built = [(app, platform.built[app.name]) for app in platform.apps if app.name in platform.built]
    replies = [(app, request(services)) for app, services in built]
    return tuple(
        await asyncio.gather(*(ask(app, reply) for app, reply in replies if reply is not None))
    )


@dataclass(frozen=True, slots=True)
class ForecasterRow:
    """A forecaster with calibration figures, if there are enough forecasts."""

    app: str
    series: CalibrationSeries
    figures: CalibrationSummary | None


def rank_forecasters(
    results: Iterable[AppResult[CalibrationSeries]],
) -> tuple[ForecasterRow, ...]:
    """Return your own row first, then Benny, then the models; rows with figures first."""
    rows = [
        ForecasterRow(result.app.name, series, summarize(series.said))
        for result in results
        for series in result.items
    ]

    def rank(row: ForecasterRow) -> tuple[int, bool, float]:
        brier = 0.0 if row.figures is None else row.figures.brier.value
        owner = ("yours", "benny", "model").index(row.series.whose)
        return owner, row.figures is None, brier

    return tuple(sorted(rows, key=rank))
