"""Kept here: several items at once: read, written each on its own, or all or nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar

from grandstand.storage.tables import requests
from grandstand.storage.tables.errors import (
    DeclarationFault,
    Unprocessed,
)
from grandstand.storage.tables.operations.single import Delete, Demand, Get, Put
from grandstand.storage.tables.operations.updates import Update
from grandstand.storage.tables.values import Item, Value

if TYPE_CHECKING:
    from grandstand.storage.tables.declaration.entity import Entity
    from grandstand.storage.tables.session import Session

E = TypeVar("E", bound="Entity")
T = TypeVar("T")

MAX_READ: Final = 100
MAX_WRITE: Final = 25
MAX_ACTIONS: Final = 100
_FIRST_PAUSE_SECONDS: Final = 0.02
_ROUNDS: Final = 8

Write: TypeAlias = Put[Any] | Update[Any] | Delete[Any] | Demand[Any]
Place: TypeAlias = tuple[str, tuple[Value, ...]]


@dataclass(frozen=True, slots=True)
class GetMany(Generic[E]):
    """Read many items by their keys; the answers stand in the order of the questions."""

    gets: tuple[Get[E], ...]

    def run(self, session: Session) -> list[E | None]:
        """Read them, a hundred at a time; raise Unprocessed when some stay unread."""
        places = [_place(session, get) for get in self.gets]
        wanted = {place: get.request(session) for place, get in zip(places, self.gets, strict=True)}
        names = {session.name(get.entity.table): get.entity.table.key_names for get in self.gets}
        found: dict[Place, Item] = {}

        def read(left: Sequence[requests.GetItem]) -> Sequence[requests.GetItem]:
            answer = session.engine.batch_get(left)
            for table, item in answer.found:
                found[table, tuple(item[name] for name in names[table])] = item
            return answer.left

        for chunk in chunks(tuple(wanted.values()), MAX_READ):
            persist(session, chunk, read)
        return [
            get.answer(session, found.get(place))
            for place, get in zip(places, self.gets, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class WriteMany:
    """Put and delete many items, each on its own; the order is not kept."""

    writes: tuple[Put[Any] | Delete[Any], ...]

    def actions(self, session: Session) -> tuple[requests.PutItem | requests.DeleteItem, ...]:
        """Say each write the engine's way; raise DeclarationFault for one with a condition."""
        self._check()
        return tuple(_plain(session, write) for write in self.writes)

    def _check(self) -> None:
        for write in self.writes:
            if write.conditional:
                message = (
                    f"A batch cannot keep a condition on {write.entity.name}: use a transaction, "
                    "or overwriting() for an entity with a version"
                )
                raise DeclarationFault(message)

    def run(self, session: Session) -> None:
        """Write them, 25 at a time; raise Unprocessed with what is left after every retry.

        Raises DeclarationFault for a write with a condition, which a batch cannot honour.
        """
        self._check()

        def write(left: Sequence[requests.PutItem | requests.DeleteItem]) -> Sequence[Any]:
            return session.engine.batch_write(left).left

        # Said a batch at a time: many items alive at once cost more in collecting garbage.
        for chunk in chunks(self.writes, MAX_WRITE):
            persist(session, [_plain(session, each) for each in chunk], write)


@dataclass(frozen=True, slots=True)
class AllOrNothing:
    """Write up to a hundred items in one transaction; the same token is carried out once."""

    writes: tuple[Write, ...]
    token: str | None = None

    def request(self, session: Session) -> requests.Transaction:
        """Say it the engine's way."""
        actions = tuple(_action(session, write) for write in self.writes)
        return requests.Transaction(actions, self.token)

    def run(self, session: Session) -> None:
        """Write all, or raise TransactionCancelled and write nothing."""
        session.engine.transact_write(self.request(session))


@dataclass(frozen=True, slots=True)
class GetTogether(Generic[E]):
    """Read several items as they were at one moment."""

    gets: tuple[Get[E], ...]

    def run(self, session: Session) -> list[E | None]:
        """Read them; None stands where there is no item."""
        answers = session.engine.transact_get([get.request(session) for get in self.gets])
        return [
            get.answer(session, found.item) for get, found in zip(self.gets, answers, strict=True)
        ]


def chunks(whole: tuple[T, ...], size: int) -> Iterator[tuple[T, ...]]:
    """Cut a tuple into pieces of at most that size."""
    return (whole[at : at + size] for at in range(0, len(whole), size))


def persist(session: Session, left: Sequence[T], act: Callable[[Sequence[T]], Sequence[T]]) -> None:
    """Do again, after growing pauses, what was left undone; raise Unprocessed in the end."""
    for earlier in range(_ROUNDS):
        if earlier:
            session.clock.sleep(_FIRST_PAUSE_SECONDS * 2 ** (earlier - 1))
        left = act(left)
        if not left:
            return
    message = (
        f"{len(left)} items of a batch were left undone after {_ROUNDS} tries; try again later"
    )
    raise Unprocessed(message, tuple(left))


def _place(session: Session, get: Get[Any]) -> Place:
    return session.name(get.entity.table), tuple(get.key.values())


def _plain(
    session: Session, write: Put[Any] | Delete[Any]
) -> requests.PutItem | requests.DeleteItem:
    request = write.request(session)
    if isinstance(request, requests.DeleteItem):
        return requests.DeleteItem(request.table, request.key)
    return request


def _action(session: Session, write: Write) -> requests.WriteAction:
    request = write.request(session)
    if isinstance(request, requests.DeleteItem | requests.UpdateItem):
        return dataclasses.replace(request, returning="NONE", show_conflict=True)
    return request
