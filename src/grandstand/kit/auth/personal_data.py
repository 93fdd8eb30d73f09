"""Export and erasure of the data stored about a person."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, Protocol

from grandstand.core.clock import Clock
from grandstand.core.errors import NotFound
from grandstand.core.formatting import camel_case
from grandstand.kit.auth.accounts import AccountService
from grandstand.kit.auth.tables import Erasure
from grandstand.storage.tables import AsyncStore
from grandstand.storage.tables.errors import ConditionFailed, TransactionCancelled

PLATFORM: Final = "platform"


class PersonalData(Protocol):
    """The data an app stores about one person."""

    def export(self, user_id: str) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Yield everything stored about a person, as (kind, JSON-ready record)."""
        ...

    async def erase(self, user_id: str) -> int:
        """Erase everything stored about a person and return the number of records."""
        ...


@dataclass(frozen=True, slots=True)
class PersonalRecord:
    """One record about a person: the app that stores it, its kind and its content."""

    app: str
    kind: str
    value: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ErasureReport:
    """How many records were erased, by app."""

    user_id: str
    records: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class PersonalDataService:
    """The personal data stored by the platform and by every app."""

    store: AsyncStore
    people: AccountService
    apps: Mapping[str, PersonalData]
    clock: Clock

    async def export(self, user_id: str) -> AsyncIterator[PersonalRecord]:
        """Yield everything stored about a person, without password hashes and secrets."""
        async for kind, value in self._of_platform(user_id):
            yield PersonalRecord(PLATFORM, kind, value)
        for app, data in self.apps.items():
            async for kind, value in data.export(user_id):
                yield PersonalRecord(app, kind, value)

    async def erase(self, user_id: str) -> ErasureReport:
        """Erase everything stored about a person; call it again after a failure.

        The account is ended first, together with a record that the erasure has started, so that
        nothing new is written. Raises LastAdmin and the errors of apps.
        """
        done = await self._begin(user_id)
        records: dict[str, int] = {}
        for app, data in self.apps.items():
            if app not in done:
                records[app] = await data.erase(user_id)
                await self.store(Erasure.tick_off(user_id, frozenset({app})))
        records[PLATFORM] = await self.people.forget(user_id)
        await self.store(Erasure.delete(user_id=user_id))
        return ErasureReport(user_id, records)

    async def unfinished(self) -> tuple[Erasure, ...]:
        """Return erasures that have not been completed."""
        return tuple(await self.store(Erasure.listing()))

    async def find_user_id(self, name: str) -> str:
        """Return the user id of an account, or of one that is being erased. Raises NotFound."""
        account = await self.people.find(name)
        if account is not None:
            return account.user_id
        for erasure in await self.unfinished():
            if name in (erasure.name, erasure.user_id):
                return erasure.user_id
        raise NotFound(f"No account named {name!r}. List all accounts with `grandstand user list`.")

    async def _begin(self, user_id: str) -> frozenset[str]:
        erasure = await self.store(Erasure.of_user(user_id))
        if erasure is not None:
            return erasure.done
        try:
            name = (await self.people.read_id(user_id)).name
        except NotFound:
            name = user_id
        erasure = Erasure(user_id=user_id, name=name, begun_at=self.clock.now())
        try:
            await self.people.part(user_id, erasure.put().if_absent())
        except (ConditionFailed, TransactionCancelled):
            other = await self.store(Erasure.of_user(user_id))
            if other is None:
                raise
            return other.done
        return erasure.done

    async def _of_platform(self, user_id: str) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        try:
            account = await self.people.read_id(user_id)
        except NotFound:
            pass
        else:
            yield "account", dataclasses.asdict(account)
            for session in await self.people.sessions.list(user_id):
                yield "session", dataclasses.asdict(session)
            for key in await self.people.keys.list(user_id):
                yield "key", dataclasses.asdict(key)
        yield "preferences", dataclasses.asdict(await self.people.preferences(user_id))


def to_jsonable(value: Any) -> Any:  # noqa: ANN401 - any value of ours
    """Return a value as JSON data, with stored attribute names; None is left out."""
    if dataclasses.is_dataclass(value):
        return {
            str(field.metadata.get("attribute") or camel_case(field.name)): to_jsonable(content)
            for field in dataclasses.fields(value)
            if (content := getattr(value, field.name)) is not None
        }
    if isinstance(value, tuple | list):
        return [to_jsonable(each) for each in value]
    if isinstance(value, dict):
        return {name: to_jsonable(each) for name, each in value.items()}
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, datetime):
        return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return float(value) if isinstance(value, Decimal) else value
