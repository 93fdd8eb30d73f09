"""From frames to books: decoding, sequence and best price, beside cryptofeed's handlers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from benchmarks.gatherer.readers import Cryptofeed, Ours
from benchmarks.gatherer.streams import coinbase, kraken, ours, stream
from benchmarks.harness.rows import Row, Times
from benchmarks.series.turns import rates

F = TypeVar("F", bytes, str)

_FOLLOWED = "followed"
_RECORDED = "recorded"
_COINBASE = "cryptofeed, Coinbase"
_KRAKEN = "cryptofeed, Kraken Futures"


@dataclass(frozen=True)
class _Case:
    """Books of one depth; `mixed` frames come before those of the turns, so that they settle."""

    markets: int
    levels: int
    mixed: int
    count: int
    turns: int
    times: float


_CASES = (
    _Case(markets=50, levels=40, mixed=20_000, count=1000, turns=31, times=4),
    _Case(markets=1, levels=3000, mixed=30_000, count=200, turns=15, times=50),
)


def rows() -> list[Row]:
    """Books of an ordinary depth, then deep ones."""
    return [row for case in _CASES for row in _rows(case)]


def _rows(case: _Case) -> list[Row]:
    rate = _rates(case)
    depth = f"{case.markets} books of {case.levels} levels a side"
    return [
        Row(
            measure=f"frames to books, best prices read, {depth}",
            unit="frames/s",
            ours=rate[_FOLLOWED],
            peers={name: rate[name] for name in (_COINBASE, _KRAKEN)},
            aim=Times(case.times, _COINBASE),
        ),
        Row(measure=f"frames to books and rows, {depth}", unit="frames/s", ours=rate[_RECORDED]),
    ]


def _rates(case: _Case) -> dict[str, float]:
    number = case.mixed + case.turns * case.count
    told = stream(markets=case.markets, levels=case.levels, number=number)
    follower, recorder = Ours(case.markets), Ours(case.markets)
    first = Cryptofeed("Coinbase", case.markets)
    second = Cryptofeed("KrakenFutures", case.markets)
    works = {
        _FOLLOWED: _turns(case, ours(told), follower.begin, follower.follow),
        _RECORDED: _turns(case, ours(told), recorder.begin, recorder.record),
        _COINBASE: _turns(case, coinbase(told), first.begin, first.follow),
        _KRAKEN: _turns(case, kraken(told), second.begin, second.follow),
    }
    rate = rates(works, count=case.count, turns=case.turns)
    assert len({each.best(0) for each in (follower, recorder, first, second)}) == 1
    return rate


def _turns(
    case: _Case,
    frames: Sequence[F],
    begin: Callable[[Sequence[F]], None],
    go_on: Callable[[Sequence[F]], None],
) -> Callable[[int], None]:
    """Take what comes before, and answer what takes the frames of a turn."""
    start = case.markets + case.mixed
    begin(frames[:start])
    return lambda turn: go_on(frames[start + turn * case.count : start + (turn + 1) * case.count])
