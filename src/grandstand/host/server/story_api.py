"""Kept here: what is asked of all applications at once, for programs: search and scoreboard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from fastapi import Query

from grandstand.host.asking import LONGEST, Answered, calibration, search
from grandstand.host.pages.scoreboard import Standing, standings
from grandstand.kit.app import Whose
from grandstand.kit.calibration import Bounded
from grandstand.kit.routes import Strict, Who, get

if TYPE_CHECKING:
    from typing import Any

    from grandstand.host.house import House

Words = Annotated[str, Query(min_length=1, max_length=LONGEST, examples=["lakers"])]


class FoundModel(Strict):
    """Something that was found, and the application that knows it."""

    app: str
    kind: str
    title: str
    detail: str
    href: str


class SilentModel(Strict):
    """An application that did not answer, and why."""

    app: str
    why: str


class FoundList(Strict):
    """What is known by some words, each application's nearest first."""

    query: str
    found: tuple[FoundModel, ...]
    silent: tuple[SilentModel, ...]


class BoundedModel(Strict):
    """A figure with the bounds it lies within, 95 times of 100."""

    value: float
    low: float
    high: float


class GroupModel(Strict):
    """Chances that lie close together: how many, their mean, and how often they came true."""

    count: int
    chance: float
    came_true: BoundedModel


class StandingModel(Strict):
    """Somebody on the scoreboard; figures are null while fewer than ten are decided."""

    app: str
    whose: Whose
    who: str
    what: str
    href: str
    decided: int
    chance: float | None
    came_true: BoundedModel | None
    brier: BoundedModel | None
    log_loss: float | None
    groups: tuple[GroupModel, ...]


class Scoreboard(Strict):
    """The person's own first, then Benny, then the models."""

    standings: tuple[StandingModel, ...]
    silent: tuple[SilentModel, ...]


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


class StoryApi:
    """What goes across applications."""

    def __init__(self, house: House) -> None:
        self._house = house

    @get("/search", summary="Search every application", example=_FOUND)
    async def search(self, who: Who, q: Words) -> FoundList:
        """Teams, markets, matches, horses and scenarios that some words are about."""
        answers = await search(self._house, q, who)
        return FoundList(
            query=q,
            found=tuple(
                FoundModel(
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

    @get("/scoreboard", summary="Chances given and come true")
    async def scoreboard(self, who: Who) -> Scoreboard:
        """How honest the caller's own chances are, beside Benny's and the models'."""
        answers = await calibration(self._house, who)
        board = standings([(one.app.name, given) for one in answers for given in one.answer])
        return Scoreboard(standings=tuple(map(_standing, board)), silent=_silent(answers))


def _silent(answers: tuple[Answered[Any], ...]) -> tuple[SilentModel, ...]:
    return tuple(SilentModel(app=one.app.name, why=one.silent) for one in answers if one.silent)


def _standing(one: Standing) -> StandingModel:
    told, given = one.figures, one.given
    return StandingModel(
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
            GroupModel(count=each.count, chance=each.chance, came_true=_bounded(each.came_true))
            for each in told.groups
        ),
    )


def _bounded(value: Bounded) -> BoundedModel:
    return BoundedModel(value=value.value, low=value.low, high=value.high)
