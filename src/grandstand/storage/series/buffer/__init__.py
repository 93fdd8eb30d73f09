"""Kept here: rows on their way to an engine: in memory, or spilled to disk when it is away.

`take` returning means that rows are in memory. They are durable, and outlive the process, once the
engine has them or they are spilled: `durable` says up to where, `settle` makes all of them so.
"""

from grandstand.storage.series.buffer.awaited import AsyncBuffer
from grandstand.storage.series.buffer.buffer import Buffer
from grandstand.storage.series.buffer.terms import (
    BufferFull,
    BufferStatus,
    LaneStatus,
    Limits,
    Notice,
)

__all__ = [
    "AsyncBuffer",
    "Buffer",
    "BufferFull",
    "BufferStatus",
    "LaneStatus",
    "Limits",
    "Notice",
]
