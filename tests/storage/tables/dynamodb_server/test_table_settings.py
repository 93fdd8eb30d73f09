"""Expiry, tags, backups, limits and endpoints."""

from __future__ import annotations

from typing import Any

import pytest

from grandstand.core.clock import ManualClock
from grandstand.storage.tables.dynamodb_server.server import DynamoDbServer
from tests.storage.tables.dynamodb_server.sdk_client import SIGNED, ApiCaller, target


def ttl(name: str, *, enabled: bool = True) -> dict[str, Any]:
    return {
        "TableName": "things",
        "TimeToLiveSpecification": {"Enabled": enabled, "AttributeName": name},
    }


@pytest.fixture
def things(call: ApiCaller) -> ApiCaller:
    """An empty table."""
    call.table("things")
    return call


def arn(call: ApiCaller) -> str:
    found: str = call("DescribeTable", TableName="things")["Table"]["TableArn"]
    return found


def test_expiry_is_switched_on_and_off(things: ApiCaller) -> None:
    before = things("DescribeTimeToLive", TableName="things")
    response = things("UpdateTimeToLive", **ttl("t"))
    during = things("DescribeTimeToLive", TableName="things")
    things("UpdateTimeToLive", **ttl("t", enabled=False))

    assert before == {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}}
    assert response == {"TimeToLiveSpecification": {"Enabled": True, "AttributeName": "t"}}
    assert during == {
        "TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": "t"}
    }
    assert things("DescribeTimeToLive", TableName="things") == before


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (ttl("t"), ttl("t"), "TimeToLive is already enabled"),
        (
            ttl("t"),
            ttl("u"),
            "TimeToLive is active on a different AttributeName: current AttributeName is t",
        ),
        (
            ttl("t"),
            ttl("u", enabled=False),
            "TimeToLive is active on a different AttributeName: current AttributeName is t",
        ),
    ],
)
def test_expiry_has_one_attribute_and_is_switched_on_once(
    things: ApiCaller, first: dict[str, Any], second: dict[str, Any], message: str
) -> None:
    things("UpdateTimeToLive", **first)

    response = things.message("UpdateTimeToLive", **second)

    assert response == message


def test_expiry_that_is_off_cannot_be_switched_off(things: ApiCaller) -> None:
    response = things.message("UpdateTimeToLive", **ttl("t", enabled=False))

    assert response == "TimeToLive is already disabled"


def test_a_sweep_takes_only_what_has_expired(things: ApiCaller, clock: ManualClock) -> None:
    things("UpdateTimeToLive", **ttl("t"))
    now = int(clock.epoch())
    for name, moment in (("old", now - 10), ("young", now + 10)):
        things("PutItem", TableName="things", Item={"p": {"S": name}, "t": {"N": str(moment)}})
    things.table("other")

    went = things.server.sweep()

    assert went == 1
    left = things("Scan", TableName="things")["Items"]
    assert [item["p"]["S"] for item in left] == ["young"]


def test_tags_are_put_over_one_another_and_taken_off(things: ApiCaller) -> None:
    where = arn(things)
    things("TagResource", ResourceArn=where, Tags=[{"Key": "a", "Value": "1"}])
    things(
        "TagResource",
        ResourceArn=where,
        Tags=[{"Key": "a", "Value": "2"}, {"Key": "b", "Value": ""}],
    )

    both = things("ListTagsOfResource", ResourceArn=where)
    things("UntagResource", ResourceArn=where, TagKeys=["b", "not there"])

    assert both == {"Tags": [{"Key": "a", "Value": "2"}, {"Key": "b", "Value": ""}]}
    assert things("ListTagsOfResource", ResourceArn=where) == {"Tags": [{"Key": "a", "Value": "2"}]}


def test_tagging_answers_with_an_empty_body(things: ApiCaller) -> None:
    reply = things.reply(
        "TagResource", {"ResourceArn": arn(things), "Tags": [{"Key": "a", "Value": "1"}]}
    )

    assert (reply.status, reply.body) == (200, b"")


def test_a_table_can_be_made_with_tags(call: ApiCaller) -> None:
    call(
        "CreateTable",
        TableName="things",
        KeySchema=[{"AttributeName": "p", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "p", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
        Tags=[{"Key": "команда", "Value": "é 1"}],
    )

    response = call("ListTagsOfResource", ResourceArn=arn(call))

    assert response == {"Tags": [{"Key": "команда", "Value": "é 1"}]}


@pytest.mark.parametrize(
    ("tags", "part"),
    [
        ([], "Atleast one Tag needs to be provided as Input."),
        ([{"Key": str(n), "Value": "v"} for n in range(51)], "Too many tags"),
        ([{"Key": "a", "Value": "1"}, {"Key": "a", "Value": "2"}], "Duplicate tag keys"),
        ([{"Key": "a!", "Value": "1"}], "Tag: a!"),
        ([{"Key": "", "Value": "1"}], "Member must have length greater than or equal to 1"),
    ],
)
def test_tags_that_are_not_allowed_are_refused(
    things: ApiCaller, tags: list[dict[str, str]], part: str
) -> None:
    response = things.message("TagResource", ResourceArn=arn(things), Tags=tags)

    assert part in response
    assert things("ListTagsOfResource", ResourceArn=arn(things)) == {"Tags": []}


def test_a_resource_must_be_named_by_its_arn(things: ApiCaller) -> None:
    missing = things.message("ListTagsOfResource")
    short = things.message("ListTagsOfResource", ResourceArn="things")

    assert missing == "Invalid TableArn"
    assert short == "Invalid TableArn: ARNs must start with 'arn:': things"


def test_the_tags_of_what_is_not_there_are_not_found(things: ApiCaller) -> None:
    wrong = arn(things) + "x"

    found = things.refused("ListTagsOfResource", ResourceArn=wrong)

    assert found.name == "ResourceNotFoundException"
    assert found.message == f"Requested resource not found: ResourcArn: {wrong} not found"


def test_recovery_is_remembered(things: ApiCaller) -> None:
    before = things("DescribeContinuousBackups", TableName="things")
    things(
        "UpdateContinuousBackups",
        TableName="things",
        PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
    )

    after = things("DescribeContinuousBackups", TableName="things")

    status = ("ContinuousBackupsDescription", "PointInTimeRecoveryDescription")
    shown = [
        response[status[0]][status[1]]["PointInTimeRecoveryStatus"] for response in (before, after)
    ]
    assert shown == ["DISABLED", "ENABLED"]


def test_limits_are_those_of_a_new_account(call: ApiCaller) -> None:
    response = call("DescribeLimits")

    assert response == {
        "AccountMaxReadCapacityUnits": 80_000,
        "AccountMaxWriteCapacityUnits": 80_000,
        "TableMaxReadCapacityUnits": 40_000,
        "TableMaxWriteCapacityUnits": 40_000,
    }


def test_the_endpoint_is_where_the_request_came_in(server: DynamoDbServer) -> None:
    headers = {**SIGNED, "X-Amz-Target": target("DescribeEndpoints"), "Host": "127.0.0.1:8000"}

    reply = server.handle(headers, b"{}")

    assert b'"Address":"127.0.0.1:8000"' in reply.body
