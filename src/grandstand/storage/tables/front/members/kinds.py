"""Kept here: the kinds of values made of others: lists, maps, structures and attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, TypeGuard

from grandstand.storage.tables.encoding.attributes import WireFault, from_wire
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.front.faults import Unreadable
from grandstand.storage.tables.front.members.scalars import (
    STRUCTURE,
    Kind,
    Place,
    Text,
    broken,
    broken_tersely,
    key_rules,
    length_rules,
    lengths,
)

_MODEL: Final = "com.amazonaws.dynamodb.v20120810"
_FIELD: Final = "Unexpected field type"


@dataclass(frozen=True)
class Listing:
    """A list of values of one kind."""

    of: Kind
    low: int = 0
    high: int | None = None
    terse: bool = False

    def admits(self, value: object) -> bool:
        """Tell whether it is a list of allowed length and every element is in order."""
        return self.fits(value) and all(map(self.of.admits, value))

    def fits(self, value: object) -> TypeGuard[list[Any]]:
        """Tell whether it is a list of allowed length."""
        return type(value) is list and not any(lengths(len(value), self.low, self.high))

    def cast(self, value: Any, *, element: bool = False) -> list[Any]:  # noqa: ANN401, ARG002
        """Take a list, and each element of it."""
        if isinstance(value, dict):
            raise Unreadable(STRUCTURE)
        if not isinstance(value, list):
            raise Unreadable(_FIELD)
        return [None if one is None else self.of.cast(one, element=True) for one in value]

    def faults(self, value: list[Any], place: Place) -> Iterator[str]:
        """Name what is wrong with its length, then with its elements."""
        for rule in lengths(len(value), self.low, self.high):
            yield broken_tersely(place, rule) if self.terse else broken(self, value, place, rule)
        for count, one in enumerate(value, start=1):
            yield from _inner_faults(self.of, one, place.member(count))

    def shown(self, value: list[Any]) -> str:
        """Write the elements between brackets."""
        inner = ("null" if one is None else self.of.shown(one) for one in value)
        return f"[{', '.join(inner)}]"


@dataclass(frozen=True)
class Mapped:
    """A map from names to values of one kind, with rules for its names and its values."""

    of: Kind
    java: str
    low: int = 0
    keys: Text | None = None
    values: Listing | None = None

    def admits(self, value: object) -> bool:
        """Tell whether it is a map of allowed size with names and values in order."""
        if type(value) is not dict or len(value) < self.low:
            return False
        if self.keys is not None and not all(map(self.keys.admits, value)):
            return False
        limit = self.values
        if limit is not None and not all(limit.fits(one) for one in value.values()):
            return False
        return all(map(self.of.admits, value.values()))

    def cast(self, value: Any, *, element: bool = False) -> dict[str, Any]:  # noqa: ANN401, ARG002
        """Take a map, and each value of it."""
        if isinstance(value, list):
            java = self.java if "." in self.java else f"{_MODEL}.{self.java}"
            raise Unreadable(
                f"Unrecognized collection type java.util.Map<java.lang.String, {java}>"
            )
        if not isinstance(value, dict):
            raise Unreadable(_FIELD)
        return {
            name: None if one is None else self.of.cast(one, element=True)
            for name, one in value.items()
        }

    def faults(self, value: dict[str, Any], place: Place) -> Iterator[str]:
        """Name what is wrong with its size, its names, its values."""
        for rule in lengths(len(value), self.low, None):
            yield broken(self, value, place, rule)
        if self.keys is not None and not all(map(self.keys.admits, value)):
            rules = key_rules(self.keys)
            yield broken(self, value, place, f"Map keys must satisfy constraint: [{rules}]")
        limit = self.values
        if limit is not None and not all(limit.fits(one) for one in value.values()):
            rules = ", ".join(length_rules(limit.low, limit.high))
            yield broken(self, value, place, f"Map value must satisfy constraint: [{rules}]")
        for name, one in value.items():
            yield from _inner_faults(self.of, one, place.member(name))

    def shown(self, value: dict[str, Any]) -> str:
        """Write names and values between braces."""
        inner = (
            f"{name}={'null' if one is None else self.of.shown(one)}" for name, one in value.items()
        )
        return f"{{{', '.join(inner)}}}"


def _inner_faults(kind: Kind, one: object, place: Place) -> Iterator[str]:
    if one is None:
        return iter((broken(kind, None, place, "Member must not be null"),))
    return kind.faults(one, place)


@dataclass(frozen=True, slots=True)
class Member:
    """One named part of a structure."""

    kind: Kind
    required: bool = False


@dataclass(frozen=True)
class Struct:
    """A structure with named members, reported in the order they are declared."""

    java: str
    members: Mapping[str, Member] = field(default_factory=dict)

    @cached_property
    def _required(self) -> frozenset[str]:
        return frozenset(name for name, member in self.members.items() if member.required)

    def admits(self, value: object) -> bool:
        """Tell whether it has all it needs and every member is in order."""
        if type(value) is not dict or not self._required <= value.keys():
            return False
        members = self.members
        for name, one in value.items():
            member = members.get(name)
            if member is not None and not member.kind.admits(one):
                return False
        return True

    def cast(self, value: Any, *, element: bool = False) -> dict[str, Any]:  # noqa: ANN401
        """Take a structure, leaving out members that are null or unknown."""
        if isinstance(value, list):
            raise Unreadable(f"Unrecognized collection type class {_MODEL}.{self.java}")
        if not isinstance(value, dict):
            raise Unreadable("Unexpected value type in payload" if element else _FIELD)
        return {
            name: member.kind.cast(value[name])
            for name, member in self.members.items()
            if value.get(name) is not None
        }

    def faults(self, value: dict[str, Any], place: Place) -> Iterator[str]:
        """Name what is missing and what is wrong, member by member."""
        for name, member in self.members.items():
            one, where = value.get(name), place.named(name)
            if one is not None:
                yield from member.kind.faults(one, where)
            elif member.required:
                yield broken(member.kind, None, where, "Member must not be null")

    def shown(self, value: dict[str, Any]) -> str:
        """Write every member, absent ones as null."""
        inner = []
        for name, member in self.members.items():
            one = value.get(name)
            lowered = name[:1].lower() + name[1:]
            inner.append(f"{lowered}={'null' if one is None else member.kind.shown(one)}")
        return f"{self.java}({', '.join(inner)})"


@dataclass(frozen=True)
class Attribute:
    """One attribute value; its contents are read, and judged, when the request is carried out."""

    def admits(self, value: object) -> bool:
        """Tell whether it looks like one."""
        return type(value) is dict

    def cast(self, value: Any, *, element: bool = False) -> Any:  # noqa: ANN401
        """Take an attribute value whose parts are of the right kinds."""
        if not element and not isinstance(value, dict | list):
            raise Unreadable(_FIELD)
        try:
            from_wire(value, text_binary=True)
        except WireFault as fault:
            raise Unreadable(str(fault)) from fault
        except InvalidRequest:
            return value
        return value

    def faults(self, value: Any, place: Place) -> Iterator[str]:  # noqa: ANN401, ARG002
        """Leave its rules to whoever reads it."""
        return iter(())

    def shown(self, value: Any) -> str:  # noqa: ANN401
        """Write it with every type it is not."""
        if not isinstance(value, dict):
            return str(value)
        names = ("S", "N", "B", "SS", "NS", "BS", "M", "L", "NULL", "BOOL")
        inner = (f"{name[0].lower()}{name[1:]}={_quoted(value.get(name))}" for name in names)
        return f"AttributeValue({', '.join(inner)})"


def _quoted(content: object) -> str:
    if content is None:
        return "null"
    if isinstance(content, dict):
        return ATTRIBUTES.shown(content)
    if isinstance(content, list):
        shown = (Attribute().shown(one) if isinstance(one, dict) else str(one) for one in content)
        return f"[{', '.join(shown)}]"
    return str(content)


ATTRIBUTES: Final = Mapped(Attribute(), "AttributeValue")
