"""That a table's schema is written for DynamoDB and read back unchanged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.schema import (
    Capacity,
    IndexSchema,
    TableSchema,
    create_table_shape,
    schema_from_shape,
)

PLAIN = TableSchema("plain", "id", types={"id": "S"})
RICH = TableSchema(
    "rich",
    "pk",
    "sk",
    types={"pk": "S", "sk": "N", "a": "S", "b": "B", "c": "N"},
    indexes=(
        IndexSchema("local", ("pk",), ("c",), "INCLUDE", ("d", "e"), local=True),
        IndexSchema("wide", ("a", "b"), ("c", "sk"), "KEYS_ONLY", capacity=Capacity(1, 2)),
        IndexSchema("lone", ("a",)),
    ),
    stream="NEW_IMAGE",
    capacity=Capacity(5, 6),
)


ON_DEMAND = replace(
    RICH,
    types={"pk": "S", "sk": "N", "a": "S", "c": "N"},
    indexes=(RICH.indexes[0], RICH.indexes[2]),
    capacity=None,
)


@pytest.mark.parametrize("schema", [PLAIN, RICH, ON_DEMAND])
def test_a_schema_written_and_read_back_is_the_same(schema: TableSchema) -> None:
    read = schema_from_shape(create_table_shape(schema))

    assert read == schema


def test_a_plain_table_is_paid_on_demand_and_has_nothing_it_does_not_need() -> None:
    shape = create_table_shape(PLAIN)

    assert shape == {
        "TableName": "plain",
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
    }


def test_an_index_without_capacity_of_its_own_is_given_the_tables() -> None:
    shape = create_table_shape(RICH)

    assert [index["ProvisionedThroughput"] for index in shape["GlobalSecondaryIndexes"]] == [
        {"ReadCapacityUnits": 1, "WriteCapacityUnits": 2},
        {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6},
    ]


def test_a_multi_attribute_key_names_its_partition_attributes_first() -> None:
    shape = create_table_shape(RICH)

    assert shape["GlobalSecondaryIndexes"][0]["KeySchema"] == [
        {"AttributeName": "a", "KeyType": "HASH"},
        {"AttributeName": "b", "KeyType": "HASH"},
        {"AttributeName": "c", "KeyType": "RANGE"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ]


def test_the_description_of_an_on_demand_table_is_read_without_capacity() -> None:
    described: dict[str, Any] = {
        **create_table_shape(PLAIN),
        "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"},
        "ProvisionedThroughput": {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0},
    }
    del described["BillingMode"]

    schema = schema_from_shape(described, ttl="expires")

    assert schema == replace(PLAIN, ttl="expires")


def test_a_key_attribute_without_a_type_is_refused_by_name() -> None:
    schema = replace(PLAIN, sort="at")

    with pytest.raises(InvalidRequest, match=r"Keys: \[at\]"):
        create_table_shape(schema)


def test_a_shape_without_a_partition_key_is_refused() -> None:
    shape = {**create_table_shape(PLAIN), "KeySchema": []}

    with pytest.raises(InvalidRequest, match="HASH key type"):
        schema_from_shape(shape)
