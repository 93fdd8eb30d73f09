"""Whatever is taken, fails, stops and starts again, the engine ends with each row once."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from grandstand.apps.gatherer.store import SNAPSHOTS, TRADES
from grandstand.core.clock import ManualClock
from grandstand.storage.series.buffer import Limits
from grandstand.storage.series.errors import BufferFull
from tests.storage.series.buffer.builders import (
    open_buffer,
    open_failing_engine,
    same_rows,
    snapshot,
    stored_rows,
    trade,
)

LIMITS = Limits(
    batch_rows=3,
    age_seconds=1.0,
    memory_bytes=12_000,
    spill_after_seconds=20.0,
    spill_bytes=6_000,
    file_bytes=500,
)


class Interleavings(RuleBasedStateMachine):
    """A buffer, all that was taken, and what was taken since the buffer was opened."""

    @initialize()
    def begin(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="buffer-"))
        self.generation = 0
        self.clock = ManualClock()
        self.taken: list[tuple[str, int]] = []
        self.start()

    def start(self) -> None:
        self.folder = self.root / str(self.generation)
        self.engine = open_failing_engine(self.folder)
        self.buffer = open_buffer(self.folder, lambda: self.engine, LIMITS, self.clock)
        self.since: list[tuple[str, int]] = []

    @rule(count=st.integers(0, 30), kind=st.sampled_from(["trade", "snapshot"]))
    def take(self, count: int, kind: str) -> None:
        first = len(self.taken)
        names = [(kind, first + number) for number in range(count)]
        try:
            self.offer(names)
        except BufferFull:
            return
        self.taken += names

    def offer(self, names: list[tuple[str, int]]) -> None:
        """Offer a run of rows of one kind."""
        numbers = [number for _, number in names]
        if names and names[0][0] == "snapshot":
            self.buffer.take(SNAPSHOTS, [snapshot(number) for number in numbers])
        else:
            self.buffer.take(TRADES, [trade(number) for number in numbers])
        self.since += names

    @rule(fails=st.sampled_from(["", "before", "after"]))
    def waver(self, fails: str) -> None:
        self.engine.fails = fails

    @rule(seconds=st.sampled_from([0.0, 1.0, 25.0, 60.0]))
    def work(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.buffer.turn()

    @rule()
    def flush(self) -> None:
        self.buffer.flush()

    @rule()
    def close(self) -> None:
        try:
            self.buffer.close()
        except BufferFull:
            self.engine.fails = ""
            self.buffer.close()
        self.start()

    @rule()
    def kill(self) -> None:
        """Go on from a copy of what is on disk; who feeds the buffer repeats what was not safe."""
        durable = self.buffer.durable
        self.generation += 1
        shutil.copytree(self.folder, self.root / str(self.generation))
        self.engine.fails = ""
        self.buffer.close()
        again = self.since[durable:]
        self.start()
        for name in again:
            self.engine.fails = ""
            self.offer([name])
            self.buffer.flush()

    @invariant()
    def memory_is_bounded(self) -> None:
        status = self.buffer.status()
        assert status.waiting_bytes <= LIMITS.memory_bytes
        assert status.spilled_bytes <= 6_000
        assert status.taken == len(self.since)

    def teardown(self) -> None:
        self.engine.fails = ""
        flushed = self.buffer.flush()
        self.buffer.close()
        found = stored_rows(self.folder), stored_rows(self.folder, SNAPSHOTS)
        shutil.rmtree(self.root)

        assert flushed
        assert same_rows(found[0], [trade(at) for kind, at in self.taken if kind == "trade"])
        assert same_rows(found[1], [snapshot(at) for kind, at in self.taken if kind == "snapshot"])


TestInterleavings = Interleavings.TestCase
TestInterleavings.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
