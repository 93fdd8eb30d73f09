"""Who is measured takes short turns with its peers, so that what disturbs one disturbs all."""

import time
from collections.abc import Callable, Mapping


def rates(
    works: Mapping[str, Callable[[int], object]], *, count: int, turns: int
) -> dict[str, float]:
    """How many a second each does, from its quicker half; a turn does `count`, told its number."""
    return {name: count / taken for name, taken in seconds(works, turns=turns).items()}


def seconds(works: Mapping[str, Callable[[int], object]], *, turns: int) -> dict[str, float]:
    """How long a turn of each takes, on average over its quicker half."""
    taken: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(turns):
        for name, work in works.items():
            start = time.perf_counter()
            work(turn)
            taken[name].append(time.perf_counter() - start)
    return {name: quick(times) for name, times in taken.items()}


def quick(times: list[float]) -> float:
    """The average of the quicker half."""
    half = sorted(times)[: (len(times) + 1) // 2]
    return sum(half) / len(half)
