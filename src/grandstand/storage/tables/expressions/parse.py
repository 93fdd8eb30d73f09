"""Kept here: reading the expressions of one request, with the placeholders they share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final, Literal, TypeAlias, TypeVar

from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions import bind, grammar, static
from grandstand.storage.tables.expressions.bind import Bind
from grandstand.storage.tables.expressions.lexer import Refused
from grandstand.storage.tables.expressions.nodes import Condition, Path, Update
from grandstand.storage.tables.values import Value

ConditionKind: TypeAlias = Literal[
    "ConditionExpression", "FilterExpression", "KeyConditionExpression"
]

_KEPT: Final = 2048
_MAX_KEY: Final = 255
_MAX_NAME: Final = 65_535
_MAX_CHAR: Final = 4
_KEY: Final = re.compile(r"[#:][A-Za-z0-9_]+")

T = TypeVar("T")
_Names: TypeAlias = tuple[tuple[str, str], ...]
_Read: TypeAlias = tuple[Bind[T], frozenset[str]]


class Placeholders:
    """The names and values of one request, and which of them its expressions used."""

    def __init__(
        self,
        names: Mapping[str, str] | None = None,
        values: Mapping[str, Value] | None = None,
    ) -> None:
        """Raise InvalidRequest when a map is there but empty, or a key or name is malformed."""
        if names is not None:
            _check_map("ExpressionAttributeNames", "#", names)
            for key, name in names.items():
                _check_name(key, name)
        if values is not None:
            _check_map("ExpressionAttributeValues", ":", values)
        self.names: _Names = tuple(names.items()) if names else ()
        self.values: Mapping[str, Value] = values or {}
        self.used: set[str] = set()

    def check_used(self) -> None:
        """Raise InvalidRequest when something was defined that no expression read so far uses."""
        unused = [key for key, _ in self.names if key not in self.used]
        if unused:
            raise _unused("ExpressionAttributeNames", unused)
        unused = [key for key in self.values if key not in self.used]
        if unused:
            raise _unused("ExpressionAttributeValues", unused)


def parse_condition(
    text: str, placeholders: Placeholders, kind: ConditionKind = "ConditionExpression"
) -> Condition:
    """Read a condition, filter or key condition; raise InvalidRequest, naming the expression."""
    return _parsed(_condition, text, placeholders, kind)


def parse_update(text: str, placeholders: Placeholders) -> Update:
    """Read an update; raise InvalidRequest."""
    return _parsed(_update, text, placeholders, "UpdateExpression")


def parse_projection(text: str, placeholders: Placeholders) -> tuple[Path, ...]:
    """Read a projection; raise InvalidRequest."""
    return _parsed(_projection, text, placeholders, "ProjectionExpression")


def _parsed(
    read: Callable[[str, _Names], _Read[T]], text: str, placeholders: Placeholders, kind: str
) -> T:
    try:
        fill, uses = read(text, placeholders.names)
        made = fill(placeholders.values)
    except Refused as refused:
        raise InvalidRequest(f"Invalid {kind}: {refused}") from refused
    placeholders.used |= uses
    return made


@lru_cache(maxsize=_KEPT)
def _condition(text: str, names: _Names) -> _Read[Condition]:
    raw = grammar.condition(text)
    static.check_condition(raw)
    return bind.condition(raw, dict(names)), _uses(text)


@lru_cache(maxsize=_KEPT)
def _update(text: str, names: _Names) -> _Read[Update]:
    raw = grammar.update(text)
    static.check_update(raw)
    return bind.update(raw, dict(names)), _uses(text)


@lru_cache(maxsize=_KEPT)
def _projection(text: str, names: _Names) -> _Read[tuple[Path, ...]]:
    raw = grammar.projection(text)
    for path in raw:
        static.check_path(path)
    made = bind.paths(raw, dict(names))
    return lambda _: made, _uses(text)


def _uses(text: str) -> frozenset[str]:
    return frozenset(_KEY.findall(text))


def _unused(title: str, keys: list[str]) -> InvalidRequest:
    return InvalidRequest(
        f"Value provided in {title} unused in expressions: keys: {{{', '.join(sorted(keys))}}}"
    )


def _check_map(title: str, mark: str, given: Mapping[str, object]) -> None:
    if not given:
        raise InvalidRequest(f"{title} must not be empty")
    for key in given:
        fault = _key_fault(key, mark)
        if fault is not None:
            raise InvalidRequest(f"{title} contains invalid key: {fault}")


@lru_cache(maxsize=_KEPT)
def _key_fault(key: str, mark: str) -> str | None:
    if key[:1] != mark or not _KEY.fullmatch(key):
        return f'Syntax error; key: "{key}"'
    if len(key) > _MAX_KEY:
        return (
            f"The expression attribute map contains a key that is too long; size of key: {len(key)}"
        )
    return None


def _check_name(key: str, name: str) -> None:
    fault = None
    if not name:
        fault = "Empty attribute name"
    elif len(name) * _MAX_CHAR > _MAX_NAME and len(name.encode()) > _MAX_NAME:
        fault = "Attribute name is too large, must be less than 65536 bytes"
    if fault is not None:
        raise InvalidRequest(
            f"ExpressionAttributeNames contains invalid value: {fault} for key {key}"
        )
