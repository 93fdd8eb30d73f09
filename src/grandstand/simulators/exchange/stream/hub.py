"""Kept here: who listens to what, and how news reach them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from grandstand.simulators.exchange.floor.book import Book
from grandstand.simulators.exchange.floor.events import (
    BookReplaced,
    DeltaMade,
    Event,
    LifecycleMade,
    QuoteMade,
    TradeMade,
)
from grandstand.simulators.exchange.floor.protocol import Floor
from grandstand.simulators.exchange.stream.connection import Connection, Subscription
from grandstand.simulators.exchange.stream.frames import (
    delta_body,
    lifecycle_body,
    quote_body,
    snapshot_body,
    trade_body,
)

BOOK, TICKER, TRADE = "orderbook_delta", "ticker", "trade"
LIFECYCLE, COMBOS = "market_lifecycle_v2", "multivariate_market_lifecycle"


@dataclass
class _Listeners:
    """The subscriptions of one channel: to all markets, or to some."""

    to_all: list[Subscription] = field(default_factory=list)
    to_some: dict[str, list[Subscription]] = field(default_factory=dict)

    def of(self, ticker: str) -> Sequence[Subscription]:
        some = self.to_some.get(ticker)
        if some is None:
            return self.to_all
        return [*self.to_all, *some] if self.to_all else some


class Hub:
    """Tells connections what happens, each frame written once for all who hear it."""

    def __init__(self, floor: Floor, *, unstamped_every: int = 0) -> None:
        self._floor = floor
        self._unstamped_every = unstamped_every
        self._deltas = 0
        self._listeners: dict[str, _Listeners] = {}
        self.connections: dict[int, Connection] = {}

    @property
    def listening(self) -> bool:
        """Whether anybody listens to anything."""
        return any(connection.subscriptions for connection in self.connections.values())

    def listen(self, subscription: Subscription, tickers: Iterable[str] | None) -> None:
        """Let a subscription hear of these markets too, of all where that is None."""
        listeners = self._listeners.setdefault(subscription.channel, _Listeners())
        if tickers is None:
            listeners.to_all.append(subscription)
            return
        for ticker in tickers:
            listeners.to_some.setdefault(ticker, []).append(subscription)

    def ignore(self, subscription: Subscription, tickers: Iterable[str] | None) -> None:
        """Let a subscription hear no more of these markets, of none where that is None."""
        listeners = self._listeners[subscription.channel]
        if tickers is None:
            listeners.to_all.remove(subscription)
            return
        for ticker in tickers:
            listeners.to_some[ticker].remove(subscription)
            if not listeners.to_some[ticker]:
                del listeners.to_some[ticker]

    def end(self, subscription: Subscription) -> None:
        """End a subscription."""
        if subscription.connection.subscriptions.pop(subscription.sid, None) is not None:
            self.ignore(subscription, subscription.markets)

    def leave(self, connection: Connection) -> None:
        """Forget a connection and all it listened to."""
        connection.ended = True
        for subscription in [*connection.subscriptions.values()]:
            self.end(subscription)
        self.connections.pop(connection.number, None)

    def snapshot(self, subscription: Subscription, ticker: str, command_id: int | None) -> bool:
        """Send a market's whole book; answer whether there is such a market."""
        book = self._floor.book(ticker)
        return book is not None and self._whole(subscription, ticker, book, command_id)

    def _whole(
        self, subscription: Subscription, ticker: str, book: Book, command_id: int | None
    ) -> bool:
        market = self._floor.market(ticker)
        if market is None:
            return False
        body = snapshot_body(market, book, yes_price=subscription.yes_price)
        subscription.tell("orderbook_snapshot", body, command_id)
        return True

    def tell(self, events: Iterable[Event]) -> None:
        """Tell everyone who listens what happened; it goes out when they are flushed."""
        for event in events:
            if type(event) is DeltaMade:
                self._delta(event)
            elif type(event) is TradeMade:
                self._same(self._of(TRADE, event.ticker), "trade", event)
            elif type(event) is QuoteMade:
                self._same(self._of(TICKER, event.ticker), "ticker", event)
            elif type(event) is LifecycleMade:
                channel = COMBOS if event.multivariate else LIFECYCLE
                combo = event.multivariate and event.type == LIFECYCLE
                self._same(self._of(channel, ""), COMBOS if combo else event.type, event)
            elif type(event) is BookReplaced:
                book = Book.of(event.yes, event.no)
                for subscription in self._of(BOOK, event.ticker):
                    self._whole(subscription, event.ticker, book, None)

    def _of(self, channel: str, ticker: str) -> Sequence[Subscription]:
        listeners = self._listeners.get(channel)
        return () if listeners is None else listeners.of(ticker)

    def _delta(self, delta: DeltaMade) -> None:
        self._deltas += 1
        every = self._unstamped_every
        stamped = not every or self._deltas % every != 0
        plain = turned = b""
        for subscription in self._of(BOOK, delta.ticker):
            if subscription.yes_price:
                turned = turned or delta_body(delta, yes_price=True, stamped=stamped)
                subscription.tell(BOOK, turned)
            else:
                plain = plain or delta_body(delta, yes_price=False, stamped=stamped)
                subscription.tell(BOOK, plain)

    @staticmethod
    def _same(
        listeners: Sequence[Subscription],
        kind: str,
        event: TradeMade | QuoteMade | LifecycleMade,
    ) -> None:
        if not listeners:
            return
        if isinstance(event, TradeMade):
            body = trade_body(event)
        elif isinstance(event, QuoteMade):
            body = quote_body(event)
        else:
            body = lifecycle_body(event)
        for subscription in listeners:
            subscription.tell(kind, body)
