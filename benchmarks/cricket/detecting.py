"""How many ticks a second events are found in, and whether late ones cost more than early ones."""

import gc
import statistics
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.cricket.matches import TEST_MATCH, Look, real_matches, ticks_of
from benchmarks.harness.rows import Limit, Row
from grandstand.apps.cricket.domain.event_detection import detect_events
from grandstand.apps.cricket.domain.match_state import MatchState

_TICKS_PER_SECOND = 20_000
_REPEATS = 15
_MOST_GROWTH = 1.25


def rows() -> list[Row]:
    """Walk through the four real matches, one ball a tick, again and again."""
    matches = real_matches()
    count = sum(map(len, matches))
    with _settled():
        taken, spent = _walked(matches)
        growth = _growth(_innings(matches))
    found = sum(len(tick.events) for looks in matches for tick in ticks_of(looks))
    what = f"events found, one ball a tick: {found} in {count:,} ticks of four real matches"
    return [
        Row(what, "ticks/s", count / taken, aim=Limit(_TICKS_PER_SECOND)),
        Row(
            f"the same by CPU time, the least disturbed of {_REPEATS} walks",
            "ticks/s",
            count / spent,
            aim=Limit(_TICKS_PER_SECOND),
        ),
        Row(
            "a tick of the last innings of a Test beside one of the first",
            "× the CPU",
            growth,
            aim=Limit(_MOST_GROWTH),
            higher_is_better=False,
        ),
    ]


def _growth(innings: list[list[tuple[MatchState, Look]]]) -> float:
    """What a tick of the last innings costs beside one of the first, by CPU time.

    Both are walked in turns, so that a busy machine is as hard on one as on the other.
    """
    ratios = []
    for _ in range(_REPEATS):
        first, last = _cost(innings[0]), _cost(innings[-1])
        ratios.append(last / first)
    return statistics.median(ratios)


def _cost(steps: list[tuple[MatchState, Look]]) -> float:
    used = time.process_time()
    for state, look in steps:
        detect_events(state, look.fixture, look.at)
    return (time.process_time() - used) / len(steps)


def _innings(matches: list[list[Look]]) -> list[list[tuple[MatchState, Look]]]:
    """The steps of the Test match by innings: what was known, and what was heard then."""
    looks = next(each for each in matches if each[0].fixture.match_id == str(TEST_MATCH))
    innings: dict[int, list[tuple[MatchState, Look]]] = {}
    state: MatchState | None = None
    for look, tick in zip(looks, ticks_of(looks), strict=True):
        if state is not None:
            innings.setdefault(tick.state.memory.inning, []).append((state, look))
        state = tick.state
    return [innings[number] for number in sorted(innings)]


def _walked(matches: list[list[Look]]) -> tuple[float, float]:
    """The median time of a walk through all matches, and the least CPU time of one."""
    taken, spent = [], []
    for _ in range(_REPEATS):
        began, used = time.perf_counter(), time.process_time()
        for looks in matches:
            deque(ticks_of(looks), maxlen=0)
        taken.append(time.perf_counter() - began)
        spent.append(time.process_time() - used)
    return statistics.median(taken), min(spent)


@contextmanager
def _settled() -> Iterator[None]:
    """Without the thousands of fixtures kept for the benchmark being looked through as garbage."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
