"""Kept here: events as the bytes of frames: what is the same for all readers is written once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from grandstand.simulators.exchange.floor.book import Book, Levels
from grandstand.simulators.exchange.floor.events import (
    DeltaMade,
    LifecycleMade,
    QuoteMade,
    TradeMade,
)
from grandstand.simulators.exchange.floor.market import Market
from grandstand.simulators.exchange.floor.numbers import (
    DOLLAR,
    MILLISECOND,
    SECOND,
    contracts,
    dollars,
    moment,
    whole_moment,
)

_SHORT: Final = 126
_LONG: Final = 1 << 16
_SIDES: Final = ("no", "yes")


def framed(payload: bytes) -> bytes:
    """Put a text into a frame of RFC 6455, as a server sends it: whole and unmasked."""
    size = len(payload)
    if size < _SHORT:
        return b"\x81" + bytes((size,)) + payload
    if size < _LONG:
        return b"\x81\x7e" + size.to_bytes(2, "big") + payload
    return b"\x81\x7f" + size.to_bytes(8, "big") + payload


def delta_body(delta: DeltaMade, *, yes_price: bool, stamped: bool = True) -> bytes:
    """Write a change of a level; by `yes_price` a bid for no is told as the ask it is for yes."""
    price = DOLLAR - delta.price if yes_price and not delta.yes else delta.price
    milliseconds = f',"ts_ms":{delta.at // MILLISECOND}' if stamped else ""
    return (
        f'{{"market_ticker":"{delta.ticker}","market_id":"{delta.market_id}"'
        f',"price_dollars":"{dollars(price)}","delta_fp":"{contracts(delta.size)}"'
        f',"side":"{_SIDES[delta.yes]}","ts":"{moment(delta.at)}"{milliseconds}}}'
    ).encode()


def trade_body(trade: TradeMade) -> bytes:
    """Write a trade."""
    side, book_side = ("yes", "bid") if trade.taker_yes else ("no", "ask")
    return (
        f'{{"trade_id":"{trade.trade_id}","market_ticker":"{trade.ticker}"'
        f',"yes_price_dollars":"{dollars(trade.price)}"'
        f',"no_price_dollars":"{dollars(DOLLAR - trade.price)}"'
        f',"count_fp":"{contracts(trade.size)}","taker_side":"{side}"'
        f',"taker_outcome_side":"{side}","taker_book_side":"{book_side}"'
        f',"is_block_trade":{"true" if trade.is_block else "false"}'
        f',"ts":{trade.at // SECOND},"ts_ms":{trade.at // MILLISECOND}}}'
    ).encode()


def quote_body(quote: QuoteMade) -> bytes:
    """Write a market's summary; what it has not got is a zero, and an ask a whole dollar."""
    ask = DOLLAR if quote.yes_ask is None else quote.yes_ask
    return (
        f'{{"market_ticker":"{quote.ticker}","market_id":"{quote.market_id}"'
        f',"price_dollars":"{dollars(quote.last or 0)}"'
        f',"yes_bid_dollars":"{dollars(quote.yes_bid or 0)}","yes_ask_dollars":"{dollars(ask)}"'
        f',"yes_bid_size_fp":"{contracts(quote.yes_bid_size)}"'
        f',"yes_ask_size_fp":"{contracts(quote.yes_ask_size)}"'
        f',"last_trade_size_fp":"{contracts(quote.last_size)}"'
        f',"volume_fp":"{contracts(quote.volume)}"'
        f',"open_interest_fp":"{contracts(quote.open_interest)}"'
        f',"dollar_volume":{quote.dollar_volume}'
        f',"dollar_open_interest":{quote.dollar_open_interest}'
        f',"ts":{quote.at // SECOND},"ts_ms":{quote.at // MILLISECOND}'
        f',"time":"{whole_moment(quote.at)}"}}'
    ).encode()


def lifecycle_body(news: LifecycleMade) -> bytes:
    """Write news of a market or an event."""
    return msgspec.json.encode(news.body)


def snapshot_body(market: Market, book: Book, *, yes_price: bool) -> bytes:
    """Write a whole book, the lowest price first; a side without bids is left out."""
    told: dict[str, object] = {"market_ticker": market.ticker, "market_id": market.market_id}
    if book.yes:
        told["yes_dollars_fp"] = levels_told(book.levels(yes=True))
    if book.no:
        levels = book.levels(yes=False)
        if yes_price:
            levels = [(DOLLAR - price, size) for price, size in reversed(levels)]
        told["no_dollars_fp"] = levels_told(levels)
    return msgspec.json.encode(told)


def levels_told(levels: Levels | Iterable[tuple[int, int]]) -> list[tuple[str, str]]:
    """Write levels as pairs of a price and a size."""
    return [(dollars(price), contracts(size)) for price, size in levels]
