"""Kept here: the exchange's own world: its markets, what is done in them, and the truth of it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from grandstand.base.clock import Clock
from grandstand.simulators.exchange.floor.book import Book
from grandstand.simulators.exchange.floor.catalogue import (
    activity,
    event_listed,
    market_made,
    markets_listed,
    series_listed,
)
from grandstand.simulators.exchange.floor.events import Event, LifecycleMade, QuoteMade, TradeMade
from grandstand.simulators.exchange.floor.lifecycle import Becoming, Change, became
from grandstand.simulators.exchange.floor.market import EventListed, Market, Result, SeriesListed
from grandstand.simulators.exchange.floor.numbers import DOLLAR, MILLISECOND, SECOND
from grandstand.simulators.exchange.floor.trading import Traders, first_book, quote
from grandstand.simulators.exchange.floor.truth import Truth

_FIRST_NEW_EVENT: Final = 5000
_TRIES: Final = 50
_LOOKED_AT: Final = 40
_OPENS_IN_SECONDS: Final = 60.0
_OPEN_SECONDS: Final = 86_400.0
_USUAL: Final[tuple[Change, ...]] = (
    "created",
    "deactivated",
    "close_date_updated",
    "metadata_updated",
)


@dataclass(frozen=True, slots=True)
class Scenery:
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


_SCENERY: Final = Scenery()


class World:
    """A trading floor that makes its own news; the same seed and steps make the same world.

    Stamps never go back, even where `skew_seconds` puts the exchange's clock off the wall's.
    """

    def __init__(self, clock: Clock, scenery: Scenery = _SCENERY) -> None:
        self._clock = clock
        self._scenery = scenery
        self._draw = Random(f"{scenery.seed}/trading")  # noqa: S311 - repeatable
        self._traders = Traders(self._draw, scenery.depth)
        self.skew_seconds = 0.0
        self._last = 0
        self._last = self._rounded(self.now_us())
        made = markets_listed(scenery.seed, scenery.markets, self._last)
        self._markets = {market.ticker: market for market in made}
        self._listed = list(self._markets.values())
        self._weights = activity(len(self._listed), scenery.exponent)
        self._events_made = _FIRST_NEW_EVENT
        self.truth = Truth(scenery.truth_most)

    def now_us(self) -> int:
        """Answer the exchange's own moment."""
        return int((self._clock.epoch() + self.skew_seconds) * SECOND)

    @property
    def listed(self) -> Sequence[Market]:
        """Every market, in the order they were made."""
        return self._listed

    @property
    def series(self) -> Sequence[SeriesListed]:
        """Every series."""
        return series_listed()

    @property
    def trades(self) -> Sequence[TradeMade]:
        """The trades there were, the oldest first."""
        return self.truth.trades

    def market(self, ticker: str) -> Market | None:
        """Answer a market, None if there is none."""
        return self._markets.get(ticker)

    def book(self, ticker: str) -> Book | None:
        """Answer the present book of a market, None if there is no such market."""
        market = self._markets.get(ticker)
        return None if market is None else self._book(market)

    def quote(self, ticker: str) -> QuoteMade | None:
        """Answer the present summary of a market, None if there is no such market."""
        market = self._markets.get(ticker)
        return None if market is None else quote(market, self._book(market), self._stamp())

    def step(self, count: int, until: int | None = None) -> list[Event]:
        """Let at least `count` things happen between the last of them and now, or `until`.

        None happen where no market is open.
        """
        begin, end = self._last, max(self._last, self.now_us() if until is None else until)
        events: list[Event] = []
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

    def become(self, ticker: str, becoming: Becoming) -> LifecycleMade | None:
        """Let something become of a market; answer the news, None if there is no such market."""
        market = self._markets.get(ticker)
        if market is None:
            return None
        return self._noted(became(market, becoming, self._stamp()))

    def create(self, opens_in_seconds: float, open_seconds: float) -> list[LifecycleMade]:
        """List a new event with its markets, and answer the news of it."""
        number = self._events_made
        self._events_made += 1
        now = self._stamp()
        draw = Random(f"{self._scenery.seed}/event/{number}")  # noqa: S311 - repeatable
        event, answers = event_listed(number, draw, now)
        opens_at = now + int(opens_in_seconds * SECOND)
        closes_at = opens_at + int(open_seconds * SECOND)
        made = [market_made(event, answer, draw, opens_at, closes_at) for answer in answers]
        for market in made:
            market.created_at = now
        return self.list_event(event, made)

    def list_event(self, event: EventListed, markets: Sequence[Market]) -> list[LifecycleMade]:
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
        news = [LifecycleMade(now, "event_lifecycle", body, event.multivariate)]
        for market in markets:
            self._markets[market.ticker] = market
            self._listed.append(market)
            news.append(became(market, Becoming("created"), now))
        self._weights = activity(len(self._listed), self._scenery.exponent)
        for made in news:
            self.truth.note(made)
        return news

    def reprice(self, ticker: str, fair: int) -> list[Event]:
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
            self._weights = activity(len(self._listed), self._scenery.exponent)
            self.truth.end(ticker)

    def turn(self) -> list[Event]:
        """Let something become of one market, as its state allows, and answer the news.

        What is paused goes on, what is closed is decided, what is decided is settled; among the
        rest a date moves, a title changes, or a new event is listed.
        """
        now = self._stamp()
        waiting: dict[str, Change] = {
            "inactive": "activated",
            "closed": "determined",
            "determined": "settled",
        }
        for market in self._draw.sample(self._listed, min(_LOOKED_AT, len(self._listed))):
            due = waiting.get(market.status(now))
            if due is not None:
                result: Result = "yes" if market.fair > DOLLAR // 2 else "no"
                return [self._noted(became(market, Becoming(due, result=result), now))]
        market = self._draw.choice(self._listed)
        change = self._draw.choice(_USUAL)
        if change == "created" or market.status(now) != "active":
            return [*self.create(_OPENS_IN_SECONDS, _OPEN_SECONDS)]
        closes_in = (market.closes_at - now) / SECOND + _OPENS_IN_SECONDS
        becoming = Becoming(change, closes_in_seconds=closes_in, title=market.title)
        return [self._noted(became(market, becoming, now))]

    def _noted(self, made: LifecycleMade) -> LifecycleMade:
        self.truth.note(made)
        return made

    def change_fees(self, event_ticker: str, multiplier: int | None) -> LifecycleMade | None:
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
            LifecycleMade(self._stamp(), "event_fee_update", body, found.multivariate)
        )

    def _book(self, market: Market) -> Book:
        if market.book is None:
            draw = Random(f"{self._scenery.seed}/book/{market.ticker}")  # noqa: S311 - repeatable
            market.book = first_book(market, self._scenery.depth, draw)
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
