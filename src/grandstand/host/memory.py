"""Returning unused memory to the operating system."""

from __future__ import annotations

import ctypes
import gc
import sys
from typing import Final

# Constants of glibc's malloc.h. By default glibc keeps large blocks after they are freed and gives
# each thread a heap of its own, which cost 60 MB with a dozen threads and some work with arrays.
_MMAP_THRESHOLD: Final = -3
_ARENA_MAX: Final = -8


def tune_malloc() -> None:
    """Make glibc return large blocks as soon as they are freed; elsewhere do nothing."""
    libc = _libc()
    if libc is not None:
        libc.mallopt(_MMAP_THRESHOLD, 128 * 1024)
        libc.mallopt(_ARENA_MAX, 1)


def release_memory() -> bool:
    """Collect garbage and return free memory; False if that is not possible."""
    gc.collect()
    libc = _libc()
    if libc is None:
        return False
    libc.malloc_trim(0)
    return True


def _libc() -> ctypes.CDLL | None:
    """Return the C library; None unless it is glibc."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        libc = ctypes.CDLL("libc.so.6")
    except OSError:
        return None
    return libc if hasattr(libc, "mallopt") and hasattr(libc, "malloc_trim") else None
