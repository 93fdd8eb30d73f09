"""Kept here: telling open pages what happens to the markets they show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from grandstand.apps.gatherer.model.book import WHOLE, Book
from grandstand.apps.gatherer.model.rows import Trade
from grandstand.apps.gatherer.service.asking.asking import Asking
from grandstand.base.clock import Clock
from grandstand.kit.live import Teller

RUNGS: Final = 12
# A page comes again at least every ten minutes, when its socket has reached its age.
_WATCHED_SECONDS: Final = 660.0
_TRADES: Final = 50
_MICRO: Final = 1_000_000
_A_CENT: Final = 1000
_A_CONTRACT: Final = 100

Rungs: TypeAlias = dict[str, list[tuple[float, float]]]


def rungs(book: Book, most: int = RUNGS) -> Rungs:
    """Answer the best levels of a book as pages draw them: cents and contracts, the best first."""
    yes, no = book.levels()
    bids = [(price / _A_CENT, size / _A_CONTRACT) for price, size in reversed(yes[-most:])]
    asks = [((WHOLE - price) / _A_CENT, size / _A_CONTRACT) for price, size in reversed(no[-most:])]
    return {"bids": bids, "asks": asks}


class _Watched:
    """One market that is looked at: until when, and what was told of it last."""

    def __init__(self, until: float) -> None:
        self.until = until
        self.told: Rungs | None = None
        self.traded_at: int | None = None


class Watching:
    """Tells of the markets that are looked at, and of no others, however many are recorded.

    News of `gatherer/book/<ticker>` are `{"bids", "asks"}`; those of `gatherer/price/<ticker>` are
    rows for the chart of prices; `gatherer/tape/<ticker>` says that there are trades to fetch.
    """

    def __init__(
        self, clock: Clock, teller: Teller, book: Callable[[str], Book | None], asking: Asking
    ) -> None:
        self._clock = clock
        self._teller = teller
        self._book = book
        self._asking = asking
        self._watched: dict[str, _Watched] = {}

    def watch(self, ticker: str) -> None:
        """Tell of a market from now on, as long as an open page may listen."""
        now = self._clock.monotonic()
        self._watched = {name: one for name, one in self._watched.items() if one.until >= now}
        until = now + _WATCHED_SECONDS
        self._watched.setdefault(ticker, _Watched(until)).until = until

    @property
    def tickers(self) -> tuple[str, ...]:
        """The markets that are told of."""
        return tuple(self._watched)

    async def tell(self) -> int:
        """Tell what changed since the last time; answer of how many markets.

        Raises Unavailable when the series do not answer.
        """
        now, told = self._clock.monotonic(), 0
        for ticker, watched in [*self._watched.items()]:
            if watched.until < now:
                self._watched.pop(ticker, None)
                continue
            changed = await self._tell_book(ticker, watched)
            traded = await self._tell_trades(ticker, watched)
            told += changed or traded
        return told

    async def _tell_book(self, ticker: str, watched: _Watched) -> bool:
        book = self._book(ticker)
        if book is None:
            book = (await self._asking.book(ticker)).book()
        found, before = rungs(book), watched.told
        if found == before:
            return False
        watched.told = found
        self._teller.tell(f"gatherer/book/{ticker}", dict(found))
        for name, side in (("Bid", "bids"), ("Ask", "asks")):
            best = found[side][0][0] if found[side] else None
            if before is None or best != (before[side][0][0] if before[side] else None):
                self._tell_price(ticker, name, [(self._clock.epoch(), best)])
        return True

    async def _tell_trades(self, ticker: str, watched: _Watched) -> bool:
        found = await self._asking.recent_trades(ticker, _TRADES)
        since, newest = watched.traded_at, max((one.received_at for one in found), default=0)
        watched.traded_at = newest
        fresh = [one for one in found if since is not None and one.received_at > since]
        if not fresh:
            return False
        self._tell_price(ticker, "Trades", [trade_point(one) for one in reversed(fresh)])
        self._teller.tell(f"gatherer/tape/{ticker}", {"trades": len(fresh)})
        return True

    def _tell_price(self, ticker: str, plot: str, rows: list[Any]) -> None:
        self._teller.tell(f"gatherer/price/{ticker}", {"plot": plot, "rows": rows})


def trade_point(trade: Trade) -> tuple[float, float]:
    """Answer a trade as a chart draws it: seconds since 1970, and cents."""
    return trade.exchange_ts / _MICRO, trade.price / _A_CENT
