"""Kept here: people: their accounts, what they prefer, and who a credential stands for."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import TYPE_CHECKING, Any

from grandstand.base.clock import Clock
from grandstand.base.errors import Conflict, NotFound
from grandstand.base.ids import new_id
from grandstand.kit.who.caller import Caller, Preferences, Role, Via
from grandstand.kit.who.errors import LastAdmin, LoginFailed, NameTaken
from grandstand.kit.who.keys import Keys
from grandstand.kit.who.names import checked_name, checked_preferences, is_name, name_key
from grandstand.kit.who.passwords import Passwords, checked_password
from grandstand.kit.who.secrets import Chance
from grandstand.kit.who.sessions import Lasting, NewSession, Sessions, SessionView, Visitor
from grandstand.kit.who.tables import Census, Erasure, KeptPreferences, Person, TakenName
from grandstand.kit.who.throttle import Patience, Throttle
from grandstand.storage.tables import AsyncStore, Get
from grandstand.storage.tables.errors import ConditionFailed, TransactionCancelled

if TYPE_CHECKING:
    from grandstand.storage.tables.operations.batches import Write

_NOBODY = "#nobody"
_FAILED = "ConditionalCheckFailed"


@dataclass(frozen=True, slots=True)
class Account:
    """What may be told of an account."""

    user_id: str
    name: str
    admin: bool
    created_at: datetime
    password_set_at: datetime


class People:
    """Everybody with an account; `sessions` and `keys` are their credentials.

    `chance` makes tokens and secrets and must not be predictable; `random` makes ids, which need
    not be secret.
    """

    def __init__(
        self,
        store: AsyncStore,
        *,
        clock: Clock,
        random: Random,
        passwords: Passwords | None = None,
        chance: Chance = secrets.token_bytes,
        lasting: Lasting | None = None,
        patience: Patience | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._random = random
        self._passwords = passwords or Passwords()
        self._throttle = Throttle(store, clock, patience)
        self.sessions = Sessions(store, clock=clock, random=random, chance=chance, lasting=lasting)
        self.keys = Keys(store, clock=clock, random=random, chance=chance)

    async def any(self) -> bool:
        """Tell whether there is an account; from the first on, everybody has to log in."""
        census = await self._store(Census.now())
        return census is not None and census.count > 0

    async def add(self, name: str, password: str, *, admin: bool = False) -> Account:
        """Add an account; raise InvalidInput or NameTaken."""
        shown = checked_name(name)
        stored = await self._passwords.hash(checked_password(password, shown))
        now = self._clock.now()
        person = Person(
            user_id=new_id(self._clock, self._random),
            name=shown,
            name_key=name_key(shown),
            password_hash=stored,
            admin=admin,
            created_at=now,
            password_set_at=now,
        )
        taken = TakenName(name_key=person.name_key, user_id=person.user_id)
        try:
            await self._store.all(taken.take(), person.enter(), Census.join(int(admin)))
        except TransactionCancelled as refused:
            if refused.reasons[0].code != _FAILED:
                raise
            message = f"There is an account {shown} already: choose another name"
            raise NameTaken(message) from refused
        return _account(person)

    async def list(self) -> tuple[Account, ...]:
        """Answer every account, by name."""
        return tuple(_account(person) for person in await self._store(Person.everyone()))

    async def find(self, name: str) -> Account | None:
        """Answer the account of that name, None when there is none."""
        person = await self._named(name)
        return None if person is None else _account(person)

    async def read(self, name: str) -> Account:
        """Answer the account of that name; raise NotFound."""
        account = await self.find(name)
        if account is None:
            message = f"There is no account {name!r}; grandstand user list shows those there are"
            raise NotFound(message)
        return account

    async def read_id(self, user_id: str) -> Account:
        """Answer the account of that id; raise NotFound."""
        return _account(await self._person(user_id))

    async def appoint(self, user_id: str, *, admin: bool) -> None:
        """Make somebody an administrator, or one no more; raise NotFound or LastAdmin."""
        if (await self._person(user_id)).admin == admin:
            return
        count = Census.promoted() if admin else Census.demoted()
        await self._counted(count, Person.appoint(user_id, admin))

    async def remove(self, user_id: str) -> None:
        """Remove an account with its credentials and preferences; raise NotFound or LastAdmin.

        What applications keep of the person stays: `belongings.erase` removes that too.
        """
        await self._person(user_id)
        await self.part(user_id)
        await self.forget(user_id)

    async def part(self, user_id: str, *more: Write) -> None:
        """End an account, which makes its credentials worthless, together with `more` writes.

        Raises LastAdmin; without an account only `more` is written.
        """
        person = await self._store(Person.by_id(user_id))
        if person is None:
            if more:
                await self._store.all(*more)
            return
        gone = Person.leave(user_id, person.admin)
        name = TakenName.give_back(person.name_key, user_id)
        count = Census.leave_admin() if person.admin else Census.leave()
        await self._counted(count, gone, name, *more)

    async def forget(self, user_id: str) -> int:
        """Delete what is left of a person's credentials and preferences; answer how much it was."""
        gone = await self._store(KeptPreferences.forget(user_id))
        deleted = await self.sessions.forget(user_id) + await self.keys.forget(user_id)
        return deleted + (gone is not None)

    async def log_in(
        self, name: str, password: str, visitor: Visitor, *, replacing: str | None = None
    ) -> NewSession:
        """Begin a session and end the one it replaces; raise LoginFailed or LoginThrottled."""
        tried = await self._throttle.take(name_key(name)[:256], visitor.address)
        person = await self._named(name)
        stored = None if person is None else person.password_hash
        right = await self._passwords.matches(stored, password)
        if person is None or not right:
            message = "The name or the password is wrong"
            raise LoginFailed(message)
        await self._throttle.forgive(tried)
        if self._passwords.outdated(person.password_hash):
            await self._strengthen(person, password)
        if replacing:
            await self.sessions.end(replacing)
        return await self.sessions.begin(person, visitor)

    async def change_password(
        self, user_id: str, old: str, new: str, visitor: Visitor
    ) -> NewSession:
        """Set a new password by the old one, end every session, and begin one for who did it.

        Raises NotFound, InvalidInput, LoginFailed or LoginThrottled.
        """
        person = await self._person(user_id)
        tried = await self._throttle.take(person.name_key, visitor.address)
        if not await self._passwords.matches(person.password_hash, old):
            message = "The old password is wrong"
            raise LoginFailed(message)
        await self._throttle.forgive(tried)
        return await self.sessions.begin(await self._set_password(person, new), visitor)

    async def reset_password(self, user_id: str, new: str) -> None:
        """Set a new password and end every session; raise NotFound or InvalidInput."""
        await self._set_password(await self._person(user_id), new)
        await self.sessions.forget(user_id)

    async def log_out(self, token: str) -> None:
        """End the session of a token."""
        await self.sessions.end(token)

    async def sessions_of(self, user_id: str, token: str | None = None) -> tuple[SessionView, ...]:
        """Answer a person's sessions, newest first; raise NotFound."""
        return await self.sessions.list(await self._person(user_id), token)

    async def preferences(self, user_id: str) -> Preferences:
        """Answer what somebody prefers, or what everybody starts with."""
        return _preferences(await self._store(KeptPreferences.of_user(user_id)))

    async def prefer(self, user_id: str, *, time_zone: str, odds_format: str) -> Preferences:
        """Keep what somebody prefers; raise InvalidInput."""
        checked = checked_preferences(time_zone, odds_format)
        kept = KeptPreferences(
            user_id=user_id, time_zone=checked.time_zone, odds_format=checked.odds_format
        )
        await self._store(kept.keep())
        return checked

    async def by_session(self, token: str) -> Caller | None:
        """Answer who a session token stands for, None when it stands for nobody."""
        kept = await self.sessions.find(token)
        if kept is None:
            return None
        person, preferences = await self._known(kept.user_id)
        if person is None or person.generation != kept.generation:
            return None
        return _caller(person, preferences, "session", admin=person.admin)

    async def by_key(self, text: str) -> Caller | None:
        """Answer who an API key stands for, None when it stands for nobody."""
        kept = await self.keys.find(text)
        if kept is None:
            return None
        person, preferences = await self._known(kept.user_id)
        if person is None:
            return None
        return _caller(person, preferences, "key", admin=person.admin and kept.admin)

    async def by_subject(self, user_id: str) -> Preferences | None:
        """Answer what the subject of a trusted token prefers, None while they are being erased."""
        asked: tuple[Get[Any], ...]
        asked = (KeptPreferences.of_user(user_id), Erasure.of_user(user_id))
        kept, erasure = await self._store.get_many(asked)
        return None if erasure is not None else _preferences(kept)

    async def _known(self, user_id: str) -> tuple[Person | None, Preferences]:
        asked: tuple[Get[Any], ...]
        asked = (Person.by_id(user_id), KeptPreferences.of_user(user_id))
        person, kept = await self._store.get_many(asked)
        return person, _preferences(kept)

    async def _named(self, name: str) -> Person | None:
        """Look for a name; whether there is one makes no difference to how much is read."""
        wanted = name_key(name) if is_name(name) else _NOBODY
        taken = await self._store(TakenName.owner(wanted))
        return await self._store(Person.by_id(_NOBODY if taken is None else taken.user_id))

    async def _person(self, user_id: str) -> Person:
        person = await self._store(Person.by_id(user_id or _NOBODY))
        if person is None:
            message = "There is no such account"
            raise NotFound(message)
        return person

    async def _set_password(self, person: Person, new: str) -> Person:
        stored = await self._passwords.hash(checked_password(new, person.name))
        change = Person.new_password(
            person.user_id, stored, person.password_hash, self._clock.now()
        )
        try:
            return await self._store(change)
        except ConditionFailed as refused:
            message = "The password was changed by somebody else at the same moment"
            raise Conflict(message) from refused

    async def _strengthen(self, person: Person, password: str) -> None:
        stored = await self._passwords.hash(password)
        try:
            change = Person.strengthen(person.user_id, stored, person.password_hash)
            await self._store(change)
        except ConditionFailed:
            return

    async def _counted(self, count: Write, *writes: Write) -> None:
        try:
            await self._store.all(count, *writes)
        except TransactionCancelled as refused:
            if refused.reasons[0].code != _FAILED:
                raise
            message = "This is the last administrator: make somebody else one first"
            raise LastAdmin(message) from refused


def _account(person: Person) -> Account:
    return Account(
        user_id=person.user_id,
        name=person.name,
        admin=person.admin,
        created_at=person.created_at,
        password_set_at=person.password_set_at,
    )


def _preferences(kept: KeptPreferences | None) -> Preferences:
    return Preferences() if kept is None else Preferences(kept.time_zone, kept.odds_format)


def roles_of(*, admin: bool) -> frozenset[Role]:
    """Answer the roles of an administrator, or of anybody else."""
    return frozenset({"user", "admin"}) if admin else frozenset({"user"})


def _caller(person: Person, preferences: Preferences, via: Via, *, admin: bool) -> Caller:
    return Caller(person.user_id, person.name, roles_of(admin=admin), via, preferences)
