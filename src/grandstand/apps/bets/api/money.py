"""Kept here: the routes of Benny, of people's bets, and of what they allow themselves."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Query

from grandstand.apps.bets.api import examples
from grandstand.apps.bets.api.asking import (
    Cursor,
    Limit,
    OwnId,
    RoutesPart,
    SportPath,
    Team,
    to_second,
)
from grandstand.apps.bets.api.money_models import (
    BennyBetList,
    BennyBetModel,
    BennyDashboard,
    FavouriteList,
    FavouriteModel,
    LimitsAsked,
    LimitsModel,
    TimeOutAsked,
    WagerAsked,
    WagerList,
    WagerModel,
    WagersAsked,
    WagersTaken,
    WagerSummaryModel,
)
from grandstand.apps.bets.service import (
    FileRefused,
    GameUnknown,
    LedgerBusy,
    LimitsRefused,
    LossLimit,
    SportUnknown,
    StakeLimit,
    TeamRefused,
    TimedOut,
    WagerClosed,
    WagerRefused,
    WagerUnknown,
)
from grandstand.kit.routes import Who, delete, get, post, put

Rule = Annotated[str | None, Query(pattern=r"^[a-z0-9_]{1,60}$", examples=["edge"])]
_CREATED: Final = 201


class BennyRoutes(RoutesPart):
    """Benny, who bets virtual money in public."""

    @get("/benny/dashboard", summary="Benny's dashboard", access="anyone")
    async def dashboard(self) -> BennyDashboard:
        """His money, his bets, what he has learnt and what his rules are worth; open to all."""
        return BennyDashboard.of(await self._bets.benny())

    @get("/benny/bets", summary="Benny's bets")
    async def benny_bets(self, who: Who, limit: Limit = 20, cursor: Cursor = None) -> BennyBetList:
        """Benny's bets, newest first."""
        question = "bets.benny"
        after = self._cursors.read(who, question, cursor)
        page = await self._bets.benny_bets(limit=limit, after=after)
        return BennyBetList(
            bets=tuple(map(BennyBetModel.model_validate, page.items)),
            count=len(page.items),
            cursor=self._cursors.write(who, question, page.position),
        )

    @get("/benny/shadow", summary="What Benny did not bet")
    async def shadow_bets(
        self, who: Who, rule: Rule = None, limit: Limit = 20, cursor: Cursor = None
    ) -> BennyBetList:
        """What Benny left alone, newest first, as if a dollar had been staked each time."""
        question = f"bets.shadow/{rule}"
        after = self._cursors.read(who, question, cursor)
        page = await self._bets.shadow_bets(rule=rule, limit=limit, after=after)
        return BennyBetList(
            bets=tuple(map(BennyBetModel.model_validate, page.items)),
            count=len(page.items),
            cursor=self._cursors.write(who, question, page.position),
        )


class WagerRoutes(RoutesPart):
    """A person's own bets, limits and teams; everything of others is not found."""

    @get(
        "/wagers",
        summary="The caller's bets",
        example={"wagers": [examples.WAGER], "count": 1, "cursor": None},
    )
    async def wagers(self, who: Who, limit: Limit = 20, cursor: Cursor = None) -> WagerList:
        """The caller's bets, those on the latest games first."""
        question = "bets.wagers"
        after = self._cursors.read(who, question, cursor)
        page = await self._bets.wagers(who, limit=limit, after=after)
        return WagerList(
            wagers=tuple(map(WagerModel.model_validate, page.items)),
            count=len(page.items),
            cursor=self._cursors.write(who, question, page.position),
        )

    @post(
        "/wagers",
        summary="Record a bet",
        problems=(WagerRefused, GameUnknown, LedgerBusy, StakeLimit, LossLimit, TimedOut),
        status=_CREATED,
        example=examples.WAGER,
    )
    async def record_wager(self, who: Who, asked: WagerAsked) -> WagerModel:
        """The bet as it is kept; nothing is kept that one's own limits forbid."""
        return WagerModel.model_validate(await self._bets.record_wager(who, asked.draft()))

    @post("/wagers/import", summary="Record the bets of a file", problems=(FileRefused, LedgerBusy))
    async def import_wagers(self, who: Who, asked: WagersAsked) -> WagersTaken:
        """How many bets were taken; the same line again is known, and refusals name theirs."""
        return WagersTaken.of(await self._bets.import_wagers(who, asked.data.encode()))

    @get("/wagers/summary", summary="The caller's bets in sum")
    async def wager_summary(self, who: Who) -> WagerSummaryModel:
        """Stakes, profit, return and closing-line value, by sport and kind of bet."""
        return WagerSummaryModel.of(await self._bets.wager_summary(who))

    @delete(
        "/wagers/{wager_id}",
        summary="Take a bet back",
        problems=(WagerUnknown, WagerClosed, LedgerBusy),
    )
    async def remove_wager(self, who: Who, wager_id: OwnId) -> None:
        """Nothing: the bet is gone and its stake is back; only before the game."""
        await self._bets.remove_wager(who, wager_id)

    @get("/limits", summary="What the caller allows themselves")
    async def limits(self, who: Who) -> LimitsModel:
        """Limits on stakes and losses, how much of them is used, and time out."""
        return LimitsModel.model_validate(await self._bets.limits(who))

    @put("/limits", summary="Change one's limits", problems=(LimitsRefused,))
    async def set_limits(self, who: Who, asked: LimitsAsked) -> LimitsModel:
        """The limits as they hold now: tighter ones at once, looser ones a day later."""
        return LimitsModel.model_validate(await self._bets.set_limits(who, asked.draft()))

    @put("/limits/time-out", summary="Take no bets for a while", problems=(LimitsRefused,))
    async def time_out(self, who: Who, asked: TimeOutAsked) -> LimitsModel:
        """The limits with the time out; it can be made longer and not shorter."""
        found = await self._bets.time_out(who, to_second(asked.until))
        return LimitsModel.model_validate(found)

    @get("/favourites", summary="The teams the caller likes")
    async def favourites(self, who: Who) -> FavouriteList:
        """The teams the caller likes, by sport and name."""
        found = await self._bets.favourites(who)
        return FavouriteList(favourites=tuple(map(FavouriteModel.model_validate, found)))

    @put(
        "/favourites/{sport}/{team}",
        summary="Like a team",
        problems=(SportUnknown, TeamRefused),
    )
    async def like(self, who: Who, sport: SportPath, team: Team) -> FavouriteModel:
        """The team as it is liked; its games are told of."""
        return FavouriteModel.model_validate(await self._bets.like(who, sport, team))

    @delete("/favourites/{sport}/{team}", summary="Like a team no longer")
    async def unlike(self, who: Who, sport: SportPath, team: Team) -> None:
        """Nothing: the team is not liked, whether or not it was."""
        await self._bets.unlike(who, sport, team)
