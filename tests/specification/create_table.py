"""A table as it would be made, read from a CreateTable request."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.specification.facts import KeyAttributeFact

_KEY_TYPES = ("S", "N", "B")


class DescriptionMalformed(ValueError):
    """What was handed in does not have the shape of a CreateTable request."""


@dataclass(frozen=True, slots=True)
class PhysicalIndex:
    name: str
    is_global: bool
    partition: KeyAttributeFact
    sort: KeyAttributeFact | None
    projection: str | None


@dataclass(frozen=True, slots=True)
class PhysicalTable:
    """A table with its indexes; `faults` says what DynamoDB would refuse in its attributes."""

    name: str
    partition: KeyAttributeFact
    sort: KeyAttributeFact | None
    indexes: tuple[PhysicalIndex, ...]
    billing_mode: str
    read_units: int | None
    write_units: int | None
    stream_view: str | None
    faults: tuple[str, ...]


def physical_table(description: Mapping[str, object]) -> PhysicalTable:
    """The table a CreateTable request makes; raises DescriptionMalformed."""
    types = {
        _text(each, "AttributeName"): _text(each, "AttributeType")
        for each in _rows(description, "AttributeDefinitions")
    }
    partition, sort = _keys(description, types)
    indexes = (
        *_indexes(description, "GlobalSecondaryIndexes", types, is_global=True),
        *_indexes(description, "LocalSecondaryIndexes", types, is_global=False),
    )
    keys = [partition, sort, *(key for each in indexes for key in (each.partition, each.sort))]
    mode = description.get("BillingMode", "PROVISIONED")
    units = _part(description, "ProvisionedThroughput") if mode == "PROVISIONED" else {}
    return PhysicalTable(
        name=_text(description, "TableName"),
        partition=partition,
        sort=sort,
        indexes=indexes,
        billing_mode=str(mode),
        read_units=_count(units, "ReadCapacityUnits"),
        write_units=_count(units, "WriteCapacityUnits"),
        stream_view=_stream_view(description),
        faults=tuple(_faults(types, {key.name for key in keys if key is not None})),
    )


def _indexes(
    description: Mapping[str, object], field: str, types: Mapping[str, str], *, is_global: bool
) -> Iterator[PhysicalIndex]:
    for each in _rows(description, field):
        partition, sort = _keys(each, types)
        projection = _part(each, "Projection").get("ProjectionType")
        yield PhysicalIndex(
            name=_text(each, "IndexName"),
            is_global=is_global,
            partition=partition,
            sort=sort,
            projection=None if projection is None else str(projection),
        )


def _keys(
    holder: Mapping[str, object], types: Mapping[str, str]
) -> tuple[KeyAttributeFact, KeyAttributeFact | None]:
    roles = {
        _text(row, "KeyType"): _text(row, "AttributeName") for row in _rows(holder, "KeySchema")
    }
    if "HASH" not in roles or not roles.keys() <= {"HASH", "RANGE"}:
        raise DescriptionMalformed(f"KeySchema has {sorted(roles)}, not HASH and perhaps RANGE")
    keys = {role: KeyAttributeFact(name, types.get(name)) for role, name in roles.items()}
    return keys["HASH"], keys.get("RANGE")


def _faults(types: Mapping[str, str], keys: set[str]) -> Iterator[str]:
    for name in sorted(keys - types.keys()):
        yield f"key attribute {name} has no AttributeDefinition"
    for name in sorted(types.keys() - keys):
        yield f"attribute {name} is defined but is no key"
    for name, kind in types.items():
        if kind not in _KEY_TYPES:
            yield f"attribute {name} is defined as {kind}, but keys are S, N or B"


def _stream_view(description: Mapping[str, object]) -> str | None:
    stream = _part(description, "StreamSpecification")
    return _text(stream, "StreamViewType") if stream.get("StreamEnabled") is True else None


def _rows(holder: Mapping[str, object], field: str) -> list[Mapping[str, object]]:
    rows = holder.get(field, [])
    if not isinstance(rows, list | tuple) or not all(isinstance(row, Mapping) for row in rows):
        raise DescriptionMalformed(f"{field} is no list of objects")
    return list(rows)


def _part(holder: Mapping[str, object], field: str) -> Mapping[str, object]:
    part = holder.get(field, {})
    if not isinstance(part, Mapping):
        raise DescriptionMalformed(f"{field} is no object")
    return part


def _text(holder: Mapping[str, object], field: str) -> str:
    text = holder.get(field)
    if not isinstance(text, str):
        raise DescriptionMalformed(f"{field} is no text")
    return text


def _count(holder: Mapping[str, object], field: str) -> int | None:
    count = holder.get(field)
    if count is not None and not isinstance(count, int):
        raise DescriptionMalformed(f"{field} is no whole number")
    return count
