"""Three writers, restarts and upkeep in any order leave the rows a plain set would hold."""

import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from grandstand.core.clock import ManualClock
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from grandstand.storage.series.query import Bar, Bars, Order
from tests.storage.series.engines.chunks.builders import EVERY, HOUR, TICKS, Tick, clock_at, tick

FOREVER = replace(TICKS, retain=None)
MOMENTS = st.sampled_from([0, 1, 2, HOUR - 1, HOUR, HOUR + 1, 5 * HOUR, 9 * HOUR])
WRITERS = st.integers(0, 2)


class ThreeWriters(RuleBasedStateMachine):
    """Engines on one folder, and the set of rows that ought to be in it."""

    @initialize()
    def begin(self) -> None:
        self.place = tempfile.TemporaryDirectory()
        self.clock: ManualClock = clock_at(HOUR)
        self.engines = [self.opened() for _ in range(3)]
        self.kept: set[Tick] = set()

    def opened(self) -> ChunkEngine:
        engine = ChunkEngine.open(Path(self.place.name), clock=self.clock)
        engine.prepare(FOREVER)
        return engine

    @rule(
        writer=WRITERS,
        rows=st.lists(
            st.builds(tick, MOMENTS, st.sampled_from("abc"), st.integers(-1, 1)), max_size=12
        ),
    )
    def append(self, writer: int, rows: list[Tick]) -> None:
        added = self.engines[writer].append(FOREVER, rows)

        assert added == len(set(rows) - self.kept)
        self.kept |= set(rows)

    @rule(writer=WRITERS)
    def open_again(self, writer: int) -> None:
        self.engines[writer].close()
        self.engines[writer] = self.opened()

    @rule(writer=WRITERS, hours=st.integers(0, 8))
    def keep_up(self, writer: int, hours: int) -> None:
        self.clock.advance(hours * 3600)

        done = self.engines[writer].upkeep(FOREVER)

        assert done.repaired == ()

    @rule(
        writer=WRITERS,
        span=st.tuples(MOMENTS, MOMENTS),
        keys=st.lists(st.sampled_from("abcd"), max_size=2).map(tuple),
        order=st.sampled_from(["oldest", "newest"]),
        limit=st.none() | st.integers(0, 5),
    )
    def ask(
        self,
        writer: int,
        span: tuple[int, int],
        *,
        keys: tuple[str, ...],
        order: Order,
        limit: int | None,
    ) -> None:
        window = replace(
            EVERY,
            series=FOREVER,
            start=min(span),
            end=max(span),
            keys=keys,
            order=order,
            limit=limit,
        )

        found = [*self.engines[writer].read(window)]
        table = self.engines[writer].table(window)

        right = [
            row
            for row in sorted(self.kept, reverse=order == "newest")
            if window.start <= row.at < window.end and (not keys or row.who in keys)
        ][:limit]
        assert found == right
        assert [Tick(**row) for row in table.to_pylist()] == right

    @rule(
        writer=WRITERS,
        span=st.tuples(MOMENTS, MOMENTS),
        keys=st.lists(st.sampled_from("abcd"), max_size=2).map(tuple),
    )
    def ask_in_any_order(self, writer: int, span: tuple[int, int], keys: tuple[str, ...]) -> None:
        window = replace(
            EVERY, series=FOREVER, start=min(span), end=max(span), keys=keys, order="any"
        )

        found = [*self.engines[writer].read(window)]
        tables = [*self.engines[writer].tables(window)]

        right = [
            row
            for row in sorted(self.kept)
            if window.start <= row.at < window.end and (not keys or row.who in keys)
        ]
        assert sorted(found) == right
        assert sorted(Tick(**row) for table in tables for row in table.to_pylist()) == right
        assert all(table.num_rows for table in tables)

    @rule(writer=WRITERS, bucket=st.sampled_from([1, HOUR, 4 * HOUR]))
    def ask_for_bars(self, writer: int, bucket: int) -> None:
        window = replace(EVERY, series=FOREVER)

        found = [*self.engines[writer].bars(Bars(window, bucket, "price", "price"))]

        right: dict[tuple[str, int], list[int]] = {}
        for row in sorted(self.kept):
            right.setdefault((row.who, row.at - row.at % bucket), []).append(row.price)
        assert found == [
            Bar(who, at, len(prices), sum(prices), prices[0], max(prices), min(prices), prices[-1])
            for (who, at), prices in sorted(right.items())
        ]

    @invariant()
    def the_status_counts_every_row(self) -> None:
        status = self.engines[0].status(FOREVER)

        assert sum(chunk.rows + chunk.late for chunk in status.chunks) == len(self.kept)

    def teardown(self) -> None:
        for engine in self.engines:
            engine.close()
        self.place.cleanup()


TestThreeWriters = ThreeWriters.TestCase
TestThreeWriters.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
