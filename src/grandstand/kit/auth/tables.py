"""Tables of accounts, sessions and API keys."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Self

from grandstand.core.formatting import OddsFormat
from grandstand.storage.tables import (
    Delete,
    Entity,
    Get,
    Index,
    Query,
    Table,
    Update,
    absent,
    attribute,
    key,
    ttl,
)

people: Final = Table(
    "grandstand-people",
    partition="pk",
    indexes=(Index("Listing", "listing", "listed"),),
    ttl="ttl",
    purpose="Accounts, names, preferences, failed logins and erasures in progress.",
)
sessions: Final = Table(
    "grandstand-sessions",
    partition="tokenHash",
    indexes=(Index("ByPerson", "userId", "sessionId"),),
    ttl="ttl",
    purpose="Login sessions; only hashes of tokens are stored.",
)
keys: Final = Table(
    "grandstand-keys",
    partition="keyId",
    indexes=(Index("ByPerson", "userId", "keyId"),),
    ttl="ttl",
    purpose="API keys; only hashes of secrets are stored.",
)

AUTH_TABLES: Final = (people, sessions, keys)


class Person(Entity, table=people, names="camel", times="milliseconds"):
    """An account; sessions of an older generation are invalid."""

    user_id: str
    name: str
    name_key: str
    password_hash: str
    admin: bool = False
    generation: int = 1
    created_at: datetime
    password_set_at: datetime

    row = key("PERSON#{user_id}")
    listing = key("PEOPLE", "{name_key}", index="Listing")

    @classmethod
    def by_id(cls, user_id: str) -> Get[Self]:
        """Return one account."""
        return cls.get(user_id=user_id).consistent()

    @classmethod
    def new_password(
        cls, user_id: str, password_hash: str, replaces: str, at: datetime
    ) -> Update[Self]:
        """Replace the password that was verified, and end every session."""
        person = cls.update(user_id=user_id)
        person = person.set(password_hash=password_hash, password_set_at=at).add(generation=1)
        return person.when(Person.password_hash == replaces)

    @classmethod
    def strengthen(cls, user_id: str, password_hash: str, replaces: str) -> Update[Self]:
        """Store the same password hashed at another cost."""
        person = cls.update(user_id=user_id).set(password_hash=password_hash)
        return person.when(Person.password_hash == replaces)

    @classmethod
    def appoint(cls, user_id: str, admin: bool) -> Update[Self]:  # noqa: FBT001 - a pattern
        """Grant or revoke administrator rights."""
        return cls.update(user_id=user_id).set(admin=admin).when(Person.admin == (not admin))

    @classmethod
    def leave(cls, user_id: str, admin: bool) -> Delete[Self]:  # noqa: FBT001 - a pattern
        """Delete an account if its role has not changed."""
        return cls.delete(user_id=user_id).when(Person.admin == admin)


class ReservedName(Entity, table=people, names="camel"):
    """The owner of a name, so that no two accounts share one."""

    name_key: str
    user_id: str

    row = key("NAME#{name_key}")

    @classmethod
    def owner(cls, name_key: str) -> Get[Self]:
        """Return the owner of a name."""
        return cls.get(name_key=name_key).consistent()

    @classmethod
    def give_back(cls, name_key: str, user_id: str) -> Delete[Self]:
        """Release one's own name."""
        return cls.delete(name_key=name_key).when(ReservedName.user_id == user_id)


class AccountCounts(Entity, table=people, names="camel"):
    """The number of accounts and of administrators."""

    count: int = attribute("people", default=0)
    admins: int = 0

    row = key("CENSUS")

    @classmethod
    def now(cls) -> Get[Self]:
        """Return the counts."""
        return cls.get().consistent()

    @classmethod
    def join(cls, admins: int) -> Update[Self]:
        """Count a new account, in the transaction that adds it."""
        return cls.update().upsert().add(count=1, admins=admins)

    @classmethod
    def leave(cls) -> Update[Self]:
        """Count a removed account, in the transaction that removes it."""
        return cls.update().add(count=-1)

    @classmethod
    def leave_admin(cls) -> Update[Self]:
        """Count a removed administrator, unless users would be left without one."""
        left = cls.update().add(count=-1, admins=-1)
        return left.when((AccountCounts.admins > 1) | (AccountCounts.count == 1))

    @classmethod
    def promoted(cls) -> Update[Self]:
        """Count a new administrator."""
        return cls.update().add(admins=1)

    @classmethod
    def demoted(cls) -> Update[Self]:
        """Count one administrator less, unless it is the last."""
        return cls.update().add(admins=-1).when(AccountCounts.admins > 1)


class StoredPreferences(Entity, table=people, names="camel"):
    """A user's preferences."""

    user_id: str
    time_zone: str
    odds_format: OddsFormat

    row = key("PREFERENCES#{user_id}")

    @classmethod
    def of_user(cls, user_id: str) -> Get[Self]:
        """Return a user's preferences."""
        return cls.get(user_id=user_id).consistent()


class LoginFailures(Entity, table=people, names="camel"):
    """Failed logins within one window."""

    subject: str
    window: int
    count: int = 0
    ends_at: datetime | None = ttl()

    row = key("TRIES#{subject}#{window:010d}")

    @classmethod
    def one_more(cls, subject: str, window: int, most: int, ends_at: datetime) -> Update[Self]:
        """Count an attempt if it is within the limit."""
        tried = cls.update(subject=subject, window=window).upsert().add(count=1)
        return tried.set(ends_at=ends_at).when(
            absent(LoginFailures.count) | (LoginFailures.count < most)
        )

    @classmethod
    def take_back(cls, subject: str, window: int) -> Update[Self]:
        """Uncount an attempt that succeeded."""
        return cls.update(subject=subject, window=window).add(count=-1)


class Erasure(Entity, table=people, names="camel", times="milliseconds"):
    """An erasure in progress; it is deleted when everything is erased."""

    user_id: str
    name: str
    begun_at: datetime
    done: frozenset[str] = frozenset()

    row = key("ERASURE#{user_id}")
    listing = key("ERASURES", "{user_id}", index="Listing")

    @classmethod
    def of_user(cls, user_id: str) -> Get[Self]:
        """Return the erasure of a user."""
        return cls.get(user_id=user_id).consistent()

    @classmethod
    def tick_off(cls, user_id: str, done: frozenset[str]) -> Update[Self]:
        """Record what has been erased."""
        return cls.update(user_id=user_id).add(done=done)


class StoredSession(Entity, table=sessions, names="camel", times="milliseconds"):
    """A session: found by the hash of its token, listed and revoked by its id."""

    token_hash: str
    session_id: str
    user_id: str
    generation: int
    address: str
    agent: str
    created_at: datetime
    seen_at: datetime
    ends_at: datetime | None = ttl()

    row = key("{token_hash}")
    of_person = key("{user_id}", "{session_id}", index="ByPerson")

    @classmethod
    def by_hash(cls, token_hash: str) -> Get[Self]:
        """Return the session of a token hash."""
        return cls.get(token_hash=token_hash).consistent()

    @classmethod
    def of_user(cls, user_id: str) -> Query[Self]:
        """Return a user's sessions, newest first."""
        return cls.of_person(user_id=user_id).newest()

    @classmethod
    def one_of(cls, user_id: str, session_id: str) -> Query[Self]:
        """Return one of a user's sessions."""
        return cls.of_person(user_id=user_id, session_id=session_id)

    @classmethod
    def seen(cls, token_hash: str, at: datetime, ends_at: datetime) -> Update[Self]:
        """Record the use of a session and extend it."""
        return cls.update(token_hash=token_hash).set(seen_at=at, ends_at=ends_at)

    @classmethod
    def end(cls, token_hash: str) -> Delete[Self]:
        """End a session."""
        return cls.delete(token_hash=token_hash)


class StoredApiKey(Entity, table=keys, names="camel", times="milliseconds"):
    """An API key: found by its id; only the hash of its secret is stored."""

    key_id: str
    user_id: str
    name: str
    secret_hash: str
    admin: bool = False
    created_at: datetime
    used_at: datetime | None = None
    ends_at: datetime | None = ttl()

    row = key("{key_id}")
    of_person = key("{user_id}", "{key_id}", index="ByPerson")

    @classmethod
    def by_id(cls, key_id: str) -> Get[Self]:
        """Return one key."""
        return cls.get(key_id=key_id).consistent()

    @classmethod
    def of_user(cls, user_id: str) -> Query[Self]:
        """Return a user's keys, newest first."""
        return cls.of_person(user_id=user_id).newest()

    @classmethod
    def used(cls, key_id: str, at: datetime) -> Update[Self]:
        """Record the use of a key."""
        return cls.update(key_id=key_id).set(used_at=at)

    @classmethod
    def revoke(cls, key_id: str, user_id: str) -> Delete[Self]:
        """Delete a user's own key."""
        return cls.delete(key_id=key_id).when(StoredApiKey.user_id == user_id)
