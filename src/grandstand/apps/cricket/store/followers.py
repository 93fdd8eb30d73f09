"""Kept here: what each person who follows matches has chosen."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Self

from grandstand.apps.cricket.model import EventKind
from grandstand.apps.cricket.model.alerts import AlertChoice
from grandstand.storage.tables import (
    Delete,
    Entity,
    Get,
    Table,
    Update,
    absent,
    field,
    key,
    ttl,
)

FOLLOWER_LIFETIME: Final = timedelta(days=400)

followers = Table(
    "cricket-followers",
    partition="userId",
    ttl="ttl",
    purpose="What each follower has chosen, and which matches they follow.",
)


@dataclass(frozen=True, slots=True)
class Browser:
    """Where a browser is reached, and with what its messages are sealed."""

    endpoint: str
    p256dh: str = dataclasses.field(repr=False)
    auth: str = dataclasses.field(repr=False)


class Follower(Entity, table=followers, names="camel", times="milliseconds"):
    """A person who follows matches: which ones, and what wakes them; no kinds mean the usual."""

    user_id: str
    match_ids: frozenset[str] = frozenset()
    alert_kinds: tuple[EventKind, ...] | None = None
    muted: bool = False
    muted_until: datetime | None = None
    browsers: tuple[Browser, ...] = ()
    seen_at: datetime
    expires: datetime | None = ttl(after=FOLLOWER_LIFETIME, of="seen_at")

    row = key("{user_id}")

    @property
    def choice(self) -> AlertChoice:
        """What this person wants to be alerted of."""
        kinds = None if self.alert_kinds is None else frozenset(self.alert_kinds)
        return AlertChoice(kinds, self.muted, self.muted_until)

    @classmethod
    def by_id(cls, user_id: str) -> Get[Self]:
        """What is known of a person."""
        return cls.get(user_id=user_id).consistent()

    @classmethod
    def follows(cls, user_id: str, match_id: str, at: datetime) -> Update[Self]:
        """Note that a person follows a match."""
        known = cls.update(user_id=user_id).upsert().set(seen_at=at)
        return known.add(match_ids=frozenset({match_id}))

    @classmethod
    def leaves(cls, user_id: str, match_ids: frozenset[str], at: datetime) -> Update[Self]:
        """Note that a person follows matches no longer."""
        known = cls.update(user_id=user_id).upsert().set(seen_at=at)
        return known.discard(match_ids=match_ids)

    @classmethod
    def choose(cls, user_id: str, choice: AlertChoice, at: datetime) -> Update[Self]:
        """Keep what a person wants to be alerted of."""
        kinds = None if choice.kinds is None else tuple(sorted(choice.kinds))
        known = cls.update(user_id=user_id).upsert().set(seen_at=at)
        return known.set(alert_kinds=kinds, muted=choice.muted, muted_until=choice.muted_until)

    @classmethod
    def subscribe(
        cls,
        user_id: str,
        browsers: tuple[Browser, ...],
        at: datetime,
        *,
        before: tuple[Browser, ...],
    ) -> Update[Self]:
        """Keep the browsers of a person, if they are still those that were read before."""
        asked = field(Follower.browsers)
        unmoved = (asked == before) if before else absent(asked) | (asked == ())
        known = cls.update(user_id=user_id).upsert().set(seen_at=at)
        return known.set(browsers=browsers).when(unmoved)

    @classmethod
    def forget(cls, user_id: str) -> Delete[Self]:
        """Remove what is known of a person."""
        return cls.delete(user_id=user_id)
