"""The buffer in an event loop: taking does not wait for the disk, and it ends with the loop."""

import asyncio
from pathlib import Path

import pytest

from grandstand.apps.gatherer.store import TRADES
from grandstand.storage.series.buffer import Limits
from tests.storage.series.buffer.builders import (
    open_buffer,
    open_failing_engine,
    open_stage,
    same_rows,
    stored_rows,
    trades,
)


@pytest.mark.anyio
async def test_rows_taken_in_a_loop_are_sent_beside_it(tmp_path: Path) -> None:
    limits = Limits(batch_rows=100, age_seconds=0.01, memory_bytes=200_000)
    buffer = open_buffer(tmp_path, lambda: open_failing_engine(tmp_path), limits)
    sending = asyncio.create_task(buffer.run_async())

    marks = [await buffer.take_async(TRADES, trades(at, at + 50)) for at in range(0, 5_000, 50)]
    settled = await asyncio.to_thread(buffer.settle)
    await asyncio.to_thread(buffer.close)
    await sending

    assert marks[-1] == settled == 5_000
    with open_stage(tmp_path) as stage:
        stage.buffer.flush()
    assert same_rows(stored_rows(tmp_path), trades(0, 5_000))


@pytest.mark.anyio
async def test_a_full_memory_is_spilled_outside_the_loop(tmp_path: Path) -> None:
    with open_stage(tmp_path) as stage:
        buffer = stage.buffer
        mark = await buffer.take_async(TRADES, trades(0, 500))
        spilled = buffer.status().spilled_rows
        flushed = await asyncio.to_thread(buffer.flush)

        assert spilled == 500
        assert mark == 500
        assert flushed
        assert buffer.status().spilled_rows == 0


@pytest.mark.anyio
async def test_cancelled_sending_leaves_rows_for_the_end(tmp_path: Path) -> None:
    with open_stage(tmp_path) as stage:
        buffer = stage.buffer
        sending = asyncio.create_task(buffer.run_async())
        await buffer.take_async(TRADES, trades(0, 5))
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        await asyncio.to_thread(buffer.close)

        assert same_rows(stored_rows(tmp_path), trades(0, 5))
