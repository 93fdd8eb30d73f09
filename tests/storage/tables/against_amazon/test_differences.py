"""Each known difference, shown: what DynamoDB Local answers, and that ours answers as AWS does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from grandstand.core.clock import SystemClock
from grandstand.storage.tables.dynamodb_server.server import DynamoDbServer
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from tests.storage.tables.against_amazon.clients import Amazon, Ours, Shape, table_numbers
from tests.storage.tables.against_amazon.differences import KNOWN, Asked
from tests.storage.tables.against_amazon.test_state_machine import table_shape


def item(s: int, **more: Any) -> Shape:
    return {"p": {"S": "a"}, "s": {"N": str(s)}, **more}


def update(s: int, expression: str, **more: Any) -> Shape:
    return {"Key": item(s), "UpdateExpression": expression, **more}


@dataclass(frozen=True)
class Shown:
    """One request on which the two differ, and what each says."""

    title: str
    operation: str
    parameters: Shape
    local: Any
    ours: Any
    look: str = "error"
    then: Shape = field(default_factory=dict)


RANGE = {
    "KeyConditionExpression": "p = :p AND #n1 BETWEEN :low AND :high",
    "ExpressionAttributeNames": {"#n1": "s"},
    "ExpressionAttributeValues": {":p": {"S": "a"}, ":low": {"N": "1"}, ":high": {"N": "2"}},
    "Limit": 2,
}
SHOWN = [
    Shown(
        "updated attributes are the touched paths",
        "UpdateItem",
        update(1, "SET m.x = :v", ExpressionAttributeValues={":v": {"N": "5"}})
        | {"ReturnValues": "UPDATED_NEW"},
        local={"m": {"M": {"x": {"N": "5"}, "y": {"N": "2"}}}},
        ours={"m": {"M": {"x": {"N": "5"}}}},
        look="Attributes",
    ),
    Shown(
        "a filter by what the index does not hold is refused",
        "Scan",
        {"IndexName": "keys", "FilterExpression": "attribute_exists(m)"},
        local=None,
        ours="ValidationException",
    ),
    Shown(
        "an update that cannot be applied cancels its transaction",
        "TransactWriteItems",
        {"TransactItems": [{"Update": update(1, "SET gone.x = m")}]},
        local="ValidationException",
        ours="TransactionCanceledException",
    ),
    Shown(
        "two actions for one item are refused before any condition is looked at",
        "TransactWriteItems",
        {
            "TransactItems": [
                {"Delete": {"Key": item(1), "ConditionExpression": "attribute_exists(nope)"}},
                {"Put": {"Item": item(1)}},
            ]
        },
        local="TransactionCanceledException",
        ours="ValidationException",
    ),
    Shown(
        "a page that ends for its limit has a last key, also at the end of a range",
        "Query",
        RANGE,
        local=None,
        ours=item(2),
        look="LastEvaluatedKey",
    ),
]


class Sides:
    """A fresh pair of tables with two items each."""

    def __init__(self, endpoint: str) -> None:
        self.engine = SqliteEngine.open(None, clock=SystemClock(), metered=True)
        self.amazon = Amazon(endpoint)
        self.both = (self.amazon, Ours(DynamoDbServer(self.engine, clock=SystemClock())))
        self.name = f"shown-{next(table_numbers)}"
        first = item(1, m={"M": {"x": {"N": "1"}, "y": {"N": "2"}}}, g={"S": "x"})
        for side in self.both:
            side.ask("CreateTable", table_shape(self.name))
            for one in (first, item(2)):
                side.ask("PutItem", {"TableName": self.name, "Item": one})

    def ask(self, operation: str, parameters: Shape) -> tuple[Any, Any]:
        named = {"TableName": self.name, **parameters}
        if "TransactItems" in parameters:
            actions = [
                {kind: {"TableName": self.name, **action} for kind, action in each.items()}
                for each in parameters["TransactItems"]
            ]
            named = {"TransactItems": actions}
        theirs, ours = (side.ask(operation, named) for side in self.both)
        return theirs, ours


@pytest.fixture
def sides(dynamodb_local: str) -> Iterator[Sides]:
    made = Sides(dynamodb_local)
    yield made
    made.engine.close()
    made.amazon.close()


@pytest.mark.parametrize("shown", SHOWN, ids=lambda shown: shown.title)
def test_ours_answers_as_aws_where_local_does_not(sides: Sides, shown: Shown) -> None:
    theirs, ours = sides.ask(shown.operation, shown.parameters)

    seen = [
        answer.error if shown.look == "error" else answer.body.get(shown.look)
        for answer in (theirs, ours)
    ]
    assert seen == [shown.local, shown.ours]
    assert [
        known
        for known in KNOWN
        if known.holds(Asked(shown.operation, shown.parameters, True), theirs, ours)
    ]


@pytest.mark.parametrize("expression", ["REMOVE v", "REMOVE m.x", "REMOVE l[0]"])
def test_an_update_that_only_takes_away_makes_no_item(sides: Sides, expression: str) -> None:
    sides.ask("UpdateItem", update(9, expression))

    _, ours = sides.ask("GetItem", {"Key": item(9)})

    assert "Item" not in ours.body
