"""Kept here: telling people of their teams' games, and the house of prices worth a look."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

import msgspec

from grandstand.apps.bets.service.looking.shopping import Shopping
from grandstand.apps.bets.service.means import ALERT, Means
from grandstand.apps.bets.service.predicting.loading import Loading
from grandstand.apps.bets.store import FavouriteTeam, GameNote
from grandstand.kit.notify import Message
from grandstand.kit.outbox import Consequence

_AHEAD: Final = timedelta(hours=24)
_APP: Final = "bets"


class Told(msgspec.Struct, frozen=True):
    """What one person is to be told."""

    user_id: str
    text: str
    href: str


class Alerting:
    """Notes what is to be told, each thing once, and tells it from the outbox."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._loading = Loading(means)
        self._shopping = Shopping(means)

    async def run(self) -> int:
        """Note every alert of now; answer how many are new."""
        noted, now = 0, self._means.now()
        for sport in self._means.settings.sports:
            for note in await self._loading.games_to_come(sport, now, now + _AHEAD):
                noted += await self._favourites(note)
            noted += await self._prices(sport)
        return noted

    async def _favourites(self, note: GameNote) -> int:
        noted = 0
        for team in (note.home_team, note.away_team):
            fans = self._means.each(FavouriteTeam.of_team(note.sport, team))
            for fan in [each async for each in fans]:
                told = Told(
                    fan.user_id,
                    f"{note.home_team} play {note.away_team} at "
                    f"{note.commence_time:%a %d %b %H:%M} UTC",
                    f"/bets/games/{note.game_id}",
                )
                key = f"favourite/{note.game_id}/{note.commence_time.isoformat()}/{fan.user_id}"
                noted += await self._means.outbox.put(ALERT, key, msgspec.to_builtins(told))
        return noted

    async def _prices(self, sport: str) -> int:
        """Tell, through the channels that are set up, of arbitrages and lines left behind."""
        noted = 0
        for each in await self._shopping.arbitrages(sport):
            books = ", ".join(leg.bookmaker for leg in each.legs)
            text = f"{each.home_team} against {each.away_team}, {each.market_key}: {books}"
            title = f"Arbitrage of {each.profit_share:.1%}"
            message = Message(_APP, "arbitrage", title, text, f"/bets/games/{each.game_id}")
            key = f"bets/arbitrage/{each.game_id}/{each.market_key}/{books}"
            noted += bool(await self._means.notifier.tell(message, key))
        for line in await self._shopping.stale_lines(sport):
            text = f"{line.outcome.name} {line.outcome.price:+d}, worth {line.fair:.1%}"
            title = f"{line.bookmaker} has not moved"
            message = Message(_APP, "stale line", title, text, f"/bets/games/{line.game_id}")
            key = (
                f"bets/stale/{line.game_id}/{line.bookmaker}/{line.market_key}/"
                f"{line.outcome.name}/{line.outcome.price}"
            )
            noted += bool(await self._means.notifier.tell(message, key))
        return noted

    async def tell(self, consequence: Consequence) -> None:
        """Tell one person what was noted for them."""
        told = msgspec.json.decode(consequence.body, type=Told)
        await self._means.events.record(
            _APP, "favourite", told.text, href=told.href, user_id=told.user_id
        )
