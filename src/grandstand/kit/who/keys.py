"""Kept here: API keys, `gs_<id>_<secret>`: issued, recognised, listed and revoked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Final

from grandstand.base.clock import Clock
from grandstand.base.errors import InvalidInput, LimitReached, NotFound
from grandstand.base.ids import new_id
from grandstand.kit.who.names import checked_label
from grandstand.kit.who.secrets import Chance, hashed, new_hex_secret, same
from grandstand.kit.who.tables import KeptKey, Person
from grandstand.storage.tables import AsyncStore, demand, present
from grandstand.storage.tables.errors import ConditionFailed, TransactionCancelled

KEY_PREFIX: Final = "gs_"
MOST_KEYS: Final = 50
_FORM: Final = re.compile(r"gs_([0-9a-z]{26})_([0-9a-f]{64})", re.ASCII)
_ID: Final = re.compile(r"[0-9a-z]{26}", re.ASCII)
_RECORDED_EVERY: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class KeyView:
    """What a person sees of a key of theirs: everything but the secret."""

    key_id: str
    name: str
    admin: bool
    created_at: datetime
    used_at: datetime | None
    ends_at: datetime | None


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key just issued; only now its text is known."""

    text: str
    view: KeyView


class Keys:
    """The API keys of everybody; secrets are kept only as hashes."""

    def __init__(self, store: AsyncStore, *, clock: Clock, random: Random, chance: Chance) -> None:
        self._store = store
        self._clock = clock
        self._random = random
        self._chance = chance

    async def issue(
        self, user_id: str, name: str, *, admin: bool = False, ends_at: datetime | None = None
    ) -> NewKey:
        """Issue a key; raise InvalidInput, LimitReached or, without such an account, NotFound.

        It acts for its person; without `admin` it may not administer even if the person may.
        """
        label, now = checked_label(name), self._clock.now()
        if ends_at is not None and ends_at <= now:
            message = "The key would have expired already: choose a later moment"
            raise InvalidInput(message)
        if len(await self._store(KeptKey.of_user(user_id).newest(MOST_KEYS))) >= MOST_KEYS:
            message = f"There are {MOST_KEYS} keys already: revoke one that is not used"
            raise LimitReached(message)
        secret = new_hex_secret(self._chance)
        kept = KeptKey(
            key_id=new_id(self._clock, self._random),
            user_id=user_id,
            name=label,
            secret_hash=hashed(secret),
            admin=admin,
            created_at=now,
            ends_at=ends_at,
        )
        owner = demand(Person.by_id(user_id), present(Person.password_hash))
        try:
            await self._store.all(kept.issue(), owner)
        except TransactionCancelled as refused:
            message = "There is no such account to issue a key to"
            raise NotFound(message) from refused
        return NewKey(f"{KEY_PREFIX}{kept.key_id}_{secret}", _view(kept))

    async def find(self, text: str) -> KeptKey | None:
        """Answer the key of a text, None when it is none; its use is recorded once an hour."""
        form = _FORM.fullmatch(text)
        if form is None:
            return None
        kept = await self._store(KeptKey.by_id(form[1]))
        if not same(hashed(form[2]), kept.secret_hash if kept else hashed("")) or kept is None:
            return None
        now = self._clock.now()
        if kept.used_at is not None and now - kept.used_at < _RECORDED_EVERY:
            return kept
        try:
            return await self._store(KeptKey.used(kept.key_id, now))
        except ConditionFailed:
            return None

    async def list(self, user_id: str) -> tuple[KeyView, ...]:
        """Answer a person's keys, newest first."""
        return tuple(_view(kept) for kept in await self._store(KeptKey.of_user(user_id)))

    async def revoke(self, user_id: str, key_id: str) -> None:
        """Revoke one of a person's own keys; raise NotFound when it is not theirs."""
        try:
            if _ID.fullmatch(key_id):
                await self._store(KeptKey.revoke(key_id, user_id))
                return
        except ConditionFailed:
            pass
        message = "There is no such key; it may have been revoked or have expired"
        raise NotFound(message)

    async def owner(self, key_id: str) -> str:
        """Answer whose a key is; raise NotFound."""
        kept = await self._store(KeptKey.by_id(key_id)) if _ID.fullmatch(key_id) else None
        if kept is None:
            message = "There is no such key; it may have been revoked or have expired"
            raise NotFound(message)
        return kept.user_id

    async def forget(self, user_id: str) -> int:
        """Delete a person's keys; answer how many those were."""
        kept = await self._store(KeptKey.of_user(user_id).with_expired())
        await self._store.write_many(KeptKey.delete(key_id=each.key_id) for each in kept)
        return len(kept)


def _view(kept: KeptKey) -> KeyView:
    return KeyView(
        key_id=kept.key_id,
        name=kept.name,
        admin=kept.admin,
        created_at=kept.created_at,
        used_at=kept.used_at,
        ends_at=kept.ends_at,
    )
