"""Kept here: the shapes of the gatherer's values over HTTP: decimal texts, and moments in UTC."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Final, Literal
from uuid import UUID

from pydantic import BeforeValidator, ConfigDict, Field

from grandstand.apps.gatherer.model.book import WHOLE
from grandstand.apps.gatherer.model.numbers import format_price, format_size
from grandstand.apps.gatherer.service.asking import BookAt, FillAt
from grandstand.kit.routes import Strict

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_NEVER: Final = 0


def moment_of(at_us: int) -> datetime:
    """Answer microseconds since 1970 as a moment."""
    return EPOCH + timedelta(microseconds=at_us)


def us_of(moment: datetime) -> int:
    """Answer a moment in microseconds since 1970; before that is taken for its beginning."""
    return max(0, (moment - EPOCH) // _MICROSECOND)


def _price(value: object) -> object:
    return format_price(value) if isinstance(value, int) else value


def _size(value: object) -> object:
    return format_size(value) if isinstance(value, int) else value


def _moment(value: object) -> object:
    return moment_of(value) if isinstance(value, int) else value


def _heard(value: object) -> object:
    return None if value == _NEVER else _moment(value)


def _side(value: object) -> object:
    return ("yes" if value else "no") if isinstance(value, bool) else value


Price = Annotated[str, BeforeValidator(_price), Field(examples=["0.5255"])]
Size = Annotated[str, BeforeValidator(_size), Field(examples=["12.50"])]
Moment = Annotated[datetime, BeforeValidator(_moment)]
Heard = Annotated[datetime | None, BeforeValidator(_heard)]
Side = Annotated[Literal["yes", "no"], BeforeValidator(_side)]


class Told(Strict):
    """What a caller is answered; made of a value's own fields."""

    model_config = ConfigDict(from_attributes=True)


class MarketModel(Told):
    """A market; prices are told while its book is followed here."""

    ticker: str
    event_ticker: str
    series_ticker: str
    category: str
    title: str
    status: str
    volume: Size
    volume_24h: Size
    open_ts: Moment | None
    close_ts: Moment | None
    chosen: bool
    followed: bool
    stale: bool
    best_yes_bid: Price | None
    best_yes_ask: Price | None
    spread: Price | None


class MarketList(Told):
    """Markets, the most traded first."""

    markets: tuple[MarketModel, ...]
    cursor: str | None


class LevelModel(Told):
    """A price and how much is bid or offered at it."""

    price: Price
    size: Size


class BookModel(Told):
    """A book: yes bids and yes asks, the best first; a yes ask is a bid for no, seen from yes."""

    ticker: str
    at: Moment | None
    live: bool
    exact: bool
    doubt: str | None
    bids: tuple[LevelModel, ...]
    asks: tuple[LevelModel, ...]
    best_yes_bid: Price | None
    best_yes_ask: Price | None
    spread: Price | None
    base_ts: Moment | None
    deltas: int

    @classmethod
    def of(cls, found: BookAt, *, live: bool) -> BookModel:
        """Answer a book as it is told; a bid for no at p is an offer of yes at 1 - p."""
        bid, ask, spread = found.best_yes_bid, found.best_yes_ask, found.spread
        return cls(
            ticker=found.ticker,
            at=None if found.at_us is None else moment_of(found.at_us),
            live=live,
            exact=found.exact,
            doubt=found.doubt,
            bids=_levels(reversed(found.yes)),
            asks=_levels((WHOLE - price, size) for price, size in reversed(found.no)),
            best_yes_bid=None if bid is None else format_price(bid),
            best_yes_ask=None if ask is None else format_price(ask),
            spread=None if spread is None else format_price(spread),
            base_ts=None if found.base_us is None else moment_of(found.base_us),
            deltas=found.deltas,
        )


def _levels(levels: Iterable[tuple[int, int]]) -> tuple[LevelModel, ...]:
    return tuple(
        LevelModel(price=format_price(price), size=format_size(size)) for price, size in levels
    )


def _dollars(amount: Fraction) -> str:
    """Write dollars with six decimals at most, rounded half to even."""
    return f"{Decimal(amount.numerator) / Decimal(amount.denominator):.6f}".rstrip("0").rstrip(".")


class TradeModel(Told):
    """A trade; its price is that of yes."""

    trade_id: UUID
    exchange_ts: Moment
    received_at: Moment
    ticker: str
    price: Price
    size: Size
    taker_side: Side
    is_block: bool


class TradeList(Told):
    """Trades, newest first."""

    trades: tuple[TradeModel, ...]


class CandleModel(Told):
    """The trades of one stretch."""

    start_us: Annotated[Moment, Field(serialization_alias="start")]
    open: Price
    high: Price
    low: Price
    close: Price
    trades: int
    size: Size


class CandleList(Told):
    """Candles that hold trades, oldest first."""

    candles: tuple[CandleModel, ...]


class DepthPointModel(Told):
    """The top of a book at an instant."""

    at_us: Annotated[Moment, Field(serialization_alias="at")]
    best_yes_bid: Price | None
    best_yes_ask: Price | None
    spread: Price | None
    bid_depth: Size
    ask_depth: Size


class DepthList(Told):
    """The top of a book over time."""

    points: tuple[DepthPointModel, ...]


class FillModel(Told):
    """What an order would have got: the levels it takes, and what is left of it."""

    exact: bool
    doubt: str | None
    whole: bool
    taken: tuple[LevelModel, ...]
    filled: Size
    left: Size
    average_price: Annotated[str | None, Field(examples=["0.532"])]
    dollars: Annotated[str, Field(examples=["79.8"])]

    @classmethod
    def of(cls, found: FillAt) -> FillModel:
        """Answer what an order would have got, as it is told."""
        filled, average = found.filled, found.filled.average
        return cls(
            exact=found.book.exact,
            doubt=found.book.doubt,
            whole=filled.whole,
            taken=_levels(filled.taken),
            filled=format_size(filled.size),
            left=format_size(filled.left),
            average_price=None if average is None else _dollars(average / WHOLE),
            dollars=_dollars(filled.paid),
        )


class VolumeModel(Told):
    """How much of a market was traded."""

    ticker: str
    trades: int
    size: Size


class VolumeList(Told):
    """Markets by what was traded, most first."""

    volumes: tuple[VolumeModel, ...]


class MarketEventModel(Told):
    """Something that became known of a market or event."""

    received_at: Moment
    ticker: str
    kind: str
    source: str
    status: str | None
    title: str | None
    open_ts: Moment | None
    close_ts: Moment | None
    result: str | None


class HistoryList(Told):
    """What became known, newest first."""

    events: tuple[MarketEventModel, ...]


class CoveredModel(Told):
    """One market in one hour; a gap counts in the hour it began."""

    ticker: str
    hour: Moment
    expected_us: int
    seen_us: int
    gaps: int
    healed: int
    audited: int
    differed: int
    whole: bool


class CoverageList(Told):
    """Every market and hour there is something to say of."""

    hours: tuple[CoveredModel, ...]


class GapModel(Told):
    """Messages that were missed, and when the books were right again."""

    detected_at: Moment
    resolved_at: Moment | None
    gatherer: str
    conn: int
    sid: int
    expected_seq: int
    got_seq: int | None
    reason: str | None
    channel: str | None


class GapList(Told):
    """Gaps, oldest first."""

    gaps: tuple[GapModel, ...]


class ReportModel(Told):
    """How whole a stretch of time was recorded."""

    start_us: Annotated[Moment, Field(serialization_alias="start")]
    end_us: Annotated[Moment, Field(serialization_alias="end")]
    markets: int
    expected_us: int
    seen_us: int
    gaps: int
    healed: int
    audited: int
    differed: int
    whole: bool
