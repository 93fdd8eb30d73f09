"""Kept here: the connections that record together, and which of them follows which market."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from grandstand.apps.gatherer.model.book import Book
from grandstand.apps.gatherer.model.incidents import Gap, GapReason
from grandstand.apps.gatherer.model.lines import BOOKS, SLACK_US
from grandstand.apps.gatherer.service.recording.line import Line
from grandstand.base.log import log

# So many markets that were left are known one by one; earlier ones are as if never followed.
_REMEMBERED: Final = 50_000


class Pool:
    """A few lines; a market is followed by the one that had the fewest when it came."""

    def __init__(
        self,
        lines: tuple[Line, ...],
        stamp: Callable[[], int],
        keep: Callable[[Gap], None] = lambda _: None,
    ) -> None:
        self.lines = lines
        self._stamp = stamp
        self._keep = keep
        self._begun_at: int | None = None
        self._left: dict[str, Gap] = {}
        self._at: dict[str, Line] = {}
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

    def line_of(self, ticker: str) -> Line | None:
        """Answer the line that follows a market."""
        return self._at.get(ticker)

    def book(self, ticker: str) -> Book | None:
        """Answer the true book of a market; None while it is stale or not followed."""
        line = self._at.get(ticker)
        return None if line is None else line.feed.book(ticker)

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
        """Move what a line could not take to others, and note what the exchange refused."""
        for line in self.lines:
            subscriptions = line.subscriptions
            for market, code in [*subscriptions.refused.items()]:
                self._refused[market] = code
                self._leave(market, self._at.pop(market, line))
                self._log.warning("market refused", ticker=market, code=code)
            if subscriptions.overflow:
                moved = sorted(subscriptions.overflow)
                for market in moved:
                    self._leave(market, line)
                self._log.warning("connection is full", line=line.number, moved=len(moved))
                self._spread(moved, but=line)

    def _spread(self, markets: Iterable[str], but: Line | None = None) -> None:
        lines = [line for line in self.lines if line is not but] or [*self.lines]
        sizes = {line: len(line.subscriptions.wanted) for line in lines}
        given: dict[Line, list[str]] = {line: [] for line in lines}
        for market in markets:
            line = min(lines, key=sizes.__getitem__)
            sizes[line] += 1
            given[line].append(market)
            self._at[market] = line
        for line, some in given.items():
            if some:
                line.follow(some, [gap for market in some if (gap := self._since(market))])

    def _leave(self, market: str, line: Line) -> None:
        self._left[market] = line.leave(market, self._stamp())
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
