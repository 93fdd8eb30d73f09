"""API keys, `gs_<id>_<secret>`: issued, verified, listed and revoked."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Final

from grandstand.core.clock import Clock
from grandstand.core.errors import InvalidInput, LimitReached, NotFound
from grandstand.core.ids import new_id
from grandstand.kit.auth.sessions import Chance, hashed, new_hex_secret, same
from grandstand.kit.auth.tables import Person, StoredApiKey
from grandstand.storage.tables import AsyncStore, present, require
from grandstand.storage.tables.errors import ConditionFailed, TransactionCancelled

_MAX_NAME_LENGTH: Final = 64
KEY_PREFIX: Final = "gs_"
MOST_KEYS: Final = 50
_FORM: Final = re.compile(r"gs_([0-9a-z]{26})_([0-9a-f]{64})", re.ASCII)
_ID: Final = re.compile(r"[0-9a-z]{26}", re.ASCII)
_RECORDED_EVERY: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class ApiKeyView:
    """A key as its owner sees it, without the secret."""

    key_id: str
    name: str
    admin: bool
    created_at: datetime
    used_at: datetime | None
    ends_at: datetime | None


@dataclass(frozen=True, slots=True)
class NewApiKey:
    """A key just issued; its text is available only now."""

    text: str
    view: ApiKeyView


class ApiKeyService:
    """The API keys of all users; secrets are stored only as hashes."""

    def __init__(self, store: AsyncStore, *, clock: Clock, random: Random, chance: Chance) -> None:
        self._store = store
        self._clock = clock
        self._random = random
        self._chance = chance

    async def issue(
        self, user_id: str, name: str, *, admin: bool = False, ends_at: datetime | None = None
    ) -> NewApiKey:
        """Issue a key that acts for its owner; without `admin` it has no administrator rights.

        Raises InvalidInput, LimitReached, or NotFound if there is no such account.
        """
        label, now = _check_name(name), self._clock.now()
        if ends_at is not None and ends_at <= now:
            raise InvalidInput("The expiry date is in the past. Choose a later one.")
        if len(await self._store(StoredApiKey.of_user(user_id).newest(MOST_KEYS))) >= MOST_KEYS:
            message = f"There are {MOST_KEYS} keys, the maximum. Revoke one that is not used."
            raise LimitReached(message)
        secret = new_hex_secret(self._chance)
        kept = StoredApiKey(
            key_id=new_id(self._clock, self._random),
            user_id=user_id,
            name=label,
            secret_hash=hashed(secret),
            admin=admin,
            created_at=now,
            ends_at=ends_at,
        )
        owner = require(Person.by_id(user_id), present(Person.password_hash))
        try:
            await self._store.all(kept.issue(), owner)
        except TransactionCancelled as refused:
            raise NotFound("No such account") from refused
        return NewApiKey(f"{KEY_PREFIX}{kept.key_id}_{secret}", _view(kept))

    async def find(self, text: str) -> StoredApiKey | None:
        """Return the key of a text; None if invalid. Its use is recorded once an hour."""
        form = _FORM.fullmatch(text)
        if form is None:
            return None
        kept = await self._store(StoredApiKey.by_id(form[1]))
        if not same(hashed(form[2]), kept.secret_hash if kept else hashed("")) or kept is None:
            return None
        now = self._clock.now()
        if kept.used_at is not None and now - kept.used_at < _RECORDED_EVERY:
            return kept
        try:
            return await self._store(StoredApiKey.used(kept.key_id, now))
        except ConditionFailed:
            return None

    async def list(self, user_id: str) -> tuple[ApiKeyView, ...]:
        """Return a user's keys, newest first."""
        return tuple(_view(kept) for kept in await self._store(StoredApiKey.of_user(user_id)))

    async def revoke(self, user_id: str, key_id: str) -> None:
        """Revoke one of the user's own keys. Raises NotFound."""
        try:
            if _ID.fullmatch(key_id):
                await self._store(StoredApiKey.revoke(key_id, user_id))
                return
        except ConditionFailed:
            pass
        raise NotFound("No such key. It may have been revoked or have expired.")

    async def owner(self, key_id: str) -> str:
        """Return the owner of a key. Raises NotFound."""
        kept = await self._store(StoredApiKey.by_id(key_id)) if _ID.fullmatch(key_id) else None
        if kept is None:
            raise NotFound("No such key. It may have been revoked or have expired.")
        return kept.user_id

    async def forget(self, user_id: str) -> int:
        """Delete a user's keys; return how many."""
        kept = await self._store(StoredApiKey.of_user(user_id).with_expired())
        await self._store.write_many(StoredApiKey.delete(key_id=each.key_id) for each in kept)
        return len(kept)


def _view(kept: StoredApiKey) -> ApiKeyView:
    return ApiKeyView(
        key_id=kept.key_id,
        name=kept.name,
        admin=kept.admin,
        created_at=kept.created_at,
        used_at=kept.used_at,
        ends_at=kept.ends_at,
    )


def _check_name(label: str) -> str:
    """Return the normalized name of a key; raise InvalidInput if it is empty or too long."""
    normal = " ".join(unicodedata.normalize("NFKC", label).split())
    if not normal or len(normal) > _MAX_NAME_LENGTH or not normal.isprintable():
        message = f"A key's name has 1 to {_MAX_NAME_LENGTH} visible characters. Choose another."
        raise InvalidInput(message)
    return normal
