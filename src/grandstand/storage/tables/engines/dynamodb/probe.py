"""Kept here: finding out what a service can do, by asking it things that change nothing."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from grandstand.base.errors import InvalidInput, NotFound
from grandstand.storage.tables.engines.dynamodb.calls import Calls
from grandstand.storage.tables.engines.dynamodb.failures import NotOffered
from grandstand.storage.tables.engines.protocol import Capabilities

Shape: TypeAlias = dict[str, Any]

_NO_TABLE: Final = "grandstand-no-such-table"


def probe(tables: Calls, streams: Calls) -> Capabilities:
    """Ask what the service can do; raise StoreUnavailable when it does not answer.

    A service refuses an operation it does not know by another name than a wrong request or a
    missing table: ScyllaDB Alternator, which has no transactions, does.
    """
    return Capabilities(
        transactions=_known(tables, "transact_get_items", {"TransactItems": []}),
        streams=_known(streams, "list_streams", {"Limit": 1}),
        ttl=_known(tables, "describe_time_to_live", {"TableName": _NO_TABLE}),
    )


def _known(calls: Calls, operation: str, parameters: Shape) -> bool:
    try:
        calls.send(operation, parameters)
    except NotOffered:
        return False
    except (InvalidInput, NotFound):
        return True
    return True
