"""Kept here: reading the expressions of one request, with the placeholders they share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final, Literal, TypeAlias, TypeVar

from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions import bind, grammar, static
from grandstand.storage.tables.expressions.bind import Bind, Filling
from grandstand.storage.tables.expressions.keys import key_condition, key_terms
from grandstand.storage.tables.expressions.lexer import Refused
from grandstand.storage.tables.expressions.nodes import Condition, KeyCondition, Path, Update
from grandstand.storage.tables.schema import IndexSchema, TableSchema
from grandstand.storage.tables.values import Value

ConditionKind: TypeAlias = Literal[
    "ConditionExpression", "FilterExpression", "KeyConditionExpression"
]

_KEPT: Final = 2048
_MAX_KEY: Final = 255
_MAX_NAME: Final = 65_535
_KEY: Final = re.compile(r"[#:][A-Za-z0-9_]+")

T = TypeVar("T")
_Read: TypeAlias = tuple[Bind[T], frozenset[str]]


class Placeholders:
    """The names and values of one request, and which of them its expressions used."""

    def __init__(
        self,
        names: Mapping[str, str] | None = None,
        values: Mapping[str, Value] | None = None,
    ) -> None:
        """Raise InvalidRequest when a map is there but empty, or a key or name is malformed."""
        _check_map("ExpressionAttributeNames", "#", names)
        for key, name in (names or {}).items():
            _check_name(key, name)
        _check_map("ExpressionAttributeValues", ":", values)
        self.filling = Filling(names or {}, values or {})
        self.used: set[str] = set()

    def check_used(self) -> None:
        """Raise InvalidRequest when something was defined that no expression read so far uses."""
        for title, keys in (
            ("ExpressionAttributeNames", self.filling.names.keys()),
            ("ExpressionAttributeValues", self.filling.values.keys()),
        ):
            unused = keys - self.used
            if unused:
                raise InvalidRequest(
                    f"Value provided in {title} unused in expressions: "
                    f"keys: {{{', '.join(sorted(unused))}}}"
                )


def parse_condition(
    text: str, placeholders: Placeholders, kind: ConditionKind = "ConditionExpression"
) -> Condition:
    """Read a condition, filter or key condition; raise InvalidRequest, naming the expression."""
    return _parsed(_condition, text, placeholders, kind)


def parse_key_condition(
    text: str,
    placeholders: Placeholders,
    schema: TableSchema,
    index: IndexSchema | None = None,
) -> KeyCondition:
    """Read which part of a table or index a query wants; raise InvalidRequest."""
    condition = parse_condition(text, placeholders, "KeyConditionExpression")
    return key_condition(key_terms(condition), schema, index)


def parse_update(text: str, placeholders: Placeholders) -> Update:
    """Read an update; raise InvalidRequest."""
    return _parsed(_update, text, placeholders, "UpdateExpression")


def parse_projection(text: str, placeholders: Placeholders) -> tuple[Path, ...]:
    """Read a projection; raise InvalidRequest."""
    return _parsed(_projection, text, placeholders, "ProjectionExpression")


def _parsed(read: Callable[[str], _Read[T]], text: str, placeholders: Placeholders, kind: str) -> T:
    try:
        fill, uses = read(text)
        made = fill(placeholders.filling)
    except Refused as refused:
        raise InvalidRequest(f"Invalid {kind}: {refused}") from refused
    placeholders.used |= uses
    return made


@lru_cache(maxsize=_KEPT)
def _condition(text: str) -> _Read[Condition]:
    raw = grammar.condition(text)
    static.check_condition(raw)
    return bind.condition(raw), _uses(text)


@lru_cache(maxsize=_KEPT)
def _update(text: str) -> _Read[Update]:
    raw = grammar.update(text)
    static.check_update(raw)
    return bind.update(raw), _uses(text)


@lru_cache(maxsize=_KEPT)
def _projection(text: str) -> _Read[tuple[Path, ...]]:
    raw = grammar.projection(text)
    for path in raw:
        static.check_path(path)
    return bind.paths(raw), _uses(text)


def _uses(text: str) -> frozenset[str]:
    return frozenset(_KEY.findall(text))


def _check_map(title: str, mark: str, given: Mapping[str, object] | None) -> None:
    if given is None:
        return
    if not given:
        raise InvalidRequest(f"{title} must not be empty")
    for key in given:
        if key[:1] != mark or not _KEY.fullmatch(key):
            raise InvalidRequest(f'{title} contains invalid key: Syntax error; key: "{key}"')
        if len(key) > _MAX_KEY:
            raise InvalidRequest(
                f"{title} contains invalid key: The expression attribute map contains a key that "
                f"is too long; size of key: {len(key)}"
            )


def _check_name(key: str, name: str) -> None:
    fault = None
    if not name:
        fault = "Empty attribute name"
    elif len(name) > _MAX_NAME or len(name.encode()) > _MAX_NAME:
        fault = "Attribute name is too large, must be less than 65536 bytes"
    if fault is not None:
        raise InvalidRequest(
            f"ExpressionAttributeNames contains invalid value: {fault} for key {key}"
        )
