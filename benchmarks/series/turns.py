"""Timing in alternating short turns, so that disturbances affect all candidates."""

import time
from collections.abc import Callable, Mapping


def rates(
    works: Mapping[str, Callable[[int], object]], *, count: int, turns: int
) -> dict[str, float]:
    """Return operations per second of each candidate; a turn performs `count` of them."""
    return {name: count / taken for name, taken in seconds(works, turns=turns).items()}


def seconds(works: Mapping[str, Callable[[int], object]], *, turns: int) -> dict[str, float]:
    """Return the seconds per turn of each candidate, averaged over its faster half."""
    taken: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(turns):
        for name, work in works.items():
            start = time.perf_counter()
            work(turn)
            taken[name].append(time.perf_counter() - start)
    return {name: quick(times) for name, times in taken.items()}


def quick(times: list[float]) -> float:
    """Return the average of the faster half."""
    half = sorted(times)[: (len(times) + 1) // 2]
    return sum(half) / len(half)
