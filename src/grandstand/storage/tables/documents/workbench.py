"""Kept here: tables as a data model for Amazon's NoSQL Workbench."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from grandstand.storage.tables.declaration.patterns import sample_record
from grandstand.storage.tables.declaration.plan import EntityPlan
from grandstand.storage.tables.declaration.table import Index, Naming, Table
from grandstand.storage.tables.encoding.attributes import item_to_wire
from grandstand.storage.tables.schema import KeyType


def model(tables: Iterable[Table], naming: Naming, *, name: str, at: datetime) -> dict[str, Any]:
    """Write the model: a table each, an entity a facet, with one sample item."""
    stamp = at.strftime("%b %d, %Y, %I:%M %p")
    return {
        "ModelName": name,
        "ModelMetadata": {
            "Author": "Grandstand",
            "DateCreated": stamp,
            "DateLastModified": stamp,
            "Description": "Written from the declarations",
            "AWSService": "Amazon DynamoDB",
            "Version": "3.0",
        },
        "DataModel": [_table(table, naming) for table in tables],
    }


def _table(table: Table, naming: Naming) -> dict[str, Any]:
    keyed = set(table.key_names)
    plans = [entity.__plan__ for entity in table.entities]
    return {
        "TableName": naming.physical(table.name),
        "KeyAttributes": _key(table, table.partition, table.sort),
        "NonKeyAttributes": [
            {"AttributeName": attribute, "AttributeType": kind}
            for attribute, kind in sorted(_attributes(plans).items())
            if attribute not in keyed
        ],
        "TableFacets": [_facet(plan) for plan in plans],
        "GlobalSecondaryIndexes": [_index(table, i) for i in table.indexes if not i.local],
        "LocalSecondaryIndexes": [_index(table, i) for i in table.indexes if i.local],
        "TableData": [item_to_wire(_sample(plan), text_binary=True) for plan in plans],
        "DataAccess": {"MySql": {}},
        "BillingMode": "PAY_PER_REQUEST" if table.capacity is None else "PROVISIONED",
    }


def _key(table: Table, partition: str, sort: str | None) -> dict[str, Any]:
    def told(attribute: str) -> dict[str, str]:
        kind: KeyType = table.types.get(attribute, "S")
        return {"AttributeName": attribute, "AttributeType": kind}

    key = {"PartitionKey": told(partition)}
    return key if sort is None else key | {"SortKey": told(sort)}


def _index(table: Table, index: Index) -> dict[str, Any]:
    projection: dict[str, Any] = {"ProjectionType": index.projection}
    if index.included:
        projection["NonKeyAttributes"] = list(index.included)
    return {
        "IndexName": index.name,
        "KeyAttributes": _key(table, index.partition, index.sort),
        "Projection": projection,
    }


def _sample(plan: EntityPlan[Any]) -> dict[str, Any]:
    return plan.encode(sample_record(plan.entity))


def _attributes(plans: Iterable[EntityPlan[Any]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for plan in plans:
        for attribute, value in item_to_wire(_sample(plan), text_binary=True).items():
            found.setdefault(attribute, next(iter(value)))
    return found


def _facet(plan: EntityPlan[Any]) -> dict[str, Any]:
    sides = plan.primary.sides
    aliases = {"PartitionKeyAlias": sides[0].template.source}
    if len(sides) > 1:
        aliases["SortKeyAlias"] = sides[1].template.source
    keyed = set(plan.table.key_names)
    return {
        "FacetName": plan.name,
        "KeyAttributeAlias": aliases,
        "TableData": [],
        "NonKeyAttributes": [name for name in _sample(plan) if name not in keyed],
        "DataAccess": {"MySql": {}},
    }
