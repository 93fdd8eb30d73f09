"""Login sessions with their CSRF tokens, and API keys, `gs_<id>_<secret>`."""

from __future__ import annotations

import hashlib
import hmac
import re
import unicodedata
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Final, TypeAlias

from grandstand.core.clock import Clock
from grandstand.core.errors import InvalidInput, LimitReached, NotFound
from grandstand.core.ids import new_id
from grandstand.kit.auth.caller import Caller, Refusal
from grandstand.kit.auth.host_policy import SAFE_METHODS
from grandstand.kit.auth.tables import Person, StoredApiKey, StoredSession
from grandstand.storage.tables import AsyncStore, present, require
from grandstand.storage.tables.errors import ConditionFailed, TransactionCancelled

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

RandomBytes: TypeAlias = Callable[[int], bytes]

SESSION_COOKIE: Final = "grandstand_session"
CSRF_FIELD: Final = "csrf"
CSRF_HEADER: Final = "x-csrf-token"
KEY_PREFIX: Final = "gs_"
MOST_KEYS: Final = 50
_SECRET_BYTES: Final = 32
_MAX_AGENT_LENGTH: Final = 200
_MAX_KEY_NAME_LENGTH: Final = 64
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
_KEY: Final = re.compile(r"gs_([0-9a-z]{26})_([0-9a-f]{64})", re.ASCII)
_ID: Final = re.compile(r"[0-9a-z]{26}", re.ASCII)


def hash_secret(secret: str) -> str:
    """Return the hash to store; a 256-bit secret needs no salt and no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


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

    @classmethod
    def of_request(cls, request: Request) -> Visitor:
        """Return the client of a request."""
        address = request.client.host if request.client else ""
        return cls(address, request.headers.get("user-agent", ""))


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
        random_bytes: RandomBytes,
        policy: SessionPolicy | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._random = random
        self._random_bytes = random_bytes
        self._policy = policy or SessionPolicy()

    async def begin(self, person: Person, visitor: Visitor) -> NewSession:
        """Start a session after a correct password, with a new token."""
        now = self._clock.now()
        token = urlsafe_b64encode(self._random_bytes(_SECRET_BYTES)).rstrip(b"=").decode("ascii")
        kept = StoredSession(
            token_hash=hash_secret(token),
            session_id=new_id(self._clock, self._random),
            user_id=person.user_id,
            generation=person.generation,
            address=visitor.address[:_MAX_AGENT_LENGTH],
            agent=visitor.agent[:_MAX_AGENT_LENGTH],
            created_at=now,
            seen_at=now,
            ends_at=self._end(now, now),
        )
        await self._store(kept.put().if_absent())
        seconds = int(self._policy.most.total_seconds())
        return NewSession(token, kept.session_id, kept.user_id, self._end(now, now), seconds)

    async def find(self, token: str) -> StoredSession | None:
        """Return the session of a token; None if there is none. Its use is recorded."""
        if not _TOKEN.fullmatch(token):
            return None
        kept = await self._store(StoredSession.by_hash(hash_secret(token)))
        now = self._clock.now()
        if kept is None or now >= kept.created_at + self._policy.most:
            return None
        if now - kept.seen_at < self._policy.recorded_every:
            return kept
        try:
            seen = StoredSession.seen(kept.token_hash, now, self._end(kept.created_at, now))
            return await self._store(seen)
        except ConditionFailed:
            return None

    async def list(self, user_id: str, token: str | None = None) -> tuple[SessionView, ...]:
        """Return a user's sessions, newest first; the one of the token is marked.

        Raises NotFound if there is no such account.
        """
        person = await self._store(Person.by_id(user_id))
        if person is None:
            raise NotFound("No such account")
        current = None if token is None else hash_secret(token)
        return tuple(
            SessionView(
                session_id=kept.session_id,
                address=kept.address,
                agent=kept.agent,
                created_at=kept.created_at,
                seen_at=kept.seen_at,
                ends_at=kept.ends_at or kept.created_at,
                current=kept.token_hash == current,
            )
            for kept in await self._store(StoredSession.of_user(user_id))
            if kept.generation == person.generation
        )

    async def end(self, token: str) -> None:
        """End the session of a token, if there is one."""
        await self._store(StoredSession.end(hash_secret(token)))

    async def revoke(self, user_id: str, session_id: str) -> None:
        """End one of the user's own sessions. Raises NotFound."""
        valid = _ID.fullmatch(session_id)
        found = await self._store(StoredSession.one_of(user_id, session_id)) if valid else ()
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
        return min(used_at + self._policy.idle, created_at + self._policy.most)


def csrf_token(session_token: str, random_bytes: RandomBytes) -> str:
    """Return a CSRF token for one page.

    It differs on every page, because text that repeats on compressed pages can be guessed from
    their length.
    """
    mask = random_bytes(_SECRET_BYTES)
    return mask.hex() + _xor(mask, _csrf_digest(session_token)).hex()


def csrf_matches(session_token: str, given: str) -> bool:
    """Return whether a CSRF token belongs to this session."""
    try:
        raw = bytes.fromhex(given) if len(given) == 4 * _SECRET_BYTES else b""
    except ValueError:
        raw = b""
    return hmac.compare_digest(
        _xor(raw[:_SECRET_BYTES], raw[_SECRET_BYTES:]), _csrf_digest(session_token)
    )


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


def _csrf_digest(session_token: str) -> bytes:
    key = session_token.encode("utf-8", "surrogatepass")
    return hmac.new(key, b"grandstand csrf", hashlib.sha256).digest()


def _xor(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=False))


def set_session_cookie(response: Response, session: NewSession | None, *, secure: bool) -> None:
    """Set the cookie of a new session; without one, delete it in the browser."""
    response.set_cookie(
        SESSION_COOKIE,
        session.token if session else "",
        max_age=session.max_age_seconds if session else 0,
        secure=secure,
        httponly=True,
        samesite="lax",
    )


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

    def __init__(
        self, store: AsyncStore, *, clock: Clock, random: Random, random_bytes: RandomBytes
    ) -> None:
        self._store = store
        self._clock = clock
        self._random = random
        self._random_bytes = random_bytes

    async def issue(
        self, user_id: str, name: str, *, admin: bool = False, ends_at: datetime | None = None
    ) -> NewApiKey:
        """Issue a key that acts for its owner; without `admin` it has no administrator rights.

        Raises InvalidInput, LimitReached, or NotFound if there is no such account.
        """
        label, now = " ".join(unicodedata.normalize("NFKC", name).split()), self._clock.now()
        if not label or len(label) > _MAX_KEY_NAME_LENGTH or not label.isprintable():
            raise InvalidInput(
                f"A key's name has 1 to {_MAX_KEY_NAME_LENGTH} visible characters. Choose another."
            )
        if ends_at is not None and ends_at <= now:
            raise InvalidInput("The expiry date is in the past. Choose a later one.")
        if len(await self._store(StoredApiKey.of_user(user_id).newest(MOST_KEYS))) >= MOST_KEYS:
            raise LimitReached(
                f"There are {MOST_KEYS} keys, the maximum. Revoke one that is not used."
            )
        secret = self._random_bytes(_SECRET_BYTES).hex()
        kept = StoredApiKey(
            key_id=new_id(self._clock, self._random),
            user_id=user_id,
            name=label,
            secret_hash=hash_secret(secret),
            admin=admin,
            created_at=now,
            ends_at=ends_at,
        )
        owner = require(Person.by_id(user_id), present(Person.password_hash))
        try:
            await self._store.all(kept.put().if_absent(), owner)
        except TransactionCancelled as refused:
            raise NotFound("No such account") from refused
        return NewApiKey(f"{KEY_PREFIX}{kept.key_id}_{secret}", _key_view(kept))

    async def find(self, text: str) -> StoredApiKey | None:
        """Return the key of a text; None if invalid. Its use is recorded once an hour."""
        form = _KEY.fullmatch(text)
        if form is None:
            return None
        kept = await self._store(StoredApiKey.by_id(form[1]))
        stored = kept.secret_hash if kept else hash_secret("")
        if not hmac.compare_digest(hash_secret(form[2]), stored) or kept is None:
            return None
        now = self._clock.now()
        if kept.used_at is not None and now - kept.used_at < timedelta(hours=1):
            return kept
        try:
            return await self._store(StoredApiKey.used(kept.key_id, now))
        except ConditionFailed:
            return None

    async def list(self, user_id: str) -> tuple[ApiKeyView, ...]:
        """Return a user's keys, newest first."""
        return tuple(_key_view(kept) for kept in await self._store(StoredApiKey.of_user(user_id)))

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


def _key_view(kept: StoredApiKey) -> ApiKeyView:
    return ApiKeyView(
        key_id=kept.key_id,
        name=kept.name,
        admin=kept.admin,
        created_at=kept.created_at,
        used_at=kept.used_at,
        ends_at=kept.ends_at,
    )
