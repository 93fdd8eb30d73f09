"""Kept here: the connections that record together, and which of them follows which market."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from grandstand.apps.gatherer.model.book import Book
from grandstand.apps.gatherer.model.incidents import Gap, GapReason
from grandstand.apps.gatherer.model.lines import BOOKS, SLACK_US
from grandstand.apps.gatherer.service.recording.connection import Connection
from grandstand.base.log import log

# So many markets that were left are known one by one; earlier ones are as if never followed.
_REMEMBERED: Final = 50_000


class Pool:
    """A few connections; a market is followed by the one that had the fewest when it came."""

    def __init__(
        self,
        connections: tuple[Connection, ...],
        stamp: Callable[[], int],
        keep: Callable[[Gap], None] = lambda _: None,
    ) -> None:
        self.connections = connections
        self._stamp = stamp
        self._keep = keep
        self._begun_at: int | None = None
        self._left: dict[str, Gap] = {}
        self._at: dict[str, Connection] = {}
        self._refused: dict[str, int] = {}
        self._log = log("gatherer")

    @property
    def followed(self) -> frozenset[str]:
        """The markets that are followed, or asked for."""
        return frozenset(self._at)

    @property
    def refused(self) -> dict[str, int]:
        """The markets the exchange does not let us follow, with its code."""
        return dict(self._refused)

    def connection_of(self, ticker: str) -> Connection | None:
        """Answer the connection that follows a market."""
        return self._at.get(ticker)

    def book(self, ticker: str) -> Book | None:
        """Answer the true book of a market; None while it is stale or not followed."""
        connection = self._at.get(ticker)
        return None if connection is None else connection.feed.book(ticker)

    def follow(self, markets: Iterable[str]) -> int:
        """Follow these markets and no others; answer how many changed."""
        wanted = {*markets}
        new = sorted(wanted - self._at.keys() - self._refused.keys())
        gone = sorted(self._at.keys() - wanted)
        self._spread(new)
        for market in gone:
            self._leave(market, self._at.pop(market))
        for market in self._refused.keys() - wanted:
            del self._refused[market]
        return len(new) + len(gone)

    def begun(self, at: int) -> None:
        """Say that recording has begun: whoever comes from now on was not followed until then."""
        self._begun_at = at

    def rebalance(self) -> None:
        """Move what a connection could not take to others, and note what the exchange refused."""
        for connection in self.connections:
            subscriptions = connection.subscriptions
            for market, code in [*subscriptions.refused.items()]:
                self._refused[market] = code
                self._leave(market, self._at.pop(market, connection))
                self._log.warning("market refused", ticker=market, code=code)
            if subscriptions.overflow:
                moved = sorted(subscriptions.overflow)
                for market in moved:
                    self._leave(market, connection)
                self._log.warning(
                    "connection is full", connection=connection.number, moved=len(moved)
                )
                self._spread(moved, but=connection)

    def _spread(self, markets: Iterable[str], but: Connection | None = None) -> None:
        others = [each for each in self.connections if each is not but] or [*self.connections]
        sizes = {each: len(each.subscriptions.wanted) for each in others}
        given: dict[Connection, list[str]] = {each: [] for each in others}
        for market in markets:
            connection = min(others, key=sizes.__getitem__)
            sizes[connection] += 1
            given[connection].append(market)
            self._at[market] = connection
        for connection, some in given.items():
            if some:
                connection.follow(some, [gap for market in some if (gap := self._since(market))])

    def _leave(self, market: str, connection: Connection) -> None:
        self._left[market] = connection.leave(market, self._stamp())
        if len(self._left) > _REMEMBERED:
            del self._left[next(iter(self._left))]

    def _since(self, market: str) -> Gap | None:
        """Answer the gap in which a market was not followed; None for those of the beginning."""
        gap = self._left.pop(market, None)
        if gap is not None or self._begun_at is None:
            return gap
        at = self._stamp()
        fresh = Gap(
            conn=0,
            sid=0,
            channel=BOOKS,
            reason=GapReason.LEFT,
            expected_seq=0,
            got_seq=None,
            detected_at=at,
            tickers=frozenset((market,)),
            from_ts=self._begun_at - SLACK_US,
        )
        self._keep(fresh)
        return fresh
