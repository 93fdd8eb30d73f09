"""Kept here: everything bets keeps of one person, to be taken along or erased."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from grandstand.apps.bets.service.building.datasets import Datasets
from grandstand.apps.bets.service.means import Means
from grandstand.apps.bets.service.money.restraint import book_of
from grandstand.apps.bets.store import (
    Backtest,
    Dataset,
    DatasetPart,
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
from grandstand.kit.plain import plain


class BetsBelongings:
    """What bets keeps of one person: models, bets and their book, limits, tables, teams."""

    def __init__(self, means: Means) -> None:
        self._means = means

    async def export(self, user_id: str) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Answer everything kept of a person: a kind and a plain value each."""
        each = self._means.each
        async for model in each(UserModel.of_user(user_id)):
            yield "model", plain(model)
        async for wager in each(Wager.of_user(user_id)):
            yield "bet", plain(wager)
        async for team in each(FavouriteTeam.of_user(user_id)):
            yield "favourite team", plain(team)
        async for table in each(Dataset.of_user(user_id)):
            yield "table of figures", plain(table)
            async for part in each(DatasetPart.of_dataset(table.dataset_id)):
                yield "rows of figures", plain(part)
        async for test in each(Backtest.of_user(user_id)):
            yield "back-test", plain(test)
        async for tried in each(Trials.of_user(user_id)):
            yield "tries", plain(tried)
        limits = await self._means.store(KeptLimits.of_user(user_id))
        if limits is not None:
            yield "limits", plain(limits)
        async for entry in each(LedgerEntry.of_book(book_of(user_id))):
            yield "ledger entry", plain(entry)

    async def erase(self, user_id: str) -> int:
        """Erase everything kept of a person and answer how many things that were."""
        store, each, gone = self._means.store, self._means.each, 0
        slots = [one async for one in each(ModelSlot.of_user(user_id))]
        # The index may not tell of a model that was just made; the place it takes does.
        models = {slot.model_id for slot in slots}
        models |= {one.model_id async for one in each(UserModel.of_user(user_id))}
        for model_id in sorted(models):
            gone += await store(UserModel.remove(user_id, model_id)) is not None
        for slot in slots:
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
