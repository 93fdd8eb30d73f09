"""Kept here: carrying an update out on an item."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias, cast

from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions.checks import check_update, code_of
from grandstand.storage.tables.expressions.evaluate import ABSENT, Absent, resolve
from grandstand.storage.tables.expressions.nodes import (
    Assigned,
    IfMissing,
    Joined,
    Literal,
    Path,
    Sum,
    Update,
)
from grandstand.storage.tables.expressions.project import project
from grandstand.storage.tables.values import Item, Number, Value, add, settle


class _Gone:
    """What an action leaves where nothing is to remain."""


_GONE: Final = _Gone()

_After: TypeAlias = "Value | _Gone"
_Before: TypeAlias = "Value | Absent"
_Action: TypeAlias = Callable[[_Before], _After]
_Plan: TypeAlias = "dict[str | int, _Action | _Plan]"


def apply(update: Update, item: Item, *, exists: bool = True) -> Item:
    """Answer the item after the update; the item given stays as it is.

    With `exists` false the item is only the key of one still to be made, where removals within
    attributes that are not there mean nothing. Raises InvalidRequest.
    """
    check_update(update)
    plan: _Plan = {}
    for path, assigned in update.sets:
        _plant(plan, path, _setting(_assigned(assigned, item)))
    for path in update.removes:
        if exists or len(path.steps) == 1:
            _plant(plan, path, _removing)
    for path, literal in update.adds:
        _plant(plan, path, _adding(literal))
    for path, literal in update.deletes:
        if exists or len(path.steps) == 1:
            _plant(plan, path, _deleting(literal))
    return _in_map(plan, item)


def touched(update: Update, item: Item) -> Item:
    """Answer what the item holds at the paths the update writes to, and nothing beside them."""
    return project(update.paths, item)


def makes_item(update: Update) -> bool:
    """Tell whether the update brings an item into being where there is none.

    One that only takes away does not; one that does nothing at all does.
    """
    return bool(update.sets or update.adds) or not (update.removes or update.deletes)


def _assigned(assigned: Assigned, item: Item) -> Value:
    match assigned:
        case Literal(value):
            return value
        case Path():
            found = resolve(assigned, item)
            if isinstance(found, Absent):
                raise InvalidRequest(
                    "The provided expression refers to an attribute that does not exist in the item"
                )
            return found
        case IfMissing(path, other):
            fallback = _assigned(other, item)
            found = resolve(path, item)
            return fallback if isinstance(found, Absent) else found
        case Joined(first, second):
            return _list(first, item) + _list(second, item)
        case Sum(left, right, subtract):
            return _total(_number(left, item), _number(right, item), subtract=subtract)


def _list(assigned: Assigned, item: Item) -> list[Value]:
    value = _assigned(assigned, item)
    if not isinstance(value, list):
        raise _wrong_type()
    return value


def _number(assigned: Assigned, item: Item) -> Number:
    value = _assigned(assigned, item)
    if isinstance(value, bool) or not isinstance(value, Number):
        raise _wrong_type()
    return value


def _total(left: Number, right: Number, *, subtract: bool = False) -> Number:
    if type(left) is int and type(right) is int:
        return settle(left - right if subtract else left + right)
    return add(left, right, subtract=subtract)


def _wrong_type() -> InvalidRequest:
    return InvalidRequest("An operand in the update expression has an incorrect data type")


def _wrong_path() -> InvalidRequest:
    return InvalidRequest(
        "The document path provided in the update expression is invalid for update"
    )


def _setting(value: Value) -> _Action:
    return lambda _: value


def _removing(_before: _Before) -> _After:
    return _GONE


def _adding(literal: Literal) -> _Action:
    value = literal.value

    def action(before: _Before) -> _After:
        if isinstance(before, Absent):
            return value if isinstance(value, frozenset) else settle(cast("Number", value))
        if code_of(before) != code_of(value):
            raise _wrong_type()
        if isinstance(before, frozenset):
            return cast("frozenset[str]", before) | cast("frozenset[str]", value)
        return _total(cast("Number", before), cast("Number", value))

    return action


def _deleting(literal: Literal) -> _Action:
    value = literal.value

    def action(before: _Before) -> _After:
        if isinstance(before, Absent):
            return _GONE
        if code_of(before) != code_of(value):
            raise _wrong_type()
        return cast("frozenset[str]", before) - cast("frozenset[str]", value) or _GONE

    return action


def _plant(plan: _Plan, path: Path, action: _Action) -> None:
    for step in path.steps[:-1]:
        below = plan.setdefault(step, {})
        assert isinstance(below, dict)  # noqa: S101 - paths that overlap were refused before
        plan = below
    plan[path.steps[-1]] = action


def _in_map(plan: _Plan, old: dict[str, Value]) -> dict[str, Value]:
    new = dict(old)
    for step, what in plan.items():
        if not isinstance(step, str):
            raise _wrong_path()
        if isinstance(what, dict):
            if step not in old:
                raise _wrong_path()
            new[step] = _within(what, old[step])
            continue
        after = what(old.get(step, ABSENT))
        if isinstance(after, _Gone):
            new.pop(step, None)
        else:
            new[step] = after
    return new


def _within(plan: _Plan, old: Value) -> Value:
    if isinstance(old, dict):
        return _in_map(plan, old)
    if isinstance(old, list):
        return _in_list(plan, old)
    raise _wrong_path()


def _in_list(plan: _Plan, old: list[Value]) -> list[Value]:
    """Change a list; positions are those before the change, and what lies past the end is added."""
    kept: list[_After] = list(old)
    past: list[tuple[int, _After]] = []
    for step, what in plan.items():
        if not isinstance(step, int):
            raise _wrong_path()
        inside = step < len(old)
        if isinstance(what, dict):
            if not inside:
                raise _wrong_path()
            kept[step] = _within(what, old[step])
        elif inside:
            kept[step] = what(old[step])
        else:
            past.append((step, what(ABSENT)))
    past.sort(key=_position)
    kept += [after for _, after in past]
    return [after for after in kept if not isinstance(after, _Gone)]


def _position(entry: tuple[int, _After]) -> int:
    return entry[0]
