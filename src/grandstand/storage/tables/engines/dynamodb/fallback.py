"""Kept here: transactions over a service that has none, as far as that goes.

What is promised and what is not stands in docs/decisions/0010-transactions-without-transactions.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import ClassVar, Final, Protocol, TypeAlias

from grandstand.base.errors import Broken
from grandstand.storage.tables.errors import (
    CancellationReason,
    ConditionFailed,
    InvalidRequest,
    StoreUnavailable,
    TransactionCancelled,
    TransactionConflict,
)
from grandstand.storage.tables.expressions.apply import apply, makes_item
from grandstand.storage.tables.expressions.evaluate import evaluate
from grandstand.storage.tables.expressions.nodes import (
    And,
    Compare,
    Condition,
    Exists,
    Literal,
    Missing,
    Path,
)
from grandstand.storage.tables.requests import (
    CheckItem,
    DeleteItem,
    Found,
    GetItem,
    PutItem,
    Transaction,
    UpdateItem,
    WriteAction,
    Written,
)
from grandstand.storage.tables.values import Item, Key, same

Write: TypeAlias = PutItem | UpdateItem | DeleteItem

MAX_ACTIONS: Final = 100
# A condition may have 300 operators and 4 KB: so many attributes tell one image from another.
_COMPARED: Final = 100
_COLLECTS: Final = 5


class TransactionHalfDone(Broken):
    """Some writes of a transaction stand and the others do not; `standing` holds those that do.

    It was not possible to take them back: another changed the items meanwhile, or the service
    stopped answering.
    """

    aws_name: ClassVar[str] = "InternalServerError"

    def __init__(self, standing: tuple[Write, ...]) -> None:
        count = len(standing)
        super().__init__(
            f"A transaction was given up half done: {count} of its writes could not be taken back; "
            "compare the items with what they should be"
        )
        self.standing = standing


class Items(Protocol):
    """The single-item calls the fallback is made of."""

    def get(self, request: GetItem) -> Found:
        """Read one item."""
        ...

    def write(self, request: Write, *, once: bool = False) -> Written:
        """Write one item, never twice if `once`; raise ConditionFailed."""
        ...

    def key(self, table: str, item: Item) -> Key:
        """Take an item's key out of it; raise TableNotFound."""
        ...


@dataclass(frozen=True, slots=True)
class _Done:
    action: Write
    key: Key
    old: Item | None
    new: Item | None


def transact_write(items: Items, request: Transaction) -> tuple[Written, ...]:
    """Write all, or take back what was written; not isolated, and not safe against a crash.

    All items are read first and all conditions tried on them, so that an ordinary refusal writes
    nothing. Then the writes are made in order, each with its own condition; when one fails, the
    earlier ones are undone in reverse order, each only if its item still is as this transaction
    left it. Others may see the writes before the last one is made or the first one undone, and
    the token is of no use. Raises TransactionCancelled when nothing stands, TransactionHalfDone
    when something does, and StoreUnavailable when the service is lost on the way.
    """
    keys = [_key(items, action) for action in request.actions]
    _check(request.actions, keys)
    seen = _try_conditions(items, request.actions, keys)
    done: list[_Done] = []
    for place, action in enumerate(request.actions):
        if isinstance(action, CheckItem):
            continue
        try:
            done.append(_write(items, action, keys[place], seen[place]))
        except ConditionFailed as refused:
            _undo(items, done)
            raise _cancelled(len(keys), {place: _reason(action, refused.item)}) from refused
        except InvalidRequest as refused:
            _undo(items, done)
            reason = CancellationReason("ValidationError", str(refused))
            raise _cancelled(len(keys), {place: reason}) from refused
        except Exception:
            _undo(items, done)
            raise
    return (Written(),) * len(keys)


def transact_get(
    read: Callable[[Sequence[GetItem]], tuple[Found, ...]], requests: Sequence[GetItem]
) -> tuple[Found, ...]:
    """Read several items as of one moment: again and again until two readings agree.

    Raises TransactionConflict when they never do.
    """
    _check_number(len(requests))
    wanted = tuple(request._replace(consistent=True) for request in requests)
    before = read(wanted)
    for _ in range(_COLLECTS):
        after = read(wanted)
        if all(_alike(a.item, b.item) for a, b in zip(before, after, strict=True)):
            return after
        before = after
    raise TransactionConflict("The items change faster than they can be read together: try again")


def _key(items: Items, action: WriteAction) -> Key:
    return items.key(action.table, action.item) if isinstance(action, PutItem) else action.key


def _check(actions: Sequence[WriteAction], keys: list[Key]) -> None:
    _check_number(len(actions))
    for place, key in enumerate(keys):
        for other in range(place):
            if actions[other].table == actions[place].table and same(keys[other], key):
                raise InvalidRequest(
                    "Transaction request cannot include multiple operations on one item"
                )


def _check_number(number: int) -> None:
    if not 0 < number <= MAX_ACTIONS:
        bound = f"less than or equal to {MAX_ACTIONS}" if number else "greater than or equal to 1"
        raise InvalidRequest(
            "1 validation error detected: Value at 'transactItems' failed to satisfy constraint: "
            f"Member must have length {bound}"
        )


def _try_conditions(
    items: Items, actions: Sequence[WriteAction], keys: list[Key]
) -> list[Item | None]:
    seen: list[Item | None] = []
    reasons: dict[int, CancellationReason] = {}
    for place, (action, key) in enumerate(zip(actions, keys, strict=True)):
        found = items.get(GetItem(action.table, key, consistent=True)).item
        seen.append(found)
        if action.condition is not None and not evaluate(action.condition, found):
            reasons[place] = _reason(action, found)
    if reasons:
        raise _cancelled(len(keys), reasons)
    return seen


def _reason(action: WriteAction, found: Item | None) -> CancellationReason:
    return CancellationReason(
        "ConditionalCheckFailed",
        "The conditional request failed",
        found if action.show_conflict else None,
    )


def _cancelled(count: int, reasons: dict[int, CancellationReason]) -> TransactionCancelled:
    return TransactionCancelled(
        tuple(reasons.get(place, CancellationReason()) for place in range(count))
    )


def _write(items: Items, action: Write, key: Key, seen: Item | None) -> _Done:
    """Write one item once; when the answer is lost, the item itself tells what became of it."""
    try:
        old = items.write(replace(action, returning="ALL_OLD"), once=True).attributes
    except StoreUnavailable:
        found = items.get(GetItem(action.table, key, consistent=True)).item
        if not _alike(found, _image(action, key, seen)):
            raise
        old = seen
    return _Done(action, key, old, _image(action, key, old))


def _image(action: Write, key: Key, old: Item | None) -> Item | None:
    match action:
        case PutItem():
            return action.item
        case DeleteItem():
            return None
        case UpdateItem():
            if old is None and not makes_item(action.update):
                return None
            return apply(action.update, key if old is None else old, exists=old is not None)


def _undo(items: Items, done: Sequence[_Done]) -> None:
    standing: list[Write] = []
    for write in reversed(done):
        try:
            _take_back(items, write)
        except Exception:  # noqa: BLE001 - whatever it was, the write stands and is reported
            standing.append(write.action)
    if standing:
        raise TransactionHalfDone(tuple(reversed(standing)))


def _take_back(items: Items, write: _Done) -> None:
    if _alike(write.old, write.new):
        return
    table, unchanged = write.action.table, _unchanged(write)
    if write.old is None:
        items.write(DeleteItem(table, write.key, condition=unchanged))
    else:
        items.write(PutItem(table, write.old, condition=unchanged))


def _unchanged(write: _Done) -> Condition:
    """Demand that the item is still as the write left it."""
    root = Path((next(iter(write.key)),))
    if write.new is None:
        return Missing(root)
    parts: list[Condition] = [Exists(root)]
    parts += [
        Compare("=", Path((name,)), Literal(value))
        for name, value in write.new.items()
        if name not in write.key
    ]
    parts += [Missing(Path((name,))) for name in write.old or () if name not in write.new]
    return reduce(And, parts[:_COMPARED])


def _alike(left: Item | None, right: Item | None) -> bool:
    if left is None or right is None:
        return left is right
    return same(left, right)
