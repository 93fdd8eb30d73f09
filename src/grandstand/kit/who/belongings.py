"""Kept here: everything the house keeps of one person, to be taken along or erased."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from grandstand.base.clock import Clock
from grandstand.base.errors import NotFound
from grandstand.kit.app import Belongings
from grandstand.kit.who.people import People
from grandstand.kit.who.tables import Erasure
from grandstand.storage.tables import AsyncStore
from grandstand.storage.tables.errors import ConditionFailed, TransactionCancelled

HOUSE: Final = "house"


@dataclass(frozen=True, slots=True)
class Belonging:
    """One thing kept of a person: by whom, of what kind, and what it says."""

    app: str
    kind: str
    value: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Erased:
    """How many things were erased, by whom they were kept."""

    user_id: str
    things: Mapping[str, int]


class AllBelongings:
    """What the house and every application keep of people, under the applications' names."""

    def __init__(
        self, store: AsyncStore, people: People, apps: Mapping[str, Belongings], clock: Clock
    ) -> None:
        self._store = store
        self._people = people
        self._apps = apps
        self._clock = clock

    async def export(self, user_id: str) -> AsyncIterator[Belonging]:
        """Answer everything kept of a person, without hashes of passwords and secrets."""
        async for kind, value in self._of_house(user_id):
            yield Belonging(HOUSE, kind, value)
        for app, belongings in self._apps.items():
            async for kind, value in belongings.export(user_id):
                yield Belonging(app, kind, value)

    async def erase(self, user_id: str) -> Erased:
        """Erase everything kept of a person; after a failure, call it again to go on.

        The account ends first, in one step with the note that the erasure has begun, so that
        nothing new is written meanwhile. Raises LastAdmin, and what an application raises.
        """
        done = await self._begun(user_id)
        things: dict[str, int] = {}
        for app, belongings in self._apps.items():
            if app not in done:
                things[app] = await belongings.erase(user_id)
                await self._store(Erasure.tick_off(user_id, frozenset({app})))
        things[HOUSE] = await self._people.forget(user_id)
        await self._store(Erasure.finish(user_id))
        return Erased(user_id, things)

    async def unfinished(self) -> tuple[Erasure, ...]:
        """Answer the erasures that were begun and have to be gone on with."""
        return tuple(await self._store(Erasure.unfinished()))

    async def whose(self, name: str) -> str:
        """Answer the user id of an account, or of one whose erasure has begun; raise NotFound."""
        account = await self._people.find(name)
        if account is not None:
            return account.user_id
        for erasure in await self.unfinished():
            if name in (erasure.name, erasure.user_id):
                return erasure.user_id
        message = f"There is no account {name!r}; grandstand user list shows those there are"
        raise NotFound(message)

    async def _begun(self, user_id: str) -> frozenset[str]:
        known = await self._store(Erasure.of_user(user_id))
        if known is not None:
            return known.done
        name = ""
        try:
            name = (await self._people.read_id(user_id)).name
        except NotFound:
            name = user_id
        erasure = Erasure(user_id=user_id, name=name, begun_at=self._clock.now())
        try:
            await self._people.part(user_id, erasure.begin())
        except (ConditionFailed, TransactionCancelled):
            other = await self._store(Erasure.of_user(user_id))
            if other is None:
                raise
            return other.done
        return erasure.done

    async def _of_house(self, user_id: str) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        try:
            account = await self._people.read_id(user_id)
        except NotFound:
            pass
        else:
            yield "account", dataclasses.asdict(account)
            for session in await self._people.sessions_of(user_id):
                yield "session", dataclasses.asdict(session)
            for key in await self._people.keys.list(user_id):
                yield "key", dataclasses.asdict(key)
        yield "preferences", dataclasses.asdict(await self._people.preferences(user_id))
