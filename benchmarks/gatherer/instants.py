"""The book at an instant, of a ticker with a million deltas and no snapshot since."""

import random
import statistics
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.harness.rows import Limit, Row
from benchmarks.series.stream import HOUR_US, START_US
from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.domain.rows import OrderbookDelta, OrderbookSnapshot
from grandstand.apps.gatherer.services.queries.books import BookHistory
from grandstand.apps.gatherer.settings import GathererSettings
from grandstand.apps.gatherer.store import KeyframeSchedule, make_keyframe
from grandstand.core.clock import ManualClock
from grandstand.storage.series.engines.chunks.engine import ChunkEngine

_TICKER = "KXBUSY-26JAN01-T1"
_DELTAS = 1_000_000
_INSTANTS = 60
_PRICES = 40
_HELD_UP_US = 20_000
_BATCH = 20_000

Made = tuple[list[OrderbookDelta], list[store.Keyframe]]


def rows(folder: Path) -> list[Row]:
    """Ask for books at random instants, of an open chunk, then of the same one baked."""
    _fill(folder)
    found = []
    for after, told in ((timedelta(hours=2), "an open"), (timedelta(days=2), "a baked")):
        clock = ManualClock(datetime.fromtimestamp(START_US / 1e6, UTC) + after)
        with closing(ChunkEngine.open(folder, clock=clock)) as engine:
            if told == "a baked":
                assert engine.upkeep(store.DELTAS).compressed == 1
                engine.upkeep(store.KEYFRAMES)
            found += _asked(engine, told)
    return found


def _asked(engine: ChunkEngine, told: str) -> list[Row]:
    books, chance = BookHistory(engine), random.Random(7)
    end = START_US + HOUR_US
    books.at(_TICKER, end)
    taken, used = [], []
    for _ in range(_INSTANTS):
        # In the later half there are at least half a million deltas since the snapshot.
        at = chance.randrange(START_US + HOUR_US // 2, end)
        begun, cpu = time.perf_counter(), time.process_time()
        book = books.at(_TICKER, at)
        taken.append((time.perf_counter() - begun) * 1000)
        used.append((time.process_time() - cpu) * 1000)
        assert book.doubt is None, book.doubt
    measure = f"book at an instant of {_DELTAS:,} deltas since the snapshot, {told} chunk"
    shares = {"half of instants": statistics.median(taken), "19 of 20": _share(taken, 0.95)}
    return [
        *(
            Row(f"{measure}, {share}", "ms", value, aim=Limit(20), higher_is_better=False)
            for share, value in shares.items()
        ),
        Row(f"CPU of it, {told} chunk", "ms", statistics.median(used), higher_is_better=False),
    ]


def _share(taken: list[float], share: float) -> float:
    return sorted(taken)[int(share * len(taken))]


def _fill(folder: Path) -> None:
    """Keep what a recorder keeps of an hour: a snapshot, deltas, and keyframes in its rhythm."""
    clock = ManualClock(datetime.fromtimestamp(START_US / 1e6, UTC))
    with closing(ChunkEngine.open(folder, clock=clock)) as engine:
        for series in store.SERIES:
            engine.prepare(series)
        engine.append(store.SESSIONS, _sessions())
        engine.append(store.SNAPSHOTS, [_snapshot()])
        for deltas, keyframes in _made():
            engine.append(store.DELTAS, deltas)
            engine.append(store.KEYFRAMES, keyframes)


def _sessions() -> list[store.Session]:
    whole = START_US + HOUR_US + 60_000_000
    return [
        store.Session(START_US - 10_000_000, "bench", 0, "started"),
        store.Session(START_US - 9_000_000, "bench", 1, "opened"),
        store.Session(whole, "bench", 0, "whole"),
    ]


def _snapshot() -> OrderbookSnapshot:
    taken_at = START_US - 1_000_000
    nothing = ("[]", "[]", "[]", "[]")
    return OrderbookSnapshot(
        taken_at, None, _TICKER, "ws", *nothing, sid=4, seq=1, gatherer="bench", conn=1
    )


def _made() -> Iterator[Made]:
    chance = random.Random(3)
    rhythm = KeyframeSchedule(GathererSettings().keyframe_deltas)
    books: tuple[dict[int, int], dict[int, int]] = ({}, {})
    every = HOUR_US // _DELTAS
    for first in range(0, _DELTAS, _BATCH):
        made: Made = ([], [])
        for nth, (side, price, size, goes) in enumerate(_chosen(chance), start=first):
            at = START_US + nth * every + size % every
            levels = books[0 if side else 1]
            had = levels.pop(price, 0)
            by = -had if had and goes else size
            if had + by:
                levels[price] = had + by
            place = (nth + 2, 4, 0, "bench", 1)
            made[0].append(OrderbookDelta(at, at + _HELD_UP_US, _TICKER, side, price, by, *place))
            if rhythm.changed(_TICKER) or rhythm.due(at + _HELD_UP_US):
                rhythm.written(_TICKER)
                made[1].append(_keyframe(books, at))
        yield made


def _chosen(chance: random.Random) -> Iterator[tuple[bool, int, int, bool]]:
    """A batch of sides, prices, sizes, and whether an order that is there goes."""
    return zip(
        chance.choices((True, False), k=_BATCH),
        chance.choices([1000 * price for price in range(1, _PRICES)], k=_BATCH),
        chance.choices([100 * size for size in range(1, 500)], k=_BATCH),
        chance.choices((True, False), k=_BATCH),
        strict=True,
    )


def _keyframe(books: tuple[dict[int, int], dict[int, int]], at: int) -> store.Keyframe:
    return make_keyframe(
        _TICKER,
        *books,
        taken_at=at + _HELD_UP_US,
        exchange_ts=at,
        gatherer="bench",
        conn=1,
        sid=4,
    )
