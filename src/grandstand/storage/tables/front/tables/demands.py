"""Kept here: what DynamoDB demands of a new table and of its indexes, in its order and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.front.faults import invalid
from grandstand.storage.tables.front.service import Request

Shape: TypeAlias = Mapping[str, Any]

MOST_UNITS: Final = 1_000_000_000_000
MOST_GLOBAL: Final = 20
_MOST_LOCAL: Final = 5
_MOST_PARTS: Final = 4
_MOST_INCLUDED: Final = 100
_PAIR: Final = 2


def check_new_table(request: Request) -> None:
    """Raise InvalidRequest with the first thing wrong with a table to be made."""
    on_demand = request.get("BillingMode") == "PAY_PER_REQUEST"
    _check_capacity(request, on_demand=on_demand)
    definitions = check_definitions(request["AttributeDefinitions"])
    _check_table_key(request, definitions)
    names: set[str] = set()
    _check_local_indexes(request, definitions, names)
    _check_global_indexes(request, definitions, names, on_demand=on_demand)
    check_definitions_used(request, definitions)
    _check_projected(request)
    _check_stream(request.get("StreamSpecification"))


def _check_capacity(request: Request, *, on_demand: bool) -> None:
    units = request.get("ProvisionedThroughput")
    if on_demand:
        if units:
            raise invalid(
                "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when "
                "BillingMode is PAY_PER_REQUEST"
            )
        return
    if not units:
        raise invalid(
            "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is "
            "PROVISIONED"
        )
    check_units(units)


def check_units(units: Shape) -> None:
    """Raise InvalidRequest when capacity is beyond what can be asked for."""
    for name in ("ReadCapacityUnits", "WriteCapacityUnits"):
        if units[name] > MOST_UNITS:
            raise InvalidRequest(f"Given value {units[name]} for {name} is out of bounds")


def check_definitions(given: Sequence[Shape]) -> dict[str, str]:
    """Answer the type of each attribute defined; raise InvalidRequest when one is twice there."""
    definitions: dict[str, str] = {}
    for definition in given:
        name = definition["AttributeName"]
        if name in definitions:
            raise invalid(f"Duplicate AttributeName in AttributeDefinitions: {name}")
        definitions[name] = definition["AttributeType"]
    return definitions


def _check_table_key(request: Request, definitions: Mapping[str, str]) -> None:
    elements = request["KeySchema"]
    if len(elements) > len(definitions):
        raise InvalidRequest("Invalid KeySchema: Some index key attribute have no definition")
    _check_defined(elements, definitions)
    check_pair(elements)
    indexed = "LocalSecondaryIndexes" in request or "GlobalSecondaryIndexes" in request
    if not indexed and len(elements) != len(definitions):
        raise invalid(
            "Number of attributes in KeySchema does not exactly match number of attributes "
            "defined in AttributeDefinitions"
        )


def _check_defined(elements: Sequence[Shape], definitions: Mapping[str, str]) -> None:
    names = [element["AttributeName"] for element in elements]
    if any(name not in definitions for name in names):
        raise invalid(
            "Some index key attributes are not defined in AttributeDefinitions. "
            f"Keys: [{', '.join(names)}], AttributeDefinitions: [{', '.join(definitions)}]"
        )


def check_pair(elements: Sequence[Shape]) -> None:
    """Raise InvalidRequest unless a key is a partition attribute, then maybe a sort attribute."""
    if len(elements) == _PAIR and elements[0]["AttributeName"] == elements[1]["AttributeName"]:
        raise InvalidRequest(
            "Both the Hash Key and the Range Key element in the KeySchema have the same name"
        )
    if elements[0]["KeyType"] != "HASH":
        raise InvalidRequest("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
    if len(elements) == _PAIR and elements[1]["KeyType"] != "RANGE":
        raise InvalidRequest(
            "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type"
        )


def _check_many(elements: Sequence[Shape]) -> None:
    """Demand of a key of several attributes: up to four of each kind, partition ones first."""
    kinds = [element["KeyType"] for element in elements]
    names = [element["AttributeName"] for element in elements]
    if len(set(names)) != len(names):
        raise InvalidRequest("Invalid KeySchema: Attribute names in the KeySchema must be distinct")
    if kinds[0] != "HASH":
        raise InvalidRequest("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
    if kinds != sorted(kinds):
        raise InvalidRequest("Invalid KeySchema: HASH key elements must come before RANGE elements")
    for kind in ("HASH", "RANGE"):
        if kinds.count(kind) > _MOST_PARTS:
            raise InvalidRequest(
                f"Invalid KeySchema: At most {_MOST_PARTS} {kind} key elements are allowed"
            )


def _check_local_indexes(request: Request, definitions: Mapping[str, str], names: set[str]) -> None:
    indexes = request.get("LocalSecondaryIndexes")
    if indexes is None:
        return
    if not indexes:
        raise invalid("List of LocalSecondaryIndexes is empty")
    if len(request["KeySchema"]) != _PAIR:
        raise invalid(
            "Table KeySchema does not have a range key, which is required when specifying a "
            "LocalSecondaryIndex"
        )
    partition = request["KeySchema"][0]["AttributeName"]
    for index in indexes:
        elements, name = index["KeySchema"], index["IndexName"]
        _check_defined(elements, definitions)
        check_pair(elements)
        if len(elements) != _PAIR:
            raise invalid(f"Index KeySchema does not have a range key for index: {name}")
        own = elements[0]["AttributeName"]
        if own != partition:
            raise invalid(
                "Index KeySchema does not have the same leading hash key as table KeySchema for "
                f"index: {name}. index hash key: {own}, table hash key: {partition}"
            )
        check_projection(index["Projection"])
        _check_name(name, names)
    if len(indexes) > _MOST_LOCAL:
        raise invalid(f"Number of LocalSecondaryIndexes exceeds per-table limit of {_MOST_LOCAL}")


def _check_global_indexes(
    request: Request, definitions: Mapping[str, str], names: set[str], *, on_demand: bool
) -> None:
    indexes = request.get("GlobalSecondaryIndexes")
    if indexes is None:
        return
    if not indexes:
        raise invalid("List of GlobalSecondaryIndexes is empty")
    for index in indexes:
        check_global_index(index, definitions, on_demand=on_demand)
        _check_name(index["IndexName"], names)
    if len(indexes) > MOST_GLOBAL:
        raise invalid(f"GlobalSecondaryIndex count exceeds the per-table limit of {MOST_GLOBAL}")


def check_global_index(index: Shape, definitions: Mapping[str, str], *, on_demand: bool) -> None:
    """Raise InvalidRequest with the first thing wrong with a global index to be made."""
    elements = index["KeySchema"]
    _check_defined(elements, definitions)
    kinds = [element["KeyType"] for element in elements]
    if len(elements) > _PAIR or kinds == ["HASH", "HASH"]:
        _check_many(elements)
    else:
        check_pair(elements)
    check_projection(index["Projection"])
    units = index.get("ProvisionedThroughput")
    if on_demand and units:
        raise invalid(
            f"ProvisionedThroughput should not be specified for index: {index['IndexName']} when "
            "BillingMode is PAY_PER_REQUEST"
        )
    if not on_demand and not units:
        raise invalid(f"ProvisionedThroughput must be specified for index: {index['IndexName']}")


def _check_name(name: str, names: set[str]) -> None:
    if name in names:
        raise invalid(f"Duplicate index name: {name}")
    names.add(name)


def check_projection(projection: Shape) -> None:
    """Raise InvalidRequest when what an index holds is not clear."""
    kind, included = projection.get("ProjectionType"), projection.get("NonKeyAttributes")
    if kind is None:
        raise invalid("Unknown ProjectionType: null")
    if included and kind != "INCLUDE":
        raise invalid(f"ProjectionType is {kind}, but NonKeyAttributes is specified")
    if kind == "INCLUDE" and not included:
        raise invalid("ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
    if included and len(set(included)) != len(included):
        raise invalid(f"Duplicate NonKeyAttribute: {_repeated(included)}")


def _repeated(names: Sequence[str]) -> str:
    return next(name for place, name in enumerate(names) if name in names[:place])


def check_definitions_used(request: Request, definitions: Mapping[str, str]) -> None:
    """Raise InvalidRequest when an attribute is defined that no key has."""
    used = {element["AttributeName"] for element in request["KeySchema"]}
    for kind in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes"):
        for index in request.get(kind) or ():
            used.update(element["AttributeName"] for element in index["KeySchema"])
    if used != set(definitions):
        raise invalid(
            "Some AttributeDefinitions are not used. AttributeDefinitions: "
            f"[{', '.join(definitions)}], keys used: [{', '.join(sorted(used))}]"
        )


def _check_projected(request: Request) -> None:
    total = sum(
        len(index["Projection"].get("NonKeyAttributes") or ())
        for kind in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes")
        for index in request.get(kind) or ()
    )
    if total > _MOST_INCLUDED:
        raise invalid(f"Number of NonKeyAttributes exceeds the limit of {_MOST_INCLUDED}: {total}")


def _check_stream(stream: Shape | None) -> None:
    if stream is None:
        return
    if not stream["StreamEnabled"] and stream.get("StreamViewType"):
        raise invalid(
            "Table is being created with a stream disabled, UpdateViewType should not be specified"
        )
    if stream["StreamEnabled"] and not stream.get("StreamViewType"):
        raise invalid(
            "Table is being created with a stream enabled, UpdateViewType should be specified"
        )
