"""Simulated trading, and the generated series, events and markets."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import accumulate
from random import Random
from typing import Final
from uuid import UUID

from grandstand.simulators.exchange.market import (
    CONTRACT,
    DOLLAR,
    SECOND,
    Book,
    DeltaEvent,
    ExchangeEvent,
    ListedEvent,
    ListedSeries,
    Market,
    QuoteEvent,
    Structure,
    TradeEvent,
)

_SIZES: Final = (100, 100, 200, 500, 1000, 1000, 2500, 5000, 10_000, 25_000, 50, 1250, 33, 1)
_LOWEST_FAIR: Final = DOLLAR // 20


def make_book(market: Market, depth: int, draw: Random) -> Book:
    """Return the first book of a market: bids below its fair price on both sides."""
    book, tick = Book(), market.tick
    for yes in (True, False):
        top = (market.fair if yes else DOLLAR - market.fair) - tick
        top -= top % tick
        spread = draw.randrange(1, 3)
        for step in range(draw.randrange(3, max(4, depth))):
            price = top - (spread + step) * tick
            if price <= 0:
                break
            book.change(price, draw.choice(_SIZES) * draw.randrange(1, 20), yes=yes)
    return book


class Traders:
    """Random orders and trades, all from one random generator."""

    def __init__(self, draw: Random, depth: int) -> None:
        self._draw = draw
        self._depth = depth

    def act(self, market: Market, book: Book, at: int) -> list[ExchangeEvent]:
        """Place, cancel or trade something at random; the book is never crossed."""
        random = self._draw.random
        if random() < 0.04:
            step = market.tick * self._draw.choice((-2, -1, 1, 2))
            market.fair = min(max(market.fair + step, _LOWEST_FAIR), DOLLAR - _LOWEST_FAIR)
        top = book.best_yes, book.best_no
        events: list[ExchangeEvent] = []
        what = random()
        if what < 0.50:
            self._place(market, book, at, events)
        elif what < 0.93:
            self._cancel(market, book, at, events)
        elif what < 0.985:
            self._trade(market, book, at, events)
        elif what < 0.995:
            self._flicker(market, book, at, events)
        else:
            self._trade_block(market, at, events)
        traded = any(type(event) is TradeEvent for event in events)
        if traded or ((book.best_yes, book.best_no) != top and random() < 0.15):
            events.append(make_quote(market, book, at))
        return events

    def reprice(self, market: Market, book: Book, fair: int, at: int) -> list[ExchangeEvent]:
        """Cancel bids that are too high for a new fair price, and bid near it on both sides."""
        market.fair = min(max(fair, _LOWEST_FAIR), DOLLAR - _LOWEST_FAIR)
        events: list[ExchangeEvent] = []
        for yes in (True, False):
            top = (market.fair if yes else DOLLAR - market.fair) - market.tick
            top -= top % market.tick
            side = book.yes if yes else book.no
            for price in [price for price in side if price > top]:
                self._change(market, book, at, events, (yes, price, -side[price]))
        for yes in (True, False):
            top = (market.fair if yes else DOLLAR - market.fair) - market.tick
            top -= top % market.tick
            best = book.best_yes if yes else book.best_no
            if best is None or top - best > 2 * market.tick:
                self._change(market, book, at, events, (yes, top, self._draw.choice(_SIZES) * 5))
        return [*events, make_quote(market, book, at)] if events else events

    def _place(self, market: Market, book: Book, at: int, events: list[ExchangeEvent]) -> None:
        draw = self._draw
        yes = draw.random() < 0.5
        side = book.yes if yes else book.no
        price = self._price(market, book, yes=yes)
        if len(side) >= self._depth and price not in side:
            self._cancel(market, book, at, events)
            return
        self._change(market, book, at, events, (yes, price, draw.choice(_SIZES)))

    def _price(self, market: Market, book: Book, *, yes: bool) -> int:
        """Return a price near the best of a side, at least a tick below the other side."""
        tick = market.tick
        other = book.best_no if yes else book.best_yes
        limit = DOLLAR - tick - (other or 0)
        top = min(limit, (market.fair if yes else DOLLAR - market.fair) - tick)
        price = top - tick * int(self._draw.expovariate(1.0 / 4))
        return max(price - price % tick, tick)

    def _cancel(self, market: Market, book: Book, at: int, events: list[ExchangeEvent]) -> None:
        yes = self._draw.random() < 0.5
        side = book.yes if yes else book.no
        best = book.best_yes if yes else book.best_no
        if best is None:
            self._place(market, book, at, events)
            return
        price = self._price(market, book, yes=yes)
        if price not in side:
            price = best
        size = side[price]
        if self._draw.random() >= 0.6 and size > 1:
            size = self._draw.randrange(1, size)
        self._change(market, book, at, events, (yes, price, -size))

    def _trade(self, market: Market, book: Book, at: int, events: list[ExchangeEvent]) -> None:
        draw = self._draw
        taker_yes = draw.random() < 0.5
        wanted = draw.choice(_SIZES)
        for _ in range(3):
            best = book.best_no if taker_yes else book.best_yes
            if best is None or not wanted:
                return
            size = min(wanted, (book.no if taker_yes else book.yes)[best])
            price = DOLLAR - best if taker_yes else best
            events.append(self._make_trade(market, at, price, size, taker_yes=taker_yes))
            self._change(market, book, at, events, (not taker_yes, best, -size))
            wanted -= size

    def _flicker(self, market: Market, book: Book, at: int, events: list[ExchangeEvent]) -> None:
        """Place and cancel the same bid twice at one instant."""
        yes = self._draw.random() < 0.5
        price, size = self._price(market, book, yes=yes), self._draw.choice(_SIZES)
        for change in (size, size, -size, -size):
            self._change(market, book, at, events, (yes, price, change))

    def _trade_block(self, market: Market, at: int, events: list[ExchangeEvent]) -> None:
        price = market.fair - market.fair % market.tick
        taker_yes = self._draw.random() < 0.5
        size = 100_000 * self._draw.randrange(1, 9)
        events.append(self._make_trade(market, at, price, size, taker_yes=taker_yes, is_block=True))

    def _make_trade(
        self,
        market: Market,
        at: int,
        price: int,
        size: int,
        *,
        taker_yes: bool,
        is_block: bool = False,
    ) -> TradeEvent:
        market.last, market.last_size = price, size
        market.volume += size
        market.volume_day += size
        market.open_interest += size // 2
        market.traded += size * price
        trade_id = str(UUID(int=self._draw.getrandbits(128)))
        return TradeEvent(at, trade_id, market.ticker, price, size, taker_yes, is_block)

    @staticmethod
    def _change(
        market: Market,
        book: Book,
        at: int,
        events: list[ExchangeEvent],
        change: tuple[bool, int, int],
    ) -> None:
        yes, price, size = change
        book.change(price, size, yes=yes)
        events.append(DeltaEvent(at, market.ticker, market.market_id, yes, price, size))


def make_quote(market: Market, book: Book, at: int) -> QuoteEvent:
    bid, ask = book.best_yes, book.best_ask
    last = market.last
    return QuoteEvent(
        at,
        market.ticker,
        market.market_id,
        last,
        bid,
        ask,
        0 if bid is None else book.yes[bid],
        0 if ask is None else book.no[DOLLAR - ask],
        market.last_size,
        market.volume,
        market.open_interest,
        market.traded // (DOLLAR * CONTRACT),
        market.open_interest * (last or 0) // (DOLLAR * CONTRACT),
    )


_HOUR: Final = 3600 * SECOND
_DAY: Final = 24 * _HOUR
_MONTHS: Final = (
    "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
)  # fmt: skip
_CITIES: Final = ("NYC", "CHI", "MIA", "AUS", "DEN", "LAX", "PHIL", "BOS", "SEA", "ATL")
_CLUBS: Final = (
    "Harbour", "Foxes", "Mariners", "Pilots", "Ravens", "Stags", "Comets", "Lancers", "Otters",
    "Rovers", "Union", "Wanderers",
)  # fmt: skip
_COMBO: Final = ListedSeries("KXMVE", "Several at once", "Sports", "daily", ("Combos",))
SERIES: Final = (
    ListedSeries("KXGAME", "Who wins the game", "Sports", "daily", ("Football", "Games")),
    ListedSeries("KXHIGH", "Highest temperature", "Climate and Weather", "daily", ("Daily",)),
    ListedSeries("KXRATE", "Central bank's rate", "Economics", "custom", ("Rates",)),
    ListedSeries("KXCOIN", "Price of a coin at noon", "Crypto", "hourly", ("Hourly",)),
    ListedSeries("KXVOTE", "Who wins the vote", "Politics", "one_off", ("Elections",)),
    ListedSeries("KXFILM", "Opening weekend", "Entertainment", "weekly", ("Films",)),
    _COMBO,
)
_STRUCTURES: Final[tuple[Structure, ...]] = (
    "linear_cent", "linear_cent", "linear_cent", "deci_cent", "linear_cent", "half_cent",
    "linear_cent", "linear_cent", "centi_cent", "linear_cent",
)  # fmt: skip
# Every twentieth market is not open: one of these, in turn.
_IDLE: Final = ("unopened", "inactive", "closed", "determined", "finalized")


def activity_weights(markets: int, exponent: float) -> list[float]:
    """Return the cumulative activity of markets by Zipf's law, the busiest first."""
    return list(accumulate(1.0 / rank**exponent for rank in range(1, markets + 1)))


def generate_markets(seed: int, count: int, now: int) -> Iterator[Market]:
    """Yield the markets of a seed, the busiest first, with times around now."""
    rank, number = 0, 0
    while rank < count:
        draw = Random(f"{seed}/event/{number}")  # noqa: S311 - repeatable
        event, outcomes = generate_event(number, draw, now)
        for outcome in outcomes[: count - rank]:
            yield _market(event, outcome, rank, draw, now)
            rank += 1
        number += 1


def generate_event(
    number: int, draw: Random, now: int
) -> tuple[ListedEvent, list[tuple[str, str]]]:
    """Return the event of a number, and the ticker suffix and subtitle of each of its markets."""
    combo = number % 11 == 10
    series = _COMBO if combo else SERIES[number % (len(SERIES) - 1)]
    day = _day(now + (number % 9) * _DAY)
    home, away = draw.sample(_CLUBS, 2)
    ticker = f"{series.ticker}-{day}{number:04d}"
    match series.ticker:
        case "KXGAME":
            title = f"{home} against {away}: who wins?"
            outcomes = [(home[:3].upper(), home), (away[:3].upper(), away), ("TIE", "A draw")]
        case "KXHIGH":
            city, low = draw.choice(_CITIES), draw.randrange(30, 80)
            title = f"Highest temperature in {city} on {day}"
            outcomes = [(f"B{low + 2 * step}", f"{low + 2 * step}° or more") for step in range(6)]
        case "KXRATE":
            title = f"The rate decided in the meeting of {day}"
            outcomes = [("CUT", "Lower"), ("HOLD", "As it is"), ("HIKE", "Higher")]
        case "KXCOIN":
            base = draw.randrange(40, 140) * 1000
            title = f"Price of the coin on {day} at noon"
            outcomes = [
                (f"T{base + 500 * step}", f"Above ${base + 500 * step:,}") for step in range(8)
            ]
        case "KXVOTE":
            title = f"The vote in district {number}"
            outcomes = [(letter * 2, f"Candidate {letter}") for letter in "ABCD"]
        case "KXFILM":
            title = f"Opening weekend of the film {home} {number}"
            outcomes = [(f"M{step}", f"Above ${step} million") for step in (10, 20, 40, 80)]
        case _:
            title = f"{home} and {away} both win"
            outcomes = [("ALL", "Both"), ("ANY", "One of them")]
    return ListedEvent(ticker, series, title, f"On {day}", multivariate=combo), outcomes


def make_market(
    event: ListedEvent, outcome: tuple[str, str], draw: Random, opens_at: int, closes_at: int
) -> Market:
    """Return a new market of an event, without trades."""
    suffix, subtitle = outcome
    return Market(
        ticker=f"{event.ticker}-{suffix}",
        market_id=str(UUID(int=draw.getrandbits(128))),
        event=event,
        title=f"{event.title} ({subtitle})",
        subtitle=subtitle,
        created_at=opens_at - _DAY,
        opens_at=opens_at,
        closes_at=closes_at,
        fair=draw.randrange(8, 93) * (DOLLAR // 100),
    )


def _market(
    event: ListedEvent, outcome: tuple[str, str], rank: int, draw: Random, now: int
) -> Market:
    opened = now - draw.randrange(1, 20) * _DAY
    market = make_market(event, outcome, draw, opened, now + draw.randrange(8, 720) * _HOUR)
    market.structure = _STRUCTURES[rank % len(_STRUCTURES)]
    market.volume = 40_000_000 * CONTRACT // (rank + 40) + draw.randrange(CONTRACT)
    market.volume_day = market.volume // 7
    market.open_interest = market.volume // 3
    market.traded = market.volume * market.fair
    market.last, market.last_size = market.fair, CONTRACT
    if rank % 20 == 19:
        _set_status(market, _IDLE[rank // 20 % len(_IDLE)], draw, now)
    return market


def _set_status(market: Market, status: str, draw: Random, now: int) -> None:
    if status == "unopened":
        market.opens_at = now + draw.randrange(1, 90) * 60 * SECOND
        market.volume = market.volume_day = market.open_interest = market.traded = 0
        market.last, market.last_size = None, 0
    elif status == "inactive":
        market.decided = "inactive"
    else:
        market.closes_at = now - draw.randrange(1, 48) * _HOUR
        if status != "closed":
            market.decided = "determined" if status == "determined" else "finalized"
            market.result = draw.choice(("yes", "no"))
            market.settled_at = now - _HOUR if status == "finalized" else 0


def _day(at: int) -> str:
    day = datetime.fromtimestamp(at // SECOND, UTC)
    return f"{day:%y}{_MONTHS[day.month - 1]}{day:%d}"
