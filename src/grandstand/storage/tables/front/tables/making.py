"""Kept here: making, describing, listing and deleting tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from grandstand.storage.tables.encoding.shapes import schema_from_shape
from grandstand.storage.tables.errors import InvalidRequest, TableInUse
from grandstand.storage.tables.front.service import Answer, Request, Service
from grandstand.storage.tables.front.tables.demands import check_new_table
from grandstand.storage.tables.front.tables.describing import (
    ENCRYPTION,
    ON_DEMAND_LIMITS,
    PROTECTED,
    TABLE_CLASS,
    TAGS,
    WARM,
    described,
    keep,
    setting,
)
from grandstand.storage.tables.front.tables.tagging import checked_tags

_PAGE: Final = 100


def create_table(service: Service, request: Request) -> Answer:
    """Make a table; raise InvalidRequest or TableInUse."""
    check_new_table(request)
    kept = kept_settings(request)
    tags = request.get("Tags")
    if tags is not None:
        kept[TAGS] = checked_tags(tags, {})
    name = service.table_name(request["TableName"])
    try:
        table = service.engine.create_table(schema_from_shape({**request, "TableName": name}))
    except TableInUse as taken:
        raise TableInUse(f"Table already exists: {name}") from taken
    if kept:
        keep(service, table, kept)
        table = service.describe(name)
    return {"TableDescription": described(service, table, "CREATING")}


def kept_settings(request: Request) -> dict[str, Any]:
    """Take from a request what is only kept and told again."""
    kept: dict[str, Any] = {}
    for name, setting_name in (
        ("TableClass", TABLE_CLASS),
        ("DeletionProtectionEnabled", PROTECTED),
        ("OnDemandThroughput", ON_DEMAND_LIMITS),
        ("WarmThroughput", WARM),
    ):
        if request.get(name) is not None:
            kept[setting_name] = request[name]
    encryption: Mapping[str, Any] | None = request.get("SSESpecification")
    if encryption is not None:
        kept[ENCRYPTION] = bool(encryption.get("Enabled"))
    return kept


def describe_table(service: Service, request: Request) -> Answer:
    """Describe a table; raise TableNotFound."""
    return {"Table": described(service, service.describe(request["TableName"]))}


def delete_table(service: Service, request: Request) -> Answer:
    """Delete a table and all in it; raise TableNotFound, or InvalidRequest when protected."""
    table = service.describe(request["TableName"])
    if setting(table, PROTECTED):
        raise InvalidRequest(
            "Resource cannot be deleted as it is currently protected against deletion. "
            "Disable deletion protection first."
        )
    service.engine.delete_table(table.schema.name)
    return {"TableDescription": described(service, table, "DELETING")}


def list_tables(service: Service, request: Request) -> Answer:
    """List tables by name, a page at a time."""
    start = request.get("ExclusiveStartTableName")
    names = [name for name in service.engine.list_tables() if start is None or name > start]
    limit = request.get("Limit") or _PAGE
    told: Answer = {"TableNames": names[:limit]}
    if len(names) > limit:
        told["LastEvaluatedTableName"] = names[limit - 1]
    return told
