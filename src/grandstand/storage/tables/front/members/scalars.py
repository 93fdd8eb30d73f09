"""Kept here: what a kind of value is, and the simplest: text, whole numbers and flags.

A kind does four things: `admits` says quickly that a value is plainly in order; otherwise `cast`
reads it as DynamoDB's parser would or raises Unreadable, `faults` names every broken constraint,
and `shown` writes it the way those messages quote it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Protocol

from grandstand.storage.tables.front.faults import Unreadable

NAME_PATTERN: Final = "[a-zA-Z0-9_.-]+"
STRUCTURE: Final = "Start of structure or map found where not expected"


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a request a value stands, as the classic and the terse messages spell it."""

    classic: str = ""
    terse: str = ""

    def named(self, name: str) -> Place:
        """Go to a structure's member."""
        lowered = name[:1].lower() + name[1:]
        if not self.classic:
            return Place(lowered, name)
        return Place(f"{self.classic}.{lowered}", f"{self.terse}.{name}")

    def member(self, key: str | int) -> Place:
        """Go to an element of a list, counted from 1, or of a map."""
        return Place(f"{self.classic}.{key}.member", f"{self.terse}.{key}.member")


class Kind(Protocol):
    """What one value of a request may be."""

    def admits(self, value: object) -> bool:
        """Tell quickly whether the value is in order; False means: look closer."""
        ...

    def cast(self, value: Any, *, element: bool = False) -> Any:  # noqa: ANN401
        """Read the value as the protocol's parser does; raise Unreadable."""
        ...

    def faults(self, value: Any, place: Place) -> Iterator[str]:  # noqa: ANN401
        """Name the constraints the value breaks."""
        ...

    def shown(self, value: Any) -> str:  # noqa: ANN401
        """Write the value as messages quote it."""
        ...


def broken(kind: Kind, value: object, place: Place, rule: str) -> str:
    """Write the sentence about one broken constraint."""
    told = "null" if value is None else f"'{kind.shown(value)}'"
    return f"Value {told} at '{place.classic}' failed to satisfy constraint: {rule}"


def broken_tersely(place: Place, rule: str) -> str:
    """Write the sentence as the operations do that no longer quote the value."""
    return f"Value at '{place.terse}' failed to satisfy constraint: {rule}"


def _misplaced(value: object, wanted: str) -> Unreadable:
    if isinstance(value, dict):
        return Unreadable(STRUCTURE)
    if isinstance(value, list):
        return Unreadable(f"Unrecognized collection type class java.lang.{wanted}")
    if isinstance(value, bool):
        return Unreadable(f"{str(value).upper()}_VALUE cannot be converted to {wanted}")
    if isinstance(value, str):
        return Unreadable(f"STRING_VALUE cannot be converted to {wanted}")
    written = "NUMBER" if isinstance(value, int) or float(str(value)).is_integer() else "DECIMAL"
    return Unreadable(f"{written}_VALUE cannot be converted to {wanted}")


@dataclass(frozen=True)
class Text:
    """A string, with the lengths, the pattern or the words it is held to."""

    low: int = 0
    high: int | None = None
    pattern: str | None = None
    options: tuple[str, ...] = ()

    @cached_property
    def _matches(self) -> re.Pattern[str]:
        return re.compile(self.pattern or ".*", re.DOTALL)

    def admits(self, value: object) -> bool:
        """Tell whether it is a string within the rules."""
        if type(value) is not str:
            return False
        if self.options:
            return value in self.options
        return (
            len(value) >= self.low
            and (self.high is None or len(value) <= self.high)
            and (self.pattern is None or self._matches.fullmatch(value) is not None)
        )

    def cast(self, value: Any, *, element: bool = False) -> str:  # noqa: ANN401, ARG002
        """Take a string only."""
        if isinstance(value, str):
            return value
        raise _misplaced(value, "String")

    def faults(self, value: str, place: Place) -> Iterator[str]:
        """Name the rules it breaks."""
        return (broken(self, value, place, rule) for rule in self._rules(value))

    def _rules(self, value: str) -> Iterator[str]:
        if self.options and value not in self.options:
            yield f"Member must satisfy enum value set: [{', '.join(self.options)}]"
        if self.pattern and not self._matches.fullmatch(value):
            yield f"Member must satisfy regular expression pattern: {self.pattern}"
        yield from lengths(len(value), self.low, self.high)

    def shown(self, value: str) -> str:
        """Write the string itself."""
        return value


@dataclass(frozen=True)
class Whole:
    """A whole number, called by the name the protocol's parser gives it."""

    java: str = "Integer"
    low: int | None = None
    high: int | None = None
    terse: bool = False

    def admits(self, value: object) -> bool:
        """Tell whether it is a whole number within its bounds."""
        return (
            type(value) is int
            and (self.low is None or value >= self.low)
            and (self.high is None or value <= self.high)
        )

    def cast(self, value: Any, *, element: bool = False) -> int:  # noqa: ANN401, ARG002
        """Take a number, rounding down what is not whole."""
        if isinstance(value, int | float) and not isinstance(value, bool):
            return math.floor(value)
        raise _misplaced(value, self.java)

    def faults(self, value: int, place: Place) -> Iterator[str]:
        """Name the bounds it is outside of."""
        for rule in self._rules(value):
            if self.terse:
                yield broken_tersely(place, rule)
            else:
                yield broken(self, value, place, rule)

    def _rules(self, value: int) -> Iterator[str]:
        if self.low is not None and value < self.low:
            yield f"Member must have value greater than or equal to {self.low}"
        if self.high is not None and value > self.high:
            yield f"Member must have value less than or equal to {self.high}"

    def shown(self, value: int) -> str:
        """Write the number."""
        return str(value)


@dataclass(frozen=True)
class Flag:
    """True or false."""

    def admits(self, value: object) -> bool:
        """Tell whether it is one of the two."""
        return type(value) is bool

    def cast(self, value: Any, *, element: bool = False) -> bool:  # noqa: ANN401, ARG002
        """Take true, false, or a word for them."""
        if isinstance(value, bool):
            return value
        if not isinstance(value, str):
            raise _misplaced(value, "Boolean")
        word = value.lower()
        if word not in ("true", "1", "yes", "false", "0", "no"):
            raise Unreadable("Unexpected token received from parser")
        return word in ("true", "1", "yes")

    def faults(self, value: bool, place: Place) -> Iterator[str]:  # noqa: ARG002, FBT001
        """Nothing can be wrong with it."""
        return iter(())

    def shown(self, value: bool) -> str:  # noqa: FBT001
        """Write the word."""
        return str(value).lower()


def lengths(length: int, low: int, high: int | None) -> Iterator[str]:
    """Name the length rules a length breaks."""
    if length < low:
        yield f"Member must have length greater than or equal to {low}"
    if high is not None and length > high:
        yield f"Member must have length less than or equal to {high}"


def length_rules(low: int, high: int | None) -> Iterator[str]:
    """Write length rules, the upper one first."""
    if high is not None:
        yield f"Member must have length less than or equal to {high}"
    yield f"Member must have length greater than or equal to {low}"


def key_rules(keys: Text) -> str:
    """Write the rules for a map's names."""
    rules = [*length_rules(keys.low, keys.high)]
    if keys.pattern:
        rules.append(f"Member must satisfy regular expression pattern: {keys.pattern}")
    return ", ".join(rules)
