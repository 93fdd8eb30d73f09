"""Kept here: an expression as it was written, before its placeholders are filled in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from grandstand.storage.tables.expressions.nodes import Comparator

Section: TypeAlias = Literal["SET", "REMOVE", "ADD", "DELETE"]


@dataclass(frozen=True, slots=True)
class RawPath:
    """A document path; a step that starts with "#", or wrongly with ":", is a placeholder."""

    steps: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class RawValue:
    """A placeholder of a value, with its ":"."""

    key: str


@dataclass(frozen=True, slots=True)
class RawCall:
    """A function by any name, with any number of operands."""

    name: str
    args: tuple[RawOperand, ...]


RawOperand: TypeAlias = RawPath | RawValue | RawCall


@dataclass(frozen=True, slots=True)
class RawCompare:
    """left <op> right."""

    op: Comparator
    left: RawOperand
    right: RawOperand


@dataclass(frozen=True, slots=True)
class RawBetween:
    """operand BETWEEN low AND high."""

    operand: RawOperand
    low: RawOperand
    high: RawOperand


@dataclass(frozen=True, slots=True)
class RawIn:
    """operand IN (options)."""

    operand: RawOperand
    options: tuple[RawOperand, ...]


@dataclass(frozen=True, slots=True)
class RawJunction:
    """left AND right, or left OR right."""

    op: Literal["AND", "OR"]
    left: RawCondition
    right: RawCondition


@dataclass(frozen=True, slots=True)
class RawNot:
    """NOT inner."""

    inner: RawCondition


RawCondition: TypeAlias = RawCompare | RawBetween | RawIn | RawCall | RawJunction | RawNot


@dataclass(frozen=True, slots=True)
class RawSum:
    """left + right, or left - right."""

    op: Literal["+", "-"]
    left: RawOperand
    right: RawOperand


@dataclass(frozen=True, slots=True)
class RawAction:
    """What one section does to one path; a removal has no value."""

    section: Section
    path: RawPath
    value: RawOperand | RawSum | None = None


@dataclass(frozen=True, slots=True)
class RawUpdate:
    """The sections of an update, in the order written."""

    sections: tuple[tuple[RawAction, ...], ...]
