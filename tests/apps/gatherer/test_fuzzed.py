"""Whatever comes in place of a frame is counted and on the tape, and the stream goes on."""

from pathlib import Path
from random import Random

import pytest

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.services.recording.writer import read_raw_log
from grandstand.core.clock import SystemClock
from grandstand.simulators.exchange.control import step_world
from grandstand.simulators.exchange.server import Exchange
from grandstand.simulators.exchange.world import World, WorldConfig
from grandstand.simulators.exchange.ws_connections import encode_frame
from tests.apps.gatherer.exchange_fixture import open_chunks, recording, seeded, until
from tests.apps.gatherer.frames import delta_kept, delta_said
from tests.apps.gatherer.gatherers import rows

pytestmark = pytest.mark.anyio

CLOCK = SystemClock()
WHOLE = (
    b'{"type":"orderbook_delta","sid":77,"seq":1,"msg":{"market_ticker":"KXA-1","price_dollars":'
    b'"0.5000","delta_fp":"1.00","side":"yes","ts":"2026-11-16T00:00:00.000001Z","ts_ms":1}}'
)
PIECES = (b"", b"null", b"-1", b"1e999", b"[[[[", b'"\\ud800"', b"{}", b"\xf0\x9f\x98\x80", b'"')


def fuzzed(draw: Random) -> bytes:
    """Return a frame that no reader can use: cut short, or with something strange in it."""
    cut = WHOLE[: draw.randrange(len(WHOLE))]
    return cut + draw.choice(PIECES)


async def test_fuzzed_frames_are_counted_and_kept_and_what_comes_after_is_recorded(
    tmp_path: Path,
) -> None:
    draw, world = Random(3), World(CLOCK, WorldConfig(markets=8, depth=4))
    exchange, engine = Exchange(world, CLOCK), open_chunks(tmp_path / "series")
    strange = [fuzzed(draw) for _ in range(400)]

    async with (
        exchange.serve() as address,
        recording(address, tmp_path / "own", engine, {"raw_log": True}) as recorder,
    ):
        await until(lambda: seeded(recorder))
        (connection,) = exchange.hub.connections.values()
        connection.out += map(encode_frame, strange)
        await step_world(exchange, world, 200)
        await until(lambda: recorder.counters.rows["orderbook_deltas"] >= world.truth.deltas_made)

    taped = [frame.raw for frame in read_raw_log(tmp_path / "own" / "raw")]
    truth = {delta_said(it) for name in world.truth.tickers for it in world.truth.deltas(name)}
    assert [raw for raw in taped if raw in {*strange}] == strange
    assert recorder.counters.invalid_frames + recorder.counters.unknown_frames == len(strange)
    assert {*map(delta_kept, rows(engine, store.DELTAS))} == truth
    engine.close()
