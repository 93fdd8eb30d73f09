"""Kept here: how memory that is not used any more is given back to the machine."""

from __future__ import annotations

import ctypes
import gc
import sys
from typing import Final

# The numbers of glibc's malloc.h. By itself glibc learns from large blocks that are freed to keep
# such blocks, and gives each thread a heap of its own: with a dozen threads and some work with
# arrays that came to 60 MB that nobody used.
_MMAP_THRESHOLD: Final = -3
_ARENA_MAX: Final = -8
_LARGE_BYTES: Final = 128 * 1024
_HEAPS: Final = 1


def be_thrifty() -> None:
    """Have large blocks given back as soon as they are freed; does nothing where it cannot."""
    libc = _libc()
    if libc is not None:
        libc.mallopt(_MMAP_THRESHOLD, _LARGE_BYTES)
        libc.mallopt(_ARENA_MAX, _HEAPS)


def give_back() -> bool:
    """Collect garbage and give back what is free then; False where that cannot be done."""
    gc.collect()
    libc = _libc()
    if libc is None:
        return False
    libc.malloc_trim(0)
    return True


def _libc() -> ctypes.CDLL | None:
    """Answer the C library, None where it is not glibc."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        libc = ctypes.CDLL("libc.so.6")
    except OSError:
        return None
    return libc if hasattr(libc, "mallopt") and hasattr(libc, "malloc_trim") else None
