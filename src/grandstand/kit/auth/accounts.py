"""User accounts, preferences, and the caller behind a request's credentials."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import re
import secrets
import unicodedata
import zoneinfo
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import TYPE_CHECKING, Any, Final, get_args

from grandstand.core.clock import Clock
from grandstand.core.errors import Conflict, InvalidInput, NotFound
from grandstand.core.formatting import OddsFormat
from grandstand.core.ids import new_id
from grandstand.kit.auth.caller import (
    LOCAL_OWNER,
    Caller,
    LastAdmin,
    LoginFailed,
    NameTaken,
    Preferences,
    Refusal,
    Role,
    Via,
)
from grandstand.kit.auth.credentials import (
    KEY_PREFIX,
    SESSION_COOKIE,
    ApiKeyService,
    NewSession,
    RandomBytes,
    SessionPolicy,
    Sessions,
    Visitor,
)
from grandstand.kit.auth.host_policy import is_forwarded
from grandstand.kit.auth.passwords import LoginLimits, LoginThrottle, Passwords, check_password
from grandstand.kit.auth.tables import (
    AccountCounts,
    Erasure,
    Person,
    ReservedName,
    StoredPreferences,
)
from grandstand.storage.tables import AsyncStore, Get
from grandstand.storage.tables.errors import ConditionFailed, TransactionCancelled

if TYPE_CHECKING:
    from grandstand.kit.auth.tokens import TokenVerifier
    from grandstand.storage.tables.operations.item_ops import Write

_NAME: Final = re.compile(r"[^\W_](?:[\w.@+-]{0,62}\w)?")


def check_name(name: str) -> str:
    """Return a normalized account name; raise InvalidInput if it is not allowed."""
    if not is_name(name):
        raise InvalidInput(
            "A name has 1 to 64 letters or digits, with . _ @ + or - between them. Choose another."
        )
    return unicodedata.normalize("NFKC", name).strip()


def is_name(name: str) -> bool:
    """Return whether an account may have this name."""
    return _NAME.fullmatch(unicodedata.normalize("NFKC", name).strip()) is not None


def name_key(name: str) -> str:
    """Return the form in which names are compared, ignoring case and Unicode variants."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).strip().casefold())


def check_preferences(time_zone: str, odds_format: str) -> Preferences:
    """Return valid preferences; raise InvalidInput."""
    if time_zone not in time_zones():
        near = difflib.get_close_matches(time_zone, sorted(time_zones()), n=1, cutoff=0.6)
        hint = f"did you mean {near[0]}?" if near else "use a name such as Europe/London"
        raise InvalidInput(f"Unknown time zone {time_zone[:64]!r}; {hint}")
    for known in get_args(OddsFormat):
        if known == odds_format:
            return Preferences(time_zone, known)
    raise InvalidInput(f"Unknown odds format. Use one of {', '.join(get_args(OddsFormat))}.")


@functools.cache
def time_zones() -> frozenset[str]:
    """Return all time zones this machine knows."""
    return frozenset(zoneinfo.available_timezones())


_NOBODY: Final = "#nobody"


@dataclass(frozen=True, slots=True)
class Account:
    """The public fields of an account."""

    user_id: str
    name: str
    admin: bool
    created_at: datetime
    password_set_at: datetime


class AccountService:
    """All accounts; `sessions` and `keys` are their credentials.

    `random_bytes` generates tokens and secrets and must be unpredictable; `random` generates ids.
    """

    def __init__(
        self,
        store: AsyncStore,
        *,
        clock: Clock,
        random: Random,
        passwords: Passwords | None = None,
        random_bytes: RandomBytes = secrets.token_bytes,
        session_policy: SessionPolicy | None = None,
        login_limits: LoginLimits | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._random = random
        self._passwords = passwords or Passwords()
        self._throttle = LoginThrottle(store, clock, login_limits)
        self.sessions = Sessions(
            store, clock=clock, random=random, random_bytes=random_bytes, policy=session_policy
        )
        self.keys = ApiKeyService(store, clock=clock, random=random, random_bytes=random_bytes)

    async def any(self) -> bool:
        """Return whether an account exists; from the first one on, everybody must log in."""
        census = await self._store(AccountCounts.now())
        return census is not None and census.count > 0

    async def add(self, name: str, password: str, *, admin: bool = False) -> Account:
        """Add an account. Raises InvalidInput or NameTaken."""
        checked = check_name(name)
        stored = await self._passwords.hash(check_password(password, checked))
        now = self._clock.now()
        person = Person(
            user_id=new_id(self._clock, self._random),
            name=checked,
            name_key=name_key(checked),
            password_hash=stored,
            admin=admin,
            created_at=now,
            password_set_at=now,
        )
        taken = ReservedName(name_key=person.name_key, user_id=person.user_id)
        try:
            await self._store.all(
                taken.put().if_absent(), person.put().if_absent(), AccountCounts.join(int(admin))
            )
        except TransactionCancelled as refused:
            if refused.reasons[0].code != "ConditionalCheckFailed":
                raise
            raise NameTaken(
                f"There is an account {checked} already: choose another name"
            ) from refused
        return _account(person)

    async def list(self) -> tuple[Account, ...]:
        """Return every account by name."""
        return tuple(_account(person) for person in await self._store(Person.listing()))

    async def find(self, name: str) -> Account | None:
        """Return the account with this name; None if there is none."""
        person = await self._named(name)
        return None if person is None else _account(person)

    async def read(self, name: str) -> Account:
        """Return the account with this name. Raises NotFound."""
        account = await self.find(name)
        if account is None:
            raise NotFound(
                f"No account named {name!r}. List all accounts with `grandstand user list`."
            )
        return account

    async def read_id(self, user_id: str) -> Account:
        """Return the account with this id. Raises NotFound."""
        return _account(await self._person(user_id))

    async def appoint(self, user_id: str, *, admin: bool) -> None:
        """Grant or revoke administrator rights. Raises NotFound or LastAdmin."""
        if (await self._person(user_id)).admin == admin:
            return
        count = AccountCounts.promoted() if admin else AccountCounts.demoted()
        await self._counted(count, Person.appoint(user_id, admin))

    async def remove(self, user_id: str) -> None:
        """Remove an account with its credentials and preferences.

        The data that apps store about the person stays; `PersonalDataService.erase` removes it too.
        Raises NotFound or LastAdmin.
        """
        await self._person(user_id)
        await self.part(user_id)
        await self.forget(user_id)

    async def part(self, user_id: str, *more: Write) -> None:
        """End an account, which invalidates its credentials, together with `more` writes.

        Without an account only `more` is written. Raises LastAdmin.
        """
        person = await self._store(Person.by_id(user_id))
        if person is None:
            if more:
                await self._store.all(*more)
            return
        gone = Person.leave(user_id, person.admin)
        name = ReservedName.give_back(person.name_key, user_id)
        count = AccountCounts.leave_admin() if person.admin else AccountCounts.leave()
        await self._counted(count, gone, name, *more)

    async def forget(self, user_id: str) -> int:
        """Delete the remaining credentials and preferences; return how many."""
        gone = await self._store(StoredPreferences.delete(user_id=user_id))
        deleted = await self.sessions.forget(user_id) + await self.keys.forget(user_id)
        return deleted + (gone is not None)

    async def log_in(
        self, name: str, password: str, visitor: Visitor, *, replacing: str | None = None
    ) -> NewSession:
        """Start a session and end the one it replaces. Raises LoginFailed or LoginThrottled."""
        attempt = await self._throttle.take(name_key(name)[:256], visitor.address)
        person = await self._named(name)
        stored = None if person is None else person.password_hash
        right = await self._passwords.matches(stored, password)
        if person is None or not right:
            raise LoginFailed("The name or the password is wrong")
        await self._throttle.forgive(attempt)
        if self._passwords.hasher.check_needs_rehash(person.password_hash):
            await self._strengthen(person, password)
        if replacing:
            await self.sessions.end(replacing)
        return await self.sessions.begin(person, visitor)

    async def change_password(
        self, user_id: str, old: str, new: str, visitor: Visitor
    ) -> NewSession:
        """Change a password, end every session, and start a new one.

        Raises NotFound, InvalidInput, LoginFailed or LoginThrottled.
        """
        person = await self._person(user_id)
        attempt = await self._throttle.take(person.name_key, visitor.address)
        if not await self._passwords.matches(person.password_hash, old):
            raise LoginFailed("The old password is wrong")
        await self._throttle.forgive(attempt)
        return await self.sessions.begin(await self._set_password(person, new), visitor)

    async def reset_password(self, user_id: str, new: str) -> None:
        """Set a new password and end every session. Raises NotFound or InvalidInput."""
        await self._set_password(await self._person(user_id), new)
        await self.sessions.forget(user_id)

    async def preferences(self, user_id: str) -> Preferences:
        """Return a user's preferences, or the defaults."""
        return _preferences(await self._store(StoredPreferences.of_user(user_id)))

    async def prefer(self, user_id: str, *, time_zone: str, odds_format: str) -> Preferences:
        """Store a user's preferences. Raises InvalidInput."""
        checked = check_preferences(time_zone, odds_format)
        await self._store(StoredPreferences(user_id=user_id, **dataclasses.asdict(checked)).put())
        return checked

    async def by_session(self, token: str) -> Caller | None:
        """Return the caller of a session token; None if it is invalid."""
        kept = await self.sessions.find(token)
        if kept is None:
            return None
        person, preferences = await self._load(kept.user_id)
        if person is None or person.generation != kept.generation:
            return None
        return _caller(person, preferences, "session", admin=person.admin)

    async def by_key(self, text: str) -> Caller | None:
        """Return the caller of an API key; None if it is invalid."""
        kept = await self.keys.find(text)
        if kept is None:
            return None
        person, preferences = await self._load(kept.user_id)
        if person is None:
            return None
        return _caller(person, preferences, "key", admin=person.admin and kept.admin)

    async def by_subject(self, user_id: str) -> Preferences | None:
        """Return the preferences of a token's subject; None while they are being erased."""
        reads: tuple[Get[Any], ...] = (StoredPreferences.of_user(user_id), Erasure.of_user(user_id))
        kept, erasure = await self._store.get_many(reads)
        return None if erasure is not None else _preferences(kept)

    async def _load(self, user_id: str) -> tuple[Person | None, Preferences]:
        reads: tuple[Get[Any], ...] = (Person.by_id(user_id), StoredPreferences.of_user(user_id))
        person, kept = await self._store.get_many(reads)
        return person, _preferences(kept)

    async def _named(self, name: str) -> Person | None:
        """Look up a name, reading the same amount whether it exists or not."""
        wanted = name_key(name) if is_name(name) else _NOBODY
        taken = await self._store(ReservedName.owner(wanted))
        return await self._store(Person.by_id(_NOBODY if taken is None else taken.user_id))

    async def _person(self, user_id: str) -> Person:
        person = await self._store(Person.by_id(user_id or _NOBODY))
        if person is None:
            raise NotFound("No such account")
        return person

    async def _set_password(self, person: Person, new: str) -> Person:
        stored = await self._passwords.hash(check_password(new, person.name))
        change = Person.new_password(
            person.user_id, stored, person.password_hash, self._clock.now()
        )
        try:
            return await self._store(change)
        except ConditionFailed as refused:
            raise Conflict(
                "The password was changed at the same time by somebody else"
            ) from refused

    async def _strengthen(self, person: Person, password: str) -> None:
        stored = await self._passwords.hash(password)
        with suppress(ConditionFailed):
            await self._store(Person.strengthen(person.user_id, stored, person.password_hash))

    async def _counted(self, count: Write, *writes: Write) -> None:
        try:
            await self._store.all(count, *writes)
        except TransactionCancelled as refused:
            if refused.reasons[0].code != "ConditionalCheckFailed":
                raise
            raise LastAdmin(
                "This is the last administrator. Appoint another one first."
            ) from refused


def _account(person: Person) -> Account:
    return Account(
        user_id=person.user_id,
        name=person.name,
        admin=person.admin,
        created_at=person.created_at,
        password_set_at=person.password_set_at,
    )


def _preferences(kept: StoredPreferences | None) -> Preferences:
    return Preferences() if kept is None else Preferences(kept.time_zone, kept.odds_format)


def _roles(*, admin: bool) -> frozenset[Role]:
    return frozenset({"user", "admin"}) if admin else frozenset({"user"})


def _caller(person: Person, preferences: Preferences, via: Via, *, admin: bool) -> Caller:
    return Caller(person.user_id, person.name, _roles(admin=admin), via, preferences)


_INVALID_CREDENTIAL: Final = Refusal("The credential is unknown, revoked or expired")


class Authenticator:
    """Identifies the caller by the credentials of a request alone.

    `local_owner` allows requests from this machine without credentials while there is no account.
    """

    def __init__(
        self,
        accounts: AccountService,
        tokens: TokenVerifier | None = None,
        *,
        local_owner: bool = True,
    ) -> None:
        self._accounts = accounts
        self._tokens = tokens
        self._local_owner_allowed = local_owner

    async def identify(
        self, headers: Mapping[str, str], cookies: Mapping[str, str], *, client_is_loopback: bool
    ) -> Caller | Refusal | None:
        """Return the caller, a Refusal if the credential is invalid, or None without one.

        Header names are in lower case. An expired session counts as none, so that the browser can
        log in again; an invalid key or token is always refused. Raises Unavailable.
        """
        authorization = headers.get("authorization")
        if authorization is not None:
            return await self._identify_bearer(authorization)
        cookie = cookies.get(SESSION_COOKIE)
        caller = await self._accounts.by_session(cookie) if cookie else None
        if caller is not None:
            return caller
        if client_is_loopback and self._local_owner_allowed and not is_forwarded(headers):
            return await self._local_owner()
        return None

    async def _identify_bearer(self, authorization: str) -> Caller | Refusal:
        scheme, _, credential = authorization.strip().partition(" ")
        credential = credential.strip()
        if scheme.casefold() != "bearer" or not credential or not credential.isascii():
            return Refusal("Send a key or token as: Authorization: Bearer …")
        if credential.startswith(KEY_PREFIX):
            return await self._accounts.by_key(credential) or _INVALID_CREDENTIAL
        if self._tokens is None:
            return _INVALID_CREDENTIAL
        subject = await self._tokens.check(credential)
        if isinstance(subject, Refusal):
            return subject
        preferences = await self._accounts.by_subject(subject.user_id)
        if preferences is None:
            return Refusal("This user's data is being erased. Try again later.")
        roles = _roles(admin=subject.admin)
        return Caller(subject.user_id, subject.name, roles, "token", preferences)

    async def _local_owner(self) -> Caller | None:
        """Return the local owner, while there are no accounts."""
        if self._tokens is not None or await self._accounts.any():
            return None
        preferences = await self._accounts.preferences(LOCAL_OWNER.user_id)
        return dataclasses.replace(LOCAL_OWNER, preferences=preferences)
