"""The specification's three queries as written, on real tables, beside what we ask instead."""

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from typing import Any, LiteralString
from uuid import UUID

import psycopg
import pytest

from grandstand.apps.gatherer.domain.rows import OrderbookDelta, OrderbookSnapshot
from grandstand.apps.gatherer.services.recordings import MarketHistory
from grandstand.apps.gatherer.store import DELTAS, SERIES, SNAPSHOTS, TRADES
from grandstand.core.clock import SystemClock
from grandstand.storage.series.engines.postgres.engine import PostgresEngine
from tests.apps.gatherer.services.recorded_rows import START, trade

pytestmark = pytest.mark.anyio

SCHEMA = "specified_queries"
LATEST_BOOK: LiteralString = """
SELECT price, SUM(size_delta) AS quantity, side FROM orderbook_deltas
WHERE ticker = %(ticker)s AND received_at >= (
    SELECT snapshot_ts FROM orderbook_snapshots WHERE ticker = %(ticker)s
    ORDER BY snapshot_ts DESC LIMIT 1
) GROUP BY price, side HAVING SUM(size_delta) > 0 ORDER BY price DESC
"""
RECENT_TRADES: LiteralString = """
SELECT trade_id FROM trades WHERE ticker = %(ticker)s ORDER BY exchange_ts DESC LIMIT 2
"""
VOLUMES: LiteralString = """
SELECT ticker, COUNT(trade_id) AS trade_count, SUM(size) AS total_volume FROM trades
WHERE exchange_ts > %(cutoff)s GROUP BY ticker ORDER BY total_volume DESC LIMIT 100
"""


@pytest.fixture
def engine(postgres_dsn: str) -> Iterator[PostgresEngine]:
    """The server's engine, in a schema of its own."""
    opened = PostgresEngine.open(
        postgres_dsn, clock=SystemClock(), schema=SCHEMA, edition="plain", ahead=timedelta(hours=1)
    )
    with closing(opened) as one:
        for series in SERIES:
            one.prepare(series)
        yield one
    with psycopg.connect(postgres_dsn) as connection:
        connection.execute(f"DROP SCHEMA {SCHEMA} CASCADE")


def _as_specified(dsn: str, query: LiteralString, **values: object) -> list[tuple[Any, ...]]:
    with psycopg.connect(dsn, options=f"-c search_path={SCHEMA}") as connection:
        return connection.execute(query, values).fetchall()


async def test_the_latest_book_as_specified_forgets_the_snapshots_levels(
    engine: PostgresEngine, postgres_dsn: str
) -> None:
    levels = "[[3000,500],[4000,900]]"
    book = OrderbookSnapshot(START, None, "KXA-1", "ws", levels, "[]", "[]", "[]", gatherer="east")
    engine.append(SNAPSHOTS, [book])
    engine.append(
        DELTAS,
        [
            OrderbookDelta(START + 5, START + 6, "KXA-1", True, 4000, -200),
            OrderbookDelta(START + 7, START + 8, "KXA-1", True, 5000, 100),
        ],
    )

    wrong = _as_specified(postgres_dsn, LATEST_BOOK, ticker="KXA-1")
    right = await MarketHistory(engine).book("KXA-1")

    assert wrong == [(5000, 100, True)]
    assert right.yes == ((3000, 500), (4000, 700), (5000, 100))


async def test_the_latest_book_as_specified_builds_on_a_polled_book_and_hides_corruption(
    engine: PostgresEngine, postgres_dsn: str
) -> None:
    first = OrderbookSnapshot(START, None, "KXA-1", "ws", "[]", "[]", "[]", "[]", gatherer="east")
    polled = first._replace(snapshot_ts=START + 10, source="rest")
    engine.append(SNAPSHOTS, [first, polled])
    engine.append(
        DELTAS,
        [
            OrderbookDelta(START + 5, START + 6, "KXA-1", True, 4000, 100),
            OrderbookDelta(START + 20, START + 21, "KXA-1", True, 4000, -300),
        ],
    )

    wrong = _as_specified(postgres_dsn, LATEST_BOOK, ticker="KXA-1")
    right = await MarketHistory(engine).book("KXA-1")

    assert wrong == []
    assert right.negative == ((4000, -200),)
    assert not right.exact


async def test_recent_trades_as_specified_depend_on_how_the_rows_lie(
    engine: PostgresEngine, postgres_dsn: str
) -> None:
    engine.append(TRADES, [trade(number, START) for number in (1, 2, 3, 4)])
    one_way = _as_specified(postgres_dsn, RECENT_TRADES, ticker="KXA-1")
    with psycopg.connect(postgres_dsn, options=f"-c search_path={SCHEMA}") as connection:
        connection.execute("CREATE TABLE kept AS SELECT * FROM trades")
        connection.execute("DELETE FROM trades")
        connection.execute("INSERT INTO trades SELECT * FROM kept ORDER BY trade_id DESC")

    another = _as_specified(postgres_dsn, RECENT_TRADES, ticker="KXA-1")
    right = await MarketHistory(engine).recent_trades("KXA-1", limit=2)

    assert one_way != another
    assert [each.trade_id for each in right] == [UUID(int=4), UUID(int=3)]


async def test_volume_as_specified_counts_block_trades_as_if_the_book_had_made_them(
    engine: PostgresEngine, postgres_dsn: str
) -> None:
    engine.append(TRADES, [trade(1, START), trade(2, START + 1, block=True)])

    wrong = _as_specified(postgres_dsn, VOLUMES, cutoff=START - 1)
    right = await MarketHistory(engine).volumes(START + 10)

    assert [(ticker, count, int(total)) for ticker, count, total in wrong] == [("KXA-1", 2, 500)]
    assert [(each.ticker, each.trades, each.size) for each in right] == [("KXA-1", 1, 250)]
