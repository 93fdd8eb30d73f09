"""Login sessions, and the CSRF tokens of their forms."""

from __future__ import annotations

import hashlib
import hmac
import re
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Final, TypeAlias

from grandstand.core.clock import Clock
from grandstand.core.errors import NotFound
from grandstand.core.ids import new_id
from grandstand.kit.auth.caller import Caller, Refusal
from grandstand.kit.auth.host_policy import SAFE_METHODS
from grandstand.kit.auth.tables import Person, StoredSession
from grandstand.storage.tables import AsyncStore
from grandstand.storage.tables.errors import ConditionFailed

SECRET_BYTES: Final = 32

Chance: TypeAlias = Callable[[int], bytes]


def new_secret(chance: Chance) -> str:
    """Return 256 random bits as 43 cookie-safe characters."""
    return urlsafe_b64encode(chance(SECRET_BYTES)).rstrip(b"=").decode("ascii")


def new_hex_secret(chance: Chance) -> str:
    """Return 256 random bits as 64 hex digits."""
    return chance(SECRET_BYTES).hex()


def hashed(secret: str) -> str:
    """Return the hash to store; a 256-bit secret needs no salt and no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def same(one: str, other: str) -> bool:
    """Compare two texts in constant time."""
    return hmac.compare_digest(
        one.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass")
    )


SESSION_COOKIE: Final = "grandstand_session"
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
_ID: Final = re.compile(r"[0-9a-z]{26}", re.ASCII)
_AGENT_LENGTH: Final = 200


@dataclass(frozen=True, slots=True)
class SessionPolicy:
    """How long a session lasts idle and at most, and how often its use is recorded."""

    idle: timedelta = timedelta(days=7)
    most: timedelta = timedelta(days=30)
    recorded_every: timedelta = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Visitor:
    """The address and browser of a login."""

    address: str
    agent: str = ""


@dataclass(frozen=True, slots=True)
class NewSession:
    """A session just started; its token is available only now."""

    token: str
    session_id: str
    user_id: str
    ends_at: datetime
    max_age_seconds: int


@dataclass(frozen=True, slots=True)
class SessionView:
    """A session as its owner sees it."""

    session_id: str
    address: str
    agent: str
    created_at: datetime
    seen_at: datetime
    ends_at: datetime
    current: bool = False


class Sessions:
    """The sessions of all users; tokens are stored only as hashes."""

    def __init__(
        self,
        store: AsyncStore,
        *,
        clock: Clock,
        random: Random,
        chance: Chance,
        lasting: SessionPolicy | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._random = random
        self._chance = chance
        self._lasting = lasting or SessionPolicy()

    async def begin(self, person: Person, visitor: Visitor) -> NewSession:
        """Start a session after a correct password, with a new token."""
        now, token = self._clock.now(), new_secret(self._chance)
        kept = StoredSession(
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

    async def find(self, token: str) -> StoredSession | None:
        """Return the session of a token; None if there is none. Its use is recorded."""
        if not _TOKEN.fullmatch(token):
            return None
        kept = await self._store(StoredSession.by_hash(hashed(token)))
        now = self._clock.now()
        if kept is None or now >= kept.created_at + self._lasting.most:
            return None
        if now - kept.seen_at < self._lasting.recorded_every:
            return kept
        try:
            seen = StoredSession.seen(kept.token_hash, now, self._end(kept.created_at, now))
            return await self._store(seen)
        except ConditionFailed:
            return None

    async def list(self, person: Person, token: str | None = None) -> tuple[SessionView, ...]:
        """Return a user's sessions, newest first; the one of the token is marked."""
        current = None if token is None else hashed(token)
        return tuple(
            _view(kept, current)
            for kept in await self._store(StoredSession.of_user(person.user_id))
            if kept.generation == person.generation
        )

    async def end(self, token: str) -> None:
        """End the session of a token, if there is one."""
        await self._store(StoredSession.end(hashed(token)))

    async def revoke(self, user_id: str, session_id: str) -> None:
        """End one of the user's own sessions. Raises NotFound."""
        known = _ID.fullmatch(session_id)
        found = await self._store(StoredSession.one_of(user_id, session_id)) if known else []
        if not found:
            raise NotFound("No such session. It may have ended.")
        for kept in found:
            await self._store(StoredSession.end(kept.token_hash))

    async def forget(self, user_id: str) -> int:
        """Delete a user's sessions; return how many."""
        kept = await self._store(StoredSession.of_user(user_id).with_expired())
        await self._store.write_many(StoredSession.end(each.token_hash) for each in kept)
        return len(kept)

    def _end(self, created_at: datetime, used_at: datetime) -> datetime:
        return min(used_at + self._lasting.idle, created_at + self._lasting.most)


def _view(kept: StoredSession, current: str | None) -> SessionView:
    return SessionView(
        session_id=kept.session_id,
        address=kept.address,
        agent=kept.agent,
        created_at=kept.created_at,
        seen_at=kept.seen_at,
        ends_at=kept.ends_at or kept.created_at,
        current=kept.token_hash == current,
    )


CSRF_FIELD: Final = "csrf"
CSRF_HEADER: Final = "x-csrf-token"
_BYTES: Final = 32
_LETTERS: Final = 4 * _BYTES


def csrf_token(session_token: str, chance: Chance) -> str:
    """Return a CSRF token for one page.

    It differs on every page, because text that repeats on compressed pages can be guessed from
    their length.
    """
    mask = chance(_BYTES)
    return mask.hex() + _mixed(mask, _proof(session_token)).hex()


def csrf_matches(session_token: str, given: str) -> bool:
    """Return whether a CSRF token belongs to this session."""
    try:
        raw = bytes.fromhex(given) if len(given) == _LETTERS else b""
    except ValueError:
        raw = b""
    told = _mixed(raw[:_BYTES], raw[_BYTES:])
    return hmac.compare_digest(told, _proof(session_token))


def refuses_form(
    method: str, caller: Caller | None, cookies: Mapping[str, str], given: str | None
) -> Refusal | None:
    """Return why a request with a session cookie is refused; None if it is accepted.

    Browsers never send keys and tokens on their own, so these need no CSRF token.
    """
    if method.upper() in SAFE_METHODS or caller is None or caller.via != "session":
        return None
    if csrf_matches(cookies.get(SESSION_COOKIE, ""), given or ""):
        return None
    return Refusal("The form has expired. Reload the page and submit it again.")


def _proof(session_token: str) -> bytes:
    key = session_token.encode("utf-8", "surrogatepass")
    return hmac.new(key, b"grandstand csrf", hashlib.sha256).digest()


def _mixed(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=False))
