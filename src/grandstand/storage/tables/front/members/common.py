"""Kept here: the members several operations share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from grandstand.storage.tables.front.members.kinds import (
    ATTRIBUTES,
    Attribute,
    Listing,
    Mapped,
    Member,
    Struct,
)
from grandstand.storage.tables.front.members.scalars import (
    NAME_PATTERN,
    Flag,
    Kind,
    Place,
    Text,
    broken,
)

ARN: Final = "arn:"
_SHORTEST: Final = 3


@dataclass(frozen=True)
class TableReference(Text):
    """A table's name, or its ARN."""

    low: int = _SHORTEST
    high: int | None = 255
    pattern: str | None = NAME_PATTERN

    def admits(self, value: object) -> bool:
        """Tell whether it is a good name or looks like an ARN."""
        return super().admits(value) or (type(value) is str and value.startswith(ARN))

    def faults(self, value: str, place: Place) -> Iterator[str]:
        """Name what is wrong with the name."""
        if value.startswith(ARN):
            return
        if not value:
            yield broken(self, value, place, "Member must have length greater than or equal to 1")
            return
        yield from super().faults(value, place)


def required(kind: Kind) -> Member:
    """Make a member that may not be absent."""
    return Member(kind, required=True)


def optional(kind: Kind) -> Member:
    """Make a member that may be absent."""
    return Member(kind)


TABLE_NAME: Final = TableReference()
INDEX_NAME: Final = Text(3, 255, NAME_PATTERN)
RETURN_CAPACITY: Final = optional(Text(options=("INDEXES", "TOTAL", "NONE")))
RETURN_COLLECTIONS: Final = optional(Text(options=("SIZE", "NONE")))
RETURN_VALUES: Final = optional(
    Text(options=("ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"))
)
ON_FAILURE: Final = optional(Text(options=("ALL_OLD", "NONE")))
SELECT: Final = optional(
    Text(
        options=(
            "SPECIFIC_ATTRIBUTES",
            "COUNT",
            "ALL_ATTRIBUTES",
            "ALL_PROJECTED_ATTRIBUTES",
        )
    )
)
EXPRESSION: Final = optional(Text())
NAMES: Final = optional(Mapped(Text(), "java.lang.String"))
VALUES: Final = optional(ATTRIBUTES)
FLAG: Final = optional(Flag())
ATTRIBUTES_TO_GET: Final = optional(Listing(Text(), 1, 255))
CONDITIONAL_OPERATOR: Final = optional(Text(options=("OR", "AND")))

_COMPARATORS: Final = (
    "IN",
    "NULL",
    "BETWEEN",
    "LT",
    "NOT_CONTAINS",
    "EQ",
    "GT",
    "NOT_NULL",
    "NE",
    "LE",
    "BEGINS_WITH",
    "GE",
    "CONTAINS",
)
CONDITIONS: Final = optional(
    Mapped(
        Struct(
            "Condition",
            {
                "AttributeValueList": optional(Listing(Attribute())),
                "ComparisonOperator": required(Text(options=_COMPARATORS)),
            },
        ),
        "Condition",
    )
)
EXPECTED: Final = optional(
    Mapped(
        Struct(
            "ExpectedAttributeValue",
            {
                "AttributeValueList": optional(Listing(Attribute())),
                "ComparisonOperator": optional(Text(options=_COMPARATORS)),
                "Exists": FLAG,
                "Value": optional(Attribute()),
            },
        ),
        "ExpectedAttributeValue",
    )
)


def request(members: dict[str, Member]) -> Struct:
    """Make the structure of a whole request."""
    return Struct("Request", members)
