"""How long work takes: medians over repeats, so that one disturbed repeat does not count."""

import statistics
import time
from collections.abc import Callable

_REPEATS = 5


def seconds(work: Callable[[], object], *, repeats: int = _REPEATS) -> float:
    """The median time of one call."""
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def per_second(work: Callable[[], object], *, count: int, repeats: int = _REPEATS) -> float:
    """How many a second, where one call does `count` of them."""
    return count / seconds(work, repeats=repeats)
