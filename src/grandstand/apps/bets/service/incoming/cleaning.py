"""Kept here: removing prices of games that never came to a result."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from grandstand.apps.bets.service.means import Means
from grandstand.apps.bets.store import (
    Awaited,
    BennyBet,
    GameOdds,
    GameOutcome,
    PropOdds,
    Wager,
)
from grandstand.storage.tables import Delete

_A_WEEK: Final = timedelta(days=7)


class Cleaning:
    """Removes prices a week past the start without a result; what anybody bet on stays."""

    def __init__(self, means: Means) -> None:
        self._means = means

    async def run(self) -> int:
        """Clean up after every sport; answer how many prices were removed."""
        removed, before = 0, self._means.now() - _A_WEEK
        for sport in self._means.settings.sports:
            waiting = [one async for one in self._means.each(Awaited.begun(sport, before))]
            for each in waiting:
                removed += await self._game(each)
        return removed

    async def _game(self, awaited: Awaited) -> int:
        if await self._has_result(awaited) or await self._is_bet_on(awaited.game_id):
            return 0
        game_id = awaited.game_id
        drops: list[Delete[GameOdds] | Delete[PropOdds]] = []
        drops += [row.drop() async for row in self._means.each(GameOdds.of_game(game_id))]
        drops += [row.drop() async for row in self._means.each(PropOdds.of_game(game_id))]
        await self._means.store.write_many(drops)
        return len(drops)

    async def _has_result(self, awaited: Awaited) -> bool:
        told = GameOutcome.final(awaited.sport, awaited.game_id)
        return bool(await self._means.store(told))

    async def _is_bet_on(self, game_id: str) -> bool:
        """Tell whether money waits for a game; its prices stay until that is settled or void."""
        wagers = await self._means.store.page(Wager.of_game(game_id), 1)
        bets = await self._means.store.page(BennyBet.of_game(game_id), 1)
        return bool(wagers.items or bets.items)
