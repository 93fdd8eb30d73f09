"""That a table's changes are planned in the order and size DynamoDB accepts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grandstand.storage.tables.engines.dynamodb.table_changes import plan_changes
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.schema import Capacity, IndexSchema, TableSchema

OLD, KEPT = IndexSchema("old", ("g",)), IndexSchema("kept", ("h",), ("g",))
LOCAL = IndexSchema("local", ("pk",), ("h",), local=True)
NOW = TableSchema(
    "some",
    "pk",
    "sk",
    types={"pk": "S", "sk": "S", "g": "S", "h": "S"},
    indexes=(LOCAL, OLD, KEPT),
    stream="KEYS_ONLY",
)


def test_nothing_is_done_to_a_table_that_is_as_wanted() -> None:
    wanted = replace(NOW, indexes=(KEPT, OLD, LOCAL))

    assert list(plan_changes(NOW, wanted)) == []


def test_indexes_go_before_they_come_one_in_each_call() -> None:
    wanted = replace(NOW, indexes=(LOCAL, KEPT, IndexSchema("one", ("g",)), replace(OLD, name="b")))

    plan = list(plan_changes(NOW, wanted))

    assert [change["GlobalSecondaryIndexUpdates"] for change in plan] == [
        [{"Delete": {"IndexName": "old"}}],
        [
            {
                "Create": {
                    "IndexName": "one",
                    "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                    "Projection": {"ProjectionType": "ALL"},
                }
            }
        ],
        [
            {
                "Create": {
                    "IndexName": "b",
                    "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                    "Projection": {"ProjectionType": "ALL"},
                }
            }
        ],
    ]


def test_an_index_that_changed_is_made_anew() -> None:
    wanted = replace(NOW, indexes=(LOCAL, replace(OLD, projection="KEYS_ONLY"), KEPT))

    plan = list(plan_changes(NOW, wanted))

    assert [list(change["GlobalSecondaryIndexUpdates"][0]) for change in plan] == [
        ["Delete"],
        ["Create"],
    ]


def test_going_over_to_provisioned_capacity_gives_every_index_some() -> None:
    capacity = Capacity(5, 6)
    wanted = replace(
        NOW, capacity=capacity, indexes=(LOCAL, OLD, replace(KEPT, capacity=Capacity(1, 2)))
    )

    (change,) = plan_changes(NOW, wanted)

    assert change == {
        "BillingMode": "PROVISIONED",
        "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6},
        "GlobalSecondaryIndexUpdates": [
            {
                "Update": {
                    "IndexName": "old",
                    "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6},
                }
            },
            {
                "Update": {
                    "IndexName": "kept",
                    "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 2},
                }
            },
        ],
    }


def test_only_the_index_whose_capacity_changes_is_named() -> None:
    now = replace(NOW, capacity=Capacity(5, 6))
    wanted = replace(now, indexes=(LOCAL, OLD, replace(KEPT, capacity=Capacity(1, 2))))

    (change,) = plan_changes(now, wanted)

    assert [update["Update"]["IndexName"] for update in change["GlobalSecondaryIndexUpdates"]] == [
        "kept"
    ]
    assert "BillingMode" not in change


def test_a_stream_of_another_view_is_switched_off_first() -> None:
    wanted = replace(NOW, stream="NEW_IMAGE")

    plan = list(plan_changes(NOW, wanted))

    assert plan == [
        {"StreamSpecification": {"StreamEnabled": False}},
        {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}},
    ]


def test_streams_are_left_alone_where_there_are_none() -> None:
    wanted = replace(NOW, stream=None)

    assert list(plan_changes(NOW, wanted, streams=False)) == []


@pytest.mark.parametrize(
    "wanted",
    [
        replace(NOW, sort=None),
        replace(NOW, partition="sk", sort="pk"),
        replace(NOW, types={**NOW.types, "sk": "N"}),
        replace(NOW, indexes=(OLD, KEPT)),
        replace(NOW, indexes=(replace(LOCAL, projection="KEYS_ONLY"), OLD, KEPT)),
    ],
)
def test_what_is_fixed_when_a_table_is_made_never_changes(wanted: TableSchema) -> None:
    with pytest.raises(InvalidRequest, match="Create a new table"):
        list(plan_changes(NOW, wanted))


def test_an_index_on_an_attribute_without_a_type_is_refused() -> None:
    wanted = replace(NOW, indexes=(*NOW.indexes, IndexSchema("new", ("unknown",))))

    with pytest.raises(InvalidRequest, match="unknown"):
        list(plan_changes(NOW, wanted))
