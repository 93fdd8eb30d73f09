"""Documents generated from table declarations: Markdown, CloudFormation, NoSQL Workbench."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from grandstand.storage.tables.declaration.compiled import EntityPlan
from grandstand.storage.tables.declaration.patterns import Pattern, patterns, placeholder_record
from grandstand.storage.tables.declaration.table import Index, Naming, Table
from grandstand.storage.tables.encoding import item_to_wire
from grandstand.storage.tables.schema import KeyType, create_table_shape


def markdown_document(tables: Iterable[Table]) -> str:
    """Return a section for each table: keys, indexes, entities, access patterns."""
    return "\n\n".join(markdown_section(table) for table in tables) + "\n"


def markdown_section(table: Table) -> str:
    """Return the section of one table."""
    parts = [f"## {table.name}"]
    if table.purpose:
        parts.append(table.purpose)
    parts.append(_facts(table))
    if table.indexes:
        parts.append(_indexes(table.indexes))
    parts.append(_entities(table))
    parts.append(_patterns(patterns(table)))
    return "\n\n".join(part for part in parts if part)


def _facts(table: Table) -> str:
    units = table.capacity
    rows = [
        ("Partition key", f"`{table.partition}` ({table.types.get(table.partition, 'S')})"),
        (
            "Sort key",
            f"`{table.sort}` ({table.types.get(table.sort, 'S')})" if table.sort else "none",
        ),
        ("Expiry", f"`{table.ttl}`, epoch seconds" if table.ttl else "none"),
        ("Stream", table.stream or "none"),
        (
            "Capacity",
            f"{units.read_units} reads/s, {units.write_units} writes/s" if units else "on demand",
        ),
    ]
    return markdown_table(("Property", "Value"), rows)


def _indexes(indexes: Sequence[Index]) -> str:
    rows = [
        (
            f"`{index.name}`",
            f"`{index.partition}`",
            f"`{index.sort}`" if index.sort else "–",
            index.projection,
        )
        for index in indexes
    ]
    return markdown_table(("Index", "Partition", "Sort", "Projection"), rows)


def _entities(table: Table) -> str:
    rows = []
    for entity in table.entities:
        plan = entity.__plan__
        for key in (plan.primary, *plan.indexes):
            sort = f"`{key.sort.template.source}`" if key.sort else "–"
            when = f"when `{key.when}`" if key.when else ""
            place = key.index or "table"
            rows.append((plan.name, place, f"`{key.partition.template.source}`", sort, when))
    return markdown_table(("Entity", "In", "Partition", "Sort", "Only"), rows)


def _patterns(all_patterns: Sequence[Pattern]) -> str:
    rows = [
        (
            str(number),
            pattern.title,
            pattern.operation,
            pattern.index or "table",
            _condition(pattern),
            f"{pattern.entity}.{pattern.name}",
        )
        for number, pattern in enumerate(all_patterns, 1)
    ]
    return markdown_table(("#", "Pattern", "Operation", "On", "Condition", "Name"), rows)


def _condition(pattern: Pattern) -> str:
    clauses = [f"`{pattern.where}`"] if pattern.where else []
    clauses += [pattern.order] if pattern.order else []
    clauses += [f"limit {pattern.limit}"] if pattern.limit else []
    clauses += [f"filter `{pattern.filter}`"] if pattern.filter else []
    clauses += [f"if `{pattern.condition}`"] if pattern.condition else []
    return ", ".join(clauses)


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table, or nothing if it has no rows."""
    body = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    if not body:
        return ""
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *body])


def cloudformation_template(tables: Iterable[Table], naming: Naming) -> dict[str, Any]:
    """Return a CloudFormation template; the tables are retained when the stack is deleted."""
    resources = {}
    for table in tables:
        schema = table.schema(naming)
        words = re.split(r"[^a-zA-Z0-9]+", schema.name)
        resources["".join(word[:1].upper() + word[1:] for word in words)] = {
            "Type": "AWS::DynamoDB::Table",
            "DeletionPolicy": "Retain",
            "UpdateReplacePolicy": "Retain",
            "Properties": _properties(table, create_table_shape(schema)),
        }
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": "Grandstand tables",
        "Resources": resources,
    }


def _properties(table: Table, shape: dict[str, Any]) -> dict[str, Any]:
    properties = dict(shape)
    stream = properties.pop("StreamSpecification", None)
    if stream and stream.get("StreamEnabled"):
        # CloudFormation takes the view alone; its presence turns the stream on.
        properties["StreamSpecification"] = {"StreamViewType": stream["StreamViewType"]}
    if table.ttl is not None:
        properties["TimeToLiveSpecification"] = {"AttributeName": table.ttl, "Enabled": True}
    return properties


def workbench_model(
    tables: Iterable[Table], naming: Naming, *, name: str, at: datetime
) -> dict[str, Any]:
    """Return a NoSQL Workbench model with a facet and a sample item for each entity."""
    stamp = at.strftime("%b %d, %Y, %I:%M %p")
    return {
        "ModelName": name,
        "ModelMetadata": {
            "Author": "Grandstand",
            "DateCreated": stamp,
            "DateLastModified": stamp,
            "Description": "Generated from the declarations",
            "AWSService": "Amazon DynamoDB",
            "Version": "3.0",
        },
        "DataModel": [_table(table, naming) for table in tables],
    }


def _table(table: Table, naming: Naming) -> dict[str, Any]:
    key_names = set(table.key_names)
    plans = [entity.__plan__ for entity in table.entities]
    return {
        "TableName": naming.physical(table.name),
        "KeyAttributes": _key(table, table.partition, table.sort),
        "NonKeyAttributes": [
            {"AttributeName": attribute, "AttributeType": kind}
            for attribute, kind in sorted(_attributes(plans).items())
            if attribute not in key_names
        ],
        "TableFacets": [_facet(plan) for plan in plans],
        "GlobalSecondaryIndexes": [_index(table, i) for i in table.indexes if not i.local],
        "LocalSecondaryIndexes": [_index(table, i) for i in table.indexes if i.local],
        "TableData": [item_to_wire(_sample(plan), text_binary=True) for plan in plans],
        "DataAccess": {"MySql": {}},
        "BillingMode": "PAY_PER_REQUEST" if table.capacity is None else "PROVISIONED",
    }


def _key(table: Table, partition: str, sort: str | None) -> dict[str, Any]:
    def describe(attribute: str) -> dict[str, str]:
        kind: KeyType = table.types.get(attribute, "S")
        return {"AttributeName": attribute, "AttributeType": kind}

    key = {"PartitionKey": describe(partition)}
    return key if sort is None else key | {"SortKey": describe(sort)}


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
    return plan.encode(placeholder_record(plan.entity))


def _attributes(plans: Iterable[EntityPlan[Any]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for plan in plans:
        for attribute, value in item_to_wire(_sample(plan), text_binary=True).items():
            found.setdefault(attribute, next(iter(value)))
    return found


def _facet(plan: EntityPlan[Any]) -> dict[str, Any]:
    parts = plan.primary.parts
    aliases = {"PartitionKeyAlias": parts[0].template.source}
    if len(parts) > 1:
        aliases["SortKeyAlias"] = parts[1].template.source
    key_names = set(plan.table.key_names)
    return {
        "FacetName": plan.name,
        "KeyAttributeAlias": aliases,
        "TableData": [],
        "NonKeyAttributes": [name for name in _sample(plan) if name not in key_names],
        "DataAccess": {"MySql": {}},
    }
