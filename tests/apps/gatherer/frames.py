"""What gatherers were told, frame by frame, found on their tapes without any of their own parsing.

A frame was heard whole when its bytes are those the exchange meant to send, and in its turn when
its number is higher than all before it on the same subscription.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.domain.rows import OrderbookDelta, Ticker, Trade
from grandstand.apps.gatherer.services.recording.writer import RawFrame, read_raw_log
from grandstand.simulators.exchange.market import (
    DeltaEvent,
    LifecycleEvent,
    QuoteEvent,
    TradeEvent,
)
from grandstand.simulators.exchange.world import GroundTruth
from grandstand.simulators.exchange.ws_connections import (
    delta_body,
    quote_body,
    trade_body,
)

Said = tuple[Any, ...]
_FRAME: Final = re.compile(
    rb'\{(?:"id":\d+,)?"type":"(\w+)","sid":(\d+)(?:,"seq":(\d+))?,"msg":(.*)\}', re.DOTALL
)
_NUMBERED: Final = re.compile(rb'\{[^{]*?"sid":(\d+),"seq":(\d+)')
_REPLY: Final = re.compile(rb'\{"id":\d+,"type":"(?:ok|unsubscribed)",.*\}')
_CODE: Final = re.compile(rb'"code":(\d+)')
_DOLLAR: Final = 100_000


@dataclass
class Told:
    """Everything one gatherer was told and has promised to keep, by kind; and errors by code."""

    deltas: Counter[Said] = field(default_factory=Counter)
    trades: Counter[Said] = field(default_factory=Counter)
    quotes: Counter[Said] = field(default_factory=Counter)
    news: Counter[Said] = field(default_factory=Counter)
    books: set[Said] = field(default_factory=set)
    unbroken: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    errors: Counter[int] = field(default_factory=Counter)


class Script:
    """What the exchange meant to send, each by the bytes of its body."""

    def __init__(self, truth: GroundTruth) -> None:
        self.deltas = Counter(
            delta_said(delta) for ticker in truth.tickers for delta in truth.deltas(ticker)
        )
        self.trades = Counter(map(trade_said, truth.trades))
        self.quotes = Counter(map(quote_said, truth.quotes))
        told = [news for news in truth.lifecycle if not news.multivariate]
        self.news = Counter(map(news_said, told))
        self._bodies: dict[bytes, tuple[str, Said]] = {
            delta_body(delta, yes_price=False, stamped=stamped): ("deltas", delta_said(delta))
            for ticker in truth.tickers
            for delta in truth.deltas(ticker)
            for stamped in (True, False)
        }
        self._bodies |= {trade_body(it): ("trades", trade_said(it)) for it in truth.trades}
        self._bodies |= {quote_body(it): ("quotes", quote_said(it)) for it in truth.quotes}
        self._bodies |= {msgspec.json.encode(it.body): ("news", news_said(it)) for it in told}

    def heard(self, tape: Path, sessions: Iterable[store.Session]) -> Told:
        """Return what one gatherer was told, but for what it did not live to keep."""
        told, lost = Told(), [*unkept(sessions)]
        frames = [*read_raw_log(tape)]
        kept = [it for it in frames if not any(a < it.received_at < b for a, b in lost)]
        told.unbroken = self._unbroken(kept)
        for frame, kind, place, body in in_turn(frames):
            if kind == "error":
                told.errors.update(map(int, _CODE.findall(body)))
            if any(start < frame.received_at < end for start, end in lost):
                continue
            if kind == "orderbook_snapshot" and _is_book(body):
                told.books.add(place)
            elif body in self._bodies:
                name, said = self._bodies[body]
                getattr(told, name)[said] += 1
        return told

    def _unbroken(self, frames: Iterable[RawFrame]) -> dict[str, list[tuple[int, int]]]:
        """Return when every frame on the subscription of a market came, from its book on."""
        found: dict[str, list[tuple[int, int]]] = {}
        streams: dict[tuple[int, int], Stretch] = {}
        for frame in frames:
            numbered = _NUMBERED.match(frame.raw)
            if numbered is None:
                continue
            sid, seq = map(int, numbered.groups())
            stream = streams.setdefault((frame.conn, sid), Stretch(found))
            read = _FRAME.fullmatch(frame.raw)
            kind, body = (read[1].decode(), read[4]) if read else ("", b"")
            kind = "ok" if _REPLY.fullmatch(frame.raw) else kind
            said = self._bodies[body][1] if body in self._bodies else None
            stream.take(seq, kind, body, said)
        for stream in streams.values():
            stream.end()
        return found


@dataclass
class Stretch:
    """How far one subscription came without a break, and since when with each market."""

    found: dict[str, list[tuple[int, int]]]
    last: int = 0
    told_at: int = 0
    fresh: set[str] = field(default_factory=set)
    since: dict[str, int] = field(default_factory=dict)

    def take(self, seq: int, kind: str, body: bytes, said: Said | None) -> None:
        """Take the next frame: by its number, its kind, and the change it is, if it is whole."""
        if seq <= self.last:
            return
        whole = (
            said is not None or kind == "ok" or (kind == "orderbook_snapshot" and _is_book(body))
        )
        if seq != self.last + 1 or not whole:
            self.end()
        self.last = seq
        if kind == "orderbook_snapshot" and whole:
            self.fresh.add(json.loads(body)["market_ticker"])
        elif kind == "orderbook_delta" and said is not None:
            self.told_at = said[0]
            # A book was told before whatever happened later than the first change after it.
            self.since = dict.fromkeys(self.fresh, self.told_at) | self.since
            self.fresh = set()

    def end(self) -> None:
        """End with the last change told: up to it nothing is missing."""
        for ticker, since in self.since.items():
            self.found.setdefault(ticker, []).append((since, self.told_at))
        self.since, self.fresh = {}, set()


def in_turn(frames: Iterable[RawFrame]) -> Iterator[tuple[RawFrame, str, Said, bytes]]:
    """Return the frames that come in their turn: kind, connection with sid and seq, and body."""
    last: dict[tuple[int, int], int] = {}
    for frame in frames:
        read = _FRAME.fullmatch(frame.raw)
        if read is None:
            if frame.raw.startswith(b'{"id":') and b'"type":"error"' in frame.raw:
                yield frame, "error", (), frame.raw
            continue
        kind, sid, seq, body = read.groups()
        stream = (frame.conn, int(sid))
        if seq is not None:
            if int(seq) <= last.get(stream, 0):
                continue
            last[stream] = int(seq)
        yield frame, kind.decode(), (*stream, seq and int(seq)), body


def unkept(sessions: Iterable[store.Session]) -> Iterator[tuple[int, int]]:
    """Return from when to when a gatherer that was killed promised nothing."""
    relied, running = 0, False
    for session in sorted(sessions):
        if session.what == "started":
            if running:
                yield relied, session.at
            relied, running = session.at, True
        elif session.what == "whole":
            relied = session.at
        elif session.what == "stopped":
            running = False


def delta_said(delta: DeltaEvent) -> Said:
    return delta.at, delta.ticker, delta.yes, delta.price, delta.size


def delta_kept(row: OrderbookDelta) -> Said:
    return row.exchange_ts, row.ticker, row.side, row.price, row.size_delta


def trade_said(trade: TradeEvent) -> Said:
    at = trade.at // 1000 * 1000
    said = (trade.trade_id, at, trade.ticker, trade.price, trade.size)
    return (*said, trade.taker_yes, trade.is_block)


def trade_kept(row: Trade) -> Said:
    said = (str(row.trade_id), row.exchange_ts, row.ticker, row.price, row.size)
    return (*said, row.taker_side, row.is_block)


def quote_said(quote: QuoteEvent) -> Said:
    ask = _DOLLAR if quote.yes_ask is None else quote.yes_ask
    prices = (quote.yes_bid or 0, ask, quote.last or 0)
    sums = (quote.volume, quote.open_interest, quote.dollar_volume, quote.dollar_open_interest)
    return quote.at // 1000, quote.ticker, *prices, *sums


def quote_kept(row: Ticker) -> Said:
    prices = (row.yes_bid, row.yes_ask, row.last_price)
    sums = (row.volume, row.open_interest, row.dollar_volume, row.dollar_open_interest)
    return row.exchange_ts // 1000, row.ticker, *prices, *sums


def news_said(news: LifecycleEvent) -> Said:
    return (json.dumps(news.body, sort_keys=True),)


def news_kept(row: store.MarketEvent) -> Said:
    return (json.dumps(json.loads(row.details or "null"), sort_keys=True),)


def union(counts: Iterable[Mapping[Said, int]]) -> Counter[Said]:
    """Return each thing as often as whoever has it most often."""
    found: Counter[Said] = Counter()
    for each in counts:
        found |= Counter(each)
    return found


def _is_book(body: bytes) -> bool:
    try:
        said = json.loads(body)
    except ValueError:
        return False
    return isinstance(said, dict) and isinstance(said.get("market_ticker"), str)
