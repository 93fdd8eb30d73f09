"""Kept here: tables as DescribeTable tells them, and the settings kept for that alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from grandstand.storage.tables.encoding.shapes import (
    attribute_definitions,
    index_shape,
    key_schema,
    stream_shape,
)
from grandstand.storage.tables.front.service import ACCOUNT, Answer, Service
from grandstand.storage.tables.schema import Capacity, IndexSchema, TableDescription

# Settings the engine keeps for us, each a JSON text; an empty text means none.
TAGS: Final = "tags"
TABLE_CLASS: Final = "tableClass"
PROTECTED: Final = "deletionProtection"
ENCRYPTION: Final = "encryption"
ON_DEMAND_LIMITS: Final = "onDemandThroughput"
WARM: Final = "warmThroughput"
ON_DEMAND_SINCE: Final = "onDemandSince"
INCREASED: Final = "throughputIncreased"
DECREASED: Final = "throughputDecreased"
STREAM_VIEW: Final = "streamView"
RECOVERY: Final = "pointInTimeRecovery"

_KEPT: Final = {"OnDemandThroughput": ON_DEMAND_LIMITS, "WarmThroughput": WARM}


def setting(table: TableDescription, name: str) -> Any:  # noqa: ANN401 - whatever was kept
    """Answer a kept setting; None when there is none."""
    text = table.settings.get(name)
    return msgspec.json.decode(text) if text else None


def keep(service: Service, table: TableDescription, changes: Mapping[str, object]) -> None:
    """Keep settings beside those already there; None takes one away."""
    settings = dict(table.settings)
    for name, value in changes.items():
        settings[name] = "" if value is None else msgspec.json.encode(value).decode()
    service.engine.put_settings(table.schema.name, settings)


def described(service: Service, table: TableDescription, status: str = "ACTIVE") -> Answer:
    """Describe a table, with the status its answer should show."""
    schema = table.schema
    sort = () if schema.sort is None else (schema.sort,)
    told: Answer = {
        "AttributeDefinitions": attribute_definitions(schema),
        "TableName": schema.name,
        "KeySchema": key_schema((schema.partition,), sort),
        "TableStatus": status,
        "CreationDateTime": _moment(table),
        "ProvisionedThroughput": _throughput(schema.capacity, table),
        "TableSizeBytes": table.size_bytes,
        "ItemCount": table.items,
        "TableArn": service.table_arn(schema.name),
        "TableId": service.table_id(table),
        "DeletionProtectionEnabled": bool(setting(table, PROTECTED)),
    }
    told.update(_billing(table))
    told.update(_indexes(service, table, status))
    told.update(_stream(service, table))
    told.update(_options(service, table))
    return told


def _moment(table: TableDescription) -> float:
    return round(table.created_at.timestamp(), 3)


def _throughput(capacity: Capacity | None, table: TableDescription | None = None) -> Answer:
    told: Answer = {"NumberOfDecreasesToday": 0, "ReadCapacityUnits": 0, "WriteCapacityUnits": 0}
    if capacity is not None:
        told["ReadCapacityUnits"] = capacity.read_units
        told["WriteCapacityUnits"] = capacity.write_units
    if table is not None:
        for name, kept in (
            ("LastIncreaseDateTime", INCREASED),
            ("LastDecreaseDateTime", DECREASED),
        ):
            moment = setting(table, kept)
            if moment is not None:
                told[name] = moment
    return told


def _billing(table: TableDescription) -> Answer:
    since = setting(table, ON_DEMAND_SINCE)
    if table.schema.capacity is None:
        mode = "PAY_PER_REQUEST"
        since = since or _moment(table)
    elif since:
        mode = "PROVISIONED"
    else:
        return {}
    return {"BillingModeSummary": {"BillingMode": mode, "LastUpdateToPayPerRequestDateTime": since}}


def _indexes(service: Service, table: TableDescription, status: str) -> Answer:
    local = [_index(service, table, one) for one in table.schema.indexes if one.local]
    wide = [
        {
            **_index(service, table, one),
            "IndexStatus": "CREATING" if status == "CREATING" else "ACTIVE",
            "ProvisionedThroughput": _throughput(one.capacity or table.schema.capacity),
        }
        for one in table.schema.indexes
        if not one.local
    ]
    told: Answer = {}
    if local:
        told["LocalSecondaryIndexes"] = local
    if wide and status != "DELETING":
        told["GlobalSecondaryIndexes"] = wide
    return told


def _index(service: Service, table: TableDescription, index: IndexSchema) -> Answer:
    told: Answer = {
        **index_shape(index),
        "IndexArn": f"{service.table_arn(table.schema.name)}/index/{index.name}",
    }
    if index.name in table.index_counts:
        told["ItemCount"], told["IndexSizeBytes"] = table.index_counts[index.name]
    elif not table.items:
        told["ItemCount"], told["IndexSizeBytes"] = 0, 0
    return told


def _stream(service: Service, table: TableDescription) -> Answer:
    told: Answer = {}
    if table.stream_label:
        arn = service.table_arn(table.schema.name)
        told["LatestStreamLabel"] = table.stream_label
        told["LatestStreamArn"] = f"{arn}/stream/{table.stream_label}"
    if table.schema.stream is not None:
        told["StreamSpecification"] = stream_shape(table.schema.stream)
    return told


def _options(service: Service, table: TableDescription) -> Answer:
    told: Answer = {}
    for name, kept in _KEPT.items():
        value = setting(table, kept)
        if value is not None:
            told[name] = value
    table_class = setting(table, TABLE_CLASS)
    if table_class is not None:
        told["TableClassSummary"] = {"TableClass": table_class}
    if setting(table, ENCRYPTION):
        told["SSEDescription"] = {
            "Status": "ENABLED",
            "SSEType": "KMS",
            "KMSMasterKeyArn": (
                f"arn:aws:kms:{service.region}:{ACCOUNT}:key/{service.table_id(table)}"
            ),
        }
    return told
