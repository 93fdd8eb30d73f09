"""Kept here: conditions written with an entity's own attributes: `Lock.expires < now`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn, cast

from grandstand.storage.tables.declaration.codecs import Codec
from grandstand.storage.tables.errors import DeclarationFault
from grandstand.storage.tables.expressions.nodes import (
    And,
    BeginsWith,
    Between,
    Comparator,
    Compare,
    Condition,
    Contains,
    Exists,
    In,
    Literal,
    Missing,
    Not,
    Operand,
    Or,
    Path,
    Size,
)


@dataclass(frozen=True, slots=True)
class Check:
    """A condition; combine with `&`, `|` and `~`.

    Type checkers take `Lock.expires < now` for a bool, so a bool is accepted wherever a check is.
    """

    condition: Condition

    def __and__(self, other: Check | bool) -> Check:
        return Check(And(self.condition, condition_of(other)))

    def __or__(self, other: Check | bool) -> Check:
        return Check(Or(self.condition, condition_of(other)))

    def __rand__(self, other: Check | bool) -> Check:
        return Check(And(condition_of(other), self.condition))

    def __ror__(self, other: Check | bool) -> Check:
        return Check(Or(condition_of(other), self.condition))

    def __invert__(self) -> Check:
        return Check(Not(self.condition))

    def __bool__(self) -> NoReturn:
        message = "A condition is not true or false yet: combine conditions with & | ~, not and/or"
        raise DeclarationFault(message)


def condition_of(check: Check | bool) -> Condition:  # noqa: FBT001 - see Check
    """Take the condition out of what type checkers believe to be a bool; raise DeclarationFault."""
    if isinstance(check, Check):
        return check.condition
    message = (
        f"{check!r} is no condition: compare an attribute of the class, as in Lock.owner == me"
    )
    raise DeclarationFault(message)


class Attribute:
    """An entity's field seen from the class: an operand for conditions, with its own encoding."""

    __hash__ = None  # type: ignore[assignment]
    __slots__ = ("codec", "operand", "owner")

    def __init__(self, operand: Path | Size, codec: Codec, owner: str) -> None:
        self.operand = operand
        self.codec = codec
        self.owner = owner

    def __get__(self, instance: object, owner: type) -> Attribute:
        return self

    def __getitem__(self, step: str | int) -> Attribute:
        path = self._path()
        if self.codec.inner and isinstance(step, str):
            if step not in self.codec.inner:
                message = f"{self.owner} has no field {step}"
                raise DeclarationFault(message)
            name, codec = self.codec.inner[step]
            return Attribute(Path((*path.steps, name)), codec, f"{self.owner}[{step}]")
        codec = self.codec.element or Codec()
        return Attribute(Path((*path.steps, step)), codec, f"{self.owner}[{step}]")

    def __eq__(self, other: object) -> Check:  # type: ignore[override]
        return self._compare("=", other)

    def __ne__(self, other: object) -> Check:  # type: ignore[override]
        return self._compare("<>", other)

    def __lt__(self, other: object) -> Check:
        return self._compare("<", other)

    def __le__(self, other: object) -> Check:
        return self._compare("<=", other)

    def __gt__(self, other: object) -> Check:
        return self._compare(">", other)

    def __ge__(self, other: object) -> Check:
        return self._compare(">=", other)

    def _compare(self, op: Comparator, other: object) -> Check:
        return Check(Compare(op, self.operand, self.operand_for(other)))

    def operand_for(self, value: object, codec: Codec | None = None) -> Operand:
        """Encode a value the way this attribute stores it; another attribute stands for itself."""
        if isinstance(value, Attribute):
            return value.operand
        encode = (codec or self.codec).encode
        return Literal(cast("Any", encode(value) if encode and value is not None else value))

    def _path(self) -> Path:
        if isinstance(self.operand, Path):
            return self.operand
        message = f"The size of {self.owner} has no parts"
        raise DeclarationFault(message)

    def missing(self) -> Check:
        """Hold when the item has no such attribute."""
        return Check(Missing(self._path()))

    def present(self) -> Check:
        """Hold when the item has such an attribute."""
        return Check(Exists(self._path()))


def field(attribute: object) -> Attribute:
    """See an attribute for what it is: for type checkers, and for fields that may be None."""
    if isinstance(attribute, Attribute):
        return attribute
    message = f"{attribute!r} is a value: conditions start from the class, as in Lock.owner"
    raise DeclarationFault(message)


def absent(attribute: object) -> Check:
    """Hold when the item has no such attribute, or does not exist."""
    return field(attribute).missing()


def present(attribute: object) -> Check:
    """Hold when the item has such an attribute."""
    return field(attribute).present()


def begins_with(attribute: object, prefix: str | bytes) -> Check:
    """Hold when the attribute starts with the prefix."""
    return Check(BeginsWith(field(attribute).operand, Literal(prefix)))


def contains(attribute: object, part: object) -> Check:
    """Hold when the attribute has that substring, set member or list element."""
    seen = field(attribute)
    return Check(Contains(seen.operand, seen.operand_for(part, seen.codec.element or seen.codec)))


def between(attribute: object, low: object, high: object) -> Check:
    """Hold when the attribute lies between two values, both included."""
    seen = field(attribute)
    return Check(Between(seen.operand, seen.operand_for(low), seen.operand_for(high)))


def one_of(attribute: object, *options: object) -> Check:
    """Hold when the attribute equals one of the values."""
    seen = field(attribute)
    return Check(In(seen.operand, tuple(seen.operand_for(option) for option in options)))


def size(attribute: object) -> Attribute:
    """How long the attribute is: characters, bytes or elements; compare it with a number."""
    seen = field(attribute)
    return Attribute(Size(cast("Path", seen.operand)), Codec(key_type="N"), f"size({seen.owner})")


def all_of(*conditions: Condition | None) -> Condition | None:
    """Join conditions, leaving out the empty ones."""
    return _joined(And, [c for c in conditions if c is not None])


def _joined(
    join: Callable[[Condition, Condition], Condition], given: list[Condition]
) -> Condition | None:
    if not given:
        return None
    result = given[0]
    for condition in given[1:]:
        result = join(result, condition)
    return result
