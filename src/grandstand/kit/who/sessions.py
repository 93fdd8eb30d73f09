"""Kept here: logins that last: begun, used, listed and ended."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Final

from grandstand.base.clock import Clock
from grandstand.base.errors import NotFound
from grandstand.base.ids import new_id
from grandstand.kit.who.secrets import Chance, hashed, new_secret
from grandstand.kit.who.tables import KeptSession, Person
from grandstand.storage.tables import AsyncStore
from grandstand.storage.tables.errors import ConditionFailed

SESSION_COOKIE: Final = "grandstand_session"
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
_ID: Final = re.compile(r"[0-9a-z]{26}", re.ASCII)
_AGENT_LENGTH: Final = 200


@dataclass(frozen=True, slots=True)
class Lasting:
    """How long a session lasts unused and at most, and how exactly its use is recorded."""

    idle: timedelta = timedelta(days=7)
    most: timedelta = timedelta(days=30)
    recorded_every: timedelta = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Visitor:
    """From where somebody logs in, as far as the request tells."""

    address: str
    agent: str = ""


@dataclass(frozen=True, slots=True)
class NewSession:
    """A session just begun; only now the token is known, for the cookie."""

    token: str
    session_id: str
    user_id: str
    ends_at: datetime
    max_age_seconds: int


@dataclass(frozen=True, slots=True)
class SessionView:
    """What a person sees of a session of theirs."""

    session_id: str
    address: str
    agent: str
    created_at: datetime
    seen_at: datetime
    ends_at: datetime
    current: bool = False


class Sessions:
    """The logins of everybody; tokens are kept only as hashes."""

    def __init__(
        self,
        store: AsyncStore,
        *,
        clock: Clock,
        random: Random,
        chance: Chance,
        lasting: Lasting | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._random = random
        self._chance = chance
        self._lasting = lasting or Lasting()

    async def begin(self, person: Person, visitor: Visitor) -> NewSession:
        """Begin a session for somebody whose password was right, under a token never used."""
        now, token = self._clock.now(), new_secret(self._chance)
        kept = KeptSession(
            token_hash=hashed(token),
            session_id=new_id(self._clock, self._random),
            user_id=person.user_id,
            generation=person.generation,
            address=visitor.address[:_AGENT_LENGTH],
            agent=visitor.agent[:_AGENT_LENGTH],
            created_at=now,
            seen_at=now,
            ends_at=self._end(now, now),
        )
        await self._store(kept.begin())
        seconds = int(self._lasting.most.total_seconds())
        return NewSession(token, kept.session_id, kept.user_id, self._end(now, now), seconds)

    async def find(self, token: str) -> KeptSession | None:
        """Answer the session a token opens, None when there is none; its use is recorded."""
        if not _TOKEN.fullmatch(token):
            return None
        kept = await self._store(KeptSession.by_hash(hashed(token)))
        now = self._clock.now()
        if kept is None or now >= kept.created_at + self._lasting.most:
            return None
        if now - kept.seen_at < self._lasting.recorded_every:
            return kept
        try:
            seen = KeptSession.seen(kept.token_hash, now, self._end(kept.created_at, now))
            return await self._store(seen)
        except ConditionFailed:
            return None

    async def list(self, person: Person, token: str | None = None) -> tuple[SessionView, ...]:
        """Answer a person's sessions, newest first; the one of the token is marked."""
        current = None if token is None else hashed(token)
        return tuple(
            _view(kept, current)
            for kept in await self._store(KeptSession.of_user(person.user_id))
            if kept.generation == person.generation
        )

    async def end(self, token: str) -> None:
        """End the session of a token; there may be none."""
        await self._store(KeptSession.end(hashed(token)))

    async def revoke(self, user_id: str, session_id: str) -> None:
        """End one of a person's own sessions; raise NotFound when it is not theirs."""
        known = _ID.fullmatch(session_id)
        found = await self._store(KeptSession.one_of(user_id, session_id)) if known else []
        if not found:
            message = "There is no such session; it may have ended"
            raise NotFound(message)
        for kept in found:
            await self._store(KeptSession.end(kept.token_hash))

    async def forget(self, user_id: str) -> int:
        """Delete what is kept of a person's sessions; answer how many those were."""
        kept = await self._store(KeptSession.of_user(user_id).with_expired())
        await self._store.write_many(KeptSession.end(each.token_hash) for each in kept)
        return len(kept)

    def _end(self, created_at: datetime, used_at: datetime) -> datetime:
        return min(used_at + self._lasting.idle, created_at + self._lasting.most)


def _view(kept: KeptSession, current: str | None) -> SessionView:
    return SessionView(
        session_id=kept.session_id,
        address=kept.address,
        agent=kept.agent,
        created_at=kept.created_at,
        seen_at=kept.seen_at,
        ends_at=kept.ends_at or kept.created_at,
        current=kept.token_hash == current,
    )
