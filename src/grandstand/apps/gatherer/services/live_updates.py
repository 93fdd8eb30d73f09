"""Publishes changes of the markets that open pages show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from grandstand.apps.gatherer.domain.order_book import DOLLAR, OrderBook
from grandstand.apps.gatherer.domain.rows import Trade
from grandstand.apps.gatherer.services.recordings import MarketHistory
from grandstand.core.clock import Clock
from grandstand.kit.live import Publisher

LADDER_LEVELS: Final = 12
# A page reconnects at least every ten minutes, when its socket reaches its maximum age.
_SUBSCRIPTION_SECONDS: Final = 660.0
_MICRO: Final = 1_000_000
_CENT: Final = 1000
_CONTRACT: Final = 100

LadderLevels: TypeAlias = dict[str, list[tuple[float, float]]]


def ladder_levels(book: OrderBook, limit: int = LADDER_LEVELS) -> LadderLevels:
    """Return the best levels of a book in cents and contracts, best first."""
    yes, no = book.levels()
    bids = [(price / _CENT, size / _CONTRACT) for price, size in reversed(yes[-limit:])]
    asks = [((DOLLAR - price) / _CENT, size / _CONTRACT) for price, size in reversed(no[-limit:])]
    return {"bids": bids, "asks": asks}


@dataclass(slots=True)
class _Subscription:
    expires_at: float
    levels: LadderLevels | None = None
    traded_at: int | None = None


class LiveUpdates:
    """Publishes the markets that are shown on open pages, and no others.

    `gatherer/book/<ticker>` carries `{"bids", "asks"}`, `gatherer/price/<ticker>` rows for the
    price chart, and `gatherer/trades/<ticker>` the number of new trades to fetch.
    """

    def __init__(
        self,
        clock: Clock,
        publisher: Publisher,
        live_book: Callable[[str], OrderBook | None],
        history: MarketHistory,
    ) -> None:
        self._clock = clock
        self._publisher = publisher
        self._live_book = live_book
        self._history = history
        self._subscriptions: dict[str, _Subscription] = {}

    def subscribe(self, ticker: str) -> None:
        """Publish a market as long as an open page may listen."""
        now = self._clock.monotonic()
        self._subscriptions = {
            name: subscription
            for name, subscription in self._subscriptions.items()
            if subscription.expires_at >= now
        }
        expires_at = now + _SUBSCRIPTION_SECONDS
        subscription = self._subscriptions.setdefault(ticker, _Subscription(expires_at))
        subscription.expires_at = expires_at

    @property
    def tickers(self) -> tuple[str, ...]:
        """The markets that are published."""
        return tuple(self._subscriptions)

    async def publish(self) -> int:
        """Publish what changed since the last call, and return the number of changed markets."""
        now, count = self._clock.monotonic(), 0
        for ticker, subscription in [*self._subscriptions.items()]:
            if subscription.expires_at < now:
                self._subscriptions.pop(ticker, None)
                continue
            changed = await self._publish_book(ticker, subscription)
            traded = await self._publish_trades(ticker, subscription)
            count += changed or traded
        return count

    async def _publish_book(self, ticker: str, subscription: _Subscription) -> bool:
        book = self._live_book(ticker)
        if book is None:
            book = (await self._history.book(ticker)).book()
        levels, before = ladder_levels(book), subscription.levels
        if levels == before:
            return False
        subscription.levels = levels
        self._publisher.publish(f"gatherer/book/{ticker}", dict(levels))
        for name, side in (("Bid", "bids"), ("Ask", "asks")):
            best = levels[side][0][0] if levels[side] else None
            if before is None or best != (before[side][0][0] if before[side] else None):
                self._publish_prices(ticker, name, [(self._clock.epoch(), best)])
        return True

    async def _publish_trades(self, ticker: str, subscription: _Subscription) -> bool:
        trades = await self._history.recent_trades(ticker, limit=50)
        since = subscription.traded_at
        subscription.traded_at = max((trade.received_at for trade in trades), default=0)
        new = [trade for trade in trades if since is not None and trade.received_at > since]
        if not new:
            return False
        self._publish_prices(ticker, "Trades", [trade_point(trade) for trade in reversed(new)])
        self._publisher.publish(f"gatherer/trades/{ticker}", {"trades": len(new)})
        return True

    def _publish_prices(self, ticker: str, plot: str, rows: list[Any]) -> None:
        self._publisher.publish(f"gatherer/price/{ticker}", {"plot": plot, "rows": rows})


def trade_point(trade: Trade) -> tuple[float, float]:
    """Return a trade as a chart point: seconds since 1970, and cents."""
    return trade.exchange_ts / _MICRO, trade.price / _CENT
