"""Writes rows to the series buffer in batches, and raw frames to the raw log."""

from __future__ import annotations

import asyncio
import struct
import zlib
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, ClassVar, Final, NamedTuple

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.domain.rows import OrderbookDelta, OrderbookSnapshot, Ticker, Trade
from grandstand.apps.gatherer.services.recording.status import LatencyTracker, RecorderStatus
from grandstand.core.clock import Clock
from grandstand.core.errors import Unavailable
from grandstand.core.logging import get_logger
from grandstand.storage.series.buffer import Buffer
from grandstand.storage.series.declaration import Series, SeriesFault
from grandstand.storage.series.errors import BufferFull

BATCH_ROWS: Final = 1000
_FULL_WAIT_SECONDS: Final = 0.25
# Gaps and snapshots first: a reader that finds a delta finds what it is based on.
_ORDER: Final[tuple[Series[Any], ...]] = (
    store.SESSIONS,
    store.GAPS,
    store.SNAPSHOTS,
    store.DELTAS,
    store.TRADES,
    store.TICKERS,
    store.MARKET_EVENTS,
    store.KEYFRAMES,
    store.AUDITS,
)
_HEADER: Final = struct.Struct("<IIIII")
_MAGIC: Final = 0x184D2A5E
_HEADER_BODY_BYTES: Final = 12
_HOUR_US: Final = 3_600_000_000
_BLOCK_BYTES: Final = 1 << 20
_SUFFIX: Final = ".frames.zst"


class Writer:
    """Collects rows in lists and passes them to the buffer in batches.

    `append` maps each row type of a feed to its append function. When neither memory nor disk takes
    rows, `flush` waits, and so does the connection that calls it: the exchange then ends the
    subscription, which is recorded as a gap.
    """

    def __init__(
        self,
        buffer: Buffer,
        *,
        clock: Clock,
        counters: RecorderStatus,
        raw_log: RawLog | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.raw_log = raw_log
        self.full: str | None = None
        self._buffer = buffer
        self._clock = clock
        self._counters = counters
        self.latency = LatencyTracker()
        self._sleep = sleep
        self._lists: dict[str, list[Any]] = {series.name: [] for series in _ORDER}
        self._flushed_at = clock.monotonic()
        self._flushing = asyncio.Lock()
        self._mark = 0
        self._log = get_logger("gatherer")
        self.deltas = self._lists[store.DELTAS.name]
        self.append: dict[type, Callable[[Any], None]] = {
            OrderbookDelta: self.deltas.append,
            OrderbookSnapshot: self._lists[store.SNAPSHOTS.name].append,
            Trade: self._lists[store.TRADES.name].append,
            Ticker: self._lists[store.TICKERS.name].append,
        }

    def add(self, series: Series[Any], row: tuple[Any, ...]) -> None:
        self._lists[series.name].append(row)

    @property
    def waiting(self) -> int:
        """The number of rows not yet passed to the buffer."""
        return sum(map(len, self._lists.values()))

    async def flush(self) -> int:
        """Pass all rows to the buffer and full blocks to the raw log; return the buffer's mark.

        Flushes run one at a time, so that the mark covers every row added before.
        """
        async with self._flushing:
            started, self._flushed_at = self._flushed_at, self._clock.monotonic()
            flushed = False
            for series in _ORDER:
                rows = self._lists[series.name]
                if rows:
                    batch = rows[:]
                    rows.clear()
                    try:
                        self._mark = max(self._mark, await self._write(series, batch))
                    except asyncio.CancelledError:
                        # Some may be in the buffer already: a row added twice is stored once.
                        rows[:0] = batch
                        raise
                    self._counters.rows[series.name] += len(batch)
                    self._counters.batches += 1
                    flushed = True
            if flushed:
                self.latency.add(self._mark, started)
            if self.raw_log is not None and self.raw_log.is_due:
                await self.write_raw_log()
            return self._mark

    async def write_raw_log(self) -> None:
        """Write the waiting frames to the raw log; a failure is logged and recording goes on."""
        raw_log = self.raw_log
        if raw_log is None:
            return
        lines = raw_log.take()
        try:
            await asyncio.to_thread(raw_log.write, lines)
        except RawLogError as error:
            self._log.error("raw_log_failed", frames=len(lines), error=str(error))

    async def _write(self, series: Series[Any], rows: list[Any]) -> int:
        while True:
            try:
                mark = await self._buffer.take_async(series, rows)
            except BufferFull as error:
                if self.full is None:
                    self._log.error("buffer_full", error=str(error))
                self.full = str(error)
                await self._sleep(_FULL_WAIT_SECONDS)
                if len(rows) > 1:
                    return await self._write_halves(series, rows)
            except SeriesFault as error:
                if len(rows) > 1:
                    return await self._write_halves(series, rows)
                self._counters.rejected_rows += 1
                self._log.error("row_rejected", series=series.name, error=str(error))
                return self._mark
            else:
                self.full = None
                return mark

    async def _write_halves(self, series: Series[Any], rows: list[Any]) -> int:
        half = len(rows) // 2
        await self._write(series, rows[:half])
        return await self._write(series, rows[half:])


class RawLogError(Unavailable):
    """The raw log cannot be written."""

    code: ClassVar[str] = "raw-log-error"


class RawFrame(NamedTuple):
    """A frame as received."""

    received_at: int
    conn: int
    raw: bytes


@dataclass(slots=True)
class RawLog:
    """Every frame as received, compressed, in hourly files.

    Any zstd tool reads the files. A skippable frame with the two lengths and the checksum of a
    block precedes it, so that a block left incomplete by a killed process is detected. A line is
    `<received at> <connection> <length> <frame>`. `add` only touches memory; `write` and `close`
    can be called from any thread.
    """

    folder: Path
    written_frames: int = 0
    written_bytes: int = 0
    frame_bytes: int = 0
    error: str | None = None
    _lines: list[bytes] = field(default_factory=list)
    _waiting_bytes: int = 0
    _file: BinaryIO | None = None
    _hour: int = -1
    _writing: Lock = field(default_factory=Lock)

    def add(self, received_at: int, conn: int, raw: str | bytes) -> None:
        data = raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else raw
        line = b"%d %d %d %b\n" % (received_at, conn, len(data), data)
        self._lines.append(line)
        self._waiting_bytes += len(line)

    @property
    def is_due(self) -> bool:
        """Whether a whole block is waiting."""
        return self._waiting_bytes >= _BLOCK_BYTES

    def take(self) -> list[bytes]:
        """Remove and return the waiting lines, to pass to `write`."""
        lines, self._lines, self._waiting_bytes = self._lines, [], 0
        return lines

    def write(self, lines: list[bytes]) -> None:
        """Write lines as one block that survives a kill of the process."""
        if lines:
            with self._writing:
                self._write(lines)

    def _write(self, lines: list[bytes]) -> None:
        block = b"".join(lines)
        packed = bytes(_codec().compress(block, asbytes=True))
        head = _HEADER.pack(_MAGIC, _HEADER_BODY_BYTES, len(block), len(packed), zlib.crc32(packed))
        try:
            file = self._file_for(int(lines[0][: lines[0].index(b" ")]))
            file.write(head + packed)
        except OSError as error:
            self.error = f"{self.folder}: {error.strerror or error}"
            self._close_file()
            raise RawLogError(f"Cannot write the raw log: {self.error}.") from error
        self.error = None
        self.written_frames += len(lines)
        self.frame_bytes += len(block)
        self.written_bytes += len(head) + len(packed)

    def remove_before(self, before: int) -> int:
        """Remove the files that end before `before`, and return their number."""
        files = sorted(self.folder.glob(f"*{_SUFFIX}"))
        # A file ends where the next begins; the last is being written.
        expired = [
            file
            for file, following in pairwise(files)
            if int(following.name.removesuffix(_SUFFIX)) < before
        ]
        for file in expired:
            file.unlink(missing_ok=True)
        return len(expired)

    def close(self) -> None:
        """Close the current file."""
        with self._writing:
            self._close_file()

    def _close_file(self) -> None:
        file, self._file, self._hour = self._file, None, -1
        if file is not None:
            file.close()

    def _file_for(self, received_at: int) -> BinaryIO:
        hour = received_at // _HOUR_US
        if self._file is None or hour != self._hour:
            self._close_file()
            self.folder.mkdir(parents=True, exist_ok=True)
            # A new file each time it is opened: never append to what a killed process left.
            path = self.folder / f"{received_at:020d}{_SUFFIX}"
            self._file = path.open("ab", buffering=0)
            self._hour = hour
        return self._file


def read_raw_log(folder: Path) -> Iterator[RawFrame]:
    """Yield all complete frames of a raw log in the order they were written."""
    for path in sorted(folder.glob(f"*{_SUFFIX}")):
        yield from _frames(path)


def _frames(path: Path) -> Iterator[RawFrame]:
    with path.open("rb") as file:
        while len(head := file.read(_HEADER.size)) == _HEADER.size:
            magic, rest, length, packed_length, checksum = _HEADER.unpack(head)
            packed = file.read(packed_length)
            whole = magic == _MAGIC and rest == _HEADER_BODY_BYTES and len(packed) == packed_length
            if not whole or zlib.crc32(packed) != checksum:
                return
            yield from _lines(bytes(_codec().decompress(packed, length, asbytes=True)))


def _lines(block: bytes) -> Iterator[RawFrame]:
    at = 0
    while at < len(block):
        received_at, conn, length = block[at : at + 64].split(b" ", 3)[:3]
        start = at + len(received_at) + len(conn) + len(length) + 3
        end = start + int(length)
        yield RawFrame(int(received_at), int(conn), block[start:end])
        at = end + 1


def _codec() -> Any:  # noqa: ANN401 - pyarrow is published without types
    import pyarrow as pa

    return pa.Codec("zstd", compression_level=3)
