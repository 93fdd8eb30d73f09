"""Kept here: the table of consequences, waiting, delivered or given up."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final, Literal, Self, TypeAlias

from grandstand.storage.tables.declaration.entity import Entity
from grandstand.storage.tables.declaration.fields import ttl
from grandstand.storage.tables.declaration.table import Index, Table
from grandstand.storage.tables.operations.checks import Check, field
from grandstand.storage.tables.operations.queries import Query, key
from grandstand.storage.tables.operations.single import Get, Put
from grandstand.storage.tables.operations.updates import Update

Stage: TypeAlias = Literal["waiting", "delivered", "dead"]

_DEAD: Final = "dead"
KEPT_DELIVERED: Final = timedelta(days=7)
KEPT_DEAD: Final = timedelta(days=30)

outbox: Final = Table(
    "grandstand-outbox",
    partition="topic",
    sort="idempotencyKey",
    ttl="ttl",
    indexes=(Index("Shelves", "shelf", "dueAt"),),
    purpose="Consequences that follow from writes: each is delivered at least once.",
)

OUTBOX_TABLES: Final = (outbox,)


def waiting_shelf(topic: str) -> str:
    """Answer where the consequences of a topic wait."""
    return f"waiting/{topic}"


class Consequence(Entity, table=outbox, names="camel", times="epoch_ms"):
    """Something to be done because something was written.

    Waiting, it is due at a moment; whoever delivers it moves that moment on first, so that nobody
    else does meanwhile. Delivered or dead, the moment is when that was. `shelf` is where it is
    looked for: by its topic while it waits, with all others once it is dead.
    """

    topic: str
    idempotency_key: str
    body: str
    created_at: datetime
    due_at: datetime
    stage: Stage = "waiting"
    shelf: str | None
    tries: int = 0
    last_error: str | None = None
    gone_at: datetime | None = ttl()

    row = key("{topic}", "{idempotency_key}")
    by_shelf = key("{shelf}", "{due_at}", index="Shelves")

    @property
    def place(self) -> tuple[str, str]:
        """What tells it from all others."""
        return self.topic, self.idempotency_key

    @classmethod
    def one(cls, topic: str, idempotency_key: str) -> Get[Self]:
        """A consequence by its topic and key."""
        return cls.get(topic=topic, idempotency_key=idempotency_key).consistent()

    @classmethod
    def waiting(cls, topic: str) -> Query[Self]:
        """What waits to be delivered of a topic, what is due first at the front."""
        return cls.by_shelf(shelf=waiting_shelf(topic)).oldest()

    @classmethod
    def dead(cls) -> Query[Self]:
        """What was given up, newest first."""
        return cls.by_shelf(shelf=_DEAD).newest()

    def write(self) -> Put[Self]:
        """Write a consequence whose key is new."""
        return self.put().if_absent()

    def claim(self, until: datetime) -> Update[Self]:
        """Keep others from delivering it until a moment, if nobody has since it was read."""
        mine = type(self).update(**self.identity()).set(shelf=self.shelf, due_at=until)
        return mine.add(tries=1).when(self._as_read())

    def delivered(self, now: datetime) -> Update[Self]:
        """Say that it was delivered."""
        return (
            type(self)
            .update(**self.identity())
            .set(stage="delivered", shelf=None, due_at=now)
            .set(last_error=None, gone_at=now + KEPT_DELIVERED)
        )

    def postpone(self, until: datetime, error: str) -> Update[Self]:
        """Say why it was not delivered, and when it is tried again, unless it was meanwhile."""
        later = type(self).update(**self.identity())
        return later.set(shelf=self.shelf, due_at=until, last_error=error).when(self._as_read())

    def give_up(self, now: datetime, error: str) -> Update[Self]:
        """Say why it is not tried any more, unless it was delivered meanwhile."""
        dead = type(self).update(**self.identity())
        dead = dead.set(stage="dead", shelf=_DEAD, due_at=now)
        return dead.set(last_error=error, gone_at=now + KEPT_DEAD).when(self._as_read())

    @classmethod
    def again(cls, topic: str, idempotency_key: str, now: datetime) -> Update[Self]:
        """Let what was given up be tried once more from the beginning."""
        revived = cls.update(topic=topic, idempotency_key=idempotency_key)
        revived = revived.set(stage="waiting", shelf=waiting_shelf(topic), due_at=now)
        return revived.set(tries=0, gone_at=None).when(Consequence.stage == "dead")

    def _as_read(self) -> Check:
        return (field(Consequence.stage) == "waiting") & (field(Consequence.due_at) == self.due_at)
