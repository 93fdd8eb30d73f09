"""Kept here: conditions, updates and key conditions as values, the same for every engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias

from grandstand.storage.tables.values import Value

Comparator: TypeAlias = OneOf["=", "<>", "<", "<=", ">", ">="]
RangeOperator: TypeAlias = OneOf["=", "<", "<=", ">", ">=", "between", "begins_with"]


@dataclass(frozen=True, slots=True)
class Path:
    """Where a value is in an item: an attribute's name, then names and list positions."""

    steps: tuple[str | int, ...]

    @property
    def root(self) -> str:
        """The attribute the path starts at."""
        return str(self.steps[0])


@dataclass(frozen=True, slots=True)
class Literal:
    """A value given with the request."""

    value: Value


@dataclass(frozen=True, slots=True)
class Size:
    """How long or how many: size(path)."""

    of: Path | Literal


Operand: TypeAlias = Path | Literal | Size


@dataclass(frozen=True, slots=True)
class Compare:
    """left <op> right."""

    op: Comparator
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class Between:
    """low <= operand <= high."""

    operand: Operand
    low: Operand
    high: Operand


@dataclass(frozen=True, slots=True)
class In:
    """The operand equals one of the options."""

    operand: Operand
    options: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Exists:
    """The path holds a value."""

    path: Path


@dataclass(frozen=True, slots=True)
class Missing:
    """The path holds no value."""

    path: Path


@dataclass(frozen=True, slots=True)
class TypeIs:
    """The path holds a value of that type."""

    path: Path
    code: Literal


@dataclass(frozen=True, slots=True)
class BeginsWith:
    """The operand, text or bytes, starts with the prefix."""

    operand: Operand
    prefix: Operand


@dataclass(frozen=True, slots=True)
class Contains:
    """The operand has the part as substring, set member or list element."""

    operand: Operand
    part: Operand


@dataclass(frozen=True, slots=True)
class And:
    """Both hold."""

    left: Condition
    right: Condition


@dataclass(frozen=True, slots=True)
class Or:
    """At least one holds."""

    left: Condition
    right: Condition


@dataclass(frozen=True, slots=True)
class Not:
    """It does not hold."""

    inner: Condition


Condition: TypeAlias = (
    Compare | Between | In | Exists | Missing | TypeIs | BeginsWith | Contains | And | Or | Not
)


@dataclass(frozen=True, slots=True)
class IfMissing:
    """The path's value, or the other when the path holds none: if_not_exists."""

    path: Path
    other: Assigned


@dataclass(frozen=True, slots=True)
class Joined:
    """One list after another: list_append."""

    first: Assigned
    second: Assigned


@dataclass(frozen=True, slots=True)
class Sum:
    """left + right, or left - right."""

    left: Assigned
    right: Assigned
    subtract: bool = False


Assigned: TypeAlias = Path | Literal | IfMissing | Joined | Sum


@dataclass(frozen=True, slots=True)
class Update:
    """What an update does: SET, REMOVE, ADD and DELETE, all reading the item as it was."""

    sets: tuple[tuple[Path, Assigned], ...] = ()
    removes: tuple[Path, ...] = ()
    adds: tuple[tuple[Path, Literal], ...] = ()
    deletes: tuple[tuple[Path, Literal], ...] = ()

    @property
    def paths(self) -> tuple[Path, ...]:
        """Every path the update writes to."""
        return (
            tuple(path for path, _ in self.sets)
            + self.removes
            + tuple(path for path, _ in self.adds)
            + tuple(path for path, _ in self.deletes)
        )


@dataclass(frozen=True, slots=True)
class Range:
    """The one condition on a sort key; `high` only with between."""

    attribute: str
    op: RangeOperator
    low: Value
    high: Value = None


@dataclass(frozen=True, slots=True)
class KeyCondition:
    """Which part of a table or index a query reads: equalities, then at most one range.

    `equals` names every partition attribute (and, for a multi-attribute index, leading sort
    attributes); a single sort key compared with "=" is a Range.
    """

    equals: tuple[tuple[str, Value], ...]
    range: Range | None = None
