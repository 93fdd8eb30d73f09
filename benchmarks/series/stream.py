"""Generated test data: an hour of order-book deltas."""

import random
from collections.abc import Iterator, Sequence
from itertools import accumulate

from grandstand.apps.gatherer.domain.rows import OrderbookDelta

HOUR_US = 3_600_000_000
START_US = 1_767_225_600_000_000  # 1 January 2026, a whole hour

_TICKERS = 2_000
_CONNECTIONS = 4
_TICK = 100  # a cent, in hundredths


def tickers() -> list[str]:
    """Return the tickers, the busiest first."""
    return [
        f"KXGAME-26JAN{n % 31 + 1:02d}T{n:04d}-{'YES' if n % 2 else 'NO'}" for n in range(_TICKERS)
    ]


def hour_of_deltas(number: int, *, start: int = START_US, seed: int = 1) -> list[OrderbookDelta]:
    """Return deltas spread over an hour, as a recorder receives them.

    Times have milliseconds and come in bursts; few markets are busy and most are quiet; orders are
    placed and later canceled at the same price and size.
    """
    return [*_deltas(random.Random(seed), number, start)]


def shifted(rows: Sequence[OrderbookDelta], microseconds: int) -> list[OrderbookDelta]:
    """Return the rows with shifted times."""
    return [OrderbookDelta(row[0] + microseconds, row[1] + microseconds, *row[2:]) for row in rows]


class _Market:
    """An order book around a price that follows a random walk."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._middle = chance.randrange(10, 90)
        self._resting: list[tuple[int, bool, int]] = []

    def change(self) -> tuple[int, bool, int]:
        """Return price, side and size of the next change."""
        chance, resting = self._chance, self._resting
        if resting and chance.random() < 0.48:
            price, side, size = resting.pop(chance.randrange(len(resting)))
            return price, side, -size
        if chance.random() < 0.02:
            self._middle = min(95, max(5, self._middle + chance.choice((-1, 1))))
        price = _TICK * min(99, max(1, self._middle - int(chance.expovariate(0.4))))
        size = 100 * int(chance.lognormvariate(3.5, 1.2) + 1)
        resting.append((price, chance.random() < 0.5, size))
        return resting[-1]


def _deltas(chance: random.Random, number: int, start: int) -> Iterator[OrderbookDelta]:
    names = tickers()
    weights = [*accumulate(1 / (place + 3) for place in range(len(names)))]
    markets = [_Market(chance) for _ in names]
    sequences = [0] * _CONNECTIONS
    received, moment = start, -1
    twins: dict[tuple[object, ...], int] = {}
    times = sorted(_bursts(chance, number))
    chosen = chance.choices(range(len(names)), cum_weights=weights, k=number)
    for millisecond, at in zip(times, chosen, strict=True):
        price, side, change = markets[at].change()
        if millisecond != moment:
            moment, twins = millisecond, {}
        twin = (at, price, side, change)
        twins[twin] = twins.get(twin, -1) + 1
        exchange_ts = start + millisecond * 1000
        received = max(received + 1, exchange_ts + 20_000 + int(chance.expovariate(0.0005)))
        conn = at % _CONNECTIONS
        sequences[conn] += 1
        yield OrderbookDelta(
            exchange_ts=exchange_ts,
            received_at=received,
            ticker=names[at],
            side=side,
            price=price,
            size_delta=change,
            seq=sequences[conn],
            sid=conn + 1,
            ord=twins[twin],
            gatherer="east-1",
            conn=conn,
        )


def _bursts(chance: random.Random, number: int) -> Iterator[int]:
    """Milliseconds of an hour: half of the deltas fall into a thousand short bursts."""
    centers = [chance.random() * 3_599_000 for _ in range(1_000)]
    for _ in range(number // 2):
        yield int(chance.random() * 3_600_000)
    for _ in range(number - number // 2):
        yield int(chance.choice(centers) + chance.random() * 400)
