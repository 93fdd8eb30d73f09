"""Kept here: expiry, backups, limits and endpoints: what is asked of a table now and then."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.front.service import Answer, Request, Service
from grandstand.storage.tables.front.tables.describing import RECOVERY, keep, setting

# The quotas of an account nobody has asked AWS to raise.
_ACCOUNT_UNITS: Final = 80_000
_TABLE_UNITS: Final = 40_000
_CACHE_MINUTES: Final = 1440
_RECOVERY_DAYS: Final = 35


def update_time_to_live(service: Service, request: Request) -> Answer:
    """Switch a table's expiry on or off; raise InvalidRequest or TableNotFound."""
    table = service.describe(request["TableName"])
    wanted = request["TimeToLiveSpecification"]
    current, name = table.schema.ttl, wanted["AttributeName"]
    if wanted["Enabled"]:
        if current == name:
            raise InvalidRequest("TimeToLive is already enabled")
        if current is not None:
            raise InvalidRequest(
                "TimeToLive is active on a different AttributeName: current AttributeName is "
                f"{current}"
            )
        service.engine.alter_table(replace(table.schema, ttl=name))
    else:
        if current is None:
            raise InvalidRequest("TimeToLive is already disabled")
        if current != name:
            raise InvalidRequest(
                "TimeToLive is active on a different AttributeName: current AttributeName is "
                f"{current}"
            )
        service.engine.alter_table(replace(table.schema, ttl=None))
    return {"TimeToLiveSpecification": dict(wanted)}


def describe_time_to_live(service: Service, request: Request) -> Answer:
    """Tell whether a table's items expire, and by which attribute; raise TableNotFound."""
    ttl = service.describe(request["TableName"]).schema.ttl
    if ttl is None:
        return {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}}
    return {"TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": ttl}}


def describe_continuous_backups(service: Service, request: Request) -> Answer:
    """Tell whether a table asked for point-in-time recovery; raise TableNotFound."""
    table = service.describe(request["TableName"])
    return {"ContinuousBackupsDescription": _recovery(enabled=bool(setting(table, RECOVERY)))}


def update_continuous_backups(service: Service, request: Request) -> Answer:
    """Keep whether a table wants point-in-time recovery; copying the file is the owner's part."""
    table = service.describe(request["TableName"])
    enabled = request["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"]
    keep(service, table, {RECOVERY: enabled})
    return {"ContinuousBackupsDescription": _recovery(enabled=enabled)}


def _recovery(*, enabled: bool) -> Answer:
    told: Answer = {"PointInTimeRecoveryStatus": "ENABLED" if enabled else "DISABLED"}
    if enabled:
        told["RecoveryPeriodInDays"] = _RECOVERY_DAYS
    return {"ContinuousBackupsStatus": "ENABLED", "PointInTimeRecoveryDescription": told}


def describe_limits(service: Service, request: Request) -> Answer:  # noqa: ARG001
    """Tell how much capacity an account and a table may be given."""
    return {
        "AccountMaxReadCapacityUnits": _ACCOUNT_UNITS,
        "AccountMaxWriteCapacityUnits": _ACCOUNT_UNITS,
        "TableMaxReadCapacityUnits": _TABLE_UNITS,
        "TableMaxWriteCapacityUnits": _TABLE_UNITS,
    }


def describe_endpoints(service: Service, request: Request) -> Answer:
    """Tell where this service is reached: where the request came in."""
    host = request.get("host") or f"dynamodb.{service.region}.amazonaws.com"
    return {"Endpoints": [{"Address": host, "CachePeriodInMinutes": _CACHE_MINUTES}]}
