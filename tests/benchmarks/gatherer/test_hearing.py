"""What is measured as recorded is recorded: every delta is kept when the clock stops."""

from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.gatherer.hearing import recording
from benchmarks.gatherer.recording import ByHand
from benchmarks.gatherer.streams import ours, stream
from grandstand.apps.gatherer.store import DELTAS, SNAPSHOTS
from grandstand.core.clock import SystemClock
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from grandstand.storage.series.query import Window

_TOLD = stream(markets=2, levels=5, number=1500)


def test_all_rows_are_durable_when_recording_returns(tmp_path: Path) -> None:
    engine = ChunkEngine.open(tmp_path / "series", clock=SystemClock())

    with recording(tmp_path, engine) as recorder:
        recorder.record(ours(_TOLD))
        with closing(ChunkEngine.open(tmp_path / "series", clock=SystemClock())) as other:
            deltas = [*other.read(Window(DELTAS, 0, 2**62))]
            books = [*other.read(Window(SNAPSHOTS, 0, 2**62))]

    assert [row.size_delta for row in deltas] == [step.by for step in _TOLD.steps]
    assert len(books) == 2
    assert recorder.figures.rows[DELTAS.name] == 1500


def test_by_hand_puts_the_same_deltas() -> None:
    put: list[tuple[Any, ...]] = []

    ByHand(put.extend).record(ours(_TOLD))

    assert [row[5] for row in put] == [step.by for step in _TOLD.steps]
