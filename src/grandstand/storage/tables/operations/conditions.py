"""Conditions on an entity's attributes, such as `Lock.expires < now`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any, NoReturn, cast

from grandstand.storage.tables.declaration.fields import Codec
from grandstand.storage.tables.errors import DeclarationFault
from grandstand.storage.tables.expressions import nodes


@dataclass(frozen=True, slots=True)
class ConditionExpr:
    """A condition; combine with `&`, `|` and `~`.

    Type checkers take `Lock.expires < now` for a bool, so a bool is accepted wherever a condition
    is.
    """

    condition: nodes.Condition

    def __and__(self, other: ConditionExpr | bool) -> ConditionExpr:
        return ConditionExpr(nodes.And(self.condition, condition_of(other)))

    def __or__(self, other: ConditionExpr | bool) -> ConditionExpr:
        return ConditionExpr(nodes.Or(self.condition, condition_of(other)))

    def __rand__(self, other: ConditionExpr | bool) -> ConditionExpr:
        return ConditionExpr(nodes.And(condition_of(other), self.condition))

    def __ror__(self, other: ConditionExpr | bool) -> ConditionExpr:
        return ConditionExpr(nodes.Or(condition_of(other), self.condition))

    def __invert__(self) -> ConditionExpr:
        return ConditionExpr(nodes.Not(self.condition))

    def __bool__(self) -> NoReturn:
        raise DeclarationFault(
            "A condition has no truth value. Combine conditions with & | ~, not and/or."
        )


def condition_of(check: ConditionExpr | bool) -> nodes.Condition:  # noqa: FBT001 - see ConditionExpr
    """Return the condition. Raises DeclarationFault for an actual bool."""
    if isinstance(check, ConditionExpr):
        return check.condition
    raise DeclarationFault(
        f"{check!r} is not a condition. Compare an attribute of the class, as in Lock.owner == me."
    )


class Attribute:
    """An entity's field on the class: an operand of conditions that encodes values as stored."""

    __hash__ = None  # type: ignore[assignment]
    __slots__ = ("codec", "operand", "owner")

    def __init__(self, operand: nodes.Path | nodes.Size, codec: Codec, owner: str) -> None:
        self.operand = operand
        self.codec = codec
        self.owner = owner

    def __get__(self, instance: object, owner: type) -> Attribute:
        return self

    def __getitem__(self, step: str | int) -> Attribute:
        path = self._path()
        if self.codec.inner and isinstance(step, str):
            if step not in self.codec.inner:
                raise DeclarationFault(f"{self.owner} has no field {step}.")
            name, codec = self.codec.inner[step]
            return Attribute(nodes.Path((*path.steps, name)), codec, f"{self.owner}[{step}]")
        codec = self.codec.element or Codec()
        return Attribute(nodes.Path((*path.steps, step)), codec, f"{self.owner}[{step}]")

    def __eq__(self, other: object) -> ConditionExpr:  # type: ignore[override]
        return self._compare("=", other)

    def __ne__(self, other: object) -> ConditionExpr:  # type: ignore[override]
        return self._compare("<>", other)

    def __lt__(self, other: object) -> ConditionExpr:
        return self._compare("<", other)

    def __le__(self, other: object) -> ConditionExpr:
        return self._compare("<=", other)

    def __gt__(self, other: object) -> ConditionExpr:
        return self._compare(">", other)

    def __ge__(self, other: object) -> ConditionExpr:
        return self._compare(">=", other)

    def _compare(self, op: nodes.Comparator, other: object) -> ConditionExpr:
        return ConditionExpr(nodes.Compare(op, self.operand, self.operand_for(other)))

    def operand_for(self, value: object, codec: Codec | None = None) -> nodes.Operand:
        """Encode a value as this attribute stores it; another attribute is an operand itself."""
        if isinstance(value, Attribute):
            return value.operand
        encode = (codec or self.codec).encode
        return nodes.Literal(cast("Any", encode(value) if encode and value is not None else value))

    def _path(self) -> nodes.Path:
        if isinstance(self.operand, nodes.Path):
            return self.operand
        raise DeclarationFault(f"The size of {self.owner} has no elements.")

    def missing(self) -> ConditionExpr:
        return ConditionExpr(nodes.Missing(self._path()))

    def present(self) -> ConditionExpr:
        return ConditionExpr(nodes.Exists(self._path()))


def field(attribute: object) -> Attribute:
    """Return the attribute: for type checkers, and for fields that may be None."""
    if isinstance(attribute, Attribute):
        return attribute
    raise DeclarationFault(
        f"{attribute!r} is a value. Conditions start from the class, as in Lock.owner."
    )


def absent(attribute: object) -> ConditionExpr:
    """The item has no such attribute, or does not exist."""
    return field(attribute).missing()


def present(attribute: object) -> ConditionExpr:
    """The item has such an attribute."""
    return field(attribute).present()


def begins_with(attribute: object, prefix: str | bytes) -> ConditionExpr:
    """The attribute starts with the prefix."""
    return ConditionExpr(nodes.BeginsWith(field(attribute).operand, nodes.Literal(prefix)))


def contains(attribute: object, part: object) -> ConditionExpr:
    """The attribute has the substring, set member or list element."""
    target = field(attribute)
    return ConditionExpr(
        nodes.Contains(
            target.operand, target.operand_for(part, target.codec.element or target.codec)
        )
    )


def between(attribute: object, low: object, high: object) -> ConditionExpr:
    """The attribute is between two values, inclusive."""
    target = field(attribute)
    return ConditionExpr(
        nodes.Between(target.operand, target.operand_for(low), target.operand_for(high))
    )


def one_of(attribute: object, *options: object) -> ConditionExpr:
    """The attribute equals one of the values."""
    target = field(attribute)
    return ConditionExpr(
        nodes.In(target.operand, tuple(target.operand_for(option) for option in options))
    )


def size(attribute: object) -> Attribute:
    """The length in characters, bytes or elements; compare it with a number."""
    target = field(attribute)
    return Attribute(
        nodes.Size(cast("nodes.Path", target.operand)), Codec(key_type="N"), f"size({target.owner})"
    )


def all_of(*conditions: nodes.Condition | None) -> nodes.Condition | None:
    """Join conditions with AND, leaving out None."""
    present = [condition for condition in conditions if condition is not None]
    return reduce(nodes.And, present) if present else None
