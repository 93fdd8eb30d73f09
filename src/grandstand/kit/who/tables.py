"""Kept here: the tables of people, their sessions and their keys."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Self

from grandstand.kit.who.caller import OddsFormat
from grandstand.storage.tables import (
    Delete,
    Entity,
    Get,
    Index,
    Put,
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
    purpose="Accounts, their names, preferences, failed logins, and erasures under way.",
)
sessions: Final = Table(
    "grandstand-sessions",
    partition="tokenHash",
    indexes=(Index("ByPerson", "userId", "sessionId"),),
    ttl="ttl",
    purpose="Who is logged in; the token itself is only in the browser.",
)
keys: Final = Table(
    "grandstand-keys",
    partition="keyId",
    indexes=(Index("ByPerson", "userId", "keyId"),),
    ttl="ttl",
    purpose="API keys; the secret itself is only with whoever it was issued to.",
)

WHO_TABLES: Final = (people, sessions, keys)


class Person(Entity, table=people, names="camel", times="milliseconds"):
    """An account. Sessions of an older generation than its own are over."""

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
        """One account."""
        return cls.get(user_id=user_id).consistent()

    @classmethod
    def everyone(cls) -> Query[Self]:
        """Every account, by name."""
        return cls.listing()

    def enter(self) -> Put[Self]:
        """Keep an account that is not there yet."""
        return self.put().if_absent()

    @classmethod
    def new_password(
        cls, user_id: str, password_hash: str, replaces: str, at: datetime
    ) -> Update[Self]:
        """Set a password over the one that was checked, and end every session."""
        person = cls.update(user_id=user_id)
        person = person.set(password_hash=password_hash, password_set_at=at).add(generation=1)
        return person.when(Person.password_hash == replaces)

    @classmethod
    def strengthen(cls, user_id: str, password_hash: str, replaces: str) -> Update[Self]:
        """Keep the same password hashed at another cost."""
        person = cls.update(user_id=user_id).set(password_hash=password_hash)
        return person.when(Person.password_hash == replaces)

    @classmethod
    def appoint(cls, user_id: str, admin: bool) -> Update[Self]:  # noqa: FBT001 - a pattern
        """Make an administrator, or one no more."""
        return cls.update(user_id=user_id).set(admin=admin).when(Person.admin == (not admin))

    @classmethod
    def leave(cls, user_id: str, admin: bool) -> Delete[Self]:  # noqa: FBT001 - a pattern
        """Remove an account that is still what it was counted as."""
        return cls.delete(user_id=user_id).when(Person.admin == admin)


class TakenName(Entity, table=people, names="camel"):
    """Whose a name is, so that no two accounts share one."""

    name_key: str
    user_id: str

    row = key("NAME#{name_key}")

    @classmethod
    def owner(cls, name_key: str) -> Get[Self]:
        """Whose a name is."""
        return cls.get(name_key=name_key).consistent()

    def take(self) -> Put[Self]:
        """Take a name that is free."""
        return self.put().if_absent()

    @classmethod
    def give_back(cls, name_key: str, user_id: str) -> Delete[Self]:
        """Let go of one's own name."""
        return cls.delete(name_key=name_key).when(TakenName.user_id == user_id)


class Census(Entity, table=people, names="camel"):
    """How many accounts there are, and how many of them administer."""

    count: int = attribute("people", default=0)
    admins: int = 0

    row = key("CENSUS")

    @classmethod
    def now(cls) -> Get[Self]:
        """How many there are."""
        return cls.get().consistent()

    @classmethod
    def join(cls, admins: int) -> Update[Self]:
        """Count one more, in the transaction that adds the account."""
        return cls.update().upsert().add(count=1, admins=admins)

    @classmethod
    def leave(cls) -> Update[Self]:
        """Count one less, in the transaction that removes the account."""
        return cls.update().add(count=-1)

    @classmethod
    def leave_admin(cls) -> Update[Self]:
        """Count an administrator less, unless others would be left without one."""
        left = cls.update().add(count=-1, admins=-1)
        return left.when((Census.admins > 1) | (Census.count == 1))

    @classmethod
    def promoted(cls) -> Update[Self]:
        """Count one more administrator."""
        return cls.update().add(admins=1)

    @classmethod
    def demoted(cls) -> Update[Self]:
        """Count one administrator less, unless it is the last."""
        return cls.update().add(admins=-1).when(Census.admins > 1)


class KeptPreferences(Entity, table=people, names="camel"):
    """How somebody likes times and odds, whichever credential they come with."""

    user_id: str
    time_zone: str
    odds_format: OddsFormat

    row = key("PREFERENCES#{user_id}")

    @classmethod
    def of_user(cls, user_id: str) -> Get[Self]:
        """A person's preferences."""
        return cls.get(user_id=user_id).consistent()

    def keep(self) -> Put[Self]:
        """Keep them over what was there."""
        return self.put()

    @classmethod
    def forget(cls, user_id: str) -> Delete[Self]:
        """Forget a person's preferences."""
        return cls.delete(user_id=user_id)


class Tries(Entity, table=people, names="camel"):
    """How often somebody failed to log in within one window of time."""

    subject: str
    window: int
    count: int = 0
    ends_at: datetime | None = ttl()

    row = key("TRIES#{subject}#{window:010d}")

    @classmethod
    def one_more(cls, subject: str, window: int, most: int, ends_at: datetime) -> Update[Self]:
        """Count a try before it is made, if it is not one too many."""
        tried = cls.update(subject=subject, window=window).upsert().add(count=1)
        return tried.set(ends_at=ends_at).when(absent(Tries.count) | (Tries.count < most))

    @classmethod
    def take_back(cls, subject: str, window: int) -> Update[Self]:
        """Take one try out of the count: it succeeded."""
        return cls.update(subject=subject, window=window).add(count=-1)

    @classmethod
    def forget(cls, subject: str, window: int) -> Delete[Self]:
        """Forget what failed before."""
        return cls.delete(subject=subject, window=window)


class Erasure(Entity, table=people, names="camel", times="milliseconds"):
    """A person whose data is being erased; it stays until all of it is gone."""

    user_id: str
    name: str
    begun_at: datetime
    done: frozenset[str] = frozenset()

    row = key("ERASURE#{user_id}")
    listing = key("ERASURES", "{user_id}", index="Listing")

    @classmethod
    def of_user(cls, user_id: str) -> Get[Self]:
        """Whether a person is being erased."""
        return cls.get(user_id=user_id).consistent()

    @classmethod
    def unfinished(cls) -> Query[Self]:
        """Every erasure that was begun and is not finished."""
        return cls.listing()

    def begin(self) -> Put[Self]:
        """Begin an erasure."""
        return self.put().if_absent()

    @classmethod
    def finish(cls, user_id: str) -> Delete[Self]:
        """Finish an erasure."""
        return cls.delete(user_id=user_id)

    @classmethod
    def tick_off(cls, user_id: str, done: frozenset[str]) -> Update[Self]:
        """Note that something has been erased."""
        return cls.update(user_id=user_id).add(done=done)


class KeptSession(Entity, table=sessions, names="camel", times="milliseconds"):
    """A login: found by the hash of its token, listed and revoked by its id."""

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
        """The session a token opens."""
        return cls.get(token_hash=token_hash).consistent()

    @classmethod
    def of_user(cls, user_id: str) -> Query[Self]:
        """A person's sessions, newest first."""
        return cls.of_person(user_id=user_id).newest()

    @classmethod
    def one_of(cls, user_id: str, session_id: str) -> Query[Self]:
        """One of a person's own sessions."""
        return cls.of_person(user_id=user_id, session_id=session_id)

    def begin(self) -> Put[Self]:
        """Keep a session that is not there yet."""
        return self.put().if_absent()

    @classmethod
    def seen(cls, token_hash: str, at: datetime, ends_at: datetime) -> Update[Self]:
        """Note that a session is used, and let it last longer."""
        return cls.update(token_hash=token_hash).set(seen_at=at, ends_at=ends_at)

    @classmethod
    def end(cls, token_hash: str) -> Delete[Self]:
        """End a session."""
        return cls.delete(token_hash=token_hash)


class KeptKey(Entity, table=keys, names="camel", times="milliseconds"):
    """An API key: found by its id, opened by a secret of which only the hash is kept."""

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
        """One key."""
        return cls.get(key_id=key_id).consistent()

    @classmethod
    def of_user(cls, user_id: str) -> Query[Self]:
        """A person's keys, newest first."""
        return cls.of_person(user_id=user_id).newest()

    def issue(self) -> Put[Self]:
        """Keep a key that is not there yet."""
        return self.put().if_absent()

    @classmethod
    def used(cls, key_id: str, at: datetime) -> Update[Self]:
        """Note that a key is in use."""
        return cls.update(key_id=key_id).set(used_at=at)

    @classmethod
    def revoke(cls, key_id: str, user_id: str) -> Delete[Self]:
        """Revoke a person's own key."""
        return cls.delete(key_id=key_id).when(KeptKey.user_id == user_id)
