"""Kept here: keyed tables by DynamoDB's rules, embedded or in the cloud."""

from grandstand.storage.tables.declaration.entity import Entity
from grandstand.storage.tables.declaration.fields import attribute, ttl, version
from grandstand.storage.tables.declaration.table import Index, Naming, Table
from grandstand.storage.tables.operations.batches import (
    AllOrNothing,
    GetMany,
    GetTogether,
    WriteMany,
)
from grandstand.storage.tables.operations.checks import (
    Check,
    absent,
    begins_with,
    between,
    contains,
    field,
    one_of,
    present,
    size,
)
from grandstand.storage.tables.operations.queries import Key, Query, Scan, key
from grandstand.storage.tables.operations.single import Delete, Get, Operation, Put, demand
from grandstand.storage.tables.operations.updates import Update
from grandstand.storage.tables.schema import Capacity
from grandstand.storage.tables.store import AsyncStore, PageOf, Store

__all__ = [
    "AllOrNothing",
    "AsyncStore",
    "Capacity",
    "Check",
    "Delete",
    "Entity",
    "Get",
    "GetMany",
    "GetTogether",
    "Index",
    "Key",
    "Naming",
    "Operation",
    "PageOf",
    "Put",
    "Query",
    "Scan",
    "Store",
    "Table",
    "Update",
    "WriteMany",
    "absent",
    "attribute",
    "begins_with",
    "between",
    "contains",
    "demand",
    "field",
    "key",
    "one_of",
    "present",
    "size",
    "ttl",
    "version",
]
