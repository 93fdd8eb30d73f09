"""Kept here: what operations stand on: the engine, the time, and the names of this place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from uuid import NAMESPACE_URL, uuid5

from grandstand.base.clock import Clock
from grandstand.storage.tables.engines.protocol import Engine
from grandstand.storage.tables.errors import InvalidRequest, TableNotFound
from grandstand.storage.tables.front.faults import AccessDenied
from grandstand.storage.tables.front.members.common import ARN
from grandstand.storage.tables.schema import TableDescription, TableSchema

Request: TypeAlias = Mapping[str, Any]
Answer: TypeAlias = dict[str, Any]

ACCOUNT: Final = "000000000000"
NOT_FOUND: Final = "Requested resource not found"
_TABLE_ARN: Final = re.compile(
    r"arn:aws:dynamodb:([a-z0-9-]+):([0-9]{12}):table/([a-zA-Z0-9_.-]{3,255})(/.*)?"
)


@dataclass(frozen=True, slots=True)
class Service:
    """Where operations are carried out."""

    engine: Engine
    clock: Clock
    region: str

    def table_arn(self, name: str) -> str:
        """Name a table for the whole world."""
        return f"{ARN}aws:dynamodb:{self.region}:{ACCOUNT}:table/{name}"

    def table_id(self, table: TableDescription) -> str:
        """Answer the identifier that tells a table from a later one of the same name."""
        made = table.created_at.isoformat()
        return str(uuid5(NAMESPACE_URL, f"{self.table_arn(table.schema.name)}/{made}"))

    def table_name(self, reference: str) -> str:
        """Answer the name of the table meant by a name or an ARN.

        Raises InvalidRequest for what is no table's ARN, AccessDenied for one of another place.
        """
        if not reference.startswith(ARN):
            return reference
        found = _TABLE_ARN.fullmatch(reference)
        if found is None or found[4]:
            raise InvalidRequest(
                f"Invalid TableArn: Invalid ResourceArn provided as input {reference}"
            )
        if (found[1], found[2]) != (self.region, ACCOUNT):
            raise AccessDenied(
                f"User: {ARN}aws:iam::{ACCOUNT}:root is not authorized to access this resource: "
                f"{reference}"
            )
        return found[3]

    def describe(self, reference: str) -> TableDescription:
        """Describe a table for those who manage it; raise TableNotFound naming it."""
        name = self.table_name(reference)
        try:
            return self.engine.describe_table(name)
        except TableNotFound as missing:
            raise TableNotFound(f"{NOT_FOUND}: Table: {name} not found") from missing

    def schema(self, name: str) -> TableSchema:
        """Answer a table's schema; raise TableNotFound."""
        return self.engine.schema_of(name)
