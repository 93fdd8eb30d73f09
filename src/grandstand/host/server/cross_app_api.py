"""Search and scoreboard API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from fastapi import Query

from grandstand.host.cross_app import (
    MAX_QUERY_LENGTH,
    AppResult,
    collect_calibration,
    search_apps,
)
from grandstand.host.pages.scoreboard import ForecasterRow, rank_forecasters
from grandstand.kit.app import ForecastOwner
from grandstand.kit.calibration import Interval
from grandstand.kit.routes import CurrentCaller, StrictModel, get

if TYPE_CHECKING:
    from typing import Any

    from grandstand.host.runtime import Platform

Words = Annotated[str, Query(min_length=1, max_length=MAX_QUERY_LENGTH, examples=["lakers"])]


class SearchHitModel(StrictModel):
    """A search hit and its app."""

    app: str
    kind: str
    title: str
    detail: str
    href: str


class FailedAppModel(StrictModel):
    """An app that failed, and why."""

    app: str
    why: str


class SearchResults(StrictModel):
    """Search hits, best match first within each app."""

    query: str
    found: tuple[SearchHitModel, ...]
    silent: tuple[FailedAppModel, ...]


class IntervalModel(StrictModel):
    """A value with its 95 % confidence interval."""

    value: float
    low: float
    high: float


class BinModel(StrictModel):
    """Forecasts of similar probability: how many, their mean, and how often the event happened."""

    count: int
    chance: float
    came_true: IntervalModel


class ForecasterModel(StrictModel):
    """A forecaster; figures are null for fewer than ten resolved forecasts."""

    app: str
    whose: ForecastOwner
    who: str
    what: str
    href: str
    decided: int
    chance: float | None
    came_true: IntervalModel | None
    brier: IntervalModel | None
    log_loss: float | None
    groups: tuple[BinModel, ...]


class Scoreboard(StrictModel):
    """Your own forecasts first, then Benny, then the models."""

    standings: tuple[ForecasterModel, ...]
    silent: tuple[FailedAppModel, ...]


_FOUND: Final = {
    "query": "lakers",
    "found": [
        {
            "app": "bets",
            "kind": "team",
            "title": "Los Angeles Lakers",
            "detail": "NBA, next against Boston Celtics: Tue 17 Nov 19:30 UTC",
            "href": "/bets/games/g1",
        }
    ],
    "silent": [],
}


class CrossAppApi:
    """Search and scoreboard across all apps."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    @get("/search", summary="Search all apps", example=_FOUND)
    async def search(self, who: CurrentCaller, q: Words) -> SearchResults:
        """Teams, markets, matches, horses and scenarios that some words are about."""
        answers = await search_apps(self._platform, q, who)
        return SearchResults(
            query=q,
            found=tuple(
                SearchHitModel(
                    app=one.app.name,
                    kind=each.kind,
                    title=each.title,
                    detail=each.detail,
                    href=each.href,
                )
                for one in answers
                for each in one.answer
            ),
            silent=_silent(answers),
        )

    @get("/scoreboard", summary="Calibration")
    async def scoreboard(self, who: CurrentCaller) -> Scoreboard:
        """Calibration of your forecasts, Benny and the models."""
        answers = await collect_calibration(self._platform, who)
        board = rank_forecasters([(one.app.name, given) for one in answers for given in one.answer])
        return Scoreboard(standings=tuple(map(_standing, board)), silent=_silent(answers))


def _silent(answers: tuple[AppResult[Any], ...]) -> tuple[FailedAppModel, ...]:
    return tuple(FailedAppModel(app=one.app.name, why=one.silent) for one in answers if one.silent)


def _standing(one: ForecasterRow) -> ForecasterModel:
    told, given = one.figures, one.given
    return ForecasterModel(
        app=one.app,
        whose=given.whose,
        who=given.who,
        what=given.what,
        href=given.href,
        decided=len(given.said),
        chance=None if told is None else told.chance,
        came_true=None if told is None else _bounded(told.came_true),
        brier=None if told is None else _bounded(told.brier),
        log_loss=None if told is None else told.log_loss,
        groups=()
        if told is None
        else tuple(
            BinModel(count=each.count, chance=each.chance, came_true=_bounded(each.came_true))
            for each in told.groups
        ),
    )


def _bounded(value: Interval) -> IntervalModel:
    return IntervalModel(value=value.value, low=value.low, high=value.high)
