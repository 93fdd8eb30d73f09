"""Kept here: books told by gatherers, and the place in exchange time each of them has."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final, TypeAlias

from grandstand.apps.gatherer.model.lines import SLACK_US
from grandstand.apps.gatherer.store import (
    DELTAS,
    Followed,
    Gap,
    Keyframe,
    OrderbookDelta,
    OrderbookSnapshot,
)
from grandstand.apps.gatherer.store.patterns import deltas_between
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.window import Window

# Receive time lies within this of exchange time: latency, and clocks that differ.
QUIET_US: Final = 60_000_000
# A gap lies within this of a change on the same subscription, or its bounds are not known.
BOUND_US: Final = 10_000_000
_HELD_UP_US: Final = 600_000_000
_LATENCY_US: Final = 2_000_000
_PASSING: Final = frozenset(("missed", "refused"))

_Key: TypeAlias = tuple[str, int, type]
_Stream: TypeAlias = tuple[int | None, int | None]
_stamp: Final = attrgetter("stamp")
_received: Final = attrgetter("received_at")


@dataclass(slots=True)
class Told:
    """A book told by a gatherer, and the first change of it that the same gatherer heard after.

    Of a `late` one that change may have gone by already: it has to be looked up. `then` is a
    change of any market on the same subscription, heard after the book.
    """

    row: OrderbookSnapshot | Keyframe
    stamp: int
    late: bool
    next: OrderbookDelta | None = None
    then: OrderbookDelta | None = None


@dataclass(frozen=True, slots=True)
class Placed:
    """A book and its place: it holds every change up to that instant, and none after."""

    row: OrderbookSnapshot | Keyframe
    at_us: int
    gatherer: str


class Waiting:
    """The books of one gatherer that have no place yet, by market and order of receipt."""

    def __init__(self, gatherer: str) -> None:
        self.gatherer = gatherer
        self._told: dict[str, list[Told]] = {}
        self._streams: dict[_Stream, list[Told]] = {}
        self._known: set[_Key] = set()
        self._done: set[_Key] = set()
        self._gaps: set[Gap] = set()

    def __len__(self) -> int:
        return len(self._known)

    def forget(self, before_us: int) -> None:
        """Forget the settled books that cannot be told again, being too old, and their gaps."""
        self._done = {key for key in self._done if key[1] >= before_us}
        oldest = self.oldest
        needed = before_us if oldest is None else min(before_us, oldest)
        self._gaps = {gap for gap in self._gaps if gap.detected_at >= needed}

    @property
    def oldest(self) -> int | None:
        """The receive stamp of the oldest that waits."""
        return min((told[0].stamp for told in self._told.values()), default=None)

    def tell(self, rows: Iterable[OrderbookSnapshot | Keyframe], heard_from_us: int) -> None:
        """Take books; those that wait already, or were settled not long ago, are passed over.

        Changes will be heard from that moment on: of earlier books they may have gone by.
        """
        for row in rows:
            stamp = row.taken_at if isinstance(row, Keyframe) else row.snapshot_ts
            known = (row.ticker, stamp, type(row))
            if known not in self._known and known not in self._done:
                self._known.add(known)
                told = Told(row, stamp, late=stamp < heard_from_us + _LATENCY_US)
                insort(self._told.setdefault(row.ticker, []), told, key=_stamp)
                insort(self._streams.setdefault((row.conn, row.sid), []), told, key=_stamp)

    def missed(self, gaps: Iterable[Gap]) -> None:
        """Take what the gatherer says it missed."""
        self._gaps.update(gap for gap in gaps if not gap.resolved)

    def heard(self, deltas: Sequence[OrderbookDelta]) -> None:
        """Take changes as the gatherer kept them, in whichever order."""
        told_by_ticker, told_by_stream = self._told, self._streams
        for delta in deltas:
            same = told_by_stream.get((delta.conn, delta.sid))
            if same is not None:
                at = bisect_left(same, delta.received_at, key=_stamp) - 1
                if at >= 0:
                    heard = same[at].then
                    if heard is None or delta.received_at < heard.received_at:
                        same[at].then = delta
            told = told_by_ticker.get(delta.ticker)
            if told is None:
                continue
            at = bisect_left(told, delta.received_at, key=_stamp) - 1
            if at >= 0:
                known = told[at].next
                if known is None or delta.received_at < known.received_at:
                    told[at].next = delta

    def settled(self, until_us: int) -> list[Told]:
        """Take out the books whose place can be found now that all is merged up to an instant."""
        found: list[Told] = []
        for ticker, told in [*self._told.items()]:
            following: OrderbookDelta | None = None
            for each in reversed(told):
                following = each.next or following
                each.next = following
            ready = [each for each in told if _is_ready(each, until_us)]
            found += ready
            left = [each for each in told if not _is_ready(each, until_us)]
            for each in ready:
                self._known.discard(key := (ticker, each.stamp, type(each.row)))
                self._done.add(key)
            self._told[ticker] = left
            if not left:
                del self._told[ticker]
        self._let_go(found)
        return found

    def _let_go(self, settled: list[Told]) -> None:
        done = {*map(id, settled)}
        for stream, same in [*self._streams.items()]:
            then: OrderbookDelta | None = None
            for each in reversed(same):
                each.then = then = each.then or then
            self._streams[stream] = [each for each in same if id(each) not in done]
            if not self._streams[stream]:
                del self._streams[stream]

    def broken(self, told: Told, following: OrderbookDelta) -> bool:
        """Say whether something was missed between a book and a change after it."""
        row = told.row
        stream = (following.conn, following.sid)
        if row.conn != following.conn or row.sid not in (following.sid, None):
            return True
        return any(
            (gap.conn, gap.sid) == stream and told.stamp < gap.detected_at <= following.received_at
            for gap in self._gaps
        )


def place(told: Told, waiting: Waiting, own: SeriesEngine, merged: SeriesEngine) -> Placed | None:
    """Answer the place of a book; None when it has none that is certain.

    It ends just before the first change the same gatherer heard after it, if every change of that
    very instant came after it too. Of a book that did not change for a minute, or not until
    something was missed, a change of any market on the same subscription does: the book's own would
    have come before it. The row is answered with its place for a time; the exchange time of a
    snapshot is then that from which on it holds.
    """
    for following in _following(told):
        instant = following.exchange_ts
        if not waiting.broken(told, following) and _is_clear(told, instant, own, merged):
            return _placed(told, instant - 1, waiting.gatherer)
    return None


def _following(told: Told) -> Iterator[OrderbookDelta]:
    """Answer changes before which a book may end, those that make it longest first."""
    heard = [each for each in (told.next, told.then) if each is not None]
    if told.next is not None and told.next.exchange_ts <= told.stamp + QUIET_US:
        yield told.next
    yield from sorted(heard, key=_received)[:1]


def _is_clear(told: Told, instant: int, own: SeriesEngine, merged: SeriesEngine) -> bool:
    """Tell whether every change of a book at an instant came after it was told."""
    window = deltas_between(told.row.ticker, instant, instant + 1)
    after = {_identity(each) for each in own.read(window) if each.received_at > told.stamp}
    return all(_identity(each) in after for each in merged.read(window))


def followed(told: Told, placed: Placed | None, gatherer: str) -> Followed | None:
    """Answer since when a gatherer heard all changes of a book it told; None if it names no stream.

    Whatever changed later than the first change heard after the book, of whichever market on the
    same subscription, was told after it.
    """
    row = told.row
    if row.conn is None or row.sid is None:
        return None
    since = _held_from(told) if placed is None else min(_held_from(told), placed.at_us)
    return Followed(since, row.ticker, gatherer, row.conn, row.sid, told.stamp)


def _held_from(told: Told) -> int:
    """Answer an instant at which a book was certainly told already."""
    latest = told.stamp + SLACK_US
    return latest if told.then is None else min(latest, told.then.exchange_ts)


def first_after(told: Told, own: SeriesEngine) -> OrderbookDelta | None:
    """Look up the first change after a book where its gatherer keeps them."""
    window = deltas_between(told.row.ticker, told.stamp - _HELD_UP_US, told.stamp + _HELD_UP_US)
    later = (each for each in own.read(window) if each.received_at > told.stamp)
    return min(later, key=_received, default=None)


def bounded(gap: Gap, own: SeriesEngine) -> Gap:
    """Answer a gap with the exchange times of the last change before it and the first after.

    They are those of its subscription, whichever the market; None where there is none close by.
    """
    known = gap.from_ts is not None and (gap.to_ts is not None or gap.reason not in _PASSING)
    if gap.resolved or not gap.conn or known:
        return gap
    at = gap.detected_at
    window = Window(DELTAS, at - BOUND_US, at + BOUND_US, order="any")
    stream = (gap.conn, gap.sid)
    mine = [each for each in own.read(window) if (each.conn, each.sid) == stream]
    before = max((each for each in mine if each.received_at < at), key=_received, default=None)
    after = min((each for each in mine if each.received_at >= at), key=_received, default=None)
    return gap._replace(
        from_ts=_or(gap.from_ts, before),
        to_ts=_or(gap.to_ts, after),
    )


def _or(known: int | None, delta: OrderbookDelta | None) -> int | None:
    return known if known is not None or delta is None else delta.exchange_ts


def _is_ready(told: Told, until_us: int) -> bool:
    if told.next is not None and told.next.exchange_ts <= until_us:
        return True
    return told.stamp + QUIET_US <= until_us


def _identity(delta: OrderbookDelta) -> tuple[bool, int, int, int]:
    return delta.side, delta.price, delta.size_delta, delta.ord


def _placed(told: Told, at_us: int, gatherer: str) -> Placed:
    row = told.row
    if isinstance(row, Keyframe):
        placed: OrderbookSnapshot | Keyframe = row._replace(
            taken_at=at_us, exchange_ts=at_us, gatherer="merged"
        )
    else:
        placed = row._replace(snapshot_ts=at_us, exchange_ts=min(_held_from(told), at_us))
    return Placed(placed, at_us, gatherer)
