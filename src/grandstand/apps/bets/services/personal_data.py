"""Export and erasure of a user's data."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from grandstand.apps.bets.services.database import Database
from grandstand.apps.bets.services.limits import user_book
from grandstand.apps.bets.services.user_models import DatasetService
from grandstand.apps.bets.store.user_models import (
    Backtest,
    BacktestTrials,
    Dataset,
    DatasetPart,
    ModelSlot,
    UserModel,
)
from grandstand.apps.bets.store.wagers import (
    BettingLimits,
    FavoriteTeam,
    LedgerBook,
    LedgerEntry,
    LedgerHead,
    LedgerMark,
    Wager,
)
from grandstand.kit.auth.personal_data import to_jsonable


class BetsPersonalData:
    """Models, wagers with their book, limits, datasets and favorites of a user."""

    def __init__(self, *, db: Database, datasets: DatasetService) -> None:
        self._db = db
        self._datasets = datasets

    async def export(self, user_id: str) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Yield everything stored about a user as (kind, JSON-ready record)."""
        each = self._db.each
        async for model in each(UserModel.of_user(user_id)):
            yield "model", to_jsonable(model)
        async for wager in each(Wager.of_user(user_id)):
            yield "bet", to_jsonable(wager)
        async for team in each(FavoriteTeam.of_user(user_id)):
            yield "favorite team", to_jsonable(team)
        async for table in each(Dataset.of_user(user_id)):
            yield "dataset", to_jsonable(table)
            async for part in each(DatasetPart.of_dataset(table.dataset_id)):
                yield "dataset rows", to_jsonable(part)
        async for test in each(Backtest.of_user(user_id)):
            yield "backtest", to_jsonable(test)
        async for trials in each(BacktestTrials.of_user(user_id)):
            yield "backtest trials", to_jsonable(trials)
        limits = await self._db.store(BettingLimits.of_user(user_id))
        if limits is not None:
            yield "limits", to_jsonable(limits)
        async for entry in each(LedgerEntry.of_book(user_book(user_id))):
            yield "ledger entry", to_jsonable(entry)

    async def erase(self, user_id: str) -> int:
        """Erase everything stored about a user and return the number of records."""
        store, each, erased = self._db.store, self._db.each, 0
        slots = [slot async for slot in each(ModelSlot.of_user(user_id))]
        # The index may not tell of a model that was just made; the place it takes does.
        models = {slot.model_id for slot in slots}
        models |= {model.model_id async for model in each(UserModel.of_user(user_id))}
        for model_id in sorted(models):
            erased += await store(UserModel.remove(user_id, model_id)) is not None
        for slot in slots:
            await store(slot.release())
        for wager in [wager async for wager in each(Wager.of_user(user_id))]:
            await store(wager.remove())
            erased += 1
        for team in [team async for team in each(FavoriteTeam.of_user(user_id))]:
            await store(FavoriteTeam.remove(user_id, team.sport, team.team))
            erased += 1
        for table in [dataset async for dataset in each(Dataset.of_user(user_id))]:
            await store(Dataset.remove(user_id, table.dataset_id))
            await self._datasets.drop_rows(table.dataset_id)
            erased += 1
        for test in [backtest async for backtest in each(Backtest.of_user(user_id))]:
            await store(Backtest.remove(user_id, test.backtest_id))
            erased += 1
        for trials in [trials async for trials in each(BacktestTrials.of_user(user_id))]:
            await store(BacktestTrials.remove(user_id, trials.sport))
        if await store(BettingLimits.remove(user_id)) is not None:
            erased += 1
        return erased + await self._erase_book(user_book(user_id))

    async def _erase_book(self, book: str) -> int:
        """Erase a user's book too: it shows what they bet and when."""
        store = self._db.store
        entries = [entry async for entry in self._db.each(LedgerEntry.of_book(book))]
        for entry in entries:
            await store(LedgerMark.remove(book, entry.event))
            await store(entry.remove())
        await store(LedgerHead.remove(book))
        await store(LedgerBook.remove(book))
        return len(entries)
