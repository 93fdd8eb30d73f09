"""Amazon's Python client, unchanged, against our endpoint."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import boto3
import pytest
from boto3.dynamodb.conditions import Attr, Key
from boto3.dynamodb.types import Binary
from botocore.config import Config
from botocore.exceptions import ClientError

_numbers = itertools.count(1)
_ACCESS = {
    "region_name": "eu-west-1",
    "aws_access_key_id": "testing",
    "aws_secret_access_key": "testing",
    "config": Config(retries={"max_attempts": 0}),
}


@pytest.fixture(scope="session")
def dynamodb(endpoint: str) -> Any:
    """The resource interface."""
    return boto3.resource("dynamodb", endpoint_url=endpoint, **_ACCESS)


@pytest.fixture(scope="session")
def streams(endpoint: str) -> Any:
    """The client of DynamoDB Streams."""
    return boto3.client("dynamodbstreams", endpoint_url=endpoint, **_ACCESS)


@pytest.fixture
def table(dynamodb: Any) -> Iterator[Any]:
    """A table with an index and a stream, waited for as applications do."""
    created = dynamodb.create_table(
        TableName=f"books-{next(_numbers)}",
        KeySchema=[
            {"AttributeName": "author", "KeyType": "HASH"},
            {"AttributeName": "title", "KeyType": "RANGE"},
        ],
        AttributeDefinitions=[
            {"AttributeName": name, "AttributeType": kind}
            for name, kind in (("author", "S"), ("title", "S"), ("year", "N"))
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "by-year",
                "KeySchema": [
                    {"AttributeName": "author", "KeyType": "HASH"},
                    {"AttributeName": "year", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        BillingMode="PAY_PER_REQUEST",
    )
    created.wait_until_exists()
    yield created
    created.delete()
    created.wait_until_not_exists()


def fill(table: Any, count: int) -> None:
    with table.batch_writer() as batch:
        for number in range(count):
            batch.put_item(
                Item={"author": "A", "title": f"{number:03}", "year": Decimal(1900 + number)}
            )


def test_every_type_survives_the_way_there_and_back(table: Any) -> None:
    item = {
        "author": "A",
        "title": "T",
        "price": Decimal("12.50"),
        "raw": Binary(b"\x00\xff"),
        "tags": {"x", "y"},
        "sizes": {Decimal(1), Decimal("2.5")},
        "chapters": [{"name": "é", "pages": None}, True],
    }

    table.put_item(Item=item)

    assert table.get_item(Key={"author": "A", "title": "T"})["Item"] == item


def test_conditions_built_by_the_client_are_understood(table: Any) -> None:
    fill(table, 10)

    found = table.query(
        IndexName="by-year",
        KeyConditionExpression=Key("author").eq("A") & Key("year").between(1903, 1907),
        FilterExpression=Attr("title").begins_with("00") & ~Attr("title").is_in(["004"]),
        ScanIndexForward=False,
    )

    assert [int(item["year"]) for item in found["Items"]] == [1907, 1906, 1905, 1903]


def test_a_failed_condition_raises_the_client_s_own_error(table: Any) -> None:
    fill(table, 1)
    client = table.meta.client

    with pytest.raises(client.exceptions.ConditionalCheckFailedException) as failed:
        table.put_item(
            Item={"author": "A", "title": "000"},
            ConditionExpression=Attr("author").not_exists(),
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )

    assert failed.value.response["Error"]["Message"] == "The conditional request failed"
    assert failed.value.response["Item"]["title"] == {"S": "000"}


def test_paginators_walk_through_everything(table: Any) -> None:
    fill(table, 60)
    client = table.meta.client

    pages = list(
        client.get_paginator("query").paginate(
            TableName=table.name,
            KeyConditionExpression="author = :a",
            ExpressionAttributeValues={":a": "A"},
            PaginationConfig={"PageSize": 25},
        )
    )

    assert [page["Count"] for page in pages] == [25, 25, 10]


def test_a_parallel_scan_finds_each_item_once(table: Any) -> None:
    with table.batch_writer() as batch:
        for number in range(100):
            batch.put_item(Item={"author": str(number), "title": "t"})

    def scan(segment: int) -> list[str]:
        found = table.scan(Segment=segment, TotalSegments=4, ConsistentRead=True)
        return [item["author"] for item in found["Items"]]

    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(scan, range(4)))

    assert sorted(author for part in parts for author in part) == sorted(map(str, range(100)))


def test_a_cancelled_transaction_tells_its_reasons(table: Any) -> None:
    client = table.meta.client
    key = {"author": "A", "title": "T"}

    with pytest.raises(client.exceptions.TransactionCanceledException) as cancelled:
        client.transact_write_items(
            TransactItems=[
                {"Put": {"TableName": table.name, "Item": {**key, "title": "U"}}},
                {
                    "ConditionCheck": {
                        "TableName": table.name,
                        "Key": key,
                        "ConditionExpression": "attribute_exists(author)",
                    }
                },
            ]
        )

    codes = [reason["Code"] for reason in cancelled.value.response["CancellationReasons"]]
    assert codes == ["None", "ConditionalCheckFailed"]
    assert table.scan()["Count"] == 0


def test_changes_are_read_from_the_stream(table: Any, streams: Any) -> None:
    table.put_item(Item={"author": "A", "title": "T"})
    arn = table.latest_stream_arn
    shard = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]

    place = streams.get_shard_iterator(
        StreamArn=arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON"
    )["ShardIterator"]
    records = streams.get_records(ShardIterator=place)["Records"]

    assert [record["eventName"] for record in records] == ["INSERT"]
    assert records[0]["dynamodb"]["NewImage"]["author"] == {"S": "A"}


def test_expiry_and_tags_are_set_and_told(table: Any) -> None:
    client = table.meta.client

    client.update_time_to_live(
        TableName=table.name,
        TimeToLiveSpecification={"Enabled": True, "AttributeName": "until"},
    )
    client.tag_resource(ResourceArn=table.table_arn, Tags=[{"Key": "team", "Value": "blue"}])

    response = client.describe_time_to_live(TableName=table.name)["TimeToLiveDescription"]
    assert response == {"TimeToLiveStatus": "ENABLED", "AttributeName": "until"}
    tags = client.list_tags_of_resource(ResourceArn=table.table_arn)["Tags"]
    assert tags == [{"Key": "team", "Value": "blue"}]


def test_a_missing_table_raises_the_client_s_own_error(dynamodb: Any) -> None:
    client = dynamodb.meta.client

    with pytest.raises(client.exceptions.ResourceNotFoundException):
        client.describe_table(TableName="none")


def test_operations_nobody_offers_are_refused_by_name(dynamodb: Any) -> None:
    client = dynamodb.meta.client

    with pytest.raises(ClientError) as refused:
        client.execute_statement(Statement='SELECT * FROM "books"')

    assert refused.value.response["Error"]["Code"] == "UnknownOperationException"
