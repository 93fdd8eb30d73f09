"""Kept here: questions put to all applications at once: what is sought, and given chances."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar

from grandstand.base.errors import Broken, GrandstandError
from grandstand.base.log import log
from grandstand.kit.app import App, Calibrated, Found

if TYPE_CHECKING:
    from grandstand.host.house import House
    from grandstand.kit.who.caller import Caller

T = TypeVar("T")
Question: TypeAlias = Callable[[App[Any], Any], Awaitable[tuple[T, ...]] | None]

LONGEST: Final = 100
_SEARCH_SECONDS: Final = 3.0
_SCORE_SECONDS: Final = 20.0
_TOO_LONG: Final = "It did not answer in time"
_BROKEN: Final = "It failed; the log says why"


@dataclass(frozen=True, slots=True)
class Answered(Generic[T]):
    """What one application answers; or why it does not, and then nothing else."""

    app: App[Any]
    answer: tuple[T, ...] = ()
    silent: str = ""


async def search(
    house: House, words: str, caller: Caller, *, seconds: float = _SEARCH_SECONDS
) -> tuple[Answered[Found], ...]:
    """Answer what every application knows by some words; one that fails is silent, and says why."""
    sought = " ".join(words.split())[:LONGEST]
    if not sought:
        return ()

    def question(app: App[Any], service: object) -> Awaitable[tuple[Found, ...]] | None:
        return None if app.search is None else app.search(service, sought, caller)

    return await _all(house, question, seconds)


async def calibration(house: House, caller: Caller) -> tuple[Answered[Calibrated], ...]:
    """Answer the chances every application was given for a caller's eyes; as `search` does."""

    def question(app: App[Any], service: object) -> Awaitable[tuple[Calibrated, ...]] | None:
        return None if app.calibration is None else app.calibration(service, caller)

    return await _all(house, question, _SCORE_SECONDS)


async def _all(house: House, question: Question[T], seconds: float) -> tuple[Answered[T], ...]:
    asked = [(app, question(app, house.services.get(app.name))) for app in house.apps]
    return tuple(
        await asyncio.gather(
            *(_one(app, answer, seconds) for app, answer in asked if answer is not None)
        )
    )


async def _one(app: App[Any], answer: Awaitable[tuple[T, ...]], seconds: float) -> Answered[T]:
    try:
        async with asyncio.timeout(seconds):
            return Answered(app, await answer)
    except TimeoutError:
        return Answered(app, silent=_TOO_LONG)
    except Broken:
        return _broke(app)
    except GrandstandError as fault:
        return Answered(app, silent=str(fault))
    except Exception:  # noqa: BLE001 - whatever it was, the others' answers are shown
        return _broke(app)


def _broke(app: App[Any]) -> Answered[Any]:
    """Say that an application failed; what is inside it is for the log alone."""
    log("house").exception("an application broke when it was asked", app=app.name)
    return Answered(app, silent=_BROKEN)
