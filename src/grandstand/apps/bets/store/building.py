"""Kept here: people's own figures, the back-tests they ran and how often they tried."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Self

from grandstand.apps.bets.store.table import bets
from grandstand.storage.tables import Delete, Entity, Get, Put, Query, Update, key


class Dataset(Entity, table=bets, times="seconds"):
    """A table of figures a person brought; its rows are kept apart, some at a time."""

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
        """A person's tables."""
        return cls.row(user_id=user_id)

    @classmethod
    def one(cls, user_id: str, dataset_id: str) -> Get[Self]:
        """One of a person's tables."""
        return cls.get(user_id=user_id, dataset_id=dataset_id)

    def create(self) -> Put[Self]:
        """Keep a table whose rows are there."""
        return self.put().if_absent()

    @classmethod
    def remove(cls, user_id: str, dataset_id: str) -> Delete[Self]:
        """Remove one of a person's tables."""
        return cls.delete(user_id=user_id, dataset_id=dataset_id)


class DatasetPart(Entity, table=bets, times="seconds"):
    """Some rows of a table of figures, as JSON."""

    dataset_id: str
    part: str
    content: str

    row = key("DATASET_ROWS#{dataset_id}", "{part}")

    @classmethod
    def of_dataset(cls, dataset_id: str) -> Query[Self]:
        """The rows of a table, in order."""
        return cls.row(dataset_id=dataset_id)

    def keep(self) -> Put[Self]:
        """Keep some rows."""
        return self.put()

    def drop(self) -> Delete[Self]:
        """Remove some rows."""
        return type(self).delete(**self.identity())


class Backtest(Entity, table=bets, times="seconds"):
    """A back-test as it was run, as JSON; its id begins with when that was."""

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
        """A person's back-tests, newest first."""
        return cls.row(user_id=user_id).newest()

    @classmethod
    def one(cls, user_id: str, backtest_id: str) -> Get[Self]:
        """One of a person's back-tests."""
        return cls.get(user_id=user_id, backtest_id=backtest_id)

    def record(self) -> Put[Self]:
        """Keep a back-test."""
        return self.put().if_absent()

    @classmethod
    def remove(cls, user_id: str, backtest_id: str) -> Delete[Self]:
        """Remove one of a person's back-tests."""
        return cls.delete(user_id=user_id, backtest_id=backtest_id)


class Trials(Entity, table=bets, times="seconds"):
    """How often a person tried something on a sport's past, and how the tries spread."""

    user_id: str
    sport: str
    tries: int = 0
    sharpe_sum: Decimal = Decimal(0)
    sharpe_squares: Decimal = Decimal(0)

    row = key("TRIALS#{user_id}", "{sport}")

    @classmethod
    def of_user(cls, user_id: str) -> Query[Self]:
        """How often a person tried, by sport."""
        return cls.row(user_id=user_id)

    @classmethod
    def count(cls, user_id: str, sport: str, sharpe: Decimal) -> Update[Self]:
        """Count a try and its Sharpe ratio."""
        tried = cls.update(user_id=user_id, sport=sport).upsert()
        return tried.add(tries=1, sharpe_sum=sharpe, sharpe_squares=sharpe * sharpe)

    @classmethod
    def forget(cls, user_id: str, sport: str) -> Delete[Self]:
        """Erase a person's count."""
        return cls.delete(user_id=user_id, sport=sport)
