"""What came is on the tape, byte for byte, also after a kill."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pytest

from grandstand.apps.gatherer.service.recording.tape import Frame, Tape, TapeUnwritable, read_tape

HOUR = 3_600_000_000


def _kept(tape: Tape, *frames: tuple[int, int, str | bytes]) -> None:
    for received_at, conn, raw in frames:
        tape.keep(received_at, conn, raw)
    tape.write(tape.taken())
    tape.close()


def test_frames_come_back_as_they_were_also_malformed_ones(tmp_path: Path) -> None:
    tape = Tape(tmp_path)

    _kept(tape, (1, 7, '{"type":"trade"}'), (2, 7, b"\xff\x00not json\n1 2 3 x"), (3, 8, ""))
    _kept(tape, (HOUR + 5, 8, "later"))

    assert [*read_tape(tmp_path)] == [
        Frame(1, 7, b'{"type":"trade"}'),
        Frame(2, 7, b"\xff\x00not json\n1 2 3 x"),
        Frame(3, 8, b""),
        Frame(HOUR + 5, 8, b"later"),
    ]
    assert len([*tmp_path.iterdir()]) == 2
    assert tape.written_frames == 4


def test_what_a_kill_left_half_written_is_left_out_and_no_more(tmp_path: Path) -> None:
    tape = Tape(tmp_path)
    _kept(tape, (1, 7, "whole"))
    _kept(tape, (2, 7, "torn"))
    file = max(tmp_path.iterdir())
    file.write_bytes(file.read_bytes()[:-3])

    after = Tape(tmp_path)
    _kept(after, (3, 9, "next process"))

    assert [frame.raw for frame in read_tape(tmp_path)] == [b"whole", b"next process"]


class Dawdling(Tape):
    """A tape that others may get hold of between opening its file and writing to it."""

    def _opened(self, received_at: int) -> BinaryIO:
        file = super()._opened(received_at)
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

    assert sorted(frame.received_at % HOUR for frame in read_tape(tmp_path)) == [*range(40)]
    assert tape.written_frames == 40


def test_any_reader_of_zstd_reads_a_tape(tmp_path: Path) -> None:
    tape = Tape(tmp_path)
    _kept(tape, (1, 7, "frame"))
    (file,) = tmp_path.iterdir()

    text = pa.CompressedInputStream(pa.BufferReader(file.read_bytes()), "zstd").read()

    assert text == b"1 7 5 frame\n"


def test_a_folder_that_cannot_be_written_says_so_and_keeps_counting(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    tape = Tape(tmp_path / "file" / "tape")

    with pytest.raises(TapeUnwritable, match="cannot be written"):
        _kept(tape, (1, 7, "frame"))

    assert tape.fault is not None
    assert tape.written_frames == 0
