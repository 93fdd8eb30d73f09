"""Context of all operations: the engine, the clock, and names of resources."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from uuid import NAMESPACE_URL, uuid5

from grandstand.core.clock import Clock
from grandstand.core.errors import InvalidInput
from grandstand.storage.tables.dynamodb_server.request_shapes import ARN
from grandstand.storage.tables.engines.protocol import Engine
from grandstand.storage.tables.errors import InvalidRequest, TableNotFound
from grandstand.storage.tables.schema import TableDescription


class RequestRefused(InvalidInput):
    """A request that DynamoDB refuses before it executes anything, for the reason `aws_name`."""

    code = "request-refused"

    def __init__(self, aws_name: str, message: str) -> None:
        super().__init__(message)
        self.aws_name = aws_name


Request: TypeAlias = Mapping[str, Any]
Response: TypeAlias = dict[str, Any]

ACCOUNT: Final = "000000000000"
NOT_FOUND: Final = "Requested resource not found"
_TABLE_ARN: Final = re.compile(
    r"arn:aws:dynamodb:([a-z0-9-]+):([0-9]{12}):table/([a-zA-Z0-9_.-]{3,255})(/.*)?"
)


@dataclass(frozen=True, slots=True)
class Service:
    """What operations work with."""

    engine: Engine
    clock: Clock
    region: str

    def table_arn(self, name: str) -> str:
        """Return the ARN of a table."""
        return f"{ARN}aws:dynamodb:{self.region}:{ACCOUNT}:table/{name}"

    def table_id(self, table: TableDescription) -> str:
        """Return an id that differs from a later table of the same name."""
        created = table.created_at.isoformat()
        return str(uuid5(NAMESPACE_URL, f"{self.table_arn(table.schema.name)}/{created}"))

    def table_name(self, reference: str) -> str:
        """Return the table name for a name or an ARN.

        Raises:
            InvalidRequest: if it is not the ARN of a table.
            RequestRefused: if the ARN belongs to another account or region.
        """
        if not reference.startswith(ARN):
            return reference
        match = _TABLE_ARN.fullmatch(reference)
        if match is None or match[4]:
            raise InvalidRequest(
                f"Invalid TableArn: Invalid ResourceArn provided as input {reference}"
            )
        if (match[1], match[2]) != (self.region, ACCOUNT):
            raise RequestRefused(
                "AccessDeniedException",
                f"User: {ARN}aws:iam::{ACCOUNT}:root is not authorized to access this resource: "
                f"{reference}",
            )
        return match[3]

    def describe(self, reference: str) -> TableDescription:
        """Describe a table.

        Raises TableNotFound, with the table name in the message.
        """
        name = self.table_name(reference)
        try:
            return self.engine.describe_table(name)
        except TableNotFound as error:
            raise TableNotFound(f"{NOT_FOUND}: Table: {name} not found") from error
