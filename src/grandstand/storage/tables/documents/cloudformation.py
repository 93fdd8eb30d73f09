"""Kept here: tables as a CloudFormation template."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from grandstand.storage.tables.declaration.table import Naming, Table
from grandstand.storage.tables.encoding.shapes import create_table_shape


def template(tables: Iterable[Table], naming: Naming) -> dict[str, Any]:
    """Write a template that makes these tables, each kept when its stack goes."""
    resources = {}
    for table in tables:
        schema = table.schema(naming)
        resources[_logical(schema.name)] = {
            "Type": "AWS::DynamoDB::Table",
            "DeletionPolicy": "Retain",
            "UpdateReplacePolicy": "Retain",
            "Properties": _properties(table, create_table_shape(schema)),
        }
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": "The tables of Grandstand",
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


def _logical(name: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[^a-zA-Z0-9]+", name))
