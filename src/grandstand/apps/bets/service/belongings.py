"""Kept here: everything bets keeps of one person, to be taken along or erased."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from grandstand.apps.bets.service.datasets import Datasets
from grandstand.apps.bets.service.means import Means
from grandstand.apps.bets.service.restraint import book_of
from grandstand.apps.bets.store import (
    Backtest,
    Dataset,
    FavouriteTeam,
    KeptLimits,
    LedgerBook,
    LedgerEntry,
    LedgerHead,
    LedgerMark,
    ModelSlot,
    Trials,
    UserModel,
    Wager,
)


class BetsBelongings:
    """What bets keeps of one person: models, bets and their book, limits, tables, teams."""

    def __init__(self, means: Means) -> None:
        self._means = means

    async def export(self, user_id: str) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Answer everything kept of a person: a kind and a plain value each."""
        async for model in self._means.each(UserModel.of_user(user_id)):
            yield (
                "model",
                {
                    "modelId": model.model_id,
                    "name": model.name,
                    "sport": model.sport,
                    "dataSources": {k: str(v) for k, v in model.data_sources.items()},
                },
            )
        async for wager in self._means.each(Wager.of_user(user_id)):
            yield "bet", _bet(wager)
        async for team in self._means.each(FavouriteTeam.of_user(user_id)):
            yield "favourite team", {"sport": team.sport, "team": team.team}
        async for table in self._means.each(Dataset.of_user(user_id)):
            yield "table of figures", {"name": table.name, "rows": table.rows}
        async for test in self._means.each(Backtest.of_user(user_id)):
            yield "back-test", {"model": test.name, "at": test.created_at.isoformat()}
        limits = await self._means.store(KeptLimits.of_user(user_id))
        if limits is not None:
            yield (
                "limits",
                {
                    "stakePerBetCents": limits.stake_per_bet_cents,
                    "stakePerDayCents": limits.stake_per_day_cents,
                    "lossPerWeekCents": limits.loss_per_week_cents,
                },
            )

    async def erase(self, user_id: str) -> int:
        """Erase everything kept of a person and answer how many things that were."""
        store, each, gone = self._means.store, self._means.each, 0
        for model in [one async for one in each(UserModel.of_user(user_id))]:
            await store(UserModel.remove(user_id, model.model_id))
            gone += 1
        for slot in [one async for one in each(ModelSlot.of_user(user_id))]:
            await store(slot.free())
        for wager in [one async for one in each(Wager.of_user(user_id))]:
            await store(wager.drop())
            gone += 1
        for team in [one async for one in each(FavouriteTeam.of_user(user_id))]:
            await store(FavouriteTeam.unlike(user_id, team.sport, team.team))
            gone += 1
        for table in [one async for one in each(Dataset.of_user(user_id))]:
            await store(Dataset.remove(user_id, table.dataset_id))
            await Datasets(self._means).drop_rows(table.dataset_id)
            gone += 1
        for test in [one async for one in each(Backtest.of_user(user_id))]:
            await store(Backtest.remove(user_id, test.backtest_id))
            gone += 1
        for tried in [one async for one in each(Trials.of_user(user_id))]:
            await store(Trials.forget(user_id, tried.sport))
        if await store(KeptLimits.forget(user_id)) is not None:
            gone += 1
        return gone + await self._erase_book(book_of(user_id))

    async def _erase_book(self, book: str) -> int:
        """Erase a person's own book with the rest: it says what they bet and when."""
        store = self._means.store
        entries = [one async for one in self._means.each(LedgerEntry.of_book(book))]
        for entry in entries:
            await store(LedgerMark.forget(book, entry.event))
            await store(entry.erase())
        await store(LedgerHead.forget(book))
        await store(LedgerBook.forget(book))
        return len(entries)


def _bet(wager: Wager) -> dict[str, Any]:
    return {
        "wagerId": wager.wager_id,
        "game": f"{wager.home_team} against {wager.away_team}",
        "prediction": wager.prediction,
        "price": wager.odds,
        "stakeCents": wager.stake_cents,
        "placedAt": wager.placed_at.isoformat(),
        "status": wager.status,
        "profitCents": wager.profit_cents,
        "note": wager.note,
    }
