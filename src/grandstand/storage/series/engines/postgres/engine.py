"""Kept here: the engine that keeps series on PostgreSQL or TimescaleDB."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from grandstand.base.clock import Clock
from grandstand.storage.series.declaration import Series, Span
from grandstand.storage.series.engines.postgres import census, partitions
from grandstand.storage.series.engines.postgres.appending import Sending, Way, append, sending
from grandstand.storage.series.engines.postgres.arrow import (
    ROWS_IN_TABLE,
    arrow_schema,
    arrow_tables,
)
from grandstand.storage.series.engines.postgres.connections import Connections
from grandstand.storage.series.engines.postgres.ddl import Edition, Step, microseconds
from grandstand.storage.series.engines.postgres.failures import Contended, PartitionMissing
from grandstand.storage.series.engines.postgres.held import planned
from grandstand.storage.series.engines.postgres.migrate import make_schema, migrate
from grandstand.storage.series.engines.postgres.names import relation
from grandstand.storage.series.engines.postgres.queries import (
    Question,
    bars_question,
    rows_question,
)
from grandstand.storage.series.window import Bar, Bars, SeriesStatus, Upkeep, Window

if TYPE_CHECKING:
    import pyarrow as pa

    from grandstand.storage.series.engines.postgres.migrate import Plan

R = TypeVar("R", bound=tuple[Any, ...])

_AHEAD: Final = timedelta(days=2)
_FETCHED_AT_ONCE: Final = 2_000
_TRIES: Final = 5
_EDITION: Final = """
SELECT current_setting('timescaledb.license', TRUE)
FROM pg_extension WHERE extname = 'timescaledb'
"""


class PostgresEngine:
    """Series on a server; each method may be called from any thread."""

    def __init__(
        self,
        connections: Connections,
        *,
        clock: Clock,
        edition: Edition,
        wide: bool = False,
        ahead: timedelta = _AHEAD,
    ) -> None:
        self._connections = connections
        self._clock = clock
        self._wide = wide
        self._ahead = ahead
        self._partitions: dict[str, tuple[Span, ...]] = {}
        self._sendings: dict[Series[Any], Sending] = {}
        self._ways: dict[Series[Any], Way] = defaultdict(Way)
        self._numbers = itertools.count(1)
        self.edition = edition

    @classmethod
    def open(
        cls,
        dsn: str,
        *,
        clock: Clock,
        schema: str | None = None,
        edition: Edition | None = None,
        wide: bool = False,
        ahead: timedelta = _AHEAD,
    ) -> Self:
        """Connect to a server and find out what it can do, unless the edition is given.

        `schema` is where the tables are kept, and is made if it is not there. `wide` compresses
        for very many keys. `ahead` is how far into the future partitions are made. Raises
        Unavailable when the server does not answer.
        """
        connections = Connections(dsn, schema)
        try:
            if schema is not None:
                make_schema(connections, schema)
            found = edition or detected(connections)
        except BaseException:
            connections.close()
            raise
        return cls(connections, clock=clock, edition=found, wide=wide, ahead=ahead)

    def prepare(self, series: Series[Any]) -> None:
        """Make what the series needs, if it is not there; safe to do twice, and at once.

        Columns that were declared since its table was made are added, if they may be empty. Raises
        SeriesChanged when the table differs in any other way.
        """
        migrate(self._connections, series.name, self._plan(series), now_us=self._now())
        self._make_ahead(series)

    def pending(self, series: Series[Any]) -> tuple[Step, ...]:
        """Answer the steps `prepare` would do, and change nothing."""
        plan = self._plan(series)
        return migrate(self._connections, series.name, plan, now_us=self._now(), dry_run=True)

    def append(self, series: Series[R], rows: Sequence[R]) -> int:
        """Add rows and answer how many were new; when it returns they are kept.

        Raises SeriesFault for a row that does not fit, and then adds none. Raises Unavailable when
        the server does not answer; the same rows may then be appended again.
        """
        if not rows:
            return 0
        sent = self._sending(series)
        checked = sent.checked(rows)
        for _ in range(_TRIES - 1):
            try:
                return self._append(sent, checked)
            except Contended:
                continue
            except PartitionMissing:
                self._partitions.pop(series.name, None)
        return self._append(sent, checked)

    def read(self, window: Window[R]) -> Iterator[R]:
        """Answer the rows of a window one by one, as they stood at the first, in bounded memory."""
        yield from map(window.series.row._make, self._ask(rows_question(window)))  # type: ignore[attr-defined]

    def bars(self, bars: Bars[R]) -> Iterator[Bar]:
        """Answer the buckets of a window, by key then time."""
        for key, start, count, total, *prices in self._ask(bars_question(bars)):
            yield Bar(key, start, count, None if total is None else int(total), *prices)

    def table(self, window: Window[R]) -> pa.Table:
        """Answer a window as an Arrow table, in its order."""
        import pyarrow as pa

        empty = arrow_schema(window.series).empty_table()
        return pa.concat_tables([empty, *self.tables(window)])

    def tables(self, window: Window[R]) -> Iterator[pa.Table]:
        """Answer a window as Arrow tables that follow each other, as the rows stood at the first.

        Only one is in memory at a time; none is empty.
        """
        with closing(self._ask(rows_question(window), ROWS_IN_TABLE)) as rows:
            yield from arrow_tables(window.series, rows)

    def status(self, series: Series[Any]) -> SeriesStatus:
        """Tell of the chunks of a series that hold rows; counts every row."""
        with self._connections.transaction() as connection:
            return census.status(connection, series, self.edition, self._now())

    def upkeep(self, series: Series[Any]) -> Upkeep:
        """Make partitions ahead and drop what is past its retention.

        Where the server's own policies run there is nothing to do.
        """
        self._make_ahead(series)
        if series.retain is None or self.edition == "timescale":
            return Upkeep()
        before = self._now() - microseconds(series.retain)
        if self.edition == "plain":
            dropped = partitions.drop(self._connections, series, before)
            self._partitions.pop(series.name, None)
            return Upkeep(dropped=dropped)
        with self._connections.transaction() as connection:
            call = f"SELECT drop_chunks({relation(series)}, older_than => %s::bigint)"
            return Upkeep(dropped=len(connection.execute(call, (before,)).fetchall()))

    def close(self) -> None:
        """Close the connections; calling twice is harmless."""
        self._connections.close()

    def _append(self, sent: Sending, rows: Sequence[tuple[Any, ...]]) -> int:
        if self.edition == "plain":
            self._make(sent.series, _starts(sent.series, sent.times(rows)))
        with self._connections.transaction() as connection:
            return append(connection, sent, rows, self.edition, self._ways[sent.series])

    def _sending(self, series: Series[Any]) -> Sending:
        known = self._sendings.get(series)
        if known is None:
            known = self._sendings[series] = sending(series)
        return known

    def _make_ahead(self, series: Series[Any]) -> None:
        if self.edition == "plain":
            start = series.chunk_of(self._now())
            end = start + microseconds(self._ahead) + series.chunk_us
            self._partitions[series.name] = partitions.make(
                self._connections, series, range(start, end, series.chunk_us)
            )

    def _make(self, series: Series[Any], starts: set[int]) -> None:
        """Make the partitions of chunks, asking the server only about those not seen before."""
        known = self._partitions.get(series.name, ())
        if any(partitions.missing(series, start, known) for start in starts):
            self._partitions[series.name] = partitions.make(self._connections, series, starts)

    def _ask(
        self, question: Question, at_once: int = _FETCHED_AT_ONCE
    ) -> Generator[tuple[Any, ...], None, None]:
        name = f"window_{next(self._numbers)}"
        with (
            self._connections.transaction() as connection,
            connection.cursor(name) as cursor,
        ):
            cursor.itersize = at_once
            yield from cursor.execute(question.sql, question.values, binary=True)

    def _plan(self, series: Series[Any]) -> Plan:
        return partial(planned, series=series, edition=self.edition, wide=self._wide)

    def _now(self) -> int:
        return int(self._clock.epoch() * 1_000_000)


def _starts(series: Series[Any], times: Sequence[int]) -> set[int]:
    first = series.chunk_of(min(times))
    if first == series.chunk_of(max(times)):
        return {first}
    chunk = series.chunk_us
    return {time - time % chunk for time in times}


def detected(connections: Connections) -> Edition:
    """Find out which edition a server is."""
    with connections.transaction() as connection:
        found = connection.execute(_EDITION).fetchone()
    if found is None:
        return "plain"
    return "timescale-apache" if found[0] == "apache" else "timescale"
