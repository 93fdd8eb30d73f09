"""Batches and transactions of several items."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar

from grandstand.storage.tables import requests
from grandstand.storage.tables.attribute_values import Item, Value
from grandstand.storage.tables.errors import (
    DeclarationFault,
    Unprocessed,
)
from grandstand.storage.tables.operations.item_ops import ConditionCheck, Delete, Get, Put
from grandstand.storage.tables.operations.updates import Update

if TYPE_CHECKING:
    from grandstand.storage.tables.declaration.entity import Entity
    from grandstand.storage.tables.store import Session

E = TypeVar("E", bound="Entity")
T = TypeVar("T")

MAX_READ: Final = 100
MAX_WRITE: Final = 25
MAX_ACTIONS: Final = 100
_FIRST_PAUSE_SECONDS: Final = 0.02
_MAX_ATTEMPTS: Final = 8

Write: TypeAlias = Put[Any] | Update[Any] | Delete[Any] | ConditionCheck[Any]
ItemAddress: TypeAlias = tuple[str, tuple[Value, ...]]


@dataclass(frozen=True, slots=True)
class GetMany(Generic[E]):
    """Read many items by their keys; the results are in the order of the gets."""

    gets: tuple[Get[E], ...]

    def run(self, session: Session) -> list[E | None]:
        """Read the items, 100 at a time. Raises Unprocessed if some cannot be read."""
        addresses = [_address(session, get) for get in self.gets]
        requests_by_address = {
            address: get.request(session) for address, get in zip(addresses, self.gets, strict=True)
        }
        names = {session.name(get.entity.table): get.entity.table.key_names for get in self.gets}
        found: dict[ItemAddress, Item] = {}
        for batch in read_batches(session, tuple(requests_by_address.values())):
            for table, item in batch.found:
                found[table, tuple(item[name] for name in names[table])] = item
        return [
            get.decode(session, found.get(address))
            for address, get in zip(addresses, self.gets, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class WriteMany:
    """Put and delete many items independently, in no particular order."""

    writes: tuple[Put[Any] | Delete[Any], ...]

    def actions(self, session: Session) -> tuple[requests.PutItem | requests.DeleteItem, ...]:
        """Return the engine requests. Raises DeclarationFault for a write with a condition."""
        self._check()
        return tuple(_unconditional_request(session, write) for write in self.writes)

    def _check(self) -> None:
        for write in self.writes:
            if write.conditional:
                raise DeclarationFault(
                    f"A batch cannot have a condition on {write.entity.name}. Use a transaction, "
                    "or overwriting() for an entity with a version."
                )

    def run(self, session: Session) -> None:
        """Write the items, 25 at a time.

        Raises Unprocessed with what is left after all retries, and DeclarationFault for a write
        with a condition.
        """
        self._check()
        # Built one batch at a time: with many live items garbage collection costs more.
        for batch in split_batches(self.writes, MAX_WRITE):
            write_batch(session, [_unconditional_request(session, write) for write in batch])


@dataclass(frozen=True, slots=True)
class TransactWrite:
    """Write up to 100 items in one transaction; a token is executed once."""

    writes: tuple[Write, ...]
    token: str | None = None

    def request(self, session: Session) -> requests.Transaction:
        actions = tuple(_transaction_action(session, write) for write in self.writes)
        return requests.Transaction(actions, self.token)

    def run(self, session: Session) -> None:
        """Write all items, or raise TransactionCancelled and write none."""
        session.engine.transact_write(self.request(session))


@dataclass(frozen=True, slots=True)
class TransactGet(Generic[E]):
    """Read several items as of one moment."""

    gets: tuple[Get[E], ...]

    def run(self, session: Session) -> list[E | None]:
        results = session.engine.transact_get([get.request(session) for get in self.gets])
        return [
            get.decode(session, found.item) for get, found in zip(self.gets, results, strict=True)
        ]


def split_batches(items: tuple[T, ...], size: int) -> Iterator[tuple[T, ...]]:
    """Split a tuple into batches of at most `size`."""
    return (items[at : at + size] for at in range(0, len(items), size))


def _retry_unprocessed(
    session: Session, left: Sequence[T], call: Callable[[Sequence[T]], Sequence[T]]
) -> None:
    """Call until nothing is left, with growing pauses.

    Args:
        session: Provides the clock.
        left: The members of the batch.
        call: Processes members and returns those left unprocessed.

    Raises:
        Unprocessed: Some members are left after 8 attempts.
    """
    for attempt in range(_MAX_ATTEMPTS):
        if attempt:
            session.clock.sleep(_FIRST_PAUSE_SECONDS * 2 ** (attempt - 1))
        left = call(left)
        if not left:
            return
    raise Unprocessed(
        f"{len(left)} items of a batch were not processed after {_MAX_ATTEMPTS} attempts. Try "
        "again later.",
        tuple(left),
    )


def read_batches(
    session: Session, gets: tuple[requests.GetItem, ...]
) -> Iterator[requests.BatchRead]:
    """Read items, 100 at a time. Raises Unprocessed."""
    results: list[requests.BatchRead] = []

    def read(left: Sequence[requests.GetItem]) -> Sequence[requests.GetItem]:
        results.append(session.engine.batch_get(left))
        return results[-1].left

    for batch in split_batches(gets, MAX_READ):
        _retry_unprocessed(session, batch, read)
        yield from results
        results.clear()


def write_batch(
    session: Session, actions: Sequence[requests.PutItem | requests.DeleteItem]
) -> None:
    """Write up to 25 items. Raises Unprocessed."""
    _retry_unprocessed(session, actions, lambda left: session.engine.batch_write(left).left)


def _address(session: Session, get: Get[Any]) -> ItemAddress:
    return session.name(get.entity.table), tuple(get.key.values())


def _unconditional_request(
    session: Session, write: Put[Any] | Delete[Any]
) -> requests.PutItem | requests.DeleteItem:
    request = write.request(session)
    if isinstance(request, requests.DeleteItem):
        return requests.DeleteItem(request.table, request.key)
    return request


def _transaction_action(session: Session, write: Write) -> requests.WriteAction:
    request = write.request(session)
    if isinstance(request, requests.DeleteItem | requests.UpdateItem):
        return dataclasses.replace(request, returning="NONE", show_conflict=True)
    return request
