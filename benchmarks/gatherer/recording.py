"""From frames to durable rows in one process, embedded and on PostgreSQL, beside by hand."""

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.gatherer.hearing import recording
from benchmarks.gatherer.streams import START, ours, stream
from benchmarks.harness.rows import Limit, Row, Times
from benchmarks.series.embedded import Bare
from benchmarks.series.server import copied, counted, prepared
from benchmarks.series.turns import quick, rates
from grandstand.apps.gatherer.domain.messages import DeltaMessage
from grandstand.apps.gatherer.sources.kalshi.ws_decode import FrameDecoder
from grandstand.apps.gatherer.store import DELTAS
from grandstand.core.clock import ManualClock, SystemClock
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from tests.parts import postgres
from tests.parts.part_cache import MissingPartError, PartCache

_MARKETS = 50
_LEVELS = 40
_COUNT = 20_000
_TURNS = 7
_BATCH = 5_000
_BARE = "decoding and bare sqlite3"
_COPY = "decoding and COPY, temporary table, INSERT by hand"

Bound = tuple[Any, ...]
Taking = Callable[[Sequence[bytes]], None]


def rows(folder: Path) -> list[Row]:
    """Record the same stream each way; the books that begin it are not measured."""
    frames = ours(stream(markets=_MARKETS, levels=_LEVELS, number=_COUNT * (_TURNS + 1)))
    return [*_embedded(folder / "embedded", frames), *_on_server(folder, frames)]


class ByHand:
    """Decodes deltas, with no look at their sequence and no book, and puts them away in batches."""

    def __init__(self, put: Callable[[Sequence[Bound]], None]) -> None:
        self._parse = FrameDecoder().parse
        self._put = put
        self._at = 0

    def record(self, frames: Sequence[bytes]) -> None:
        """Put every delta."""
        parse, at, waiting = self._parse, self._at, list[Bound]()
        for frame in frames:
            told = parse(frame)
            if type(told) is not DeltaMessage:
                continue
            at += 1
            stamps = (told.exchange_ts, at)
            what = (told.ticker, told.side, told.price, told.size_delta, told.seq, told.sid)
            waiting.append((*stamps, *what, 0, "bench", 1))
            if len(waiting) == _BATCH:
                self._put(waiting)
                waiting = []
        self._put(waiting)
        self._at = at


def _embedded(folder: Path, frames: Sequence[bytes]) -> list[Row]:
    engine = ChunkEngine.open(folder / "series", clock=SystemClock())
    bare = Bare(folder / "bare.db")
    with closing(bare.connection), recording(folder, engine) as recorder:
        speed = _measured(frames, recorder.record, ByHand(bare.append).record)
        (stored,) = bare.connection.execute("SELECT count(*) FROM series_rows").fetchone()
        assert recorder.figures.rows[DELTAS.name] == stored
    measure = "frames to durable rows, embedded"
    peers = {_BARE: speed.by_hand}
    return [
        Row(measure, "deltas/s", speed.ours, aim=Limit(100_000)),
        Row(measure, "deltas/s", speed.ours, peers, Times(0.6, _BARE)),
        Row(
            measure="CPU of a frame to its durable row, embedded",
            unit="µs",
            ours=speed.ours_cpu,
            peers={_BARE: speed.by_hand_cpu},
            higher_is_better=False,
        ),
    ]


def _on_server(folder: Path, frames: Sequence[bytes]) -> list[Row]:
    try:
        found = postgres.find(PartCache(may_fetch=True))
    except MissingPartError as missing:
        sys.stderr.write(f"grandstand: NOT MEASURED, there is no PostgreSQL: {missing}\n")
        return []
    clock = ManualClock(START)
    with (
        postgres.serving(found, folder) as dsn,
        prepared(dsn, "bench_ours", clock) as (engine, looking),
        prepared(dsn, "bench_hand", clock) as (_, connection),
        recording(folder / "server", engine) as recorder,
    ):
        by_hand = ByHand(lambda batch: copied(connection, batch))
        speed = _measured(frames, recorder.record, by_hand.record)
        assert counted(looking) == counted(connection)
    return [
        Row(
            measure="frames to durable rows, PostgreSQL",
            unit="deltas/s",
            ours=speed.ours,
            peers={_COPY: speed.by_hand},
            aim=Times(0.8, _COPY),
        )
    ]


@dataclass(frozen=True)
class _Speed:
    """Deltas a second, and the CPU time of one in microseconds."""

    ours: float
    by_hand: float
    ours_cpu: float
    by_hand_cpu: float


def _measured(frames: Sequence[bytes], record: Taking, by_hand: Taking) -> _Speed:
    """Both go ahead by one turn unmeasured, which holds the books that begin the stream."""
    first = _MARKETS + _COUNT
    record(frames[:first])
    by_hand(frames[:first])
    parts = [frames[at : at + _COUNT] for at in range(first, len(frames), _COUNT)]
    used: dict[str, list[float]] = {"ours": [], "by hand": []}

    def turn(name: str, take: Taking, part: Sequence[bytes]) -> None:
        begun = time.process_time()
        take(part)
        used[name].append((time.process_time() - begun) / _COUNT * 1e6)

    rate = rates(
        {
            "ours": lambda number: turn("ours", record, parts[number]),
            "by hand": lambda number: turn("by hand", by_hand, parts[number]),
        },
        count=_COUNT,
        turns=_TURNS,
    )
    cpu = {name: quick(times) for name, times in used.items()}
    return _Speed(rate["ours"], rate["by hand"], cpu["ours"], cpu["by hand"])
