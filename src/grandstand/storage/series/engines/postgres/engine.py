"""Series engine on PostgreSQL or TimescaleDB."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from grandstand.core.clock import Clock
from grandstand.storage.series.declaration import Series, Span
from grandstand.storage.series.engines.postgres.connection import (
    Connections,
    PartitionMissing,
    WriteConflict,
)
from grandstand.storage.series.engines.postgres.queries import (
    TABLE_ROWS,
    CopyPlan,
    DirectCopy,
    Statement,
    append_rows,
    arrow_schema,
    arrow_tables,
    bars_statement,
    copy_plan,
    rows_statement,
    series_status,
)
from grandstand.storage.series.engines.postgres.schema import (
    Edition,
    Step,
    create_partitions,
    create_schema,
    detect_edition,
    drop_chunks,
    drop_partitions,
    microseconds,
    migrate,
    migration_steps,
    missing_spans,
)
from grandstand.storage.series.query import Bar, Bars, SeriesStatus, Upkeep, Window

if TYPE_CHECKING:
    import pyarrow as pa

    from grandstand.storage.series.engines.postgres.schema import Plan

R = TypeVar("R", bound=tuple[Any, ...])

_AHEAD: Final = timedelta(days=2)
_FETCH_ROWS: Final = 2_000
_MAX_ATTEMPTS: Final = 5


class PostgresEngine:
    """Stores series on a PostgreSQL or TimescaleDB server. Thread-safe.

    Example:
        >>> engine = PostgresEngine.open("postgresql://localhost/grandstand", clock=SystemClock())
        >>> engine.prepare(TRADES)
        >>> engine.append(TRADES, rows)
    """

    def __init__(
        self,
        connections: Connections,
        *,
        clock: Clock,
        edition: Edition | None,
        wide: bool = False,
        ahead: timedelta = _AHEAD,
    ) -> None:
        self.connections = connections
        self._edition = edition
        self._clock = clock
        self._wide = wide
        self._ahead = ahead
        self._partitions: dict[str, tuple[Span, ...]] = {}
        self._copy_plans: dict[Series[Any], CopyPlan] = {}
        self._direct_copies: dict[Series[Any], DirectCopy] = defaultdict(DirectCopy)
        self._cursor_numbers = itertools.count(1)

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
        lazy: bool = False,
    ) -> Self:
        """Connect to a server.

        Args:
            dsn: connection string of libpq.
            clock: the time source.
            schema: schema of the tables, created if it does not exist.
            edition: the kind of server; detected if None.
            wide: compress for very many keys.
            ahead: how far into the future partitions are created.
            lazy: connect on first use; the server may be unreachable until then.

        Raises Unavailable if the server does not respond, unless `lazy`.
        """
        connections = Connections(dsn, schema)
        try:
            if schema is not None:
                create_schema(connections, schema)
            if not lazy:
                edition = edition or detect_edition(connections)
        except BaseException:
            connections.close()
            raise
        return cls(connections, clock=clock, edition=edition, wide=wide, ahead=ahead)

    @property
    def edition(self) -> Edition:
        """The kind of server, detected on first use."""
        if self._edition is None:
            self._edition = detect_edition(self.connections)
        return self._edition

    @edition.setter
    def edition(self, edition: Edition) -> None:
        self._edition = edition

    def prepare(self, series: Series[Any]) -> None:
        """Create or migrate the table of a series. Idempotent, also concurrently.

        Nullable columns that were added to the declaration are added to the table.

        Raises SeriesChanged if the table differs in any other way.
        """
        migrate(self.connections, series.name, self._plan(series), now_us=self.now_us())
        self._create_partitions_ahead(series)

    def pending(self, series: Series[Any]) -> tuple[Step, ...]:
        """Return the steps that `prepare` would run, without changing anything."""
        plan = self._plan(series)
        return migrate(self.connections, series.name, plan, now_us=self.now_us(), dry_run=True)

    def append(self, series: Series[R], rows: Sequence[R]) -> int:
        """Store rows durably and return how many of them were new.

        Raises:
            SeriesFault: if a row does not fit the columns; then none is stored.
            Unavailable: if the server does not respond; the same rows may be appended again.
        """
        if not rows:
            return 0
        plan = self._copy_plan(series)
        validated = plan.validate(rows)
        for _ in range(_MAX_ATTEMPTS - 1):
            try:
                return self._append(plan, validated)
            except WriteConflict:
                continue
            except PartitionMissing:
                self._partitions.pop(series.name, None)
        return self._append(plan, validated)

    def read(self, window: Window[R]) -> Iterator[R]:
        """Iterate over the rows of a window, as of the first row, in bounded memory."""
        yield from map(window.series.row._make, self._query(rows_statement(window)))  # type: ignore[attr-defined]

    def bars(self, bars: Bars[R]) -> Iterator[Bar]:
        """Return the bars of a window, ordered by key and time."""
        for key, start, count, total, *prices in self._query(bars_statement(bars)):
            yield Bar(key, start, count, None if total is None else int(total), *prices)

    def table(self, window: Window[R]) -> pa.Table:
        """Return a window as an Arrow table."""
        import pyarrow as pa

        empty = arrow_schema(window.series).empty_table()
        return pa.concat_tables([empty, *self.tables(window)])

    def tables(self, window: Window[R]) -> Iterator[pa.Table]:
        """Return a window, as of the first row, as consecutive Arrow tables in bounded memory."""
        with closing(self._query(rows_statement(window), TABLE_ROWS)) as rows:
            yield from arrow_tables(window.series, rows)

    def status(self, series: Series[Any]) -> SeriesStatus:
        """Return the chunks of a series that have rows. Counts every row."""
        with self.connections.transaction() as connection:
            return series_status(connection, series, self.edition, self.now_us())

    def upkeep(self, series: Series[Any]) -> Upkeep:
        """Create partitions ahead of time and drop those past their retention.

        Does nothing where the policies of TimescaleDB do the same.
        """
        self._create_partitions_ahead(series)
        if series.retain is None or self.edition == "timescale":
            return Upkeep()
        before = self.now_us() - microseconds(series.retain)
        if self.edition == "plain":
            dropped = drop_partitions(self.connections, series, before)
            self._partitions.pop(series.name, None)
            return Upkeep(dropped=dropped)
        with self.connections.transaction() as connection:
            return Upkeep(dropped=drop_chunks(connection, series, before))

    def close(self) -> None:
        """Close the connections. Idempotent."""
        self.connections.close()

    def now_us(self) -> int:
        """Return the time of the engine's clock in microseconds."""
        return int(self._clock.epoch() * 1_000_000)

    def _append(self, plan: CopyPlan, rows: Sequence[tuple[Any, ...]]) -> int:
        if self.edition == "plain":
            self._create_partitions(plan.series, _chunk_starts(plan.series, plan.times(rows)))
        with self.connections.transaction() as connection:
            direct = self._direct_copies[plan.series]
            return append_rows(connection, plan, rows, self.edition, direct)

    def _copy_plan(self, series: Series[Any]) -> CopyPlan:
        plan = self._copy_plans.get(series)
        if plan is None:
            plan = self._copy_plans[series] = copy_plan(series)
        return plan

    def _create_partitions_ahead(self, series: Series[Any]) -> None:
        if self.edition == "plain":
            start = series.chunk_of(self.now_us())
            end = start + microseconds(self._ahead) + series.chunk_us
            self._partitions[series.name] = create_partitions(
                self.connections, series, range(start, end, series.chunk_us)
            )

    def _create_partitions(self, series: Series[Any], starts: set[int]) -> None:
        """Create the partitions of chunks; asks the server only about new ones."""
        known = self._partitions.get(series.name, ())
        if any(missing_spans(series, start, known) for start in starts):
            self._partitions[series.name] = create_partitions(self.connections, series, starts)

    def _query(
        self, statement: Statement, fetch_rows: int = _FETCH_ROWS
    ) -> Generator[tuple[Any, ...], None, None]:
        name = f"window_{next(self._cursor_numbers)}"
        with (
            self.connections.transaction() as connection,
            connection.cursor(name) as cursor,
        ):
            cursor.itersize = fetch_rows
            yield from cursor.execute(statement.sql, statement.parameters, binary=True)

    def _plan(self, series: Series[Any]) -> Plan:
        return partial(migration_steps, series=series, edition=self.edition, wide=self._wide)


def _chunk_starts(series: Series[Any], times: Sequence[int]) -> set[int]:
    first = series.chunk_of(min(times))
    if first == series.chunk_of(max(times)):
        return {first}
    chunk = series.chunk_us
    return {time - time % chunk for time in times}
