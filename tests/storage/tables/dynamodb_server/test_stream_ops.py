"""Reading changes as DynamoDB Streams."""

from __future__ import annotations

from typing import Any

import pytest

from grandstand.core.clock import ManualClock
from tests.storage.tables.dynamodb_server.sdk_client import ApiCaller

BOTH = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}


def stream_of(call: ApiCaller, table: str) -> str:
    arn: str = call("DescribeTable", TableName=table)["Table"]["LatestStreamArn"]
    return arn


def iterator(call: ApiCaller, table: str, kind: str, **parameters: Any) -> str:
    arn = stream_of(call, table)
    shards = call("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"]
    answer = call(
        "GetShardIterator",
        StreamArn=arn,
        ShardId=shards[0]["ShardId"],
        ShardIteratorType=kind,
        **parameters,
    )
    found: str = answer["ShardIterator"]
    return found


def records(call: ApiCaller, place: str, **parameters: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = call("GetRecords", ShardIterator=place, **parameters)["Records"]
    return found


@pytest.fixture
def streaming(call: ApiCaller) -> ApiCaller:
    """A table with three changes."""
    call.table("log", StreamSpecification=BOTH)
    call("PutItem", TableName="log", Item={"p": {"S": "1"}, "v": {"S": "a"}})
    call("PutItem", TableName="log", Item={"p": {"S": "1"}, "v": {"S": "b"}})
    call("DeleteItem", TableName="log", Key={"p": {"S": "1"}})
    return call


def test_a_stream_is_listed_and_described(streaming: ApiCaller, clock: ManualClock) -> None:
    arn = stream_of(streaming, "log")
    label = arn.rpartition("/")[2]

    listed = streaming("ListStreams")
    response = streaming("DescribeStream", StreamArn=arn)["StreamDescription"]

    named = {"StreamArn": arn, "TableName": "log", "StreamLabel": label}
    assert listed == {"Streams": [named]}
    assert {name: response[name] for name in named} == named
    assert (response["StreamStatus"], response["StreamViewType"]) == (
        "ENABLED",
        "NEW_AND_OLD_IMAGES",
    )
    assert response["CreationRequestDateTime"] == clock.epoch()
    assert response["KeySchema"] == [{"AttributeName": "p", "KeyType": "HASH"}]


def test_streams_are_listed_by_table_and_in_pages(call: ApiCaller) -> None:
    for name in ("aaa", "bbb"):
        call.table(name, StreamSpecification=BOTH)
    call.table("dry")

    one = call("ListStreams", TableName="bbb")["Streams"]
    first = call("ListStreams", Limit=1)
    second = call("ListStreams", ExclusiveStartStreamArn=first["LastEvaluatedStreamArn"])

    assert [stream["TableName"] for stream in one] == ["bbb"]
    assert [stream["TableName"] for stream in first["Streams"]] == ["aaa"]
    assert [stream["TableName"] for stream in second["Streams"]] == ["bbb"]


def test_every_change_is_told_with_its_images(streaming: ApiCaller, clock: ManualClock) -> None:
    found = records(streaming, iterator(streaming, "log", "TRIM_HORIZON"))

    assert [record["eventName"] for record in found] == ["INSERT", "MODIFY", "REMOVE"]
    modified = found[1]
    assert modified["eventSource"] == "aws:dynamodb"
    assert modified["awsRegion"] == "local"
    assert modified["dynamodb"] == {
        "ApproximateCreationDateTime": int(clock.epoch()),
        "Keys": {"p": {"S": "1"}},
        "NewImage": {"p": {"S": "1"}, "v": {"S": "b"}},
        "OldImage": {"p": {"S": "1"}, "v": {"S": "a"}},
        "SequenceNumber": modified["dynamodb"]["SequenceNumber"],
        "SizeBytes": modified["dynamodb"]["SizeBytes"],
        "StreamViewType": "NEW_AND_OLD_IMAGES",
    }
    assert len({record["eventID"] for record in found}) == 3


@pytest.mark.parametrize(
    ("view", "images"),
    [
        ("KEYS_ONLY", set()),
        ("NEW_IMAGE", {"NewImage"}),
        ("OLD_IMAGE", {"OldImage"}),
        ("NEW_AND_OLD_IMAGES", {"NewImage", "OldImage"}),
    ],
)
def test_a_view_shows_its_images_and_no_others(
    call: ApiCaller, view: str, images: set[str]
) -> None:
    call.table("log", StreamSpecification={"StreamEnabled": True, "StreamViewType": view})
    call("PutItem", TableName="log", Item={"p": {"S": "1"}, "v": {"S": "a"}})
    call("PutItem", TableName="log", Item={"p": {"S": "1"}, "v": {"S": "b"}})

    modified = records(call, iterator(call, "log", "TRIM_HORIZON"))[1]

    assert {name for name in modified["dynamodb"] if name.endswith("Image")} == images


def test_records_are_read_on_from_where_the_last_reading_ended(streaming: ApiCaller) -> None:
    first = streaming(
        "GetRecords", ShardIterator=iterator(streaming, "log", "TRIM_HORIZON"), Limit=2
    )
    second = streaming("GetRecords", ShardIterator=first["NextShardIterator"])

    assert [record["eventName"] for record in first["Records"]] == ["INSERT", "MODIFY"]
    assert [record["eventName"] for record in second["Records"]] == ["REMOVE"]


def test_a_place_can_be_named_by_a_sequence_number(streaming: ApiCaller) -> None:
    found = records(streaming, iterator(streaming, "log", "TRIM_HORIZON"))
    number = found[1]["dynamodb"]["SequenceNumber"]

    at = iterator(streaming, "log", "AT_SEQUENCE_NUMBER", SequenceNumber=number)
    after = iterator(streaming, "log", "AFTER_SEQUENCE_NUMBER", SequenceNumber=number)

    assert records(streaming, at) == found[1:]
    assert records(streaming, after) == found[2:]
    assert len(number) >= 21


def test_the_latest_place_shows_only_what_is_still_to_come(streaming: ApiCaller) -> None:
    place = iterator(streaming, "log", "LATEST")

    before = records(streaming, place)
    streaming("PutItem", TableName="log", Item={"p": {"S": "2"}})

    assert before == []
    assert [found["eventName"] for found in records(streaming, place)] == ["INSERT"]


def test_an_expired_item_goes_by_the_service_s_own_hand(
    call: ApiCaller, clock: ManualClock
) -> None:
    call.table("log", StreamSpecification=BOTH)
    call(
        "UpdateTimeToLive",
        TableName="log",
        TimeToLiveSpecification={"Enabled": True, "AttributeName": "t"},
    )
    past = str(int(clock.epoch()) - 60)
    call("PutItem", TableName="log", Item={"p": {"S": "1"}, "t": {"N": past}})

    went = call.server.sweep()

    removed = records(call, iterator(call, "log", "TRIM_HORIZON"))[-1]
    assert went == 1
    assert removed["eventName"] == "REMOVE"
    assert removed["userIdentity"] == {
        "PrincipalId": "dynamodb.amazonaws.com",
        "Type": "Service",
    }


def test_a_place_is_forgotten_after_a_quarter_of_an_hour(
    streaming: ApiCaller, clock: ManualClock
) -> None:
    place = iterator(streaming, "log", "TRIM_HORIZON")
    clock.advance(15 * 60 + 1)

    found = streaming.refused("GetRecords", ShardIterator=place)

    assert found.name == "ExpiredIteratorException"


def test_changes_older_than_a_day_may_be_gone(streaming: ApiCaller, clock: ManualClock) -> None:
    number = records(streaming, iterator(streaming, "log", "TRIM_HORIZON"))[0]
    clock.advance(25 * 3600)
    for count in range(1000):
        streaming("PutItem", TableName="log", Item={"p": {"S": str(count)}})
    place = iterator(
        streaming,
        "log",
        "AT_SEQUENCE_NUMBER",
        SequenceNumber=number["dynamodb"]["SequenceNumber"],
    )

    found = streaming.refused("GetRecords", ShardIterator=place)

    assert found.name == "TrimmedDataAccessException"


def test_a_stream_that_was_switched_off_can_be_read_to_its_end(streaming: ApiCaller) -> None:
    streaming("UpdateTable", TableName="log", StreamSpecification={"StreamEnabled": False})
    arn = stream_of(streaming, "log")

    response = streaming("DescribeStream", StreamArn=arn)["StreamDescription"]
    read = streaming("GetRecords", ShardIterator=iterator(streaming, "log", "TRIM_HORIZON"))

    assert (response["StreamStatus"], response["StreamViewType"]) == (
        "DISABLED",
        "NEW_AND_OLD_IMAGES",
    )
    assert "EndingSequenceNumber" in response["Shards"][0]["SequenceNumberRange"]
    assert len(read["Records"]) == 3
    assert "NextShardIterator" not in read


def test_a_shard_after_the_only_one_is_not_there(streaming: ApiCaller) -> None:
    arn = stream_of(streaming, "log")
    shard = streaming("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]

    response = streaming("DescribeStream", StreamArn=arn, ExclusiveStartShardId=shard)

    assert response["StreamDescription"]["Shards"] == []


@pytest.mark.parametrize(
    ("kind", "parameters", "message"),
    [
        (
            "LATEST",
            {"SequenceNumber": "0" * 21},
            (
                "One or more parameter values were invalid: SequenceNumber should not be passed "
                "for this iterator type"
            ),
        ),
        (
            "AT_SEQUENCE_NUMBER",
            {},
            (
                "One or more parameter values were invalid: SequenceNumber must be passed for this "
                "iterator type"
            ),
        ),
        (
            "AT_SEQUENCE_NUMBER",
            {"SequenceNumber": "x" * 21},
            "One or more parameter values were invalid: Invalid SequenceNumber",
        ),
    ],
)
def test_a_place_must_be_named_the_way_its_kind_says(
    streaming: ApiCaller, kind: str, parameters: dict[str, Any], message: str
) -> None:
    arn = stream_of(streaming, "log")
    shard = streaming("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]

    response = streaming.message(
        "GetShardIterator", StreamArn=arn, ShardId=shard, ShardIteratorType=kind, **parameters
    )

    assert response == message


def test_a_place_nobody_gave_out_is_refused(streaming: ApiCaller) -> None:
    response = streaming.message("GetRecords", ShardIterator="garbage")

    assert response == "Invalid ShardIterator"


def test_a_stream_that_is_not_there_is_not_found(streaming: ApiCaller) -> None:
    arn = stream_of(streaming, "log") + "x"

    found = streaming.refused("DescribeStream", StreamArn=arn)

    assert found.name == "ResourceNotFoundException"
    assert found.message == f"Requested resource not found: Stream: {arn} not found"
