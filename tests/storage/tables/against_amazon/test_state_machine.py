"""The same random operations on our engine and on DynamoDB Local give the same answers."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from grandstand.core.clock import SystemClock
from grandstand.storage.tables.dynamodb_server.server import DynamoDbServer
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.expressions import nodes
from grandstand.storage.tables.expressions.evaluate import makes_item
from grandstand.storage.tables.expressions.render import Rendering
from tests.storage.tables.against_amazon import differences, request_strategies
from tests.storage.tables.against_amazon.clients import (
    Amazon,
    Answer,
    Ours,
    Shape,
    table_numbers,
)
from tests.storage.tables.against_amazon.differences import Asked

STEPS = 50
EXAMPLES = int(os.environ.get("TEST_COMPARISONS", "40"))
CONDITION = st.one_of(st.none(), request_strategies.CONDITIONS)


def table_shape(name: str) -> Shape:
    def index(title: str, partition: str, sort: str | None, projection: Shape) -> Shape:
        schema = [{"AttributeName": partition, "KeyType": "HASH"}]
        if sort:
            schema.append({"AttributeName": sort, "KeyType": "RANGE"})
        return {"IndexName": title, "KeySchema": schema, "Projection": projection}

    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            {"AttributeName": attribute, "AttributeType": kind}
            for attribute, kind in (("p", "S"), ("s", "N"), ("g", "S"), ("h", "N"))
        ],
        "KeySchema": [
            {"AttributeName": "p", "KeyType": "HASH"},
            {"AttributeName": "s", "KeyType": "RANGE"},
        ],
        "GlobalSecondaryIndexes": [
            index("both", "g", "h", {"ProjectionType": "ALL"}),
            index("keys", "g", None, {"ProjectionType": "KEYS_ONLY"}),
        ],
        "LocalSecondaryIndexes": [
            index("local", "p", "h", {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["v"]})
        ],
    }


class Comparison(RuleBasedStateMachine):
    """Two tables that must stay alike, whatever is asked of them."""

    amazon: ClassVar[Amazon]
    ours: ClassVar[Ours]
    steps: ClassVar[Counter[str]] = Counter()

    @initialize(
        items=st.lists(
            request_strategies.items(), min_size=4, max_size=8, unique_by=request_strategies.place
        )
    )
    def make_tables(self, items: list[Any]) -> None:
        self.name = f"compared-{next(table_numbers)}"
        for side in (self.amazon, self.ours):
            assert side.ask("CreateTable", table_shape(self.name)).error is None
        for item in items:
            self.same("PutItem", {"Item": request_strategies.wire(item)})

    def teardown(self) -> None:
        for side in (self.amazon, self.ours):
            side.ask("DeleteTable", {"TableName": self.name})

    def both(self, operation: str, parameters: Shape) -> tuple[Answer, Answer]:
        whole = {"RequestItems", "TransactItems"} & parameters.keys()
        asked = parameters if whole else {"TableName": self.name, **parameters}
        self.steps[operation] += 1
        return self.amazon.ask(operation, asked), self.ours.ask(operation, asked)

    def same(self, operation: str, parameters: Shape, *, ordered: bool = True) -> Answer:
        theirs, ours = self.both(operation, parameters)
        differences.agreed(Asked(operation, parameters, ordered), theirs, ours)
        return ours

    def conditioned(self, shape: Shape, rendering: Rendering, condition: Any) -> Shape:
        if condition is not None:
            shape["ConditionExpression"] = rendering.condition(condition)
            shape["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        return request_strategies.with_placeholders(shape, rendering)

    @rule(
        item=request_strategies.items(),
        condition=CONDITION,
        returning=st.sampled_from(["NONE", "ALL_OLD"]),
    )
    def put(self, item: Any, condition: Any, returning: str) -> None:
        shape = {"Item": request_strategies.wire(item), "ReturnValues": returning}
        self.same("PutItem", self.conditioned(shape, Rendering(), condition))

    @rule(
        key=request_strategies.keys(),
        condition=CONDITION,
        returning=st.sampled_from(["NONE", "ALL_OLD"]),
    )
    def delete(self, key: Any, condition: Any, returning: str) -> None:
        shape = {"Key": request_strategies.wire(key), "ReturnValues": returning}
        self.same("DeleteItem", self.conditioned(shape, Rendering(), condition))

    @rule(
        key=request_strategies.keys(),
        update=request_strategies.updates(),
        condition=CONDITION,
        returning=st.sampled_from(["NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"]),
    )
    def update(self, key: Any, update: nodes.UpdateNode, condition: Any, returning: str) -> None:
        rendering = Rendering()
        shape = {
            "Key": request_strategies.wire(key),
            "UpdateExpression": rendering.update(update),
            "ReturnValues": returning,
        }
        self.same("UpdateItem", self.conditioned(shape, rendering, guarded(update, condition)))

    @rule(
        key=request_strategies.keys(),
        paths=st.lists(request_strategies.PATHS, max_size=2, unique=True),
    )
    def get(self, key: Any, paths: list[nodes.Path]) -> None:
        rendering = Rendering()
        shape: Shape = {"Key": request_strategies.wire(key), "ConsistentRead": True}
        if paths:
            shape["ProjectionExpression"] = rendering.projection(paths)
        self.same("GetItem", request_strategies.with_placeholders(shape, rendering))

    @rule(
        partition=request_strategies.PARTITIONS,
        span=st.sampled_from([None, ("=", 3), (">=", 2), ("<", 4), ("between", 2)]),
        filtered=CONDITION,
        forward=st.booleans(),
        limit=st.one_of(st.none(), st.integers(1, 4)),
    )
    def query(self, partition: str, span: Any, filtered: Any, forward: bool, limit: Any) -> None:  # noqa: FBT001 - drawn
        where = (
            nodes.Range("s", span[0], span[1], 5 if span[0] == "between" else None)
            if span
            else None
        )
        shape = self.question({"p": partition}, where, filtered, limit)
        shape["ScanIndexForward"] = forward
        shape["ConsistentRead"] = True
        self.pages("Query", shape)

    @rule(
        index=st.sampled_from(["both", "keys"]),
        group=st.sampled_from(["x", "y"]),
        filtered=CONDITION,
    )
    def query_index(self, index: str, group: str, filtered: Any) -> None:
        shape = self.question({"g": group}, None, filtered, None)
        self.same("Query", {**shape, "IndexName": index}, ordered=False)

    @rule(partition=request_strategies.PARTITIONS, forward=st.booleans())
    def query_local_index(self, partition: str, forward: bool) -> None:  # noqa: FBT001 - drawn
        shape = self.question({"p": partition}, nodes.Range("h", ">=", 2), None, None)
        shape |= {"IndexName": "local", "ConsistentRead": True, "ScanIndexForward": forward}
        self.same("Query", shape, ordered=False)

    @rule(filtered=CONDITION, index=st.sampled_from([None, "both", "keys"]))
    def scan(self, filtered: Any, index: str | None) -> None:
        rendering = Rendering()
        shape: Shape = {} if index is None else {"IndexName": index}
        if filtered is not None:
            shape["FilterExpression"] = rendering.condition(filtered)
        shape = request_strategies.with_placeholders(shape, rendering)
        self.same("Scan", shape, ordered=False)

    @rule(
        puts=st.lists(request_strategies.items(), max_size=3),
        deletes=st.lists(request_strategies.keys(), max_size=2),
    )
    def batch_write(self, puts: list[Any], deletes: list[Any]) -> None:
        actions: list[Shape] = [
            {"PutRequest": {"Item": request_strategies.wire(item)}} for item in puts
        ]
        actions += [{"DeleteRequest": {"Key": request_strategies.wire(key)}} for key in deletes]
        self.same("BatchWriteItem", {"RequestItems": {self.name: actions}})

    @rule(wanted=st.lists(request_strategies.keys(), min_size=1, max_size=4))
    def batch_get(self, wanted: list[Any]) -> None:
        asked = {
            self.name: {
                "Keys": [request_strategies.wire(key) for key in wanted],
                "ConsistentRead": True,
            }
        }
        self.same("BatchGetItem", {"RequestItems": asked}, ordered=False)

    @rule(
        puts=st.lists(st.tuples(request_strategies.items(), CONDITION), max_size=2),
        changed=st.lists(
            st.tuples(request_strategies.keys(), request_strategies.updates(), CONDITION),
            max_size=2,
        ),
        checked=st.lists(
            st.tuples(request_strategies.keys(), request_strategies.CONDITIONS), max_size=1
        ),
    )
    def transact(self, puts: list[Any], changed: list[Any], checked: list[Any]) -> None:
        actions: list[Shape] = []
        for item, condition in puts:
            shape = {"TableName": self.name, "Item": request_strategies.wire(item)}
            actions.append({"Put": self.conditioned(shape, Rendering(), condition)})
        for key, update, condition in changed:
            rendering = Rendering()
            shape = {
                "TableName": self.name,
                "Key": request_strategies.wire(key),
                "UpdateExpression": rendering.update(update),
            }
            guard = guarded(update, condition)
            actions.append({"Update": self.conditioned(shape, rendering, guard)})
        for key, condition in checked:
            shape = {"TableName": self.name, "Key": request_strategies.wire(key)}
            actions.append({"ConditionCheck": self.conditioned(shape, Rendering(), condition)})
        self.same("TransactWriteItems", {"TransactItems": actions})

    @rule()
    def everything_is_alike(self) -> None:
        self.same("Scan", {"ConsistentRead": True}, ordered=False)

    def question(self, equals: Shape, where: Any, filtered: Any, limit: int | None) -> Shape:
        rendering = Rendering()
        condition = nodes.KeyCondition(tuple(equals.items()), where)
        shape: Shape = {"KeyConditionExpression": rendering.key_condition(condition)}
        if filtered is not None:
            shape["FilterExpression"] = rendering.condition(filtered)
        if limit is not None:
            shape["Limit"] = limit
        return request_strategies.with_placeholders(shape, rendering)

    def pages(self, operation: str, shape: Shape) -> None:
        answer = self.same(operation, shape)
        while answer.body.get("LastEvaluatedKey"):
            start = answer.body["LastEvaluatedKey"]
            answer = self.same(operation, {**shape, "ExclusiveStartKey": start})


def guarded(update: nodes.UpdateNode, condition: Any) -> Any:
    """Keep updates that take away off missing items, where Local is known to differ."""
    taken = update.removes + tuple(path for path, _ in update.deletes)
    if makes_item(update) and all(len(path.steps) == 1 for path in taken):
        return condition
    exists = nodes.Exists(nodes.Path(("p",)))
    return exists if condition is None else nodes.And(exists, condition)


@pytest.mark.timeout(900)
def test_every_answer_agrees_with_amazons_emulator(dynamodb_local: str) -> None:
    engine = SqliteEngine.open(None, clock=SystemClock(), metered=True)
    Comparison.ours = Ours(DynamoDbServer(engine, clock=SystemClock()))
    Comparison.amazon = Amazon(dynamodb_local)
    Comparison.steps.clear()

    run_state_machine_as_test(
        Comparison,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            phases=(Phase.explicit, Phase.reuse, Phase.generate),
            report_multiple_bugs=True,
            suppress_health_check=list(HealthCheck),
        ),
    )

    engine.close()
    Comparison.amazon.close()
    assert sum(Comparison.steps.values()) >= EXAMPLES * STEPS * 0.7
