"""Tables, series and access patterns of the gatherer."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final, Literal, NamedTuple, Self, TypeAlias

import msgspec

from grandstand.apps.gatherer.domain.rows import OrderbookDelta, OrderbookSnapshot, Ticker, Trade
from grandstand.storage.series.declaration import Json, Series, SeriesIndex
from grandstand.storage.series.query import Window
from grandstand.storage.tables import Delete, Entity, Get, Index, Query, Scan, Table, key

_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)
_decode_names: Final = msgspec.json.Decoder(tuple[str, ...]).decode

# The `why` of a watermark that holds in exchange time too.
EXCHANGE_TIME: Final = "exchange-time"

EARLIEST: Final = 0
LATEST: Final = 2**62

ChoiceKind: TypeAlias = Literal["market", "event", "series", "category"]

market_series = Table(
    "GathererSeries",
    partition="ticker",
    purpose="Series of the exchange, from REST.",
)
events = Table(
    "GathererEvents",
    partition="event_ticker",
    indexes=(Index("SeriesEvents", "series_ticker", "event_ticker"),),
    purpose="Events of the exchange, from REST.",
)
markets_table = Table(
    "GathererMarkets",
    partition="ticker",
    indexes=(Index("EventMarkets", "event_ticker", "ticker"),),
    purpose="Markets of the exchange, from REST.",
)
sync_cursors = Table(
    "GathererSyncCursors",
    partition="gatherer",
    sort="series",
    purpose="Merge position of each series of each gatherer.",
)
choices = Table(
    "GathererChoices",
    partition="kind",
    sort="name",
    purpose="Choices of what to record.",
)

TABLES: Final = (market_series, events, markets_table, sync_cursors, choices)


class SeriesInfo(Entity, table=market_series):
    """A series: recurring events of one kind."""

    ticker: str
    title: str
    category: str | None = None
    frequency: str | None = None
    tags: tuple[str, ...] = ()
    updated_us: int = 0

    row = key("{ticker}")


class EventInfo(Entity, table=events):
    """An event: a question with one or more markets."""

    event_ticker: str
    series_ticker: str
    title: str
    sub_title: str | None = None
    category: str | None = None
    mutually_exclusive: bool | None = None
    updated_us: int = 0

    row = key("{event_ticker}")
    by_series = key("{series_ticker}", "{event_ticker}", index="SeriesEvents")


class MarketInfo(Entity, table=markets_table):
    """A market; times are in microseconds, sizes in hundredths of a contract."""

    ticker: str
    event_ticker: str
    title: str
    status: str
    subtitle: str | None = None
    market_type: str | None = None
    result: str | None = None
    volume: int | None = None
    volume_24h: int | None = None
    open_interest: int | None = None
    open_us: int | None = None
    close_us: int | None = None
    updated_us: int = 0

    row = key("{ticker}")
    by_event = key("{event_ticker}", "{ticker}", index="EventMarkets")


class SyncCursor(Entity, table=sync_cursors):
    """The merge position of one series of one gatherer.

    `position_us` is the time of the last merged row: everything before it, less an overlap, was
    read. `counted` maps the start of each chunk to its number of rows when it was read completely,
    as JSON; a higher number means that rows were written late.
    """

    gatherer: str
    series: str
    position_us: int = 0
    merged_us: int = 0
    rows: int = 0
    counted: str = "{}"

    row = key("{gatherer}", "{series}")

    @classmethod
    def of_series(cls, gatherer: str, series: str) -> Get[Self]:
        """The merge position of one series of one gatherer."""
        return cls.get(gatherer=gatherer, series=series).consistent()

    @classmethod
    def of_gatherer(cls, gatherer: str) -> Query[Self]:
        """The merge positions of one gatherer."""
        return cls.row(gatherer=gatherer)


class RecordingChoice(Entity, table=choices):
    """Whether to record a market, event, series or category."""

    kind: ChoiceKind
    name: str
    recorded: bool = True
    chosen_us: int = 0

    row = key("{kind}", "{name}")

    @classmethod
    def all(cls) -> Scan[Self]:
        """All choices."""
        return cls.scan()

    @classmethod
    def remove(cls, kind: ChoiceKind, name: str) -> Delete[Self]:
        """Delete a choice."""
        return cls.delete(kind=kind, name=name)


class GapRecord(NamedTuple):
    """A gap; a second row with `resolved` records that it was closed.

    `tickers` is a JSON list of the markets it made stale. None means that they are unknown, or all
    if `conn` is 0: nothing was connected. Messages are missing between the exchange times `from_ts`
    and `to_ts`, where known.
    """

    detected_at: int
    gatherer: str
    conn: int
    sid: int
    expected_seq: int
    resolved: bool
    got_seq: int | None = None
    resolved_at: int | None = None
    channel: str | None = None
    reason: str | None = None
    tickers: Json | None = None
    from_ts: int | None = None
    to_ts: int | None = None

    @property
    def gap_key(self) -> tuple[str, int, int, int, int]:
        """The key that the rows opening and closing a gap share."""
        return self.gatherer, self.detected_at, self.conn, self.sid, self.expected_seq

    @property
    def markets(self) -> tuple[str, ...] | None:
        """The markets it made stale; None if unknown."""
        return None if self.tickers is None else _decode_names(self.tickers)


TRADES = Series(
    name="trades",
    row=Trade,
    time="exchange_ts",
    identity=("trade_id", "exchange_ts"),
    key="ticker",
    chunk=_DAY,
    compress_after=_DAY,
    indexes=(
        SeriesIndex("idx_trades_ticker", ("ticker", "-exchange_ts")),
        SeriesIndex("idx_trades_received", ("-received_at",)),
    ),
    purpose="executed trades",
)
DELTAS = Series(
    name="orderbook_deltas",
    row=OrderbookDelta,
    time="exchange_ts",
    identity=("exchange_ts", "ticker", "price", "side", "size_delta", "ord"),
    key="ticker",
    chunk=_HOUR,
    compress_after=_DAY,
    retain=timedelta(days=7),
    indexes=(
        SeriesIndex("idx_deltas_ticker_time", ("ticker", "-exchange_ts")),
        SeriesIndex("idx_deltas_received", ("-received_at",)),
    ),
    purpose="order book deltas",
)
SNAPSHOTS = Series(
    name="orderbook_snapshots",
    row=OrderbookSnapshot,
    time="snapshot_ts",
    identity=("snapshot_ts", "ticker", "source"),
    key="ticker",
    chunk=_DAY,
    compress_after=_DAY,
    retain=timedelta(days=30),
    indexes=(SeriesIndex("idx_snapshots_ticker", ("ticker", "-snapshot_ts")),),
    purpose="order book snapshots",
)
TICKERS = Series(
    name="tickers",
    row=Ticker,
    time="exchange_ts",
    identity=("exchange_ts", "ticker"),
    key="ticker",
    chunk=_HOUR,
    compress_after=_DAY,
    retain=timedelta(days=7),
    indexes=(
        SeriesIndex("idx_tickers_ticker_time", ("ticker", "-exchange_ts")),
        SeriesIndex("idx_tickers_received", ("-received_at",)),
    ),
    purpose="tickers",
)
GAPS = Series(
    name="gaps",
    row=GapRecord,
    time="detected_at",
    identity=("detected_at", "gatherer", "conn", "sid", "expected_seq", "resolved"),
    key="gatherer",
    chunk=_DAY,
    compress_after=_DAY,
    purpose="gaps in the recording",
)


class MarketEvent(NamedTuple):
    """A lifecycle event of a market or event: from the stream, REST or the clock.

    `ticker` is that of the market, or of the event. `details` is the original JSON; the other
    columns are for searching.
    """

    received_at: int
    ticker: str
    kind: str
    source: str
    status: str | None = None
    event_ticker: str | None = None
    series_ticker: str | None = None
    title: str | None = None
    open_ts: int | None = None
    close_ts: int | None = None
    result: str | None = None
    details: Json | None = None
    gatherer: str | None = None
    conn: int | None = None
    sid: int | None = None
    seq: int | None = None


class Session(NamedTuple):
    """A change in the state of a gatherer or of one of its connections.

    `what` is `started` or `stopped` (the process, `conn` 0), `opened` or `closed` (a connection),
    or `whole` (a watermark, `conn` 0): everything sent up to `at` is stored or in a gap. A killed
    process has no `stopped`; its last watermark is how far it is complete. With `why`
    `exchange-time` that holds in exchange time too: every subscription had sent a message of `at`
    or later. A gatherer never uses a `conn` twice, not even after a restart.
    """

    at: int
    gatherer: str
    conn: int
    what: str
    why: str | None = None


class Audit(NamedTuple):
    """A comparison of a book.

    `against` is `rest`, or `snapshot` where a merge compares a snapshot with the merged book. With
    `outcome` `different` the book is doubtful from `since`, when it was last known to be right, to
    `audited_at`. Both are exchange times in a merged store, else receive times.
    """

    audited_at: int
    ticker: str
    gatherer: str
    against: str
    outcome: str
    since: int | None = None
    difference: Json | None = None


class Keyframe(NamedTuple):
    """The book after the message received at `taken_at`, computed by the recorder.

    It contains every change up to `exchange_ts`. In a merged store `taken_at` is exchange time too.
    It only shortens the way from the last snapshot and proves nothing.
    """

    taken_at: int
    ticker: str
    gatherer: str
    yes_bids: Json
    no_bids: Json
    exchange_ts: int | None = None
    sid: int | None = None
    conn: int | None = None


class FollowedSince(NamedTuple):
    """Since when a gatherer received every change of a market on a subscription.

    This holds after `since`, in exchange time, until the subscription broke according to the gaps
    and sessions received after `heard_at`. Only in a merged store.
    """

    since: int
    ticker: str
    gatherer: str
    conn: int
    sid: int
    heard_at: int


MARKET_EVENTS = Series(
    name="market_events",
    row=MarketEvent,
    time="received_at",
    identity=("received_at", "ticker", "kind"),
    key="ticker",
    chunk=_DAY,
    compress_after=_DAY,
    purpose="lifecycle events of markets",
)
SESSIONS = Series(
    name="sessions",
    row=Session,
    time="at",
    identity=("at", "gatherer", "conn", "what"),
    key="gatherer",
    chunk=_DAY,
    compress_after=_DAY,
    purpose="sessions and watermarks of gatherers",
)
AUDITS = Series(
    name="audits",
    row=Audit,
    time="audited_at",
    identity=("audited_at", "ticker", "gatherer", "against"),
    key="ticker",
    chunk=_DAY,
    compress_after=_DAY,
    purpose="comparisons of books",
)
KEYFRAMES = Series(
    name="keyframes",
    row=Keyframe,
    time="taken_at",
    identity=("taken_at", "ticker", "gatherer"),
    key="ticker",
    chunk=_HOUR,
    compress_after=_DAY,
    retain=timedelta(days=7),
    purpose="computed books between snapshots",
)
FOLLOWED = Series(
    name="followed",
    row=FollowedSince,
    time="since",
    identity=("since", "ticker", "gatherer", "heard_at"),
    key="ticker",
    chunk=_DAY,
    compress_after=_DAY,
    retain=timedelta(days=7),
    purpose="since when gatherers received every change of a market",
)


KEYFRAME_US: Final = 5 * 60 * 1_000_000
FORCED_KEYFRAME_US: Final = 60 * 60 * 1_000_000

_levels: Final = msgspec.json.Decoder(list[tuple[int, int]])


def encode_levels(levels: Mapping[int, int]) -> str:
    """Encode levels for snapshot and keyframe columns, lowest price first."""
    return msgspec.json.encode(sorted(levels.items())).decode()


def decode_levels(text: str) -> dict[int, int]:
    """Decode such a column to sizes by price.

    Raises msgspec.DecodeError.
    """
    return dict(_levels.decode(text))


def make_keyframe(
    ticker: str,
    yes_bids: Mapping[int, int],
    no_bids: Mapping[int, int],
    *,
    taken_at: int,
    exchange_ts: int | None,
    gatherer: str,
    conn: int | None = None,
    sid: int | None = None,
) -> Keyframe:
    """Return the keyframe of a book after the message received at `taken_at`.

    `exchange_ts` is that of its newest change, None if that had no time. Never store a stale book:
    readers rely on keyframes.
    """
    return Keyframe(
        taken_at=taken_at,
        ticker=ticker,
        gatherer=gatherer,
        yes_bids=encode_levels(yes_bids),
        no_bids=encode_levels(no_bids),
        exchange_ts=exchange_ts,
        sid=sid,
        conn=conn,
    )


class KeyframeSchedule:
    """Decides which books are due for a keyframe.

    A keyframe is due after every 1,000 changes, every five minutes if the book changed, and every
    hour in any case, so that queries never have to read further back.
    """

    def __init__(self, every_deltas: int = 1_000) -> None:
        self._every = every_deltas
        self._changes: dict[str, int] = {}
        self._slot: int | None = None
        self._hour: int | None = None

    def changed(self, ticker: str) -> bool:
        """Count a change, and return whether a keyframe is due now."""
        count = self._changes.get(ticker, 0) + 1
        self._changes[ticker] = count
        return count >= self._every

    def due(self, at_us: int) -> tuple[str, ...]:
        """Return the tickers that are due by time; call about every second."""
        slot, hour = at_us // KEYFRAME_US, at_us // FORCED_KEYFRAME_US
        if slot == self._slot:
            return ()
        every, first = hour != self._hour, self._slot is None
        self._slot, self._hour = slot, hour
        if first:
            return ()
        return tuple(ticker for ticker, count in self._changes.items() if every or count)

    def written(self, ticker: str) -> None:
        """Record that a keyframe was written."""
        self._changes[ticker] = 0

    def remove(self, ticker: str) -> None:
        """Stop scheduling a book that is unfollowed or stale."""
        self._changes.pop(ticker, None)


def deltas_between(ticker: str, start: int, end: int) -> Window[OrderbookDelta]:
    """Deltas of one book in a period of exchange time, in the cheapest order."""
    return Window(DELTAS, start, end, (ticker,), order="any")


def all_deltas(start: int, end: int) -> Window[OrderbookDelta]:
    """Deltas of all books in a period of exchange time, in the cheapest order."""
    return Window(DELTAS, start, end, order="any")


def first_deltas(ticker: str, start: int, end: int, limit: int) -> Window[OrderbookDelta]:
    """The first deltas of one book from a time on."""
    return Window(DELTAS, start, end, (ticker,), limit=limit)


def latest_snapshots(ticker: str, start: int, end: int) -> Window[OrderbookSnapshot]:
    """Snapshots of one market, newest first, from both sources: only `ws` ones are a base."""
    return Window(SNAPSHOTS, start, end, (ticker,), order="newest")


def latest_keyframes(ticker: str, end: int, limit: int) -> Window[Keyframe]:
    """The newest keyframes of one book before a time, newest first."""
    return Window(KEYFRAMES, EARLIEST, end, (ticker,), order="newest", limit=limit)


def recent_trades(ticker: str, end: int, limit: int) -> Window[Trade]:
    """The newest trades of one market before a time; those of one instant in the order of ids."""
    return Window(TRADES, EARLIEST, end, (ticker,), order="newest", limit=limit)


def trades_between(ticker: str, start: int, end: int) -> Window[Trade]:
    """Trades of one market in a period of exchange time, oldest first."""
    return Window(TRADES, start, end, (ticker,))


def all_trades(start: int, end: int) -> Window[Trade]:
    """Trades of all markets in a period of exchange time."""
    return Window(TRADES, start, end, order="any")


def gaps_between(start: int, end: int) -> Window[GapRecord]:
    """Gaps of all gatherers in a period of receive time."""
    return Window(GAPS, start, end)


def sessions_between(start: int, end: int) -> Window[Session]:
    """Sessions of all gatherers in a period of receive time."""
    return Window(SESSIONS, start, end)


def audits_between(ticker: str, start: int, end: int) -> Window[Audit]:
    """Audits of one book in a period."""
    return Window(AUDITS, start, end, (ticker,))


def followed_between(ticker: str, start: int, end: int) -> Window[FollowedSince]:
    """Since when a market is followed, by all gatherers, in a period of exchange time."""
    return Window(FOLLOWED, start, end, (ticker,))


def market_history(ticker: str, limit: int | None = None) -> Window[MarketEvent]:
    """Lifecycle events of a market or event, newest first."""
    return Window(MARKET_EVENTS, EARLIEST, LATEST, (ticker,), order="newest", limit=limit)


SERIES: Final[tuple[Series[Any], ...]] = (
    TRADES,
    DELTAS,
    SNAPSHOTS,
    TICKERS,
    GAPS,
    MARKET_EVENTS,
    SESSIONS,
    AUDITS,
    KEYFRAMES,
    FOLLOWED,
)
