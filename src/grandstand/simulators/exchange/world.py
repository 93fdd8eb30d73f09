"""A simulated exchange world and its ground truth."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from grandstand.core.clock import Clock
from grandstand.simulators.exchange.market import (
    DOLLAR,
    MILLISECOND,
    SECOND,
    Book,
    ChangeKind,
    DeltaEvent,
    ExchangeEvent,
    LifecycleChange,
    LifecycleEvent,
    ListedEvent,
    Market,
    QuoteEvent,
    Result,
    TradeEvent,
    apply_change,
)
from grandstand.simulators.exchange.trading import (
    SERIES,
    Traders,
    activity_weights,
    generate_event,
    generate_markets,
    make_book,
    make_market,
    make_quote,
)


@dataclass(slots=True)
class _Journal:
    """The deltas of one market since its base; `where` holds price and side in one number."""

    market_id: str
    base: Book
    at: array[int] = field(default_factory=lambda: array("q"))
    where: array[int] = field(default_factory=lambda: array("q"))
    size: array[int] = field(default_factory=lambda: array("q"))

    def apply(self, book: Book, start: int, end: int) -> None:
        for index in range(start, end):
            where = self.where[index]
            book.change(where >> 1, self.size[index], yes=bool(where & 1))


class GroundTruth:
    """Everything that happened: deltas, trades, quotes and lifecycle events.

    At least the newest `most` of each kind are kept, for deltas of each market; None keeps all.
    Older deltas are merged into the base of the book.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._journals: dict[str, _Journal] = {}
        self.trades: list[TradeEvent] = []
        self.quotes: list[QuoteEvent] = []
        self.lifecycle: list[LifecycleEvent] = []
        self.deltas_made = 0

    def begin(self, ticker: str, market_id: str, book: Book) -> None:
        """Record the first book of a market."""
        self._journals[ticker] = _Journal(market_id, book.copy())

    def end(self, ticker: str) -> None:
        """Discard the deltas of a market."""
        self._journals.pop(ticker, None)

    def record(self, events: Iterable[ExchangeEvent]) -> None:
        for event in events:
            self._record(event)

    def _record(self, event: ExchangeEvent) -> None:
        if type(event) is DeltaEvent:
            journal = self._journals[event.ticker]
            journal.at.append(event.at)
            journal.where.append(event.price << 1 | event.yes)
            journal.size.append(event.size)
            self.deltas_made += 1
            if self._most is not None and len(journal.at) >= 2 * self._most:
                journal.apply(journal.base, 0, self._most)
                for column in (journal.at, journal.where, journal.size):
                    del column[: self._most]
            return
        events: list[Any] = self.lifecycle
        if type(event) is TradeEvent:
            events = self.trades
        elif type(event) is QuoteEvent:
            events = self.quotes
        events.append(event)
        if self._most is not None and len(events) >= 2 * self._most:
            del events[: self._most]

    @property
    def tickers(self) -> Sequence[str]:
        """The markets that have a book."""
        return list(self._journals)

    def deltas(self, ticker: str, after: int = 0) -> Iterator[DeltaEvent]:
        """Yield the deltas of a market in order, from index `after` on."""
        journal = self._journals.get(ticker)
        if journal is None:
            return
        for index in range(after, len(journal.at)):
            price, yes = divmod(journal.where[index], 2)
            at, size = journal.at[index], journal.size[index]
            yield DeltaEvent(at, ticker, journal.market_id, bool(yes), price, size)

    def books_at(self, ticker: str, instants: Iterable[int]) -> Iterator[Book]:
        """Yield the book of a market after each of some instants, which are in order."""
        journal = self._journals.get(ticker)
        if journal is None:
            return
        book, done = journal.base.copy(), 0
        for at in instants:
            end = bisect_right(journal.at, at)
            journal.apply(book, done, end)
            done = max(done, end)
            yield book.copy()


_OPENS_IN_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class WorldConfig:
    """Configuration of a world.

    The activity of markets follows Zipf's law with `exponent`. A book has at most `depth` levels
    per side. Timestamps have milliseconds unless `micros`. `truth_most` limits the ground truth.
    """

    seed: int = 1
    markets: int = 200
    exponent: float = 1.0
    depth: int = 40
    micros: bool = True
    truth_most: int | None = None


class World:
    """Simulated markets; the same seed and steps produce the same events.

    Timestamps never decrease, even if `skew_seconds` sets the exchange's clock off.
    """

    def __init__(self, clock: Clock, config: WorldConfig | None = None) -> None:
        self._clock = clock
        self._config = config = config or WorldConfig()
        self._draw = Random(f"{config.seed}/trading")  # noqa: S311 - repeatable
        self._traders = Traders(self._draw, config.depth)
        self.skew_seconds = 0.0
        self._last = 0
        self._last = self._round(self.now_us())
        markets = generate_markets(config.seed, config.markets, self._last)
        self.markets = {market.ticker: market for market in markets}
        self.listed = list(self.markets.values())
        self._weights = activity_weights(len(self.listed), config.exponent)
        # The numbers below belong to the events of the start.
        self._next_event = 5000
        self.series = SERIES
        self.truth = GroundTruth(config.truth_most)
        self.trades = self.truth.trades

    def now_us(self) -> int:
        """Return the time of the exchange."""
        return int((self._clock.epoch() + self.skew_seconds) * SECOND)

    def book(self, ticker: str) -> Book | None:
        """Return the current book of a market; None if there is no such market."""
        market = self.markets.get(ticker)
        return None if market is None else self._book(market)

    def quote(self, ticker: str) -> QuoteEvent | None:
        """Return the current ticker of a market; None if there is no such market."""
        market = self.markets.get(ticker)
        return None if market is None else make_quote(market, self._book(market), self._stamp())

    def step(self, count: int, until: int | None = None) -> list[ExchangeEvent]:
        """Produce at least `count` events between the last one and now, or `until`.

        Produces none if no market is open.
        """
        begin, end = self._last, max(self._last, self.now_us() if until is None else until)
        events: list[ExchangeEvent] = []
        while len(events) < count:
            at = self._round(begin + (end - begin) * (len(events) + 1) // count)
            market = self._pick_open(at)
            if market is None:
                break
            events += self._traders.act(market, self._book(market), at)
            self._last = max(self._last, at)
        self._last = max(self._last, self._round(end))
        self.truth.record(events)
        return events

    def change_market(self, ticker: str, change: LifecycleChange) -> list[ExchangeEvent]:
        """Change a market, and return the event; none if there is no such market."""
        market = self.markets.get(ticker)
        if market is None:
            return []
        return self._recorded(apply_change(market, change, self._stamp()))

    def create(self, opens_in_seconds: float, open_seconds: float) -> list[ExchangeEvent]:
        """List a new event with its markets, and return the lifecycle events."""
        number = self._next_event
        self._next_event += 1
        now = self._stamp()
        draw = Random(f"{self._config.seed}/event/{number}")  # noqa: S311 - repeatable
        event, outcomes = generate_event(number, draw, now)
        opens_at = now + int(opens_in_seconds * SECOND)
        closes_at = opens_at + int(open_seconds * SECOND)
        markets = [make_market(event, outcome, draw, opens_at, closes_at) for outcome in outcomes]
        for market in markets:
            market.created_at = now
        return self.list_event(event, markets)

    def list_event(self, event: ListedEvent, markets: Sequence[Market]) -> list[ExchangeEvent]:
        """List an event with these markets, and return the lifecycle events."""
        now = self._stamp()
        body: dict[str, object] = {
            "event_ticker": event.ticker,
            "series_ticker": event.series.ticker,
            "title": event.title,
            "subtitle": event.sub_title,
            "collateral_return_type": "",
            "exchange_index": 0,
        }
        for market in markets:
            self.markets[market.ticker] = market
            self.listed.append(market)
        self._weights = activity_weights(len(self.listed), self._config.exponent)
        created = (apply_change(market, LifecycleChange("created"), now) for market in markets)
        listed = LifecycleEvent(now, "event_lifecycle", body, event.multivariate)
        return self._recorded(listed, *created)

    def reprice(self, ticker: str, fair: int) -> list[ExchangeEvent]:
        """Move the fair price of a market and its book, and return what changed."""
        market = self.markets.get(ticker)
        if market is None or market.status(self._last) != "active":
            return []
        return self._recorded(
            *self._traders.reprice(market, self._book(market), fair, self._stamp())
        )

    def remove(self, ticker: str) -> None:
        """Remove a market from the listings; its trades stay."""
        market = self.markets.pop(ticker, None)
        if market is not None:
            self.listed.remove(market)
            self._weights = activity_weights(len(self.listed), self._config.exponent)
            self.truth.end(ticker)

    def change_any_market(self) -> list[ExchangeEvent]:
        """Change a random market as its status allows, and return the events.

        A paused market resumes, a closed one is determined, a determined one is settled. Otherwise
        a closing time or a title changes, a market is paused, or a new event is listed.
        """
        now = self._stamp()
        next_kinds: dict[str, ChangeKind] = {
            "inactive": "activated",
            "closed": "determined",
            "determined": "settled",
        }
        for market in self._draw.sample(self.listed, min(40, len(self.listed))):
            due = next_kinds.get(market.status(now))
            if due is not None:
                result: Result = "yes" if market.fair > DOLLAR // 2 else "no"
                return self._recorded(
                    apply_change(market, LifecycleChange(due, result=result), now)
                )
        market = self._draw.choice(self.listed)
        kinds: tuple[ChangeKind, ...] = (
            "created",
            "deactivated",
            "close_date_updated",
            "metadata_updated",
        )
        kind = self._draw.choice(kinds)
        if kind == "created" or market.status(now) != "active":
            return self.create(_OPENS_IN_SECONDS, open_seconds=86_400)
        closes_in = (market.closes_at - now) / SECOND + _OPENS_IN_SECONDS
        change = LifecycleChange(kind, closes_in_seconds=closes_in, title=market.title)
        return self._recorded(apply_change(market, change, now))

    def change_fees(self, event_ticker: str, multiplier: int | None) -> list[ExchangeEvent]:
        """Change the fees of an event, and return the event; none if there is no such event."""
        events = (market.event for market in self.listed)
        event = next((event for event in events if event.ticker == event_ticker), None)
        if event is None:
            return []
        event.fee_multiplier_override = multiplier
        event.fee_type_override = None if multiplier is None else "quadratic"
        body: dict[str, object] = {
            "event_ticker": event_ticker,
            "fee_type_override": event.fee_type_override,
            "fee_multiplier_override": multiplier,
        }
        return self._recorded(
            LifecycleEvent(self._stamp(), "event_fee_update", body, event.multivariate)
        )

    def _recorded(self, *events: ExchangeEvent) -> list[ExchangeEvent]:
        self.truth.record(events)
        return [*events]

    def _book(self, market: Market) -> Book:
        if market.book is None:
            draw = Random(f"{self._config.seed}/book/{market.ticker}")  # noqa: S311 - repeatable
            market.book = make_book(market, self._config.depth, draw)
            self.truth.begin(market.ticker, market.market_id, market.book)
        return market.book

    def _pick_open(self, at: int) -> Market | None:
        """Return a random open market by activity; None if no market is open."""
        weights = self._weights
        for _ in range(50):
            index = bisect_right(weights, self._draw.random() * weights[-1])
            market = self.listed[min(index, len(weights) - 1)]
            if market.status(at) == "active":
                return market
        return next((market for market in self.listed if market.status(at) == "active"), None)

    def _stamp(self) -> int:
        self._last = max(self._last, self._round(self.now_us()))
        return self._last

    def _round(self, at: int) -> int:
        return at if self._config.micros else max(at - at % MILLISECOND, self._last)
