"""A simulated exchange world and its ground truth."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final

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
    ListedSeries,
    Market,
    QuoteEvent,
    Result,
    TradeEvent,
    apply_change,
)
from grandstand.simulators.exchange.trading import (
    Traders,
    activity_weights,
    all_series,
    generate_event,
    generate_markets,
    make_book,
    make_market,
    make_quote,
)


@dataclass(slots=True)
class _Journal:
    """The deltas of one market since its base; a side and a price are one number."""

    market_id: str
    base: Book
    at: array[int] = field(default_factory=lambda: array("q"))
    where: array[int] = field(default_factory=lambda: array("q"))
    size: array[int] = field(default_factory=lambda: array("q"))

    def forget(self, count: int) -> None:
        for place in range(count):
            where = self.where[place]
            self.base.change(where >> 1, self.size[place], yes=bool(where & 1))
        del self.at[:count], self.where[:count], self.size[:count]


class GroundTruth:
    """Every delta, trade, quote and lifecycle message that was meant to be sent.

    With `most` only so many of a kind are kept (of a market, for deltas): the oldest are folded
    into the base of the book. A moment before a market's base has no book.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._journals: dict[str, _Journal] = {}
        self.trades: list[TradeEvent] = []
        self.quotes: list[QuoteEvent] = []
        self.lifecycle: list[LifecycleEvent] = []
        self.deltas_made = 0

    def begin(self, ticker: str, market_id: str, book: Book) -> None:
        """Note the book a market began with."""
        self._journals[ticker] = _Journal(market_id, book.copy())

    def end(self, ticker: str) -> None:
        """Forget the book of a market."""
        self._journals.pop(ticker, None)

    def note(self, event: object) -> None:
        """Note what happened; what is not known is passed over."""
        if type(event) is DeltaEvent:
            journal = self._journals[event.ticker]
            journal.at.append(event.at)
            journal.where.append(event.price << 1 | event.yes)
            journal.size.append(event.size)
            self.deltas_made += 1
            if self._most is not None and len(journal.at) >= 2 * self._most:
                journal.forget(self._most)
        elif type(event) is TradeEvent:
            self.trades.append(event)
            self._trim(self.trades)
        elif type(event) is QuoteEvent:
            self.quotes.append(event)
            self._trim(self.quotes)
        elif type(event) is LifecycleEvent:
            self.lifecycle.append(event)
            self._trim(self.lifecycle)

    def _trim(self, kept: list[TradeEvent] | list[QuoteEvent] | list[LifecycleEvent]) -> None:
        if self._most is not None and len(kept) >= 2 * self._most:
            del kept[: self._most]

    @property
    def tickers(self) -> Sequence[str]:
        """The markets that have a book."""
        return list(self._journals)

    def deltas(self, ticker: str, after: int = 0) -> Iterator[DeltaEvent]:
        """Walk over a market's deltas in their order, from the one numbered `after`, from 0."""
        journal = self._journals.get(ticker)
        if journal is None:
            return
        for place in range(after, len(journal.at)):
            where = journal.where[place]
            yield DeltaEvent(
                journal.at[place],
                ticker,
                journal.market_id,
                bool(where & 1),
                where >> 1,
                journal.size[place],
            )

    def book_at(self, ticker: str, at: int) -> Book | None:
        """Return a market's book after everything that happened up to and at a moment."""
        return next(self.books_at(ticker, (at,)), None)

    def books_at(self, ticker: str, moments: Iterable[int]) -> Iterator[Book]:
        """Return a market's book at each of some moments, given in their order, in one walk."""
        journal = self._journals.get(ticker)
        if journal is None:
            return
        book, done = journal.base.copy(), 0
        for at in moments:
            upto = bisect_right(journal.at, at)
            for place in range(done, upto):
                where = journal.where[place]
                book.change(where >> 1, journal.size[place], yes=bool(where & 1))
            done = max(done, upto)
            yield book.copy()


_FIRST_NEW_EVENT: Final = 5000
_TRIES: Final = 50
_LOOKED_AT: Final = 40
_OPENS_IN_SECONDS: Final = 60.0
_OPEN_SECONDS: Final = 86_400.0
_USUAL: Final[tuple[ChangeKind, ...]] = (
    "created",
    "deactivated",
    "close_date_updated",
    "metadata_updated",
)


@dataclass(frozen=True, slots=True)
class WorldConfig:
    """What kind of world it is.

    Markets are busy by Zipf's law with `exponent`. A book has at most `depth` levels a side. The
    exchange's clock shows milliseconds only unless `micros`. Of each market the truth keeps at
    least the newest `truth_most` deltas, all where that is None.
    """

    seed: int = 1
    markets: int = 200
    exponent: float = 1.0
    depth: int = 40
    micros: bool = True
    truth_most: int | None = None


_SCENERY: Final = WorldConfig()


class World:
    """A trading floor that makes its own news; the same seed and steps make the same world.

    Stamps never go back, even where `skew_seconds` puts the exchange's clock off the wall's.
    """

    def __init__(self, clock: Clock, scenery: WorldConfig = _SCENERY) -> None:
        self._clock = clock
        self._scenery = scenery
        self._draw = Random(f"{scenery.seed}/trading")  # noqa: S311 - repeatable
        self._traders = Traders(self._draw, scenery.depth)
        self.skew_seconds = 0.0
        self._last = 0
        self._last = self._rounded(self.now_us())
        made = generate_markets(scenery.seed, scenery.markets, self._last)
        self._markets = {market.ticker: market for market in made}
        self._listed = list(self._markets.values())
        self._weights = activity_weights(len(self._listed), scenery.exponent)
        self._events_made = _FIRST_NEW_EVENT
        self.truth = GroundTruth(scenery.truth_most)

    def now_us(self) -> int:
        """Return the exchange's own moment."""
        return int((self._clock.epoch() + self.skew_seconds) * SECOND)

    @property
    def listed(self) -> Sequence[Market]:
        """Every market, in the order they were made."""
        return self._listed

    @property
    def series(self) -> Sequence[ListedSeries]:
        """Every series."""
        return all_series()

    @property
    def trades(self) -> Sequence[TradeEvent]:
        """The trades there were, the oldest first."""
        return self.truth.trades

    def market(self, ticker: str) -> Market | None:
        """Return a market, None if there is none."""
        return self._markets.get(ticker)

    def book(self, ticker: str) -> Book | None:
        """Return the present book of a market, None if there is no such market."""
        market = self._markets.get(ticker)
        return None if market is None else self._book(market)

    def quote(self, ticker: str) -> QuoteEvent | None:
        """Return the present summary of a market, None if there is no such market."""
        market = self._markets.get(ticker)
        return None if market is None else make_quote(market, self._book(market), self._stamp())

    def step(self, count: int, until: int | None = None) -> list[ExchangeEvent]:
        """Let at least `count` things happen between the last of them and now, or `until`.

        None happen where no market is open.
        """
        begin, end = self._last, max(self._last, self.now_us() if until is None else until)
        events: list[ExchangeEvent] = []
        while len(events) < count:
            at = self._rounded(begin + (end - begin) * (len(events) + 1) // count)
            market = self._any_open(at)
            if market is None:
                break
            events += self._traders.act(market, self._book(market), at)
            self._last = max(self._last, at)
        self._last = max(self._last, self._rounded(end))
        note = self.truth.note
        for event in events:
            note(event)
        return events

    def become(self, ticker: str, becoming: LifecycleChange) -> LifecycleEvent | None:
        """Let something become of a market; answer the news, None if there is no such market."""
        market = self._markets.get(ticker)
        if market is None:
            return None
        return self._noted(apply_change(market, becoming, self._stamp()))

    def create(self, opens_in_seconds: float, open_seconds: float) -> list[LifecycleEvent]:
        """List a new event with its markets, and answer the news of it."""
        number = self._events_made
        self._events_made += 1
        now = self._stamp()
        draw = Random(f"{self._scenery.seed}/event/{number}")  # noqa: S311 - repeatable
        event, answers = generate_event(number, draw, now)
        opens_at = now + int(opens_in_seconds * SECOND)
        closes_at = opens_at + int(open_seconds * SECOND)
        made = [make_market(event, answer, draw, opens_at, closes_at) for answer in answers]
        for market in made:
            market.created_at = now
        return self.list_event(event, made)

    def list_event(self, event: ListedEvent, markets: Sequence[Market]) -> list[LifecycleEvent]:
        """List an event with these markets, and answer the news of it."""
        now = self._stamp()
        body: dict[str, object] = {
            "event_ticker": event.ticker,
            "series_ticker": event.series.ticker,
            "title": event.title,
            "subtitle": event.sub_title,
            "collateral_return_type": "",
            "exchange_index": 0,
        }
        news = [LifecycleEvent(now, "event_lifecycle", body, event.multivariate)]
        for market in markets:
            self._markets[market.ticker] = market
            self._listed.append(market)
            news.append(apply_change(market, LifecycleChange("created"), now))
        self._weights = activity_weights(len(self._listed), self._scenery.exponent)
        for made in news:
            self.truth.note(made)
        return news

    def reprice(self, ticker: str, fair: int) -> list[ExchangeEvent]:
        """Let a market be worth another price, and its book make room; answer what changed."""
        market = self._markets.get(ticker)
        if market is None or market.status(self._last) != "active":
            return []
        events = self._traders.reprice(market, self._book(market), fair, self._stamp())
        for event in events:
            self.truth.note(event)
        return events

    def forget(self, ticker: str) -> None:
        """List a market no longer; what was made in it stays among the trades."""
        market = self._markets.pop(ticker, None)
        if market is not None:
            self._listed.remove(market)
            self._weights = activity_weights(len(self._listed), self._scenery.exponent)
            self.truth.end(ticker)

    def turn(self) -> list[ExchangeEvent]:
        """Let something become of one market, as its state allows, and answer the news.

        What is paused goes on, what is closed is decided, what is decided is settled; among the
        rest a date moves, a title changes, or a new event is listed.
        """
        now = self._stamp()
        waiting: dict[str, ChangeKind] = {
            "inactive": "activated",
            "closed": "determined",
            "determined": "settled",
        }
        for market in self._draw.sample(self._listed, min(_LOOKED_AT, len(self._listed))):
            due = waiting.get(market.status(now))
            if due is not None:
                result: Result = "yes" if market.fair > DOLLAR // 2 else "no"
                return [self._noted(apply_change(market, LifecycleChange(due, result=result), now))]
        market = self._draw.choice(self._listed)
        change = self._draw.choice(_USUAL)
        if change == "created" or market.status(now) != "active":
            return [*self.create(_OPENS_IN_SECONDS, _OPEN_SECONDS)]
        closes_in = (market.closes_at - now) / SECOND + _OPENS_IN_SECONDS
        becoming = LifecycleChange(change, closes_in_seconds=closes_in, title=market.title)
        return [self._noted(apply_change(market, becoming, now))]

    def _noted(self, made: LifecycleEvent) -> LifecycleEvent:
        self.truth.note(made)
        return made

    def change_fees(self, event_ticker: str, multiplier: int | None) -> LifecycleEvent | None:
        """Change the fees of an event; answer the news, None if there is no such event."""
        found = next((it.event for it in self._listed if it.event.ticker == event_ticker), None)
        if found is None:
            return None
        found.fee_multiplier_override = multiplier
        found.fee_type_override = None if multiplier is None else "quadratic"
        body: dict[str, object] = {
            "event_ticker": event_ticker,
            "fee_type_override": found.fee_type_override,
            "fee_multiplier_override": multiplier,
        }
        return self._noted(
            LifecycleEvent(self._stamp(), "event_fee_update", body, found.multivariate)
        )

    def _book(self, market: Market) -> Book:
        if market.book is None:
            draw = Random(f"{self._scenery.seed}/book/{market.ticker}")  # noqa: S311 - repeatable
            market.book = make_book(market, self._scenery.depth, draw)
            self.truth.begin(market.ticker, market.market_id, market.book)
        return market.book

    def _any_open(self, at: int) -> Market | None:
        weights = self._weights
        for _ in range(_TRIES):
            place = bisect_right(weights, self._draw.random() * weights[-1])
            market = self._listed[min(place, len(weights) - 1)]
            if market.status(at) == "active":
                return market
        return next((it for it in self._listed if it.status(at) == "active"), None)

    def _stamp(self) -> int:
        self._last = max(self._last, self._rounded(self.now_us()))
        return self._last

    def _rounded(self, at: int) -> int:
        return at if self._scenery.micros else max(at - at % MILLISECOND, self._last)
