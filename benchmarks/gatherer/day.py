"""The specification's peak day: recorded from frames in one process, then baked and weighed."""

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import timedelta
from itertools import islice
from pathlib import Path
from uuid import UUID

from benchmarks.gatherer.hearing import recording
from benchmarks.gatherer.streams import START, delta_frame, snapshot_frame, ticker
from benchmarks.harness.machine import resident_mb
from benchmarks.harness.rows import Limit, Row
from grandstand.apps.gatherer import store
from grandstand.core.clock import ManualClock
from grandstand.storage.series.engines.chunks.engine import ChunkEngine

_PROGRAM = "from benchmarks.gatherer.day import main; main()"
_MARKETS = 2_000
_LEVELS = 18
_STEPS = 100_000
_AT_ONCE = 20_000
_MEGABYTE = 1_000_000
_EARLY = 2_000_000
_DAY_US = 86_400_000_000


@dataclass(frozen=True)
class Weighed:
    """What a day came to: messages, seconds, memory early on and at the end, and bytes kept."""

    messages: int
    seconds: float
    early_mb: float
    last_mb: float
    series_bytes: int
    keyframe_bytes: int


class Receiving(ManualClock):
    """A clock that goes on with every stamp: a message comes 20 ms late, and some 2 ms more."""

    def __init__(self, every_seconds: float) -> None:
        super().__init__(START)
        self._every_seconds = every_seconds
        self._stamps = 0
        self._chance = random.Random(11)

    def epoch(self) -> float:
        """Return when the next message is received."""
        self._stamps += 1
        late = 0.02 + self._chance.expovariate(500)
        return START.timestamp() + self._stamps * self._every_seconds + late


def rows(folder: Path, steps: int = _STEPS) -> list[Row]:
    """Record the day in a process of its own, whose memory is its own too."""
    command = [sys.executable, "-c", _PROGRAM, str(folder), str(steps)]
    ran = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    day = Weighed(**json.loads(ran.stdout))
    return [
        Row(
            measure=f"memory after {day.messages:,} messages, over that after {_EARLY:,}",
            unit="MB",
            ours=day.last_mb - day.early_mb,
            aim=Limit(50),
            higher_is_better=False,
        ),
        Row("memory of the recorder at the end of the day", "MB", day.last_mb),
        Row("messages recorded, frames made meanwhile", "messages/s", day.messages / day.seconds),
        Row(
            measure="a peak day baked: 1 M trades, 10 M deltas, 100 K snapshots, 1 M tickers",
            unit="MB",
            ours=day.series_bytes / _MEGABYTE,
            aim=Limit(100),
            higher_is_better=False,
        ),
        Row("its keyframes beside it", "MB", day.keyframe_bytes / _MEGABYTE),
    ]


def main() -> None:
    """Record into the folder the command line names, and say what came of it."""
    print(json.dumps(asdict(_weighed(Path(sys.argv[1]), int(sys.argv[2])))))  # noqa: T201


def _weighed(folder: Path, steps: int) -> Weighed:
    clock = Receiving(_DAY_US / 1e6 / (121 * steps))
    engine = ChunkEngine.open(folder / "series", clock=clock)
    frames = day_frames(steps)
    messages, early, begun = 0, 0.0, time.monotonic()
    with recording(folder, engine, clock) as recorder:
        while part := [*islice(frames, _AT_ONCE)]:
            recorder.record(part)
            messages += len(part)
            if messages <= _EARLY:
                early = resident_mb()
        last, taken = resident_mb(), time.monotonic() - begun
        assert not recorder.figures.gaps_opened
    day_after = ManualClock(START + timedelta(days=3))
    with closing(ChunkEngine.open(folder / "series", clock=day_after)) as later:
        sizes = {series.name: _baked(later, folder, series.name) for series in store.SERIES}
    keyframes = sizes.pop(store.KEYFRAMES.name)
    return Weighed(messages, taken, early, last, sum(sizes.values()), keyframes)


def _baked(engine: ChunkEngine, folder: Path, name: str) -> int:
    (series,) = (each for each in store.SERIES if each.name == name)
    place = folder / "series" / name
    if place.exists():
        engine.upkeep(series)
    return sum(file.stat().st_size for file in place.rglob("*") if file.is_file())


def day_frames(steps: int) -> Iterator[bytes]:
    """A day in so many steps, each a snapshot, a hundred deltas, ten trades and ten summaries.

    Steps are spread evenly over the day, and what happens in one at random within its share.
    """
    chance = random.Random(5)
    prices = [250 * (level + 1) for level in range(_LEVELS)]
    books: list[dict[tuple[bool, int], int]] = [{} for _ in range(_MARKETS)]
    weights = [1 / (place + 3) for place in range(_MARKETS)]
    seq, share_us = 0, _DAY_US / (100 * steps)
    for step in range(steps):
        seq += 1
        fresh = step % _MARKETS
        yield snapshot_frame(fresh, seq, books[fresh]).encode()
        for nth, market in enumerate(_busy(chance, weights, step)):
            at_us = int(share_us * (100 * step + nth + chance.random()))
            side, price = chance.random() < 0.5, chance.choice(prices)
            book = books[market]
            had = book.pop((side, price), 0)
            by = -had if had else 100 * chance.randrange(1, 200)
            if not had:
                book[side, price] = by
            seq += 1
            yield delta_frame(market, seq, at_us, side=side, price=price, by=by).encode()
            if nth % 10 == 0:
                yield _trade(chance, market, price, (step * 10 + nth // 10, at_us))
                yield _summary(market, price, at_us)


def _busy(chance: random.Random, weights: list[float], step: int) -> list[int]:
    """Whose deltas a step has; a market has none before its first snapshot."""
    known = min(step + 1, _MARKETS)
    return chance.choices(range(known), weights[:known], k=100)


def _trade(chance: random.Random, market: int, price: int, where: tuple[int, int]) -> bytes:
    number, at_us = where
    millisecond = int(START.timestamp()) * 1000 + at_us // 1000
    name = UUID(int=chance.getrandbits(128), version=4)
    return (
        f'{{"type":"trade","sid":3,"seq":{number + 1},"msg":{{"trade_id":"{name}",'
        f'"market_ticker":"{ticker(market)}","yes_price_dollars":"0.{price:04}",'
        f'"no_price_dollars":"0.{10_000 - price:04}",'
        f'"count_fp":"{chance.randrange(1, 200)}.00","taker_side":"no",'
        f'"taker_outcome_side":"no","taker_book_side":"ask","is_block_trade":false,'
        f'"ts":{millisecond // 1000},"ts_ms":{millisecond}}}}}'
    ).encode()


def _summary(market: int, price: int, at_us: int) -> bytes:
    millisecond = int(START.timestamp()) * 1000 + at_us // 1000
    return (
        f'{{"type":"ticker","sid":2,"msg":{{"market_ticker":"{ticker(market)}",'
        f'"price_dollars":"0.{price:04}","yes_bid_dollars":"0.{price:04}",'
        f'"yes_ask_dollars":"0.{price + 100:04}","volume_fp":"{at_us // 1_000_000}.00",'
        f'"open_interest_fp":"300.00","dollar_volume":{at_us // 3_000_000},'
        f'"dollar_open_interest":123,"ts":{millisecond // 1000},"ts_ms":{millisecond}}}}}'
    ).encode()
