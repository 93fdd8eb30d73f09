"""Favorite teams and alerts about games, arbitrages and stale lines."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import msgspec

from grandstand.apps.bets.domain.records import slug
from grandstand.apps.bets.services.database import Database, check_sport, copy_as
from grandstand.apps.bets.services.forecasts import HistoryLoader
from grandstand.apps.bets.services.line_shopping import LineShopping
from grandstand.apps.bets.settings import BetsSettings
from grandstand.apps.bets.store.games import GameInfo
from grandstand.apps.bets.store.wagers import FavoriteTeam
from grandstand.core.errors import InvalidInput
from grandstand.kit.auth.caller import Caller
from grandstand.kit.events import Events
from grandstand.kit.notify import Notification, Notifier
from grandstand.kit.outbox import Outbox, OutboxMessage

_AHEAD: Final = timedelta(hours=24)
_APP: Final = "bets"
ALERT: Final = "bets.alert"


@dataclass(frozen=True, slots=True)
class Favorite:
    """A favorite team of a user."""

    sport: str
    team: str
    since: datetime


class FavoriteAlert(msgspec.Struct, frozen=True):
    """The outbox message that announces a game of a favorite team."""

    user_id: str
    text: str
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertService:
    """Queues each alert once and delivers it from the outbox."""

    db: Database
    settings: BetsSettings
    history: HistoryLoader
    line_shopping: LineShopping
    outbox: Outbox
    notifier: Notifier
    events: Events

    async def run(self) -> int:
        """Queue the current alerts and return how many are new."""
        queued, now = 0, self.db.now()
        for sport in self.settings.sports:
            for info in await self.history.upcoming_games(sport, now, now + _AHEAD):
                queued += await self._favorite_alerts(info)
            queued += await self._price_alerts(sport)
        return queued

    async def _favorite_alerts(self, info: GameInfo) -> int:
        queued = 0
        for team in (info.home_team, info.away_team):
            followers = self.db.each(FavoriteTeam.of_team(info.sport, team))
            for user_id in [favorite.user_id async for favorite in followers]:
                alert = FavoriteAlert(
                    user_id,
                    f"{info.home_team} play {info.away_team} at "
                    f"{info.commence_time:%a %d %b %H:%M} UTC",
                    f"/bets/games/{info.game_id}",
                )
                key = f"favorite/{info.game_id}/{info.commence_time.isoformat()}/{user_id}"
                queued += await self.outbox.put(ALERT, key, msgspec.to_builtins(alert))
        return queued

    async def _price_alerts(self, sport: str) -> int:
        """Notify the configured channels about arbitrages and stale lines."""
        queued = 0
        for arbitrage in await self.line_shopping.arbitrages(sport):
            books = ", ".join(leg.bookmaker for leg in arbitrage.legs)
            teams = f"{arbitrage.home_team} v {arbitrage.away_team}"
            text = f"{teams}, {arbitrage.market_key}: {books}"
            title = f"Arbitrage: {arbitrage.profit_share:.1%}"
            message = Notification(
                _APP, "arbitrage", title, text, f"/bets/games/{arbitrage.game_id}"
            )
            key = f"bets/arbitrage/{arbitrage.game_id}/{arbitrage.market_key}/{books}"
            queued += bool(await self.notifier.send(message, key))
        for line in await self.line_shopping.stale_lines(sport):
            text = f"{line.outcome.name} {line.outcome.price:+d}, fair probability {line.fair:.1%}"
            title = f"Stale line at {line.bookmaker}"
            message = Notification(_APP, "stale line", title, text, f"/bets/games/{line.game_id}")
            key = (
                f"bets/stale/{line.game_id}/{line.bookmaker}/{line.market_key}/"
                f"{line.outcome.name}/{line.outcome.price}"
            )
            queued += bool(await self.notifier.send(message, key))
        return queued

    async def deliver(self, message: OutboxMessage) -> None:
        """Record the alert as an event of its user."""
        alert = msgspec.json.decode(message.body, type=FavoriteAlert)
        await self.events.record(
            _APP, "favorite", alert.text, href=alert.href, user_id=alert.user_id
        )


_MAX_TEAMS: Final = 50
_MAX_NAME: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class FavoriteService:
    db: Database
    settings: BetsSettings

    async def list_teams(self, caller: Caller) -> tuple[Favorite, ...]:
        """Return the caller's favorite teams, by sport and name."""
        rows = self.db.each(FavoriteTeam.of_user(caller.user_id))
        return tuple([copy_as(Favorite, row) async for row in rows])

    async def add(self, caller: Caller, sport: str, team: str) -> Favorite:
        """Add a favorite team.

        Raises NotFound if the sport is not enabled, InvalidInput if the name is invalid or the list
        is full.
        """
        if not slug(team) or len(team) > _MAX_NAME:
            raise InvalidInput(f"The name must have 1 to {_MAX_NAME} characters.")
        favorites = await self.list_teams(caller)
        if len(favorites) >= _MAX_TEAMS:
            raise InvalidInput(
                f"You have the maximum of {_MAX_TEAMS} favorite teams. Remove one first."
            )
        row = FavoriteTeam(
            user_id=caller.user_id,
            sport=check_sport(self.settings, sport),
            team=" ".join(team.split()),
            since=self.db.now(),
        )
        await self.db.store(row.save())
        return copy_as(Favorite, row)

    async def remove(self, caller: Caller, sport: str, team: str) -> bool:
        """Remove a favorite team and return whether it was one."""
        if not slug(team) or "#" in sport:
            return False
        removed = await self.db.store(FavoriteTeam.remove(caller.user_id, sport, team))
        return removed is not None
