"""Peers of the tables benchmark, called through boto3."""

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config

from grandstand.storage.tables import Naming, Table
from grandstand.storage.tables.encoding import item_to_wire
from grandstand.storage.tables.schema import create_table_shape
from tests.parts import dynamodb_local
from tests.parts.part_cache import PartCache

_BATCH = 25


class Boto:
    """A boto3 client with the calls that are measured."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def create(self, table: Table) -> None:
        """Create the table if it does not exist."""
        names = self._client.list_tables()["TableNames"]
        if table.name not in names:
            self._client.create_table(**create_table_shape(table.schema(Naming())))

    def put(self, table: Table, records: Sequence[Any]) -> None:
        for record in records:
            self._client.put_item(TableName=table.name, Item=_item(record))

    def get(self, table: Table, records: Sequence[Any]) -> None:
        for record in records:
            found = self._client.get_item(TableName=table.name, Key=_key(record))
            assert found["Item"]

    def query(self, table: Table, partitions: Sequence[str]) -> None:
        """Query whole partitions of 50."""
        for partition in partitions:
            found = self._client.query(
                TableName=table.name,
                KeyConditionExpression="pk = :p",
                ExpressionAttributeValues={":p": {"S": partition}},
            )
            assert found["Count"] == 50

    def batch(self, table: Table, records: Sequence[Any]) -> None:
        """Write 25 at a time."""
        for at in range(0, len(records), _BATCH):
            puts = [{"PutRequest": {"Item": _item(r)}} for r in records[at : at + _BATCH]]
            self._client.batch_write_item(RequestItems={table.name: puts})

    def transact(self, table: Table, records: Sequence[Any]) -> None:
        """Write two at a time in a transaction."""
        for at in range(0, len(records), 2):
            puts = [
                {"Put": {"TableName": table.name, "Item": _item(r)}} for r in records[at : at + 2]
            ]
            self._client.transact_write_items(TransactItems=puts)


def _item(record: Any) -> Any:
    return item_to_wire(record.__plan__.encode(record))


def _key(record: Any) -> Any:
    return item_to_wire(record.__plan__.key(record.identity()))


def _client(endpoint: str | None) -> Boto:
    client = boto3.client(
        "dynamodb",
        endpoint_url=endpoint,
        region_name="eu-west-1",
        aws_access_key_id="bench",
        aws_secret_access_key="bench",
        config=Config(retries={"total_max_attempts": 1}),
    )
    return Boto(client)


@contextmanager
def amazon(folder: Path) -> Iterator[Boto]:
    """DynamoDB Local, in memory."""
    program = dynamodb_local.find(PartCache(may_fetch=True))
    with dynamodb_local.serving(program, folder) as endpoint:
        yield _client(endpoint)


@contextmanager
def our_endpoint(folder: Path) -> Iterator[Boto]:
    """Our endpoint in its own process, on a file."""
    command = [sys.executable, "-m", "grandstand", "tables", "serve", "--port", "0"]
    command += ["--file", str(folder / "endpoint.db")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = re.search(r"http://\S+:\d+", process.stdout.readline())
        assert address is not None
        try:
            yield _client(address[0])
        finally:
            process.terminate()


@contextmanager
def moto() -> Iterator[Boto]:
    """moto, in this process."""
    from moto import mock_aws

    with mock_aws():
        yield _client(None)
