"""Keys that do not fit are refused in DynamoDB's words, and nothing is written."""

from collections.abc import Callable
from decimal import Decimal

import pytest

from grandstand.storage.tables.attribute_values import Item, Key, Value
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.errors import InvalidRequest
from grandstand.storage.tables.expressions.nodes import KeyCondition, Literal, Range, UpdateNode
from grandstand.storage.tables.requests import (
    DeleteItem,
    GetItem,
    PutItem,
    QueryRequest,
    ScanRequest,
    UpdateItem,
)
from tests.storage.tables.engines.sqlite.plays import PLACES, PLAYS, of_game, path, play, put

INVALID = "One or more parameter values were invalid: "
NOT_VALID = "One or more parameter values are not valid. "
EMPTY = "The AttributeValue for a key attribute cannot contain an empty string value. "
MISMATCH = "The provided key element does not match the schema"
HASH_SIZE = f"{INVALID}Size of hashkey has exceeded the maximum size limit of2048 bytes"
RANGE_SIZE = f"{INVALID}Aggregated size of all range keys has exceeded the size limit of 1024 bytes"


@pytest.fixture(autouse=True)
def _tables(engine: SqliteEngine) -> None:
    engine.create_table(PLAYS)
    engine.create_table(PLACES)


def refusal(work: Callable[[], object]) -> str:
    with pytest.raises(InvalidRequest) as refused:
        work()
    return str(refused.value)


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"game": "g"}, f"{INVALID}Missing the key play in the item"),
        ({"play": "p"}, f"{INVALID}Missing the key game in the item"),
        (
            {"game": 1, "play": "p"},
            f"{INVALID}Type mismatch for key game expected: S actual: N",
        ),
        (
            {"game": "g", "play": True},
            f"{INVALID}Type mismatch for key play expected: S actual: BOOL",
        ),
        ({"game": "", "play": "p"}, f"{NOT_VALID}{EMPTY}Key: game"),
        ({"game": "g", "play": ""}, f"{NOT_VALID}{EMPTY}Key: play"),
        ({"game": "g" * 2049, "play": "p"}, HASH_SIZE),
        ({"game": "g", "play": "ö" * 513}, RANGE_SIZE),
        (
            play(1, team=5),
            f"{INVALID}Type mismatch for Index Key team Expected: S Actual: N IndexName: by-team",
        ),
        (
            play(1, points=None),
            (
                f"{INVALID}Type mismatch for Index Key points Expected: N Actual: NULL "
                "IndexName: by-team"
            ),
        ),
        (
            play(1, team=""),
            (
                f"{NOT_VALID}A value specified for a secondary index key is not supported. {EMPTY}"
                "IndexName: by-team, IndexKey: team"
            ),
        ),
        (play(1, team="t" * 2049), HASH_SIZE),
        (play(1, day="d" * 1025), RANGE_SIZE),
        ({**play(1), "": 1}, f"{INVALID}an attribute name is empty"),
        ({**play(1), "text": "\ud800"}, "Text must be valid Unicode: surrogates not allowed"),
        ({**play(1), "big": "x" * 409_600}, "Item size has exceeded the maximum allowed size"),
    ],
)
def test_a_put_with_a_wrong_key_is_refused(engine: SqliteEngine, item: Item, message: str) -> None:
    told = refusal(lambda: engine.put(PutItem("plays", item)))

    assert told == message
    assert engine.scan(ScanRequest("plays")).scanned == 0


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ({"game": "g"}, MISMATCH),
        ({"game": "g", "play": "p", "more": 1}, MISMATCH),
        ({"game": "g", "other": "p"}, MISMATCH),
        ({"game": 1, "play": "p"}, MISMATCH),
        ({"game": "g", "play": ["p"]}, MISMATCH),
        ({"game": "", "play": "p"}, f"{NOT_VALID}{EMPTY}Key: game"),
        ({"game": "g" * 2049, "play": "p"}, HASH_SIZE),
        ({"game": "g", "play": "p" * 1025}, RANGE_SIZE),
    ],
)
def test_a_wrong_key_is_refused_by_every_operation_that_looks_one_up(
    engine: SqliteEngine, key: Key, message: str
) -> None:
    told = [
        refusal(lambda: engine.get(GetItem("plays", key))),
        refusal(lambda: engine.update(UpdateItem("plays", key))),
        refusal(lambda: engine.delete(DeleteItem("plays", key))),
        refusal(lambda: engine.batch_get([GetItem("plays", key)])),
    ]

    assert told == [message] * 4


@pytest.mark.parametrize(
    ("attribute", "value", "message"),
    [
        (
            "team",
            5,
            f"{INVALID}Type mismatch for Index Key team Expected: S Actual: N IndexName: by-team",
        ),
        (
            "team",
            "",
            (
                f"{NOT_VALID}The update expression attempted to update a secondary index key to a "
                f"value that is not supported. {EMPTY.strip()}"
            ),
        ),
        (
            "team",
            "t" * 2049,
            (
                "The update expression attempted to update the secondary index key beyond allowed "
                "size limits"
            ),
        ),
        (
            "play",
            "p2",
            f"{INVALID}Cannot update attribute play. This attribute is part of the key",
        ),
        ("big", "x" * 409_600, "Item size to update has exceeded the maximum allowed size"),
    ],
)
def test_an_update_that_would_spoil_a_key_is_refused(
    engine: SqliteEngine, attribute: str, value: Value, message: str
) -> None:
    put(engine, play(1, team="reds"))
    change = UpdateNode(sets=((path(attribute), Literal(value)),))

    told = refusal(
        lambda: engine.update(UpdateItem("plays", {"game": "g1", "play": "p0001"}, change))
    )

    assert told == message
    assert engine.scan(ScanRequest("plays")).items == (play(1, team="reds"),)


def test_the_parts_of_a_key_of_many_attributes_are_measured_together(
    engine: SqliteEngine,
) -> None:
    each_fits = play(1, country="c" * 1500, city="t" * 1500)

    told = refusal(lambda: engine.put(PutItem("places", each_fits)))

    assert told == HASH_SIZE


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (KeyCondition((("play", "p"),)), "Query condition missed key schema element: game"),
        (
            of_game(given=Range("points", "=", 1)),
            "Query condition missed key schema element: play",
        ),
        (
            KeyCondition((("game", 1),)),
            f"{INVALID}Condition parameter type does not match schema type",
        ),
        (
            of_game(given=Range("play", "<", 1)),
            f"{INVALID}Condition parameter type does not match schema type",
        ),
        (KeyCondition((("game", ""),)), f"{NOT_VALID}{EMPTY}Key: game"),
        (of_game(given=Range("play", "begins_with", "")), f"{NOT_VALID}{EMPTY}Key: play"),
        (of_game(given=Range("play", ">", "p" * 1025)), RANGE_SIZE),
        (
            of_game(given=Range("play", "between", "b", "a")),
            (
                "Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be "
                "greater than or equal to lower bound; lower bound operand: AttributeValue: {S:b}, "
                "upper bound operand: AttributeValue: {S:a}"
            ),
        ),
    ],
)
def test_a_key_condition_that_does_not_fit_is_refused(
    engine: SqliteEngine, where: KeyCondition, message: str
) -> None:
    told = refusal(lambda: engine.query(QueryRequest("plays", where)))

    assert told == message


def test_a_number_has_no_beginning_to_ask_for(engine: SqliteEngine) -> None:
    where = KeyCondition((("team", "reds"),), Range("points", "begins_with", Decimal("1.5")))

    told = refusal(lambda: engine.query(QueryRequest("plays", where, index="by-team")))

    assert told == (
        "Invalid KeyConditionExpression: Incorrect operand type for operator or function; "
        "operator or function: begins_with, operand type: N"
    )


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (
            KeyCondition((("country", "it"),)),
            "HASH key attributes city must have equality conditions specified in the query",
        ),
        (
            KeyCondition((("country", "it"), ("city", "rome")), Range("hall", "=", "a")),
            (
                "RANGE key attributes year must have equality conditions specified in the query "
                "because a condition is present on key attribute hall"
            ),
        ),
    ],
)
def test_a_key_of_many_attributes_is_asked_from_left_to_right(
    engine: SqliteEngine, where: KeyCondition, message: str
) -> None:
    told = refusal(lambda: engine.query(QueryRequest("places", where, index="by-place")))

    assert told == message
