"""Kept here: the series beside the specified ones: what was told of markets, and what proves."""

from datetime import timedelta
from typing import Final, NamedTuple

from grandstand.storage.series.declaration import Json, Series

_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)


# Why a `whole` counts in exchange time too.
TOLD: Final = "told"


class MarketEvent(NamedTuple):
    """What became known of a market or an event: told by a frame, by REST, or by the clock.

    `ticker` is that of the market, or of the event when the news is the event's. `details` is all
    that was told, as it was told; the other columns are what is searched for.
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
    """A moment in the life of a gatherer or of one of its connections.

    `what` is `started` or `stopped` (the process, `conn` 0), `opened` or `closed` (a connection),
    or `whole` (`conn` 0): all that was sent up to `at` is kept, or in a gap. A process that was
    killed has no `stopped`; its last `whole` says how far it can be relied on. With `why` `told`
    that is so in exchange time too: every subscription had told of a change not before `at`.
    `conn` is never used twice by one gatherer, also not after a restart.
    """

    at: int
    gatherer: str
    conn: int
    what: str
    why: str | None = None


class Audit(NamedTuple):
    """A book compared with another account of it.

    `against` is `rest`, or `snapshot` where a merger compares a snapshot with the book it merged.
    With `outcome` `different` the book is in doubt from `since`, the last moment it was known to be
    right, up to `audited_at`. Of a merged store both are exchange time, else receive time.
    """

    audited_at: int
    ticker: str
    gatherer: str
    against: str
    outcome: str
    since: int | None = None
    difference: Json | None = None


class Keyframe(NamedTuple):
    """A book as a gatherer held it after the message received at `taken_at`.

    It holds every change up to `exchange_ts`. In a merged store `taken_at` is exchange time too.
    It is made from snapshots and deltas and proves nothing: it saves the way from the snapshot.
    """

    taken_at: int
    ticker: str
    gatherer: str
    yes_bids: Json
    no_bids: Json
    exchange_ts: int | None = None
    sid: int | None = None
    conn: int | None = None


class Followed(NamedTuple):
    """A gatherer's book of a market, from which on it heard every change on a subscription.

    It did so after `since`, in exchange time, until that subscription broke, as gaps and sessions
    received after `heard_at` tell. Kept in a merged store only.
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
    purpose="what became known of markets and events",
)
SESSIONS = Series(
    name="sessions",
    row=Session,
    time="at",
    identity=("at", "gatherer", "conn", "what"),
    key="gatherer",
    chunk=_DAY,
    compress_after=_DAY,
    purpose="when gatherers and their connections were up",
)
AUDITS = Series(
    name="audits",
    row=Audit,
    time="audited_at",
    identity=("audited_at", "ticker", "gatherer", "against"),
    key="ticker",
    chunk=_DAY,
    compress_after=_DAY,
    purpose="books compared with another account of them",
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
    purpose="books between snapshots, to shorten the way to an instant",
)
FOLLOWED = Series(
    name="followed",
    row=Followed,
    time="since",
    identity=("since", "ticker", "gatherer", "heard_at"),
    key="ticker",
    chunk=_DAY,
    compress_after=_DAY,
    retain=timedelta(days=7),
    purpose="since when gatherers heard every change of a market",
)
