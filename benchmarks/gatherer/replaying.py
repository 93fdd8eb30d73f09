"""Recorded deltas played again: as an iterator of typed rows, and over the exchange's protocol."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from benchmarks.harness.rows import Limit, Row
from benchmarks.series.stream import HOUR_US, START_US, hour_of_deltas, tickers
from benchmarks.series.turns import rates
from grandstand.apps.gatherer.domain.rows import OrderbookDelta, OrderbookSnapshot
from grandstand.apps.gatherer.services.replay import ReplayRange, ReplayService
from grandstand.apps.gatherer.store import DELTAS, SNAPSHOTS
from grandstand.core.clock import SystemClock
from grandstand.host.server.serving import loop_factory
from grandstand.simulators.exchange.server import ReplayExchange
from grandstand.storage.series.engines.chunks.engine import ChunkEngine
from grandstand.storage.series.engines.chunks.parquet import (
    file_schema,
    rows_to_table,
    write_parquet,
)
from grandstand.storage.series.engines.chunks.sqlite import build_layout

_DELTAS = 200_000
_BATCH = 20_000
_TURNS = 3
_PATIENCE_SECONDS = 120.0
_PROGRAM = "from benchmarks.gatherer.replaying import serve; serve()"
_ALL = ReplayRange(START_US - 1_000_000, START_US + HOUR_US)
_SERVED = ReplayRange(_ALL.start_us, _ALL.end_us, tuple(tickers()[:200]))


def rows(folder: Path) -> list[Row]:
    """Keep an hour of two thousand markets in an open and in a baked chunk, and play each."""
    hour = hour_of_deltas(_DELTAS)
    _keep(folder / "open", hour)
    _keep(folder / "baked", hour, baked=True)
    return [*_iterated(folder), _served(folder / "baked")]


def _iterated(folder: Path) -> list[Row]:
    def work(engine: ChunkEngine) -> int:
        return sum(1 for _ in ReplayService(engine).deltas(_ALL))

    clock = SystemClock()
    with (
        closing(ChunkEngine.open(folder / "open", clock=clock)) as opened,
        closing(ChunkEngine.open(folder / "baked", clock=clock)) as baked,
    ):
        assert work(opened) == work(baked) == _DELTAS
        speed = rates(
            {
                "an open": lambda _turn: work(opened),
                "a baked": lambda _turn: work(baked),
            },
            count=_DELTAS,
            turns=_TURNS,
        )
    return [
        Row(f"replay as typed rows, {kind} chunk", "deltas/s", each, aim=Limit(500_000))
        for kind, each in speed.items()
    ]


def _served(folder: Path) -> Row:
    with _serving(folder) as address, asyncio.Runner(loop_factory=loop_factory()) as loop:
        frames, taken = loop.run(asyncio.wait_for(_listened(address), _PATIENCE_SECONDS))
    assert frames > _DELTAS // 2
    return Row(
        measure="replay of 200 markets through the server, to a client that counts frames",
        unit="frames/s",
        ours=frames / taken,
        aim=Limit(20_000),
    )


async def _listened(address: str) -> tuple[int, float]:
    """Subscribe to the books and count frames to the end, from the first change on."""
    told = {"channels": ["orderbook_delta"], "market_tickers": _SERVED.tickers}
    asked = json.dumps({"id": 1, "cmd": "subscribe", "params": told})
    url = f"{address.replace('http', 'ws')}/trade-api/ws/v2"
    frames, begun = 0, 0.0
    async with connect(url, proxy=None, max_queue=4096, max_size=None) as socket:
        await socket.send(asked)
        try:
            while True:
                frame = await socket.recv(decode=False)
                if not begun and b'"orderbook_delta"' in frame[:40]:
                    frames, begun = 0, time.perf_counter()
                frames += 1
        except ConnectionClosed:
            return frames, time.perf_counter() - begun


@contextmanager
def _serving(folder: Path) -> Iterator[str]:
    """A replay server in a process of its own; its address."""
    words = [sys.executable, "-c", _PROGRAM, str(folder)]
    program = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    with program:
        assert program.stdout is not None
        try:
            yield program.stdout.readline().strip()
        finally:
            program.kill()


def serve() -> None:
    """Play the folder the command line names, as fast as it is taken; say the address."""

    async def served() -> None:
        with closing(ChunkEngine.open(Path(sys.argv[1]), clock=SystemClock())) as engine:

            def server(play: Any, port: int) -> Any:
                return ReplayExchange(play, SystemClock()).serve(port)

            async with ReplayService(engine).serve(server, _SERVED, speed=0) as found:
                print(found.address, flush=True)  # noqa: T201 - read by who started this
                await found.finished.wait()
                await asyncio.sleep(60)

    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(served())


def _keep(folder: Path, hour: Sequence[OrderbookDelta], *, baked: bool = False) -> None:
    with closing(ChunkEngine.open(folder, clock=SystemClock())) as engine:
        engine.prepare(DELTAS)
        engine.prepare(SNAPSHOTS)
        engine.append(SNAPSHOTS, [_empty(ticker) for ticker in tickers()])
        remaining = iter(() if baked else hour)
        while batch := [*islice(remaining, _BATCH)]:
            engine.append(DELTAS, batch)
    if baked:
        layout = build_layout(DELTAS)
        stored = sorted(layout.to_stored(hour), key=layout.identity(layout.fields))
        table = rows_to_table(file_schema(layout.columns), stored)
        write_parquet(folder / DELTAS.name / f"{START_US}.parquet", layout, [table])


def _empty(ticker: str) -> OrderbookSnapshot:
    nothing = ("[]", "[]", "[]", "[]")
    at = START_US - 500_000
    return OrderbookSnapshot(at, None, ticker, "ws", *nothing, sid=1, gatherer="east-1", conn=0)
