"""Kept here: the book of a market at any instant, from the last base and the changes after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from grandstand.apps.gatherer.model.lines import SLACK_US
from grandstand.apps.gatherer.service.asking.covering import uncovered
from grandstand.apps.gatherer.service.asking.proof import Way, doubt, instant_text
from grandstand.apps.gatherer.service.asking.together import Readable, together
from grandstand.apps.gatherer.service.asking.values import BadLevel, BookAt
from grandstand.apps.gatherer.store import Keyframe, OrderbookDelta, OrderbookSnapshot
from grandstand.apps.gatherer.store.keyframes import parse_levels
from grandstand.apps.gatherer.store.patterns import (
    EARLIEST,
    LATEST,
    all_deltas,
    audits_between,
    deltas_between,
    first_deltas,
    latest_keyframes,
    latest_snapshots,
)

# Changes of one market come in the order of exchange time, or so nearly that this many rows, or
# this stretch, hold any that do not.
_OUT_OF_ORDER_ROWS: Final = 64
_OUT_OF_ORDER_US: Final = 100_000
# A snapshot says no exchange time: changes after it may be older than its receipt by the time it
# was held up on the way.
_HELD_UP_US: Final = 600_000_000
# A keyframe taken because of the time does not say that of its newest change; one before it does.
_KEYFRAMES: Final = 4
# Clocks differ by less than half of this.
_NEAR_US: Final = 60_000_000
_DAY_US: Final = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a book is begun from: its position, its levels, and since when changes may follow.

    It is known to have been the same from `held_from` up to its position.
    """

    at: int
    held_from: int
    changes_from: int
    yes: dict[int, int]
    no: dict[int, int]
    gatherer: str | None
    conn: int | None
    sid: int | None


class Books:
    """Books at instants of exchange time.

    Of one gatherer's own store the order of rows is that of their receipt; receive stamps of
    several gatherers do not compare, so in a merged store it is that of exchange time, and the
    merger has given every snapshot its place in it.
    """

    def __init__(self, engine: Readable, *, merged: bool = False) -> None:
        self._engine = engine
        self._merged = merged

    def latest(self, ticker: str) -> BookAt:
        """Answer the book after the last change kept."""
        base = self.base(ticker, LATEST)
        return self._built(ticker, None, base, LATEST)

    def at(self, ticker: str, at_us: int) -> BookAt:
        """Answer the book at an instant: after every change of that instant or before it."""
        base, until = self.begun(ticker, at_us)
        found = self._built(ticker, at_us, base, until)
        if self._merged and found.doubt and base is not None and base.at > at_us:
            earlier = self.base(ticker, at_us + 1)
            other = None if earlier is None else self._built(ticker, at_us, earlier, until)
            if other is not None and other.exact:
                return other
        return found

    def each(self, ticker: str, instants: Iterable[int]) -> Iterator[BookAt]:
        """Answer the books at instants in their order, each once, reading what is close once."""
        for near, some in together(self._engine, instants):
            books = Books(near, merged=self._merged)
            yield from (books.at(ticker, at_us) for at_us in some)

    def plain(self, ticker: str, at_us: int) -> BookAt:
        """Answer the book that comes of the last base before an instant; nothing is proven."""
        base = self.base(ticker, at_us + 1)
        return self._built(ticker, at_us, base, LATEST, plain=True)

    def begun(self, ticker: str, at_us: int) -> tuple[Origin | None, int]:
        """Answer the base of an instant, and the position of the first change after it."""
        near = self._soon_after(ticker, at_us)
        if near is None:
            near = self._first_after(ticker, at_us, at_us + 1 + _NEAR_US, _OUT_OF_ORDER_ROWS)
        until = at_us + _NEAR_US // 2 if near is None else near
        base = self.base(ticker, until)
        if near is None and base is None:
            near = self._first_after(ticker, at_us, LATEST, 1)
            base = None if near is None else self.base(ticker, near)
        return base, LATEST if near is None else near

    def base(self, ticker: str, until: int) -> Origin | None:
        """Answer the newest base before a position; None when there is none."""
        keyframes = [*self._engine.read(latest_keyframes(ticker, until, _KEYFRAMES))]
        newest = keyframes[0] if keyframes else None
        start = EARLIEST if newest is None else newest.taken_at
        # No change after a base is older than one before it.
        told = (each.exchange_ts for each in keyframes if each.exchange_ts is not None)
        known = next(told, None)
        for snapshot in self._engine.read(latest_snapshots(ticker, start, until)):
            if snapshot.source == "ws" and (newest is None or snapshot.snapshot_ts > start):
                return self._base(snapshot.snapshot_ts, known, snapshot)
        return None if newest is None else self._base(newest.taken_at, known, newest)

    def changes(self, ticker: str, base: Origin, at_us: int, until: int) -> list[OrderbookDelta]:
        """Answer the changes after a base, up to an instant and before a position."""
        window = deltas_between(ticker, base.changes_from, min(at_us + 1, LATEST))
        since, rows = base.at, self._engine.read(window)
        if self._merged:
            return [row for row in rows if since < row.exchange_ts < until]
        return [row for row in rows if since < row.received_at < until]

    def snapshots(self, ticker: str, start: int, end: int) -> Iterator[tuple[int, Origin]]:
        """Answer the bases that were received, without keyframes, newest first."""
        for snapshot in self._engine.read(latest_snapshots(ticker, start, end)):
            if snapshot.source == "ws":
                yield snapshot.snapshot_ts, self._base(snapshot.snapshot_ts, None, snapshot)

    def position(self, delta: OrderbookDelta) -> int:
        """Answer the place of a change in the order of this store."""
        return delta.exchange_ts if self._merged else delta.received_at

    def _built(
        self,
        ticker: str,
        at_us: int | None,
        base: Origin | None,
        until: int,
        *,
        plain: bool = False,
    ) -> BookAt:
        if base is None:
            return BookAt(ticker, at_us, (), (), "no snapshot of this market is kept before it")
        instant = LATEST if at_us is None else at_us
        rows = self.changes(ticker, base, instant, until)
        yes, no = {**base.yes}, {**base.no}
        for row in rows:
            side = yes if row.side else no
            side[row.price] = side.get(row.price, 0) + row.size_delta
        bad = (*_bad(yes, side=True), *_bad(no, side=False))
        return BookAt(
            ticker,
            at_us,
            _levels(yes),
            _levels(no),
            doubt="" if plain else self._doubt(ticker, base, rows, (instant, until), bad),
            bad=bad,
            base_us=base.at,
            deltas=len(rows),
        )

    def _doubt(
        self,
        ticker: str,
        base: Origin,
        rows: Sequence[OrderbookDelta],
        reach: tuple[int, int],
        bad: tuple[BadLevel, ...],
    ) -> str | None:
        instant, until = reach
        if bad:
            return f"{len(bad)} levels come out below nothing: something was missed"
        if self._merged:
            return self._merged_doubt(ticker, base, rows, instant)
        streams = {(base.gatherer, base.conn, base.sid)}
        streams.update((row.gatherer, row.conn, row.sid) for row in rows)
        since = base.at
        if instant < base.held_from and not rows and not self._told_after(base, instant):
            # It is the book of that instant only if nothing was missed from an earlier base to it.
            sure = self.base(ticker, instant + 1 - SLACK_US)
            earlier = sure or self.base(ticker, base.at)
            unheard = f"the market was first heard at {instant_text(base.held_from)}"
            if earlier is None:
                return unheard
            way = Way(ticker, earlier.at, base.at + SLACK_US, until, frozenset(streams))
            found = doubt(self._engine, way)
            return found if sure is not None else found or unheard
        way = Way(ticker, since, instant, until, frozenset(streams), base.held_from)
        return doubt(self._engine, way)

    def _merged_doubt(
        self, ticker: str, base: Origin, rows: Sequence[OrderbookDelta], instant: int
    ) -> str | None:
        """Answer what puts a book in doubt where gatherers are merged; None when nothing does."""
        if base.held_from <= instant <= base.at:
            return None
        latest = instant == LATEST
        if latest:
            instant = max((row.exchange_ts for row in rows), default=base.at)
        differs = self._hole(ticker, instant)
        if differs is not None:
            return differs
        span = sorted((base.at, instant))
        missed = uncovered(self._engine, ticker, *span, proven=latest)
        return None if missed is None else missed.why

    def _told_after(self, base: Origin, instant: int) -> bool:
        """Say whether an instant is after a base for certain: its stream told of one after it."""
        stream = (base.conn, base.sid)
        rows = self._engine.read(all_deltas(base.at - SLACK_US, instant + 1))
        return any(row.received_at > base.at and (row.conn, row.sid) == stream for row in rows)

    def _hole(self, ticker: str, instant: int) -> str | None:
        end = min(instant + _DAY_US, LATEST)
        for audit in self._engine.read(audits_between(ticker, instant + 1, end)):
            if audit.against == "snapshot":
                differs = audit.outcome == "different" and (audit.since or 0) <= instant
                return f"{audit.gatherer} later told another book" if differs else None
        return None

    def _soon_after(self, ticker: str, at_us: int) -> int | None:
        window = deltas_between(ticker, at_us + 1, at_us + 1 + _OUT_OF_ORDER_US)
        return min(map(self.position, self._engine.read(window)), default=None)

    def _first_after(self, ticker: str, at_us: int, end: int, most: int) -> int | None:
        window = first_deltas(ticker, at_us + 1, min(end, LATEST), most)
        return min(map(self.position, self._engine.read(window)), default=None)

    def _base(self, at: int, known: int | None, row: Keyframe | OrderbookSnapshot) -> Origin:
        earliest = at - _HELD_UP_US
        if known is not None:
            earliest = max(earliest, known - _OUT_OF_ORDER_US)
        told_at = at if self._merged else at + SLACK_US
        if not self._merged and isinstance(row, Keyframe) and row.exchange_ts is not None:
            told_at = row.exchange_ts
        if self._merged and isinstance(row, OrderbookSnapshot) and row.exchange_ts is not None:
            told_at = min(at, row.exchange_ts)
        return Origin(
            at=at,
            held_from=told_at,
            changes_from=at + 1 if self._merged else earliest,
            yes=parse_levels(row.yes_bids),
            no=parse_levels(row.no_bids),
            gatherer=row.gatherer,
            conn=row.conn,
            sid=row.sid,
        )


def _levels(sizes: dict[int, int]) -> tuple[tuple[int, int], ...]:
    return tuple(sorted((price, size) for price, size in sizes.items() if size > 0))


def _bad(sizes: dict[int, int], *, side: bool) -> Iterator[BadLevel]:
    return (BadLevel(side, price, size) for price, size in sorted(sizes.items()) if size < 0)
