"""Kept here: closing prices: the last of each bookmaker and market before the start."""

from __future__ import annotations

from datetime import datetime

from grandstand.apps.bets.service.means import Means
from grandstand.apps.bets.store import GameNote, GameOdds, HistoricalOdds, PropOdds
from grandstand.storage.tables.errors import ConditionFailed


class Archiving:
    """Archives closing prices, once, and takes what is over out of the index."""

    def __init__(self, means: Means) -> None:
        self._means = means

    async def archive(self, note: GameNote, now: datetime) -> tuple[HistoricalOdds, ...]:
        """Keep a game's closing prices and answer them; what was kept before stands."""
        last: dict[tuple[str, str, str | None], GameOdds | PropOdds] = {}
        standing: list[GameOdds | PropOdds] = []
        rows: list[GameOdds | PropOdds] = [
            row async for row in self._means.each(GameOdds.of_game(note.game_id))
        ]
        rows += [row async for row in self._means.each(PropOdds.of_game(note.game_id))]
        for row in sorted(rows, key=lambda each: each.captured_at):
            if row.captured_at < note.commence_time:
                player = row.player if isinstance(row, PropOdds) else None
                last[row.bookmaker, row.market_key, player] = row
            if row.latest:
                standing.append(row)
        for row in last.values():
            await self._keep(closing_of(row, note, now))
        for row in standing:
            await self._means.wrote(row.retire())
        return await self.closing(note.game_id)

    async def closing(self, game_id: str) -> tuple[HistoricalOdds, ...]:
        """Answer the closing prices of a game."""
        kept = self._means.each(HistoricalOdds.of_game(game_id))
        return tuple([row async for row in kept])

    async def _keep(self, row: HistoricalOdds) -> None:
        try:
            await self._means.store(row.archive())
        except ConditionFailed:
            return


def closing_of(row: GameOdds | PropOdds, note: GameNote, now: datetime) -> HistoricalOdds:
    """Answer a price as the closing one."""
    return HistoricalOdds(
        game_id=row.game_id,
        sport=row.sport,
        home_team=row.home_team,
        away_team=row.away_team,
        bookmaker=row.bookmaker,
        market_key=row.market_key,
        outcomes=row.outcomes,
        commence_time=note.commence_time,
        updated_at=row.captured_at,
        archived_at=now,
        player=row.player if isinstance(row, PropOdds) else None,
    )
