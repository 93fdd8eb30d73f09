"""The platform's own tables: leases and change consumers."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final, Self

from grandstand.storage.tables.declaration.entity import Entity
from grandstand.storage.tables.declaration.fields import attribute, ttl
from grandstand.storage.tables.declaration.table import Table
from grandstand.storage.tables.operations.item_ops import Get
from grandstand.storage.tables.operations.queries import key

leases: Final = Table(
    "grandstand-leases",
    partition="leaseKey",
    ttl="ttl",
    purpose="Who may work on what, until when, and how often that has changed hands.",
)

consumers: Final = Table(
    "grandstand-consumers",
    partition="consumer",
    sort="sourceTable",
    purpose="How far each consumer has read the changes of a table.",
)


class LeaseRecord(Entity, table=leases, names="camel", times="epoch_ms"):
    """A lease and its fencing counter; after a release it has no owner, but keeps the counter."""

    name: str
    owner: str | None = None
    nonce: str | None = None
    epoch: int = 0
    expires_at: datetime | None = None

    row = key("LEASE#{name}")

    @classmethod
    def one(cls, name: str) -> Get[Self]:
        """A lease by its name."""
        return cls.get(name=name).consistent()


class Flight(Entity, table=leases, names="camel", times="epoch_ms"):
    """A short lease on fetching something; deleted when released or expired."""

    name: str
    owner: str
    nonce: str
    expires_at: datetime
    gone_at: datetime | None = ttl(after=timedelta(hours=1), of="expires_at")

    row = key("FLIGHT#{name}")

    @classmethod
    def one(cls, name: str) -> Get[Self]:
        """Who is fetching something now."""
        return cls.get(name=name).consistent()


class Consumer(Entity, table=consumers, names="camel"):
    """How far a consumer has processed the changes of a table.

    `epoch` counts how often reading was started under this name; only the latest reader may move
    the position.
    """

    name: str = attribute("consumer")
    source: str = attribute("sourceTable")
    position: str
    epoch: int = 0
    moved_at: datetime | None = None

    row = key("{name}", "{source}")

    @classmethod
    def one(cls, name: str, source: str) -> Get[Self]:
        """A consumer of a table's changes."""
        return cls.get(name=name, source=source).consistent()


PLATFORM_TABLES: Final = (leases, consumers)
