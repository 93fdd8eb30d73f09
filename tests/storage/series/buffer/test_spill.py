"""Spill files: cut off, damaged, of other columns, and on a disk that is really full."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from grandstand.apps.gatherer.store import TRADES
from grandstand.storage.series.errors import BufferFull
from grandstand.storage.series.spill_log import BufferEvent, SpillLog
from tests.storage.series.buffer.builders import (
    SMALL,
    fill_buffer,
    open_stage,
    same_rows,
    stored_rows,
    trade,
    trades,
)


@contextmanager
def files_limited_to(size_bytes: int) -> Iterator[None]:
    """Let the system refuse to make any file larger, as it refuses on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def write_spill_file(folder: Path, batches: int = 3) -> Path:
    """Spill batches of ten trades, close, and answer the file they are in."""
    spill = SpillLog(folder / "spill" / "trades", TRADES, file_bytes=1 << 20)
    spill.open()
    for number in range(batches):
        spill.write([trades(10 * number, 10 * number + 10)], space_bytes=None)
    spill.close()
    [path] = (folder / "spill" / "trades").iterdir()
    return path


def replay(folder: Path) -> list[BufferEvent]:
    """Send what is spilled, and answer what was told."""
    with open_stage(folder) as stage:
        stage.events.clear()
        assert stage.buffer.flush()
        return stage.events


@pytest.mark.parametrize("cut", [1, 11, 15, 16, 200])
def test_a_record_cut_off_is_left_out_and_those_before_it_are_sent(
    tmp_path: Path, cut: int
) -> None:
    path = write_spill_file(tmp_path)
    path.write_bytes(path.read_bytes()[:-cut])

    replay(tmp_path)

    assert same_rows(stored_rows(tmp_path), trades(0, 20))
    assert not path.exists()


def test_zeros_that_were_never_written_are_left_out(tmp_path: Path) -> None:
    path = write_spill_file(tmp_path)
    path.write_bytes(path.read_bytes() + bytes(5_000))

    replay(tmp_path)

    assert same_rows(stored_rows(tmp_path), trades(0, 30))
    assert not path.exists()


def test_a_file_without_a_whole_opening_is_removed(tmp_path: Path) -> None:
    path = write_spill_file(tmp_path)
    path.write_bytes(path.read_bytes()[:30])

    replay(tmp_path)

    assert stored_rows(tmp_path) == []
    assert not path.exists()


def test_a_damaged_record_is_set_aside_and_the_others_are_sent(tmp_path: Path) -> None:
    path = write_spill_file(tmp_path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)

    events = replay(tmp_path)

    assert same_rows(stored_rows(tmp_path), [*trades(0, 10), *trades(20, 30)])
    assert path.with_suffix(".damaged").read_bytes() == content
    assert [notice.kind for notice in events] == ["quarantined"]


def test_a_damaged_head_is_set_aside_and_what_stands_before_it_is_sent(tmp_path: Path) -> None:
    first = write_spill_file(tmp_path, 1).stat().st_size
    (tmp_path / "spill" / "trades" / "0000000001.spill").unlink()
    path = write_spill_file(tmp_path)
    content = bytearray(path.read_bytes())
    content[first + 1] ^= 0xFF
    path.write_bytes(content)

    events = replay(tmp_path)

    assert same_rows(stored_rows(tmp_path), trades(0, 10))
    assert path.with_suffix(".damaged").read_bytes() == content
    assert [notice.kind for notice in events] == ["quarantined"]


def test_rows_of_other_columns_are_left_alone_and_told(tmp_path: Path) -> None:
    class Before(NamedTuple):
        exchange_ts: int
        ticker: str

    older = replace(TRADES, row=Before, identity=("exchange_ts",), indexes=())  # type: ignore[arg-type]
    spill = SpillLog(tmp_path / "spill" / "trades", older, file_bytes=1 << 20)
    spill.open()
    spill.write([[Before(1, "T")]], space_bytes=None)  # type: ignore[list-item]
    spill.close()

    with open_stage(tmp_path) as stage:
        events = [*stage.events]
        stage.buffer.take(TRADES, [trade(1)])
        stage.buffer.flush()

    [path] = (tmp_path / "spill" / "trades").glob("*.spill")
    spill = SpillLog(tmp_path / "spill" / "trades", older, file_bytes=1 << 20)
    spill.open()
    assert spill.rows == 1
    assert path.name in events[0].reason
    assert stored_rows(tmp_path) == [trade(1)]


def test_spilled_rows_of_a_series_nobody_asked_for_are_told(tmp_path: Path) -> None:
    write_spill_file(tmp_path)
    (tmp_path / "spill" / "trades").rename(tmp_path / "spill" / "forgotten")

    with open_stage(tmp_path) as stage:
        assert [(notice.kind, notice.series) for notice in stage.events] == [
            ("quarantined", "forgotten")
        ]


def test_files_are_cut_by_size_and_numbered_on(tmp_path: Path) -> None:
    spill = SpillLog(tmp_path / "spill" / "trades", TRADES, file_bytes=1_000)
    spill.open()
    for number in range(6):
        spill.write([trades(10 * number, 10 * number + 10)], space_bytes=None)
    spill.close()

    names = sorted(path.name for path in (tmp_path / "spill" / "trades").iterdir())
    replay(tmp_path)

    assert len(names) > 2
    assert same_rows(stored_rows(tmp_path), trades(0, 60))


@pytest.mark.parametrize("limit", [100, 400, 3_000, 20_000])
def test_a_disk_that_refuses_loses_nothing_acknowledged(tmp_path: Path, limit: int) -> None:
    with open_stage(tmp_path, replace(SMALL, file_bytes=1 << 20)) as stage:
        stage.engine.fails = "before"
        with files_limited_to(limit):
            taken, said = fill_buffer(stage.buffer)
        with files_limited_to(limit), pytest.raises(BufferFull):
            stage.buffer.take(TRADES, trades(taken, taken + 500))
        held = stage.buffer.status()
        stage.buffer.close()

    assert "File too large" in said
    assert held.taken == taken == held.waiting_rows + held.spilled_rows
    replay(tmp_path)
    assert same_rows(stored_rows(tmp_path), trades(0, taken))
