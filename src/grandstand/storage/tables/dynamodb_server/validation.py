"""Validation of request parameters, with the messages of DynamoDB.

A rule has four methods: `admits` tells quickly that a value is valid; otherwise `cast` parses it
like DynamoDB does, `violations` lists every violated constraint, and `format_value` returns the
value as these messages quote it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Protocol, TypeGuard

from grandstand.storage.tables.encoding import WireFault, from_wire
from grandstand.storage.tables.errors import InvalidRequest

NAME_PATTERN: Final = "[a-zA-Z0-9_.-]+"
UNEXPECTED_STRUCTURE: Final = "Start of structure or map found where not expected"


def invalid_parameter(message: str) -> InvalidRequest:
    """Return an error with the prefix DynamoDB uses for most invalid parameters."""
    return InvalidRequest(f"One or more parameter values were invalid: {message}")


@dataclass(frozen=True, slots=True)
class Location:
    """Path of a value in a request, as written in classic and in terse messages."""

    classic: str = ""
    terse: str = ""

    def field(self, name: str) -> Location:
        """Return the location of a field of a structure."""
        lowered = name[:1].lower() + name[1:]
        if not self.classic:
            return Location(lowered, name)
        return Location(f"{self.classic}.{lowered}", f"{self.terse}.{name}")

    def member(self, key: str | int) -> Location:
        """Return the location of an element of a list (counted from 1) or map."""
        return Location(f"{self.classic}.{key}.member", f"{self.terse}.{key}.member")


class Rule(Protocol):
    """Constraints of element value of a request."""

    def admits(self, value: object) -> bool:
        """Return whether the value is certainly valid; if not, use `cast` and `violations`."""

    def cast(self, value: Any, *, element: bool = False) -> Any:  # noqa: ANN401
        """Parse the value like DynamoDB does.

        Raises WireFault if it has the wrong JSON type.
        """

    def violations(self, value: Any, location: Location) -> Iterator[str]:  # noqa: ANN401
        """Return the messages for all violated constraints."""

    def format_value(self, value: Any) -> str:  # noqa: ANN401
        """Return the value as messages quote it."""


def violation(rule: Rule, value: object, location: Location, constraint: str) -> str:
    """Return the message for element violated constraint."""
    quoted = "null" if value is None else f"'{rule.format_value(value)}'"
    return f"Value {quoted} at '{location.classic}' failed to satisfy constraint: {constraint}"


def terse_violation(location: Location, constraint: str) -> str:
    """Return the message of newer operations, which do not quote the value."""
    return f"Value at '{location.terse}' failed to satisfy constraint: {constraint}"


def _wrong_type(value: object, expected: str) -> WireFault:
    if isinstance(value, dict):
        return WireFault(UNEXPECTED_STRUCTURE)
    if isinstance(value, list):
        return WireFault(f"Unrecognized collection type class java.lang.{expected}")
    if isinstance(value, bool):
        return WireFault(f"{str(value).upper()}_VALUE cannot be converted to {expected}")
    if isinstance(value, str):
        return WireFault(f"STRING_VALUE cannot be converted to {expected}")
    token = "NUMBER" if isinstance(value, int) or float(str(value)).is_integer() else "DECIMAL"
    return WireFault(f"{token}_VALUE cannot be converted to {expected}")


@dataclass(frozen=True)
class Text:
    """A string with limits on its length, a pattern, or a set of options."""

    low: int = 0
    high: int | None = None
    pattern: str | None = None
    options: tuple[str, ...] = ()

    @cached_property
    def _matches(self) -> re.Pattern[str]:
        return re.compile(self.pattern or ".*", re.DOTALL)

    def admits(self, value: object) -> bool:
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
        if isinstance(value, str):
            return value
        raise _wrong_type(value, "String")

    def violations(self, value: str, location: Location) -> Iterator[str]:
        return (violation(self, value, location, rule) for rule in self._rules(value))

    def _rules(self, value: str) -> Iterator[str]:
        if self.options and value not in self.options:
            yield f"Member must satisfy enum value set: [{', '.join(self.options)}]"
        if self.pattern and not self._matches.fullmatch(value):
            yield f"Member must satisfy regular expression pattern: {self.pattern}"
        yield from length_violations(len(value), self.low, self.high)

    def format_value(self, value: str) -> str:
        return value


@dataclass(frozen=True)
class Integer:
    """An integer; `java_type` is its name in error messages."""

    java_type: str = "Integer"
    low: int | None = None
    high: int | None = None
    terse: bool = False

    def admits(self, value: object) -> bool:
        return (
            type(value) is int
            and (self.low is None or value >= self.low)
            and (self.high is None or value <= self.high)
        )

    def cast(self, value: Any, *, element: bool = False) -> int:  # noqa: ANN401, ARG002
        """Accept any number, rounded down."""
        if isinstance(value, int | float) and not isinstance(value, bool):
            return math.floor(value)
        raise _wrong_type(value, self.java_type)

    def violations(self, value: int, location: Location) -> Iterator[str]:
        for rule in self._rules(value):
            if self.terse:
                yield terse_violation(location, rule)
            else:
                yield violation(self, value, location, rule)

    def _rules(self, value: int) -> Iterator[str]:
        if self.low is not None and value < self.low:
            yield f"Member must have value greater than or equal to {self.low}"
        if self.high is not None and value > self.high:
            yield f"Member must have value less than or equal to {self.high}"

    def format_value(self, value: int) -> str:
        return str(value)


@dataclass(frozen=True)
class Boolean:
    """A boolean."""

    def admits(self, value: object) -> bool:
        return type(value) is bool

    def cast(self, value: Any, *, element: bool = False) -> bool:  # noqa: ANN401, ARG002
        """Accept a boolean or a word for element."""
        if isinstance(value, bool):
            return value
        if not isinstance(value, str):
            raise _wrong_type(value, "Boolean")
        word = value.lower()
        if word not in ("true", "1", "yes", "false", "0", "no"):
            raise WireFault("Unexpected token received from parser")
        return word in ("true", "1", "yes")

    def violations(self, value: bool, location: Location) -> Iterator[str]:  # noqa: ARG002, FBT001
        """Return nothing: every boolean is valid."""
        return iter(())

    def format_value(self, value: bool) -> str:  # noqa: FBT001
        return str(value).lower()


def length_violations(length: int, low: int, high: int | None) -> Iterator[str]:
    """Return the violated length constraints."""
    if length < low:
        yield f"Member must have length greater than or equal to {low}"
    if high is not None and length > high:
        yield f"Member must have length less than or equal to {high}"


def length_constraints(low: int, high: int | None) -> Iterator[str]:
    """Return length constraints, the upper bound first."""
    if high is not None:
        yield f"Member must have length less than or equal to {high}"
    yield f"Member must have length greater than or equal to {low}"


_JAVA_PACKAGE: Final = "com.amazonaws.dynamodb.v20120810"
_UNEXPECTED_FIELD: Final = "Unexpected field type"


@dataclass(frozen=True)
class ListOf:
    """A list whose elements follow element rule."""

    element_rule: Rule
    low: int = 0
    high: int | None = None
    terse: bool = False

    def admits(self, value: object) -> bool:
        return self.has_allowed_length(value) and all(map(self.element_rule.admits, value))

    def has_allowed_length(self, value: object) -> TypeGuard[list[Any]]:
        """Return whether the value is a list of allowed length."""
        return type(value) is list and not any(length_violations(len(value), self.low, self.high))

    def cast(self, value: Any, *, element: bool = False) -> list[Any]:  # noqa: ANN401, ARG002
        if isinstance(value, dict):
            raise WireFault(UNEXPECTED_STRUCTURE)
        if not isinstance(value, list):
            raise WireFault(_UNEXPECTED_FIELD)
        return [
            None if element is None else self.element_rule.cast(element, element=True)
            for element in value
        ]

    def violations(self, value: list[Any], location: Location) -> Iterator[str]:
        for rule in length_violations(len(value), self.low, self.high):
            yield (
                terse_violation(location, rule)
                if self.terse
                else violation(self, value, location, rule)
            )
        for count, element in enumerate(value, start=1):
            yield from _element_violations(self.element_rule, element, location.member(count))

    def format_value(self, value: list[Any]) -> str:
        inner = (
            "null" if element is None else self.element_rule.format_value(element)
            for element in value
        )
        return f"[{', '.join(inner)}]"


@dataclass(frozen=True)
class MapOf:
    """A map whose values follow element rule, with constraints on its keys and value lengths."""

    element_rule: Rule
    java_type: str
    low: int = 0
    keys: Text | None = None
    values: ListOf | None = None

    def admits(self, value: object) -> bool:
        if type(value) is not dict or len(value) < self.low:
            return False
        if self.keys is not None and not all(map(self.keys.admits, value)):
            return False
        lengths = self.values
        if lengths is not None and not all(
            lengths.has_allowed_length(element) for element in value.values()
        ):
            return False
        return all(map(self.element_rule.admits, value.values()))

    def cast(self, value: Any, *, element: bool = False) -> dict[str, Any]:  # noqa: ANN401, ARG002
        if isinstance(value, list):
            java_type = (
                self.java_type if "." in self.java_type else f"{_JAVA_PACKAGE}.{self.java_type}"
            )
            raise WireFault(
                f"Unrecognized collection type java.util.Map<java.lang.String, {java_type}>"
            )
        if not isinstance(value, dict):
            raise WireFault(_UNEXPECTED_FIELD)
        return {
            name: None if element is None else self.element_rule.cast(element, element=True)
            for name, element in value.items()
        }

    def violations(self, value: dict[str, Any], location: Location) -> Iterator[str]:
        for rule in length_violations(len(value), self.low, None):
            yield violation(self, value, location, rule)
        if self.keys is not None and not all(map(self.keys.admits, value)):
            rules = ", ".join(length_constraints(self.keys.low, self.keys.high))
            if self.keys.pattern:
                rules += f", Member must satisfy regular expression pattern: {self.keys.pattern}"
            yield violation(self, value, location, f"Map keys must satisfy constraint: [{rules}]")
        lengths = self.values
        if lengths is not None and not all(
            lengths.has_allowed_length(element) for element in value.values()
        ):
            rules = ", ".join(length_constraints(lengths.low, lengths.high))
            yield violation(self, value, location, f"Map value must satisfy constraint: [{rules}]")
        for name, element in value.items():
            yield from _element_violations(self.element_rule, element, location.member(name))

    def format_value(self, value: dict[str, Any]) -> str:
        inner = (
            f"{name}={'null' if element is None else self.element_rule.format_value(element)}"
            for name, element in value.items()
        )
        return f"{{{', '.join(inner)}}}"


def _element_violations(rule: Rule, element: object, location: Location) -> Iterator[str]:
    if element is None:
        return iter((violation(rule, None, location, "Member must not be null"),))
    return rule.violations(element, location)


@dataclass(frozen=True, slots=True)
class Member:
    """A field of a structure."""

    rule: Rule
    required: bool = False


@dataclass(frozen=True)
class StructRule:
    """A structure. Violations are reported in the order of its fields."""

    java_type: str
    members: Mapping[str, Member] = field(default_factory=dict)

    @cached_property
    def _required(self) -> frozenset[str]:
        return frozenset(name for name, member in self.members.items() if member.required)

    def admits(self, value: object) -> bool:
        if type(value) is not dict or not self._required <= value.keys():
            return False
        members = self.members
        for name, element in value.items():
            member = members.get(name)
            if member is not None and not member.rule.admits(element):
                return False
        return True

    def cast(self, value: Any, *, element: bool = False) -> dict[str, Any]:  # noqa: ANN401
        """Parse a structure; null and unknown fields are dropped."""
        if isinstance(value, list):
            raise WireFault(f"Unrecognized collection type class {_JAVA_PACKAGE}.{self.java_type}")
        if not isinstance(value, dict):
            raise WireFault("Unexpected value type in payload" if element else _UNEXPECTED_FIELD)
        return {
            name: member.rule.cast(value[name])
            for name, member in self.members.items()
            if value.get(name) is not None
        }

    def violations(self, value: dict[str, Any], location: Location) -> Iterator[str]:
        for name, member in self.members.items():
            content, place = value.get(name), location.field(name)
            if content is not None:
                yield from member.rule.violations(content, place)
            elif member.required:
                yield violation(member.rule, None, place, "Member must not be null")

    def format_value(self, value: dict[str, Any]) -> str:
        """Return all fields, absent ones as null."""
        inner = []
        for name, member in self.members.items():
            element = value.get(name)
            lowered = name[:1].lower() + name[1:]
            inner.append(
                f"{lowered}={'null' if element is None else member.rule.format_value(element)}"
            )
        return f"{self.java_type}({', '.join(inner)})"


@dataclass(frozen=True)
class AttributeValueRule:
    """An attribute value. Its content is validated when the operation runs."""

    def admits(self, value: object) -> bool:
        return type(value) is dict

    def cast(self, value: Any, *, element: bool = False) -> Any:  # noqa: ANN401
        """Accept an attribute value whose parts have the right JSON types."""
        if not element and not isinstance(value, dict | list):
            raise WireFault(_UNEXPECTED_FIELD)
        with suppress(InvalidRequest):
            from_wire(value, text_binary=True)
        return value

    def violations(self, value: Any, location: Location) -> Iterator[str]:  # noqa: ANN401, ARG002
        """Return nothing: the operation validates the content."""
        return iter(())

    def format_value(self, value: Any) -> str:  # noqa: ANN401
        """Return it with all possible types, absent ones as null."""
        if not isinstance(value, dict):
            return str(value)
        names = ("S", "N", "B", "SS", "NS", "BS", "M", "L", "NULL", "BOOL")
        inner = (
            f"{name[0].lower()}{name[1:]}={_format_content(value.get(name))}" for name in names
        )
        return f"AttributeValue({', '.join(inner)})"


def _format_content(content: object) -> str:
    if content is None:
        return "null"
    if isinstance(content, dict):
        return ATTRIBUTES.format_value(content)
    if isinstance(content, list):
        elements = (
            AttributeValueRule().format_value(element)
            if isinstance(element, dict)
            else str(element)
            for element in content
        )
        return f"[{', '.join(elements)}]"
    return str(content)


ATTRIBUTES: Final = MapOf(AttributeValueRule(), "AttributeValue")
