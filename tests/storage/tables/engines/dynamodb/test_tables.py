"""That tables are made, changed, described and removed at the service, each step waited for."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from grandstand.core.clock import ManualClock
from grandstand.storage.tables.engines.dynamodb.engine import DynamoEngine
from grandstand.storage.tables.engines.protocol import Capabilities
from grandstand.storage.tables.errors import (
    InvalidRequest,
    StoreUnavailable,
    TableInUse,
    TableNotFound,
)
from grandstand.storage.tables.expressions.nodes import KeyCondition, Range
from grandstand.storage.tables.requests import PutItem, QueryRequest
from grandstand.storage.tables.schema import Capacity, IndexSchema, KeyType, TableSchema
from tests.storage.tables.engines.dynamodb.services import (
    Call,
    EngineOn,
    Reply,
    Script,
    ServiceOf,
    ok,
    refusal,
)

TYPES: dict[str, KeyType] = {"pk": "S", "sk": "N", "g": "S", "h": "S"}


def rich(name: str) -> TableSchema:
    return TableSchema(
        name,
        "pk",
        "sk",
        types=TYPES,
        indexes=(
            IndexSchema("local", ("pk",), ("h",), "INCLUDE", ("x",), local=True),
            IndexSchema("wide", ("g",), ("sk",), "KEYS_ONLY"),
            IndexSchema("multi", ("g", "h"), ("sk", "pk")),
        ),
        ttl="expires",
        stream="NEW_AND_OLD_IMAGES",
    )


def test_a_table_is_made_with_all_it_declares(cloud: DynamoEngine, table_name: str) -> None:
    made = cloud.create_table(rich(table_name))

    assert made.schema == rich(table_name)
    assert made.stream_label is not None
    assert cloud.describe_table(table_name) == made
    assert table_name in cloud.list_tables()


def test_an_index_with_several_key_attributes_answers_by_them(
    cloud: DynamoEngine, table_name: str
) -> None:
    cloud.create_table(rich(table_name))
    for number in range(3):
        cloud.put(PutItem(table_name, {"pk": "a", "sk": number, "g": "x", "h": "y"}))
    where = KeyCondition((("g", "x"), ("h", "y")), Range("sk", ">=", 1))

    page = cloud.query(QueryRequest(table_name, where, index="multi", limit=1))

    assert [item["sk"] for item in page.items] == [1]
    assert page.last_key == {"pk": "a", "sk": 1, "g": "x", "h": "y"}


def test_a_description_counts_what_the_table_and_its_indexes_hold(
    cloud: DynamoEngine, table_name: str
) -> None:
    cloud.create_table(rich(table_name))
    cloud.put(PutItem(table_name, {"pk": "a", "sk": 1, "g": "x"}))
    cloud.put(PutItem(table_name, {"pk": "a", "sk": 2}))

    described = cloud.describe_table(table_name)

    assert described.items == 2
    assert described.size_bytes > 0
    assert {name: items for name, (items, _) in described.index_counts.items()} == {
        "local": 0,
        "wide": 1,
        "multi": 0,
    }


def test_a_table_with_provisioned_capacity_keeps_it(cloud: DynamoEngine, table_name: str) -> None:
    index = IndexSchema("wide", ("g",), capacity=Capacity(3, 4))
    schema = TableSchema(
        table_name, "pk", types={"pk": "S", "g": "S"}, indexes=(index,), capacity=Capacity(1, 2)
    )

    made = cloud.create_table(schema)

    assert made.schema == schema


def test_a_table_is_not_made_twice(cloud: DynamoEngine, table: str) -> None:
    with pytest.raises(TableInUse):
        cloud.create_table(TableSchema(table, "pk", types={"pk": "S"}))


def test_a_table_is_brought_to_another_schema_and_back(
    cloud: DynamoEngine, table_name: str
) -> None:
    before = cloud.create_table(rich(table_name)).schema
    local, wide, _ = before.indexes
    after = replace(
        before,
        types={**TYPES, "i": "N"},
        indexes=(
            local,
            replace(wide, projection="ALL", capacity=Capacity(9, 9)),
            IndexSchema("newer", ("i",)),
        ),
        ttl="until",
        stream="KEYS_ONLY",
        capacity=Capacity(2, 3),
    )

    changed = cloud.alter_table(after).schema
    restored = cloud.alter_table(before).schema

    assert (replace(changed, indexes=()), set(changed.indexes)) == (
        replace(after, indexes=()),
        set(after.indexes),
    )
    assert (replace(restored, indexes=(), types={}), set(restored.indexes)) == (
        replace(before, indexes=(), types={}),
        set(before.indexes),
    )


def test_a_tables_own_key_never_changes(cloud: DynamoEngine, table: str) -> None:
    schema = replace(cloud.describe_table(table).schema, sort=None)

    with pytest.raises(InvalidRequest, match="Create a new table"):
        cloud.alter_table(schema)


def test_a_removed_table_is_gone_and_was_what_it_was(cloud: DynamoEngine, table_name: str) -> None:
    made = cloud.create_table(TableSchema(table_name, "pk", types={"pk": "S"}))

    was = cloud.delete_table(table_name)

    assert was == made
    with pytest.raises(TableNotFound):
        cloud.describe_table(table_name)


def test_settings_are_lost_without_a_word_where_there_are_no_tags(
    cloud: DynamoEngine, table: str
) -> None:
    cloud.put_settings(table, {"team": "blue"})

    assert cloud.describe_table(table).settings == {}


def described(name: str, status: str) -> Reply:
    return ok(
        Table={
            "TableName": name,
            "TableStatus": status,
            "TableArn": f"arn:{name}",
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "CreationDateTime": 1_800_000_000.5,
        }
    )


def test_settings_are_kept_as_the_tables_tags(service_of: ServiceOf, engine_on: EngineOn) -> None:
    service = service_of(Script([described("some", "ACTIVE"), ok()]))

    engine_on(service.endpoint).put_settings("some", {"team": "blue", "env": "live"})

    assert service.operations == ["DescribeTable", "TagResource"]
    assert service.calls[1].body == {
        "ResourceArn": "arn:some",
        "Tags": [{"Key": "team", "Value": "blue"}, {"Key": "env", "Value": "live"}],
    }


def test_the_tables_tags_are_described_page_by_page(
    service_of: ServiceOf, engine_on: EngineOn
) -> None:
    service = service_of(
        Script(
            [
                described("some", "ACTIVE"),
                ok(TimeToLiveDescription={"TimeToLiveStatus": "DISABLED"}),
                ok(Tags=[{"Key": "a", "Value": "1"}], NextToken="more"),
                ok(Tags=[{"Key": "b", "Value": "2"}]),
            ]
        )
    )

    settings = engine_on(service.endpoint).describe_table("some").settings

    assert settings == {"a": "1", "b": "2"}


def test_making_a_table_waits_until_it_is_active(
    service_of: ServiceOf, engine_on: EngineOn
) -> None:
    service = service_of(
        Script(
            [
                ok(TableDescription={}),
                described("some", "CREATING"),
                described("some", "CREATING"),
                described("some", "ACTIVE"),
                refusal("ValidationException", "TimeToLive is already enabled"),
                described("some", "ACTIVE"),
                ok(TimeToLiveDescription={"TimeToLiveStatus": "ENABLED", "AttributeName": "t"}),
                ok(Tags=[]),
            ]
        )
    )
    clock = ManualClock()
    schema = TableSchema("some", "pk", types={"pk": "S"}, ttl="t")

    made = engine_on(service.endpoint, clock=clock).create_table(schema)

    assert made.schema == schema
    assert clock.monotonic() > 0


def test_a_table_that_is_never_ready_is_given_up(
    service_of: ServiceOf, engine_on: EngineOn
) -> None:
    def always_creating(call: Call) -> Reply:
        return described(call.body["TableName"], "CREATING")

    engine = engine_on(service_of(always_creating).endpoint)

    with pytest.raises(StoreUnavailable, match="still CREATING"):
        engine.create_table(TableSchema("some", "pk", types={"pk": "S"}))


def test_a_service_without_streams_and_expiry_is_not_asked_for_them(
    service_of: ServiceOf, engine_on: EngineOn
) -> None:
    service = service_of(
        Script(
            [
                ok(TableDescription={}),
                described("some", "ACTIVE"),
                described("some", "ACTIVE"),
                refusal("UnknownOperationException"),
            ]
        )
    )
    engine = engine_on(service.endpoint, capabilities=Capabilities(streams=False, ttl=False))

    engine.create_table(TableSchema("some", "pk", types={"pk": "S"}, ttl="t", stream="KEYS_ONLY"))

    assert "StreamSpecification" not in service.calls[0].body
    assert "UpdateTimeToLive" not in service.operations


def test_table_names_are_read_page_by_page(service_of: ServiceOf, engine_on: EngineOn) -> None:
    service = service_of(
        Script([ok(TableNames=["c", "a"], LastEvaluatedTableName="a"), ok(TableNames=["b"])])
    )

    names = engine_on(service.endpoint).list_tables()

    assert names == ("a", "b", "c")
    assert json.loads(service.calls[1].raw) == {"ExclusiveStartTableName": "a"}
