"""One stream of changes of books, told in our exchange's words and in those two peers read."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

# Orders are mostly round lots; each comes and goes whole, as a resting order does.
_SIZES = tuple(100 * lots for lots in (1, 2, 3, 5, 10, 10, 20, 25, 50, 100, 100, 200, 250, 500))
START = datetime(2026, 11, 1, 12, tzinfo=UTC)
_START_MS = int(START.timestamp()) * 1000
_MARKET_ID = "1c0aaaaa-1111-4222-8333-444444444444"


@dataclass(frozen=True)
class Step:
    """A level of one market changed `by` so much, and is now of `size`; prices in 0.0001."""

    market: int
    yes: bool
    price: int
    by: int
    size: int
    at_us: int


@dataclass(frozen=True)
class Stream:
    """The books at the start, by (yes, price) for each market, and what changed then."""

    books: Sequence[dict[tuple[bool, int], int]]
    steps: Sequence[Step]


def stream(*, markets: int, levels: int, number: int) -> Stream:
    """Draw a stream; the same every time."""
    chance = random.Random(f"{markets} {levels}")
    tick = max(1, 4900 // levels)
    prices = [tick * (at + 1) for at in range(levels)]
    books = [
        {(yes, price): chance.choice(_SIZES) for yes in (True, False) for price in prices}
        for _ in range(markets)
    ]
    now = [dict(book) for book in books]
    steps, at_us = [], 0
    for _ in range(number):
        market, yes, price = chance.randrange(markets), chance.random() < 0.5, chance.choice(prices)
        had = now[market].get((yes, price), 0)
        by = -had if had and chance.random() < 0.5 else chance.choice(_SIZES)
        at_us += chance.randrange(1, 400)
        now[market][yes, price] = had + by
        steps.append(Step(market, yes, price, by, had + by, at_us))
    return Stream(books, steps)


def ours(told: Stream) -> list[bytes]:
    """The frames of the exchange we record."""
    frames = [snapshot_frame(nth, nth + 1, book) for nth, book in enumerate(told.books)]
    frames += [
        delta_frame(step.market, nth, step.at_us, side=step.yes, price=step.price, by=step.by)
        for nth, step in enumerate(told.steps, start=len(told.books) + 1)
    ]
    return [frame.encode() for frame in frames]


def snapshot_frame(market: int, seq: int, book: dict[tuple[bool, int], int]) -> str:
    """A whole book, as the exchange tells it."""
    return (
        f'{{"type":"orderbook_snapshot","sid":4,"seq":{seq},"msg":{{'
        f'"market_ticker":"{ticker(market)}","market_id":"{_MARKET_ID}",'
        f'"yes_dollars_fp":[{_levels(book, yes=True)}],'
        f'"no_dollars_fp":[{_levels(book, yes=False)}]}}}}'
    )


def delta_frame(market: int, seq: int, at_us: int, *, side: bool, price: int, by: int) -> str:
    """A change of a level, as the exchange tells it."""
    return (
        f'{{"type":"orderbook_delta","sid":4,"seq":{seq},"msg":{{'
        f'"market_ticker":"{ticker(market)}","market_id":"{_MARKET_ID}",'
        f'"price_dollars":"{_price(price)}","delta_fp":"{_size(by)}",'
        f'"side":"{"yes" if side else "no"}","ts":"{_moment(at_us)}",'
        f'"ts_ms":{_START_MS + at_us // 1000}}}}}'
    )


def coinbase(told: Stream) -> list[str]:
    """The same as Coinbase tells it: text numbers, new sizes, no bids as asks."""
    frames: list[str] = []
    for nth, book in enumerate(told.books):
        levels = [_coinbase_level(yes, price, size, 0) for (yes, price), size in book.items()]
        frames.append(_coinbase(len(frames), 0, "snapshot", nth, ",".join(levels)))
    for step in told.steps:
        level = _coinbase_level(step.yes, step.price, step.size, step.at_us)
        frames.append(_coinbase(len(frames), step.at_us, "update", step.market, level))
    return frames


def kraken(told: Stream) -> list[str]:
    """The same as Kraken's futures tell it: bare numbers, a sequence for each market."""
    numbers = [1] * len(told.books)
    frames = [
        f'{{"feed":"book_snapshot","product_id":"PI_XBT{nth}USD","timestamp":{_START_MS},"seq":1,'
        f'"bids":[{_kraken_levels(book, yes=True)}],"asks":[{_kraken_levels(book, yes=False)}],'
        '"tickSize":null}'
        for nth, book in enumerate(told.books)
    ]
    for step in told.steps:
        numbers[step.market] += 1
        frames.append(
            f'{{"feed":"book","product_id":"PI_XBT{step.market}USD",'
            f'"side":"{"buy" if step.yes else "sell"}","seq":{numbers[step.market]},'
            f'"price":{_price(_quoted(step.yes, step.price))},"qty":{_size(step.size)},'
            f'"timestamp":{_START_MS + step.at_us // 1000}}}'
        )
    return frames


def ticker(market: int) -> str:
    """The name of a market on our exchange."""
    return f"KXBENCH-26NOV01-T{market}"


def _coinbase(number: int, at_us: int, kind: str, market: int, levels: str) -> str:
    return (
        f'{{"channel":"l2_data","client_id":"","timestamp":"{_moment(at_us)}",'
        f'"sequence_num":{number},"events":[{{"type":"{kind}","product_id":"BTC{market}-USD",'
        f'"updates":[{levels}]}}]}}'
    )


def _coinbase_level(yes: bool, price: int, size: int, at_us: int) -> str:  # noqa: FBT001
    return (
        f'{{"side":"{"bid" if yes else "ask"}","event_time":"{_moment(at_us)}",'
        f'"price_level":"{_price(_quoted(yes, price))}","new_quantity":"{_size(size)}"}}'
    )


def _kraken_levels(book: dict[tuple[bool, int], int], *, yes: bool) -> str:
    return ",".join(
        f'{{"price":{_price(_quoted(side, price))},"qty":{_size(size)}}}'
        for (side, price), size in book.items()
        if side == yes
    )


def _levels(book: dict[tuple[bool, int], int], *, yes: bool) -> str:
    return ",".join(
        f'["{_price(price)}","{_size(size)}"]'
        for (side, price), size in book.items()
        if side == yes
    )


def _quoted(yes: bool, price: int) -> int:  # noqa: FBT001
    return price if yes else 10_000 - price


def _price(ticks: int) -> str:
    return f"{ticks // 10_000}.{ticks % 10_000:04}"


def _size(hundredths: int) -> str:
    whole, part = divmod(abs(hundredths), 100)
    return f"{'-' if hundredths < 0 else ''}{whole}.{part:02}"


def _moment(at_us: int) -> str:
    second, rest = divmod(at_us, 1_000_000)
    return f"{_second(second)}.{rest:06}Z"


@lru_cache(maxsize=64)
def _second(since_start: int) -> str:
    return f"{START + timedelta(seconds=since_start):%Y-%m-%dT%H:%M:%S}"
