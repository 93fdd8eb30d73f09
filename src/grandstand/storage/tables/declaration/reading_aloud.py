"""Kept here: expressions written for people, with their names and values in place."""

from __future__ import annotations

from decimal import Decimal

from grandstand.storage.tables.declaration.keys import HIGHEST
from grandstand.storage.tables.expressions.nodes import Condition, KeyCondition
from grandstand.storage.tables.expressions.render import Rendering
from grandstand.storage.tables.values import Key, Value, number_text


class Aloud(Rendering):
    """Writes what a request would say, without placeholders."""

    def _name(self, name: str) -> str:
        return name

    def _value(self, value: Value) -> str:
        return value_text(value)


def value_text(value: Value) -> str:
    """Write a value for people."""
    if isinstance(value, str):
        return value.replace(HIGHEST, "…").replace("\x00", "")
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if type(value) is int or isinstance(value, Decimal):
        return number_text(value)
    return str(value)


def key_text(key: Key) -> str:
    """Write a key for people: `pk = GAME#1 AND sk = META`."""
    return " AND ".join(f"{name} = {value_text(value)}" for name, value in key.items())


def condition_text(condition: Condition) -> str:
    """Write a condition for people."""
    return Aloud().condition(condition)


def where_text(where: KeyCondition) -> str:
    """Write a key condition for people."""
    return Aloud().key_condition(where)
