"""What came is on the tape, byte for byte, also after a kill."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pytest

from grandstand.apps.gatherer.services.recording.writer import (
    RawFrame,
    RawLog,
    RawLogError,
    read_raw_log,
)

HOUR = 3_600_000_000


def _kept(tape: RawLog, *frames: tuple[int, int, str | bytes]) -> None:
    for received_at, conn, raw in frames:
        tape.add(received_at, conn, raw)
    tape.write(tape.take())
    tape.close()


def test_frames_come_back_as_they_were_also_malformed_ones(tmp_path: Path) -> None:
    tape = RawLog(tmp_path)

    _kept(tape, (1, 7, '{"type":"trade"}'), (2, 7, b"\xff\x00not json\n1 2 3 x"), (3, 8, ""))
    _kept(tape, (HOUR + 5, 8, "later"))

    assert [*read_raw_log(tmp_path)] == [
        RawFrame(1, 7, b'{"type":"trade"}'),
        RawFrame(2, 7, b"\xff\x00not json\n1 2 3 x"),
        RawFrame(3, 8, b""),
        RawFrame(HOUR + 5, 8, b"later"),
    ]
    assert len([*tmp_path.iterdir()]) == 2
    assert tape.written_frames == 4


def test_what_a_kill_left_half_written_is_left_out_and_no_more(tmp_path: Path) -> None:
    tape = RawLog(tmp_path)
    _kept(tape, (1, 7, "whole"))
    _kept(tape, (2, 7, "torn"))
    file = max(tmp_path.iterdir())
    file.write_bytes(file.read_bytes()[:-3])

    after = RawLog(tmp_path)
    _kept(after, (3, 9, "next process"))

    assert [frame.raw for frame in read_raw_log(tmp_path)] == [b"whole", b"next process"]


class Dawdling(RawLog):
    """A tape that others may get hold of between opening its file and writing to it."""

    def _file_for(self, received_at: int) -> BinaryIO:
        file = super()._file_for(received_at)
        time.sleep(0.001)
        return file


def test_blocks_written_by_several_threads_at_the_turn_of_hours_are_all_there(
    tmp_path: Path,
) -> None:
    tape = Dawdling(tmp_path)
    blocks = [[b"%d 7 1 x\n" % (at % 2 * HOUR + at)] for at in range(40)]

    with ThreadPoolExecutor(8) as threads:
        [*threads.map(tape.write, blocks)]
    tape.close()

    assert sorted(frame.received_at % HOUR for frame in read_raw_log(tmp_path)) == [*range(40)]
    assert tape.written_frames == 40


def test_any_reader_of_zstd_reads_a_tape(tmp_path: Path) -> None:
    tape = RawLog(tmp_path)
    _kept(tape, (1, 7, "frame"))
    (file,) = tmp_path.iterdir()

    text = pa.CompressedInputStream(pa.BufferReader(file.read_bytes()), "zstd").read()

    assert text == b"1 7 5 frame\n"


def test_a_folder_that_cannot_be_written_says_so_and_keeps_counting(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    tape = RawLog(tmp_path / "file" / "tape")

    with pytest.raises(RawLogError, match="Cannot write the raw log"):
        _kept(tape, (1, 7, "frame"))

    assert tape.error is not None
    assert tape.written_frames == 0
