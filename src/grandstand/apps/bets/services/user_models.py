"""User models, their datasets, and the export and erasure of a user's data."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from typing import Annotated, Any, Final

from pydantic import Field, PlainSerializer

from grandstand.apps.bets.domain.records import CustomDataRow, ModelStatus, slug
from grandstand.apps.bets.services.database import (
    Database,
    ExactNumber,
    check_sport,
    copy_as,
    round4,
)
from grandstand.apps.bets.services.forecasts import HistoryLoader, user_model_name, user_predictor
from grandstand.apps.bets.services.ledger import user_book
from grandstand.apps.bets.services.predictions import Pick, to_pick
from grandstand.apps.bets.settings import BetsSettings
from grandstand.apps.bets.sources.data_files import CustomRow, parse_custom_data
from grandstand.apps.bets.store.predictions import Analysis
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
from grandstand.core.errors import InvalidInput, LimitReached, NotFound
from grandstand.kit.auth.caller import Caller
from grandstand.kit.auth.personal_data import to_jsonable
from grandstand.kit.cursors import Page
from grandstand.storage.tables.errors import ConditionFailed
from grandstand.storage.tables.operations.queries import ReadQuery

_MAX_ATTEMPTS: Final = 5


class TooManyModels(LimitReached):
    """The user has the maximum number of models."""

    code = "too-many-models"

    retry = False


@dataclass(frozen=True, slots=True)
class UserModelRequest:
    """The requested model; the weights of its data sources add up to 1."""

    name: str
    sport: str
    bet_types: tuple[str, ...]
    data_sources: dict[str, Decimal]
    min_confidence: Decimal
    description: str = ""
    auto_adjust_weights: bool = False
    datasets: dict[str, Decimal] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WeightedSource:
    """The weight of a data source."""

    enabled: bool
    weight: float


@dataclass(frozen=True, slots=True)
class WeightedDataset:
    """The weight of a dataset."""

    id: str
    weight: float


def _source_weights(weights: dict[str, Decimal]) -> dict[str, WeightedSource]:
    return {name: WeightedSource(True, float(weight)) for name, weight in weights.items()}


def _dataset_weights(weights: dict[str, Decimal]) -> tuple[WeightedDataset, ...]:
    return tuple(WeightedDataset(name, float(weight)) for name, weight in weights.items())


@dataclass(frozen=True, slots=True)
class UserModelView:
    """A model of a user."""

    model_id: str
    name: str
    description: str
    sport: str
    bet_types: tuple[str, ...]
    data_sources: Annotated[
        dict[str, Decimal],
        PlainSerializer(_source_weights, return_type=dict[str, WeightedSource]),
    ]
    datasets: Annotated[
        dict[str, Decimal],
        PlainSerializer(_dataset_weights, return_type=tuple[WeightedDataset, ...]),
        Field(serialization_alias="custom_datasets"),
    ]
    min_confidence: ExactNumber
    status: ModelStatus
    auto_adjust_weights: bool
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class DatasetView:
    """An uploaded dataset; `subject` is team or player."""

    dataset_id: str
    name: str
    sport: str
    subject: Annotated[str, Field(serialization_alias="data_type")]
    columns: tuple[str, ...]
    rows: Annotated[int, Field(serialization_alias="row_count")]
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class UserModelService:
    """The models of users. To everybody but the owner a model does not exist."""

    db: Database
    settings: BetsSettings

    async def list_models(self, caller: Caller) -> tuple[UserModelView, ...]:
        """Return the caller's models by name."""
        models = [
            user_model_view(row) async for row in self.db.each(UserModel.of_user(caller.user_id))
        ]
        return tuple(sorted(models, key=lambda item: (item.name, item.model_id)))

    async def get(self, caller: Caller, model_id: str) -> UserModelView:
        """Return one of the caller's models.

        Raises NotFound if there is no such model.
        """
        return user_model_view(await self.row(caller, model_id))

    async def row(self, caller: Caller, model_id: str) -> UserModel:
        """Return the stored row of a model.

        Raises NotFound if there is no such model.
        """
        model = await self.db.store(UserModel.by_id(caller.user_id, model_id).consistent())
        if model is None:
            raise NotFound(f"Model {model_id!r} does not exist.")
        return model

    async def create(self, caller: Caller, draft: UserModelRequest) -> UserModelView:
        """Store a new model.

        Raises InvalidInput if it is invalid, TooManyModels if the caller has the maximum number.
        """
        model_id = self.db.new_id()
        row = await self.validate(caller, draft, model_id)
        for _ in range(_MAX_ATTEMPTS):
            slots = [slot async for slot in self.db.each(ModelSlot.of_user(caller.user_id))]
            free = sorted({str(n) for n in range(self._limit)} - {slot.slot for slot in slots})
            if not free:
                raise TooManyModels(
                    f"You have the maximum of {self._limit} models. Delete one first."
                )
            slot = ModelSlot(user_id=caller.user_id, slot=free[0], model_id=model_id)
            if await self.db.try_transaction(slot.claim(), row.create()):
                return user_model_view(row)
        raise TooManyModels("Several models are being created at once. Try again.")

    @property
    def _limit(self) -> int:
        return self.settings.user_models

    async def update(self, caller: Caller, model_id: str, draft: UserModelRequest) -> UserModelView:
        """Change a model.

        Raises NotFound if there is no such model, InvalidInput if the change is invalid.
        """
        before = await self.row(caller, model_id)
        row = await self.validate(caller, draft, model_id)
        revised = row.replace(created_at=before.created_at, status=before.status)
        try:
            await self.db.store(revised.revise())
        except ConditionFailed as gone:
            raise NotFound(f"Model {model_id!r} does not exist.") from gone
        return user_model_view(revised)

    async def set_paused(self, caller: Caller, model_id: str, *, paused: bool) -> UserModelView:
        """Pause or resume a model.

        Raises NotFound if there is no such model.
        """
        await self.row(caller, model_id)
        status = UserModel.set_status(
            caller.user_id, model_id, "paused" if paused else "active", self.db.now()
        )
        return user_model_view(await self.db.store(status))

    async def delete(self, caller: Caller, model_id: str) -> None:
        """Delete a model and free its slot. Its predictions stay on record.

        Raises NotFound if there is no such model.
        """
        await self.row(caller, model_id)
        slots = [
            slot
            async for slot in self.db.each(ModelSlot.of_user(caller.user_id))
            if slot.model_id == model_id
        ]
        removal = UserModel.remove(caller.user_id, model_id)
        await self.db.store.all(removal, *(slot.release() for slot in slots))

    async def picks(
        self, caller: Caller, model_id: str, *, limit: int = 20, after: str | None = None
    ) -> Page[Pick]:
        """Return a model's picks for upcoming games at the first configured bookmaker."""
        model = await self.row(caller, model_id)
        bookmaker = self.settings.bookmakers[0]
        name, now = user_model_name(model_id), self.db.now()
        query = Analysis.picks(model.sport, bookmaker, name, now)
        page = await self.db.store.page(query, limit, after=after)
        return Page(tuple(to_pick(row) for row in page.items), page.cursor)

    async def validate(self, caller: Caller, draft: UserModelRequest, model_id: str) -> UserModel:
        """Return the row of a requested model.

        Raises InvalidInput with the first reason it is invalid.
        """
        now = self.db.now()
        if draft.sport not in self.settings.sports:
            sports = ", ".join(self.settings.sports)
            raise InvalidInput(f"Unknown sport {draft.sport!r}. Enabled sports: {sports}.")
        for dataset_id in draft.datasets:
            if await self.db.store(Dataset.by_id(caller.user_id, dataset_id)) is None:
                raise InvalidInput(f"Dataset {dataset_id!r} does not exist.")
        row = UserModel(
            user_id=caller.user_id,
            model_id=model_id,
            name=draft.name.strip(),
            sport=draft.sport,
            bet_types=draft.bet_types,
            data_sources=draft.data_sources,
            min_confidence=draft.min_confidence,
            auto_adjust_weights=draft.auto_adjust_weights or None,
            description=draft.description.strip() or None,
            datasets=draft.datasets or None,
            created_at=now,
            updated_at=now,
        )
        try:
            user_predictor(row)
        except InvalidInput as fault:
            raise InvalidInput(str(fault)) from fault
        return row


@dataclass(frozen=True, slots=True, kw_only=True)
class UserModelWeightAdjuster:
    """Adjusts the source weights of the models whose owners allow it, weekly."""

    db: Database
    settings: BetsSettings
    history: HistoryLoader

    async def run(self) -> int:
        """Adjust the weights and return the number of changed models."""
        changed = 0
        for sport in self.settings.sports:
            rows = [row async for row in self.db.each(UserModel.of_sport(sport))]
            for row in rows:
                if row.auto_adjust_weights:
                    changed += await self._adjust(row)
        return changed

    async def _adjust(self, row: UserModel) -> bool:
        from grandstand.apps.bets.domain.user_models import adjust_weights

        now = self.db.now()
        since = now - timedelta(days=31)
        record = await self.history.record(row.sport, user_model_name(row.model_id), since)
        before = {name: float(weight) for name, weight in row.data_sources.items()}
        weights = exact_weights(adjust_weights(before, record, now), row.data_sources)
        if weights == row.data_sources:
            return False
        try:
            await self.db.store(UserModel.set_weights(row.user_id, row.model_id, weights, now))
        except ConditionFailed:
            return False
        return True


def exact_weights(weights: dict[str, float], before: dict[str, Decimal]) -> dict[str, Decimal]:
    """Round weights to four places, keeping their sum."""
    if weights == {name: float(value) for name, value in before.items()}:
        return before
    exact = {name: round4(value) for name, value in weights.items()}
    largest = max(exact, key=lambda name: exact[name])
    exact[largest] += sum(before.values(), Decimal(0)) - sum(exact.values(), Decimal(0))
    return exact


def user_model_view(row: UserModel) -> UserModelView:
    return copy_as(
        UserModelView,
        row,
        description=row.description or "",
        datasets=dict(row.datasets or {}),
        auto_adjust_weights=bool(row.auto_adjust_weights),
    )


_MAX_BYTES: Final = 4_000_000
_MAX_DATASETS: Final = 20
_ROWS_PER_PART: Final = 200
_MAX_NAME: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetService:
    """Uploaded datasets. To everybody but the owner a dataset does not exist."""

    db: Database
    settings: BetsSettings

    async def list_datasets(self, caller: Caller) -> tuple[DatasetView, ...]:
        """Return the caller's datasets by name."""
        datasets = [
            copy_as(DatasetView, row) async for row in self.db.each(Dataset.of_user(caller.user_id))
        ]
        return tuple(sorted(datasets, key=lambda item: (item.name, item.dataset_id)))

    async def add(self, caller: Caller, name: str, sport: str, content: bytes) -> DatasetView:
        """Store a dataset, completely or not at all.

        The rows are written before the dataset, so that a dataset without rows is never visible.

        Raises:
        InvalidInput if the file is invalid or a limit is exceeded.
        """
        if not name.strip() or len(name) > _MAX_NAME:
            raise InvalidInput(f"The name must have 1 to {_MAX_NAME} characters.")
        if len(content) > _MAX_BYTES:
            raise InvalidInput(
                f"The file is too large: {len(content):,} of at most {_MAX_BYTES:,} bytes."
            )
        if len(await self.list_datasets(caller)) >= _MAX_DATASETS:
            raise InvalidInput(
                f"You have the maximum of {_MAX_DATASETS} datasets. Remove one first."
            )
        try:
            max_rows = self.settings.dataset_rows
            table = await asyncio.to_thread(parse_custom_data, content, name, max_rows)
        except InvalidInput as fault:
            raise InvalidInput(str(fault)) from fault
        check_sport(self.settings, sport)
        dataset_id = self.db.new_id()
        parts = [
            table.rows[at : at + _ROWS_PER_PART] for at in range(0, len(table.rows), _ROWS_PER_PART)
        ]
        await self.db.store.write_many(
            DatasetPart(
                dataset_id=dataset_id, part=f"{number:06d}", content=_encode_rows(lines)
            ).save()
            for number, lines in enumerate(parts)
        )
        row = Dataset(
            user_id=caller.user_id,
            dataset_id=dataset_id,
            name=name.strip(),
            sport=sport,
            subject=table.kind,
            columns=table.columns,
            rows=len(table.rows),
            parts=len(parts),
            created_at=self.db.now(),
        )
        await self.db.store(row.create())
        return copy_as(DatasetView, row)

    async def remove(self, caller: Caller, dataset_id: str) -> None:
        """Remove a dataset, then its rows.

        Raises NotFound if there is no such dataset.
        """
        if await self.db.store(Dataset.remove(caller.user_id, dataset_id)) is None:
            raise NotFound(f"Dataset {dataset_id!r} does not exist.")
        await self.drop_rows(dataset_id)

    async def drop_rows(self, dataset_id: str) -> None:
        """Remove the rows of a removed dataset."""
        parts = [part async for part in self.db.each(DatasetPart.of_dataset(dataset_id))]
        await self.db.store.write_many(part.remove() for part in parts)

    async def facts(self, user_id: str, dataset_id: str) -> AsyncIterator[CustomDataRow]:
        """Yield the rows of a dataset as facts, known at the end of their day.

        A row without a date is known from the upload on, so never in the past.
        """
        table = await self.db.store(Dataset.by_id(user_id, dataset_id))
        if table is None:
            return
        async for part in self.db.each(DatasetPart.of_dataset(dataset_id)):
            for subject, on, values in json.loads(part.content):
                at = table.created_at
                if on:
                    at = datetime.combine(datetime.fromisoformat(on).date(), time.max, UTC)
                yield CustomDataRow(dataset_id, slug(subject), values, at, at)


def _encode_rows(lines: tuple[CustomRow, ...]) -> str:
    return json.dumps(
        [
            (
                line.subject,
                "" if line.day is None else line.day.isoformat(),
                {name: float(value) for name, value in line.stats.items()},
            )
            for line in lines
        ]
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BetsPersonalData:
    """Models, wagers with their book, limits, datasets and favorites of a user."""

    db: Database
    datasets: DatasetService

    async def export(self, user_id: str) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Yield everything stored about a user as (kind, JSON-ready record)."""
        owned: tuple[tuple[str, ReadQuery[Any]], ...] = (
            ("model", UserModel.of_user(user_id)),
            ("bet", Wager.of_user(user_id)),
            ("favorite team", FavoriteTeam.of_user(user_id)),
            ("dataset", Dataset.of_user(user_id)),
            ("backtest", Backtest.of_user(user_id)),
            ("backtest trials", BacktestTrials.of_user(user_id)),
            ("ledger entry", LedgerEntry.of_book(user_book(user_id))),
        )
        for kind, query in owned:
            async for row in self.db.each(query):
                yield kind, to_jsonable(row)
                if isinstance(row, Dataset):
                    async for part in self.db.each(DatasetPart.of_dataset(row.dataset_id)):
                        yield "dataset rows", to_jsonable(part)
        limits = await self.db.store(BettingLimits.of_user(user_id))
        if limits is not None:
            yield "limits", to_jsonable(limits)

    async def erase(self, user_id: str) -> int:
        """Erase everything stored about a user and return the number of records."""
        store, each, book, erased = self.db.store, self.db.each, user_book(user_id), 0
        slots = [slot async for slot in each(ModelSlot.of_user(user_id))]
        # The index may lag behind a model that was just created; its slot does not.
        models = {slot.model_id for slot in slots}
        models |= {model.model_id async for model in each(UserModel.of_user(user_id))}
        for model_id in sorted(models):
            erased += await store(UserModel.remove(user_id, model_id)) is not None
        for slot in slots:
            await store(slot.release())
        # The book goes too: it shows what the user bet and when.
        owned: tuple[ReadQuery[Any], ...] = (
            Wager.of_user(user_id),
            FavoriteTeam.of_user(user_id),
            Dataset.of_user(user_id),
            Backtest.of_user(user_id),
            LedgerEntry.of_book(book),
        )
        for row in [row for query in owned async for row in each(query)]:
            if isinstance(row, LedgerEntry):
                await store(LedgerMark.remove(book, row.event))
            await store(type(row).delete(**row.identity()))
            if isinstance(row, Dataset):
                await self.datasets.drop_rows(row.dataset_id)
            erased += 1
        for trials in [trials async for trials in each(BacktestTrials.of_user(user_id))]:
            await store(BacktestTrials.remove(user_id, trials.sport))
        await store(LedgerHead.remove(book))
        await store(LedgerBook.remove(book))
        return erased + (await store(BettingLimits.remove(user_id)) is not None)
