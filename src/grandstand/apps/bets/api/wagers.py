"""Routes for Benny, wagers, limits and favorite teams."""

from __future__ import annotations

from dataclasses import dataclass

from grandstand.apps.bets.api import parameters as params
from grandstand.apps.bets.domain.ledger import LossLimitReached, StakeLimitReached, TimeOutActive
from grandstand.apps.bets.services.alerts import Favorite
from grandstand.apps.bets.services.benny import (
    BennyBetView,
    BennyDashboard,
)
from grandstand.apps.bets.services.ledger import LedgerBusy, LimitsView
from grandstand.apps.bets.services.wagers import WagerImportReport, WagerSummary, WagerView
from grandstand.core.errors import Conflict, InvalidInput, NotFound
from grandstand.kit.routes import CurrentCaller, delete, get, post, put


@dataclass(frozen=True, slots=True)
class BennyBetList:
    """Benny's bets, newest first."""

    bets: tuple[BennyBetView, ...]
    count: int
    cursor: str | None


@dataclass(frozen=True, slots=True)
class WagerList:
    """The caller's bets."""

    wagers: tuple[WagerView, ...]
    count: int
    cursor: str | None


@dataclass(frozen=True, slots=True)
class FavoriteList:
    """The caller's favorite teams."""

    favorites: tuple[Favorite, ...]


class WagerRoutes(params.BetsRoutes):
    """Benny, and the caller's bets, limits and favorite teams."""

    @get("/benny/dashboard", summary="Get Benny's dashboard", access="anyone")
    async def dashboard(self) -> BennyDashboard:
        """Benny's bankroll, bets, learning and the effect of his rules."""
        return await self._bets.benny.dashboard()

    @get("/benny/bets", summary="List Benny's bets")
    async def benny_bets(
        self, who: CurrentCaller, limit: params.Limit = 20, cursor: params.Cursor = None
    ) -> BennyBetList:
        """Benny's bets, newest first."""
        query = "bets.benny"
        after = self._cursors.read(who, query, cursor)
        page = await self._bets.benny.bets(limit=limit, after=after)
        return BennyBetList(
            page.items, len(page.items), self._cursors.write(who, query, page.cursor)
        )

    @get("/benny/shadow", summary="List the bets Benny rejected")
    async def shadow_bets(
        self,
        who: CurrentCaller,
        rule: params.Rule = None,
        limit: params.Limit = 20,
        cursor: params.Cursor = None,
    ) -> BennyBetList:
        """Bets that a rule rejected, newest first, with a stake of one dollar each."""
        query = f"bets.shadow/{rule}"
        after = self._cursors.read(who, query, cursor)
        page = await self._bets.benny.shadow_bets(rule=rule, limit=limit, after=after)
        return BennyBetList(
            page.items, len(page.items), self._cursors.write(who, query, page.cursor)
        )

    @get("/wagers", summary="List your bets")
    async def wagers(
        self, who: CurrentCaller, limit: params.Limit = 20, cursor: params.Cursor = None
    ) -> WagerList:
        """The caller's bets, latest games first."""
        query = "bets.wagers"
        after = self._cursors.read(who, query, cursor)
        page = await self._bets.wagers.list_wagers(who, limit=limit, after=after)
        return WagerList(page.items, len(page.items), self._cursors.write(who, query, page.cursor))

    @post(
        "/wagers",
        summary="Record a bet",
        problems=(
            InvalidInput,
            NotFound,
            LedgerBusy,
            StakeLimitReached,
            LossLimitReached,
            TimeOutActive,
        ),
        status=201,
    )
    async def record_wager(self, who: CurrentCaller, body: params.WagerBody) -> WagerView:
        """The recorded bet. Bets that a limit forbids are not recorded."""
        return await self._bets.wagers.record(who, body.to_request())

    @post("/wagers/import", summary="Import bets", problems=(InvalidInput, LedgerBusy))
    async def import_wagers(
        self, who: CurrentCaller, body: params.WagerFileBody
    ) -> WagerImportReport:
        """The number of recorded and already known bets, and the rejected lines."""
        return await self._bets.wagers.import_file(who, body.data.encode())

    @get("/wagers/summary", summary="Summarize your bets")
    async def wager_summary(self, who: CurrentCaller) -> WagerSummary:
        """Stakes, profit, return and closing line value, by sport and bet type."""
        return await self._bets.wagers.summary(who)

    @delete(
        "/wagers/{wager_id}",
        summary="Withdraw a bet",
        problems=(NotFound, Conflict, LedgerBusy),
    )
    async def remove_wager(self, who: CurrentCaller, wager_id: params.RecordId) -> None:
        """Nothing. A bet can be withdrawn until its game starts."""
        await self._bets.wagers.remove(who, wager_id)

    @get("/limits", summary="Get your limits")
    async def limits(self, who: CurrentCaller) -> LimitsView:
        """Limits on stakes and losses, their usage, and the time-out."""
        return await self._bets.limits.get(who)

    @put("/limits", summary="Set your limits", problems=(InvalidInput,))
    async def set_limits(self, who: CurrentCaller, body: params.LimitsBody) -> LimitsView:
        """The limits. Tighter limits apply immediately, looser ones after a day."""
        return await self._bets.limits.update(who, body.to_request())

    @put("/limits/time-out", summary="Start a time-out", problems=(InvalidInput,))
    async def time_out(self, who: CurrentCaller, body: params.TimeOutBody) -> LimitsView:
        """The limits with the time-out, which can be extended but not shortened."""
        return await self._bets.limits.time_out(who, body.to_second())

    @get("/favorites", summary="List your favorite teams")
    async def favorites(self, who: CurrentCaller) -> FavoriteList:
        """The caller's favorite teams by sport and name."""
        return FavoriteList(await self._bets.favorites.list_teams(who))

    @put(
        "/favorites/{sport}/{team}",
        summary="Add a favorite team",
        problems=(NotFound, InvalidInput),
    )
    async def add_favorite(
        self, who: CurrentCaller, sport: params.SportPath, team: params.Team
    ) -> Favorite:
        """The team. Its games are announced."""
        return await self._bets.favorites.add(who, sport, team)

    @delete("/favorites/{sport}/{team}", summary="Remove a favorite team")
    async def remove_favorite(
        self, who: CurrentCaller, sport: params.SportPath, team: params.Team
    ) -> None:
        """Nothing, whether or not the team was a favorite."""
        await self._bets.favorites.remove(who, sport, team)
