"""Transactions: all or nothing, once for each token, with a reason for every action."""

import pytest

from grandstand.core.clock import ManualClock
from grandstand.storage.tables.attribute_values import Key, Value, item_size
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.errors import (
    CancellationReason,
    InvalidRequest,
    TableNotFound,
    TokenReused,
    TransactionCancelled,
)
from grandstand.storage.tables.expressions.nodes import (
    Compare,
    Condition,
    Exists,
    Literal,
    Missing,
    UpdateNode,
)
from grandstand.storage.tables.requests import (
    CheckItem,
    DeleteItem,
    Found,
    GetItem,
    PutItem,
    ScanRequest,
    Transaction,
    UpdateItem,
    WriteAction,
)
from tests.storage.tables.engines.sqlite.plays import (
    PLAYS,
    TEAMS,
    find,
    numbers,
    path,
    play,
    put,
)

ABSENT: Condition = Missing(path("game"))
NONE = CancellationReason()


@pytest.fixture(autouse=True)
def _tables(engine: SqliteEngine) -> None:
    engine.create_table(PLAYS)
    engine.create_table(TEAMS)


def key(number: int) -> Key:
    return {"game": "g1", "play": f"p{number:04d}"}


def setting(number: int, name: str, value: Value) -> UpdateItem:
    return UpdateItem("plays", key(number), UpdateNode(sets=((path(name), Literal(value)),)))


def adding(amount: int, team: str = "reds") -> UpdateItem:
    return UpdateItem("teams", {"team": team}, UpdateNode(adds=((path("n"), Literal(amount)),)))


def reasons(engine: SqliteEngine, *actions: WriteAction) -> tuple[CancellationReason, ...]:
    with pytest.raises(TransactionCancelled) as cancelled:
        engine.transact_write(Transaction(actions))
    return cancelled.value.reasons


def test_every_action_is_carried_out_together(engine: SqliteEngine) -> None:
    put(engine, play(1), play(2), play(3, n=1))

    engine.transact_write(
        Transaction(
            (
                PutItem("plays", play(4), condition=ABSENT),
                DeleteItem("plays", key(1)),
                setting(2, "n", 5),
                CheckItem("plays", key(3), Exists(path("n"))),
                adding(7),
            )
        )
    )

    assert numbers(engine.scan(ScanRequest("plays")).items) == [2, 3, 4]
    assert find(engine, play(2)) == play(2, n=5)
    assert engine.scan(ScanRequest("teams")).items == ({"team": "reds", "n": 7},)


def test_one_failing_condition_stops_all_and_says_which(engine: SqliteEngine) -> None:
    put(engine, play(1, n=1), play(3))

    told = reasons(
        engine,
        PutItem("plays", play(2)),
        CheckItem("plays", key(1), Compare("=", path("n"), Literal(2)), show_conflict=True),
        PutItem("plays", play(3), condition=ABSENT),
    )

    assert told == (
        NONE,
        CancellationReason(
            "ConditionalCheckFailed", "The conditional request failed", play(1, n=1)
        ),
        CancellationReason("ConditionalCheckFailed", "The conditional request failed"),
    )
    assert engine.scan(ScanRequest("plays")).items == (play(1, n=1), play(3))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (
            PutItem("plays", {"game": 5, "play": "p"}),
            (
                "One or more parameter values were invalid: "
                "Type mismatch for key game expected: S actual: N"
            ),
        ),
        (
            DeleteItem("plays", {"game": 5, "play": "p"}),
            "The provided key element does not match the schema",
        ),
        (
            PutItem("plays", play(2, team=5)),
            (
                "One or more parameter values were invalid: "
                "Type mismatch for Index Key team Expected: S Actual: N IndexName: by-team"
            ),
        ),
        (
            setting(2, "team", 5),
            (
                "One or more parameter values were invalid: "
                "Type mismatch for Index Key team Expected: S Actual: N IndexName: by-team"
            ),
        ),
        (
            setting(2, "note", "x" * 409_600),
            "Item size to update has exceeded the maximum allowed size",
        ),
        (
            UpdateItem("plays", key(2), UpdateNode(sets=((path("a"), path("b")),))),
            "The provided expression refers to an attribute that does not exist in the item",
        ),
    ],
)
def test_an_action_that_cannot_be_done_cancels_with_its_fault(
    engine: SqliteEngine, bad: WriteAction, message: str
) -> None:
    told = reasons(engine, PutItem("plays", play(1)), bad)

    assert told == (NONE, CancellationReason("ValidationError", message))
    assert engine.scan(ScanRequest("plays")).scanned == 0


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ((), "Member must have length greater than or equal to 1"),
        (
            tuple(PutItem("plays", play(n)) for n in range(101)),
            "Member must have length less than or equal to 100",
        ),
        (
            (PutItem("plays", play(1)), DeleteItem("plays", key(1))),
            "Transaction request cannot include multiple operations on one item",
        ),
        (
            tuple(PutItem("plays", play(n, note="x" * 400_000)) for n in range(11)),
            "Transaction payload size cannot exceed 4MB",
        ),
        ((PutItem("plays", play(1, note="x" * 409_600)),), "Item size has exceeded"),
        ((PutItem("plays", {"game": "", "play": "p"}),), "cannot contain an empty string value"),
        ((PutItem("plays", play(1, team="")),), "cannot contain an empty string value"),
    ],
)
def test_what_can_be_seen_in_the_request_alone_is_refused_outright(
    engine: SqliteEngine, actions: tuple[WriteAction, ...], message: str
) -> None:
    with pytest.raises(InvalidRequest, match=message):
        engine.transact_write(Transaction(actions))

    assert engine.scan(ScanRequest("plays")).scanned == 0


def test_a_hundred_actions_pass(engine: SqliteEngine) -> None:
    engine.transact_write(Transaction(tuple(PutItem("plays", play(n)) for n in range(100))))

    assert engine.scan(ScanRequest("plays")).scanned == 100


def test_a_token_is_carried_out_once_for_ten_minutes(
    engine: SqliteEngine, clock: ManualClock
) -> None:
    request = Transaction((adding(1), PutItem("plays", play(1, s=frozenset("ab")))), token="t1")

    answers = [len(engine.transact_write(request)) for _ in range(2)]
    clock.advance(599)
    engine.transact_write(request)
    clock.advance(2)
    engine.transact_write(request)

    assert answers == [2, 2]
    assert engine.scan(ScanRequest("teams")).items == ({"team": "reds", "n": 2},)


def test_a_token_with_another_body_is_refused(engine: SqliteEngine) -> None:
    engine.transact_write(Transaction((adding(1),), token="t1"))

    with pytest.raises(TokenReused, match="use a new token"):
        engine.transact_write(Transaction((adding(2),), token="t1"))

    assert engine.scan(ScanRequest("teams")).items == ({"team": "reds", "n": 1},)


def test_a_cancelled_transaction_leaves_its_token_free(engine: SqliteEngine) -> None:
    demanding = Transaction(
        (CheckItem("plays", key(1), Exists(path("game"))), adding(1)), token="t1"
    )

    with pytest.raises(TransactionCancelled):
        engine.transact_write(demanding)
    put(engine, play(1))
    engine.transact_write(demanding)

    assert engine.scan(ScanRequest("teams")).items == ({"team": "reds", "n": 1},)


def test_a_transaction_reads_several_items_of_several_tables(engine: SqliteEngine) -> None:
    put(engine, play(1, n=1))
    put(engine, {"team": "reds", "n": 5}, table="teams")

    found = engine.transact_get(
        [
            GetItem("plays", key(1)),
            GetItem("plays", key(2)),
            GetItem("teams", {"team": "reds"}, projection=(path("n"),)),
        ]
    )

    assert found == (
        Found(play(1, n=1), item_size(play(1, n=1))),
        Found(None),
        Found({"n": 5}, item_size({"team": "reds", "n": 5})),
    )


def test_a_reading_transaction_has_its_limits(engine: SqliteEngine) -> None:
    for n in range(11):
        put(engine, play(n, note="x" * 400_000))

    with pytest.raises(InvalidRequest, match="multiple operations on one item"):
        engine.transact_get([GetItem("plays", key(1))] * 2)
    with pytest.raises(InvalidRequest, match="less than or equal to 100"):
        engine.transact_get([GetItem("plays", key(n)) for n in range(101)])
    with pytest.raises(InvalidRequest, match="cannot exceed 4MB"):
        engine.transact_get([GetItem("plays", key(n)) for n in range(11)])
    with pytest.raises(TableNotFound):
        engine.transact_get([GetItem("none", key(1))])


def test_a_reading_transaction_with_a_wrong_key_is_cancelled(engine: SqliteEngine) -> None:
    with pytest.raises(TransactionCancelled) as cancelled:
        engine.transact_get([GetItem("plays", key(1)), GetItem("plays", {})])

    assert cancelled.value.reasons == (
        NONE,
        CancellationReason("ValidationError", "The provided key element does not match the schema"),
    )
