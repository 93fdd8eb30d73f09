"""What a page costs does not depend on how much there is, nor on how far one has read."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from grandstand.core.clock import ManualClock
from grandstand.storage.tables.attribute_values import Key
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.expressions.nodes import Range
from grandstand.storage.tables.requests import PutItem, QueryRequest, ScanRequest
from tests.storage.tables.engines.sqlite.plays import PLAYS, of_game, of_team, play

START: Key = {"game": "g1", "play": "p0004"}
TEAM_START: Key = {**START, "team": "reds", "points": 1}
RANGES = [
    None,
    Range("play", ">", "p0001"),
    Range("play", "<=", "p9"),
    Range("play", "between", "p0", "p9"),
    Range("play", "begins_with", "p"),
]
TEAM_RANGES = [
    None,
    Range("points", "=", 1),
    Range("points", ">=", 0),
    Range("points", "between", 0, 9),
]
QUERIES = [
    QueryRequest("plays", of_game(given=given), forward=forward, start=start)
    for given in RANGES
    for forward in (True, False)
    for start in (None, START)
] + [
    replace(of_team("reds", given), forward=forward, start=start)
    for given in TEAM_RANGES
    for forward in (True, False)
    for start in (None, TEAM_START)
]
SCANS = [
    ScanRequest("plays", start=START),
    ScanRequest("plays", segment=1, segments=3),
    ScanRequest("plays", "by-team"),
    ScanRequest("plays", "by-team", start=TEAM_START),
]


@pytest.fixture(scope="module")
def plays() -> Iterator[SqliteEngine]:
    """An engine in memory with a few thousand plays, all of one game and one team; only read."""
    engine = SqliteEngine.open(None, clock=ManualClock())
    engine.create_table(PLAYS)
    for start in range(0, 4000, 25):
        engine.batch_write(
            [PutItem("plays", play(n, team="reds", points=1)) for n in range(start, start + 25)]
        )
    yield engine
    engine.close()


def plan(engine: SqliteEngine, question: QueryRequest | ScanRequest) -> str:
    """How SQLite goes about the one statement a question turns into."""
    connection = engine._local.context.connection  # noqa: SLF001 - plans are not for users
    statements: list[str] = []
    connection.set_trace_callback(statements.append)
    engine.query(question) if isinstance(question, QueryRequest) else engine.scan(question)
    connection.set_trace_callback(None)
    told = connection.execute(f"EXPLAIN QUERY PLAN {statements[-1]}").fetchall()
    return "; ".join(row[3] for row in told)


def effort(engine: SqliteEngine, question: QueryRequest | ScanRequest) -> int:
    """How many steps SQLite's machine takes for a question."""
    connection = engine._local.context.connection  # noqa: SLF001 - as above
    steps: list[None] = []
    connection.set_progress_handler(lambda: steps.append(None), 1)
    engine.query(question) if isinstance(question, QueryRequest) else engine.scan(question)
    connection.set_progress_handler(None, 1)
    return len(steps)


@pytest.mark.parametrize("question", [*QUERIES, *SCANS])
def test_every_question_goes_by_an_index_to_its_start_and_sorts_nothing(
    plays: SqliteEngine, question: QueryRequest | ScanRequest
) -> None:
    told = plan(plays, question)

    assert told.startswith("SEARCH t1_1 USING INDEX ")
    assert ";" not in told


@pytest.mark.parametrize(
    ("question", "start"),
    [
        (QueryRequest("plays", of_game()), {}),
        (of_team("reds"), {"team": "reds", "points": 1}),
        (of_team("reds", Range("points", "<=", 5)), {"team": "reds", "points": 1}),
        (ScanRequest("plays"), {}),
        (ScanRequest("plays", "by-team"), {"team": "reds", "points": 1}),
    ],
)
def test_a_page_far_on_costs_what_an_early_one_costs(
    plays: SqliteEngine, question: QueryRequest | ScanRequest, start: Key
) -> None:
    early, far_on = (
        replace(question, limit=10, start={**play(number), **start}) for number in (10, 3900)
    )

    efforts = [effort(plays, early), effort(plays, far_on)]

    assert efforts[0] == efforts[1]
    assert efforts[0] < 400
