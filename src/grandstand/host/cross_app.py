"""Search and scoreboard across all apps."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar

from grandstand.core.errors import Broken, GrandstandError
from grandstand.core.logging import get_logger
from grandstand.kit.app import App, AppServices, CalibrationSeries, SearchHit

if TYPE_CHECKING:
    from grandstand.host.runtime import Platform
    from grandstand.kit.auth.caller import Caller

T = TypeVar("T")
Question: TypeAlias = Callable[[AppServices[Any]], Awaitable[tuple[T, ...]] | None]

MAX_QUERY_LENGTH: Final = 100
_SEARCH_SECONDS: Final = 3.0
_SCORE_SECONDS: Final = 20.0
_TOO_LONG: Final = "It did not respond in time"
_BROKEN: Final = "It failed. The log has details."


@dataclass(frozen=True, slots=True)
class AppResult(Generic[T]):
    """The result of one app, or why it failed."""

    app: App[Any]
    answer: tuple[T, ...] = ()
    silent: str = ""


async def search_apps(
    platform: Platform, words: str, caller: Caller, *, seconds: float = _SEARCH_SECONDS
) -> tuple[AppResult[SearchHit], ...]:
    """Return the search hits of every app; one that fails reports why."""
    sought = " ".join(words.split())[:MAX_QUERY_LENGTH]
    if not sought:
        return ()

    def question(built: AppServices[Any]) -> Awaitable[tuple[SearchHit, ...]] | None:
        return None if built.search is None else built.search(sought, caller)

    return await _all(platform, question, seconds)


async def collect_calibration(
    platform: Platform, caller: Caller
) -> tuple[AppResult[CalibrationSeries], ...]:
    """Return the resolved forecasts of every app; one that fails reports why."""

    def question(built: AppServices[Any]) -> Awaitable[tuple[CalibrationSeries, ...]] | None:
        return None if built.calibration is None else built.calibration(caller)

    return await _all(platform, question, _SCORE_SECONDS)


async def _all(
    platform: Platform, question: Question[T], seconds: float
) -> tuple[AppResult[T], ...]:
    asked = [
        (app, question(platform.built[app.name]))
        for app in platform.apps
        if app.name in platform.built
    ]
    return tuple(
        await asyncio.gather(
            *(_one(app, answer, seconds) for app, answer in asked if answer is not None)
        )
    )


async def _one(app: App[Any], answer: Awaitable[tuple[T, ...]], seconds: float) -> AppResult[T]:
    try:
        async with asyncio.timeout(seconds):
            return AppResult(app, await answer)
    except TimeoutError:
        return AppResult(app, silent=_TOO_LONG)
    except Broken:
        return _broke(app)
    except GrandstandError as fault:
        return AppResult(app, silent=str(fault))
    except Exception:  # noqa: BLE001 - whatever it was, the others' answers are shown
        return _broke(app)


def _broke(app: App[Any]) -> AppResult[Any]:
    """Log an app's unexpected error and return a result that hides it."""
    get_logger("platform").exception("app_request_failed", app=app.name)
    return AppResult(app, silent=_BROKEN)
