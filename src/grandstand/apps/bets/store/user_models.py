"""Stored user models, their datasets and backtests."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Self

from grandstand.apps.bets.domain.records import ModelStatus
from grandstand.apps.bets.store import bets
from grandstand.storage.tables import Delete, Entity, Get, Put, Query, Update, key


class UserModel(Entity, table=bets, times="seconds"):
    """A model a user built by weighting data sources."""

    user_id: str
    model_id: str
    name: str
    sport: str
    bet_types: tuple[str, ...]
    data_sources: dict[str, Decimal]
    min_confidence: Decimal
    status: ModelStatus = "active"
    auto_adjust_weights: bool | None = None
    description: str | None = None
    datasets: dict[str, Decimal] | None = None
    created_at: datetime
    updated_at: datetime

    row = key("USER_MODEL#{user_id}", "{model_id}")
    owned = key("{user_id}", "{model_id}", index="UserModelsIndex")
    by_sport = key("USER_MODELS#{sport}", "{user_id}#{model_id}", index="GSI1")

    @classmethod
    def of_user(cls, user_id: str) -> Query[Self]:
        """A user's models."""
        return cls.owned(user_id=user_id)

    @classmethod
    def of_sport(cls, sport: str) -> Query[Self]:
        """Every user's models of a sport."""
        return cls.by_sport(sport=sport)

    @classmethod
    def by_id(cls, user_id: str, model_id: str) -> Get[Self]:
        """One of a user's models."""
        return cls.get(user_id=user_id, model_id=model_id)

    def create(self) -> Put[Self]:
        """Store a model that does not exist yet."""
        return self.put().if_absent()

    def revise(self) -> Put[Self]:
        """Replace a model that exists."""
        return self.put().if_present()

    @classmethod
    def set_weights(
        cls, user_id: str, model_id: str, data_sources: dict[str, Decimal], at: datetime
    ) -> Update[Self]:
        """Set the weights of a model's sources, if it allows adjustment."""
        model = cls.update(user_id=user_id, model_id=model_id)
        model = model.set(data_sources=data_sources, updated_at=at)
        return model.when(UserModel.auto_adjust_weights == True)  # noqa: E712 - a condition

    @classmethod
    def set_status(
        cls, user_id: str, model_id: str, status: ModelStatus, at: datetime
    ) -> Update[Self]:
        """Pause or resume a model."""
        return cls.update(user_id=user_id, model_id=model_id).set(status=status, updated_at=at)

    @classmethod
    def remove(cls, user_id: str, model_id: str) -> Delete[Self]:
        """Delete one of a user's models."""
        return cls.delete(user_id=user_id, model_id=model_id)


class ModelSlot(Entity, table=bets, times="seconds"):
    """One of a user's slots for models, and the model that occupies it."""

    user_id: str
    slot: str
    model_id: str

    row = key("USER_MODEL_SLOT#{user_id}", "{slot}")

    @classmethod
    def of_user(cls, user_id: str) -> Query[Self]:
        """The slots a user has occupied, read consistently."""
        return cls.row(user_id=user_id).consistent()

    def claim(self) -> Put[Self]:
        """Claim a free slot, in the transaction that creates the model."""
        return self.put().if_absent()

    def release(self) -> Delete[Self]:
        """Release a slot, in the transaction that deletes the model."""
        return type(self).delete(**self.identity())


class Dataset(Entity, table=bets, times="seconds"):
    """A user's dataset; its rows are stored separately in parts."""

    user_id: str
    dataset_id: str
    name: str
    sport: str
    subject: str
    columns: tuple[str, ...]
    rows: int
    parts: int
    created_at: datetime

    row = key("DATASET#{user_id}", "{dataset_id}")

    @classmethod
    def of_user(cls, user_id: str) -> Query[Self]:
        """A user's datasets."""
        return cls.row(user_id=user_id)

    @classmethod
    def by_id(cls, user_id: str, dataset_id: str) -> Get[Self]:
        """One of a user's datasets."""
        return cls.get(user_id=user_id, dataset_id=dataset_id)

    def create(self) -> Put[Self]:
        """Store a dataset whose rows exist."""
        return self.put().if_absent()

    @classmethod
    def remove(cls, user_id: str, dataset_id: str) -> Delete[Self]:
        """Delete one of a user's datasets."""
        return cls.delete(user_id=user_id, dataset_id=dataset_id)


class DatasetPart(Entity, table=bets, times="seconds"):
    """Some rows of a dataset, as JSON."""

    dataset_id: str
    part: str
    content: str

    row = key("DATASET_ROWS#{dataset_id}", "{part}")

    @classmethod
    def of_dataset(cls, dataset_id: str) -> Query[Self]:
        """The rows of a dataset, in order."""
        return cls.row(dataset_id=dataset_id)

    def save(self) -> Put[Self]:
        """Store some rows."""
        return self.put()

    def remove(self) -> Delete[Self]:
        """Delete some rows."""
        return type(self).delete(**self.identity())


class Backtest(Entity, table=bets, times="seconds"):
    """A completed backtest, as JSON; its id begins with the time of the run."""

    user_id: str
    backtest_id: str
    model: str
    name: str
    sport: str
    created_at: datetime
    content: str

    row = key("BACKTEST#{user_id}", "{backtest_id}")

    @classmethod
    def of_user(cls, user_id: str) -> Query[Self]:
        """A user's backtests, newest first."""
        return cls.row(user_id=user_id).newest()

    @classmethod
    def by_id(cls, user_id: str, backtest_id: str) -> Get[Self]:
        """One of a user's backtests."""
        return cls.get(user_id=user_id, backtest_id=backtest_id)

    def record(self) -> Put[Self]:
        """Store a backtest."""
        return self.put().if_absent()


class BacktestTrials(Entity, table=bets, times="seconds"):
    """How many backtests a user ran on a sport, and the spread of their Sharpe ratios."""

    user_id: str
    sport: str
    tries: int = 0
    sharpe_sum: Decimal = Decimal(0)
    sharpe_squares: Decimal = Decimal(0)

    row = key("TRIALS#{user_id}", "{sport}")

    @classmethod
    def of_user(cls, user_id: str) -> Query[Self]:
        """A user's trials by sport."""
        return cls.row(user_id=user_id)

    @classmethod
    def count(cls, user_id: str, sport: str, sharpe: Decimal) -> Update[Self]:
        """Count a trial and its Sharpe ratio."""
        update = cls.update(user_id=user_id, sport=sport).upsert()
        return update.add(tries=1, sharpe_sum=sharpe, sharpe_squares=sharpe * sharpe)

    @classmethod
    def remove(cls, user_id: str, sport: str) -> Delete[Self]:
        """Delete a user's trials."""
        return cls.delete(user_id=user_id, sport=sport)
