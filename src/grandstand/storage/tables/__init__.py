"""Tables with the semantics of DynamoDB, embedded or in the cloud."""

from grandstand.storage.tables.declaration.entity import Entity
from grandstand.storage.tables.declaration.fields import attribute, ttl, version
from grandstand.storage.tables.declaration.table import Index, Naming, Table
from grandstand.storage.tables.operations.conditions import (
    ConditionExpr,
    absent,
    begins_with,
    between,
    contains,
    field,
    one_of,
    present,
    size,
)
from grandstand.storage.tables.operations.item_ops import (
    Delete,
    Get,
    GetMany,
    Operation,
    Put,
    TransactGet,
    TransactWrite,
    Update,
    WriteMany,
    require,
)
from grandstand.storage.tables.operations.queries import Key, Query, Scan, key
from grandstand.storage.tables.schema import Capacity
from grandstand.storage.tables.store import AsyncStore, Page, Store

__all__ = [
    "AsyncStore",
    "Capacity",
    "ConditionExpr",
    "Delete",
    "Entity",
    "Get",
    "GetMany",
    "Index",
    "Key",
    "Naming",
    "Operation",
    "Page",
    "Put",
    "Query",
    "Scan",
    "Store",
    "Table",
    "TransactGet",
    "TransactWrite",
    "Update",
    "WriteMany",
    "absent",
    "attribute",
    "begins_with",
    "between",
    "contains",
    "field",
    "key",
    "one_of",
    "present",
    "require",
    "size",
    "ttl",
    "version",
]
