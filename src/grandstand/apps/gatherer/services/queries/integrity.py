"""Integrity of recorded data: gaps and interruptions between a base and an instant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from grandstand.apps.gatherer.domain.messages import datetime_from_us
from grandstand.apps.gatherer.domain.subscriptions import CLOCK_SLACK_US
from grandstand.apps.gatherer.store import (
    EARLIEST,
    EXCHANGE_TIME,
    LATEST,
    FollowedSince,
    GapRecord,
    Session,
    followed_between,
    gaps_between,
    sessions_between,
)
from grandstand.storage.series.query import Window

R = TypeVar("R", bound=tuple[Any, ...])

_MARGIN_US: Final = 60_000_000
# Every followed book is recorded at least each hour, if only as a keyframe.
_LOOKBACK_US: Final = 2 * 3600 * 1_000_000
_WATERMARKS: Final = frozenset(("whole", "stopped"))
# After these gaps deltas are recorded again at once, so another gatherer can fill them.
HEALING_REASONS: Final = frozenset((None, "missed", "refused"))
# These gaps mean that a book was wrong since an unknown time.
WRONG_BOOK_REASONS: Final = frozenset(("negative", "crossed", "audit"))
_END_REASONS: Final = frozenset(("disconnected", "ended"))


class RowReader(Protocol):
    """Something windows can be read from, such as a series engine."""

    def read(self, window: Window[R]) -> Iterator[R]:
        """Return the rows of a window in its order."""
        ...


@dataclass(frozen=True, slots=True)
class DeltaPath:
    """The deltas from a base to an instant, and the streams they came from.

    `until` is the position of the first delta after the instant. `streams` are gatherer, connection
    and sid of each row. A base later than the instant says nothing of the time before `held_from`:
    the market may not have been followed then.
    """

    ticker: str
    since: int
    at: int
    until: int
    streams: frozenset[tuple[str | None, int | None, int | None]] = field(default=frozenset())
    held_from: int = EARLIEST


class Interruption(NamedTuple):
    """A gatherer is not reliable from `start` up to `end`."""

    start: int
    end: int
    gatherer: str
    reason: str


def find_doubt(engine: RowReader, path: DeltaPath) -> str | None:
    """Return why the book at the end of a path is in doubt; None if it is not.

    Every interruption before the instant counts. If the base is later than the instant, there must
    be none between them.
    """
    if path.since > path.at:
        return _find_doubt_before_base(engine, path)
    end = min(path.at + _MARGIN_US, LATEST)
    until = min(path.until, end)
    gaps = [*engine.read(gaps_between(path.since - CLOCK_SLACK_US, end))]
    sessions = [*engine.read(sessions_between(path.since - _MARGIN_US, end))]
    explained = {(gap.gatherer, gap.conn) for gap in gaps if gap.reason in _END_REASONS}
    sessions = [
        session
        for session in sessions
        if session.what != "closed" or (session.gatherer, session.conn) not in explained
    ]
    # The next delta may be the one that revealed the gap before it.
    gaps = [
        gap
        for gap in gaps
        if path.since < gap.detected_at
        and (gap.detected_at <= until or gap.reason in WRONG_BOOK_REASONS)
        and (gap.conn or gap.tickers is not None)
    ]
    stops = _session_interruptions(sessions, path, until)
    found = sorted((*_gap_interruptions(gaps, path), *stops))
    return next(
        (interruption.reason for interruption in found if interruption.start <= path.at), None
    )


def _find_doubt_before_base(engine: RowReader, path: DeltaPath) -> str | None:
    received = max(path.held_from, path.since - _MARGIN_US)
    if path.at < received:
        return f"the market was first received at {format_instant(received)}"
    start, end = path.at - CLOCK_SLACK_US, path.since + 1
    gaps = _gap_interruptions(engine.read(gaps_between(start, end)), path)
    sessions = engine.read(sessions_between(path.at, end))
    conns = {conn for _, conn, _ in path.streams} | {0}
    ended = (session for session in sessions if session.what != "whole" and session.conn in conns)
    reasons = (
        *(gap.reason for gap in gaps),
        *(_describe_session(session, path.at) for session in ended),
    )
    return next(iter(reasons), None)


def format_instant(at_us: int) -> str:
    """Format microseconds since 1970 as ISO 8601."""
    return datetime_from_us(at_us).isoformat().replace("+00:00", "Z")


def _gap_interruptions(gaps: Iterable[GapRecord], path: DeltaPath) -> Iterator[Interruption]:
    for gap in gaps:
        if not gap.resolved and _affects(gap, path):
            yield Interruption(gap_start(gap), LATEST, gap.gatherer, describe_gap(gap))


def gap_start(gap: GapRecord) -> int:
    """Return the exchange time before which nothing is missing because of a gap."""
    if gap.reason in WRONG_BOOK_REASONS:
        return EARLIEST
    return gap.detected_at - CLOCK_SLACK_US if gap.from_ts is None else gap.from_ts


def describe_gap(gap: GapRecord) -> str:
    return (
        f"{gap.gatherer} has a gap ({gap.reason or 'missed'}) found at "
        f"{format_instant(gap.detected_at)} on connection {gap.conn}, subscription {gap.sid}"
    )


def affects_market(gap: GapRecord, ticker: str) -> bool:
    """Return whether a gap affects a market: it lists it, or none."""
    markets = gap.markets
    return markets is None or ticker in markets


def _affects(gap: GapRecord, path: DeltaPath) -> bool:
    if gap.tickers is not None:
        return affects_market(gap, path.ticker)
    if not gap.conn:
        return True
    received = {(conn, sid) for name, conn, sid in path.streams if name in (gap.gatherer, None)}
    return not received or any(
        conn in (gap.conn, None) and sid in (gap.sid, None) for conn, sid in received
    )


def _session_interruptions(
    sessions: list[Session], path: DeltaPath, until: int
) -> Iterator[Interruption]:
    """Yield the interruptions according to sessions.

    A later delta proves nothing by itself: a killed process may have stored it and not the gap
    before it. Only the watermarks `whole` and `stopped` prove both.
    """
    for name in {session.gatherer for session in sessions}:
        own = [session for session in sessions if session.gatherer == name]
        conns = {conn for owner, conn, _ in path.streams if owner in (name, None)}
        watermark: int | None = None
        stopped = False
        for session in own:
            inside = path.since < session.at < until
            if session.what in ("whole", "stopped"):
                watermark = session.at
            stopped = session.what == "stopped" or (stopped and session.what != "started")
            if not inside or session.what in ("whole", "opened"):
                continue
            if (
                session.what == "closed"
                and conns
                and session.conn not in conns
                and None not in conns
            ):
                continue
            start = session.at
            if session.what == "started":
                start, watermark = path.since if watermark is None else watermark, session.at
            yield Interruption(
                start - CLOCK_SLACK_US, LATEST, name, _describe_session(session, start)
            )
        if watermark is None or stopped or path.until <= watermark:
            continue
        if watermark - CLOCK_SLACK_US < path.at < LATEST:
            reason = f"{name} has no watermark after {format_instant(watermark)}"
            yield Interruption(watermark - CLOCK_SLACK_US, LATEST, name, reason)


def _describe_session(session: Session, start: int) -> str:
    reason = f" ({session.why})" if session.why else ""
    if session.what == "started":
        return f"{session.gatherer} was not running from {format_instant(start)}{reason}"
    what = f"connection {session.conn} was {session.what}" if session.conn else "it stopped"
    return f"{session.gatherer}: {what} at {format_instant(session.at)}{reason}"


class _CoveredSpan(NamedTuple):
    """A gatherer received every change from `start` up to `end`; `reason` is why not after."""

    start: int
    end: int
    reason: str


def find_uncovered(
    engine: RowReader, ticker: str, after: int, until: int, *, proven: bool = False
) -> Interruption | None:
    """Return the first period between two instants that no gatherer covered completely.

    None if some gatherer followed the market on an unbroken subscription at every instant between.
    Watermarks count too, unless it is `proven` otherwise that everything is stored.
    """
    if until <= after:
        return None
    window = followed_between(ticker, max(EARLIEST, after - _LOOKBACK_US), until + 1)
    followed = [*_relevant(engine.read(window), after)]
    first = min((row.heard_at for row in followed), default=after)
    end = min(until + _MARGIN_US, LATEST)
    gaps = [gap for gap in engine.read(gaps_between(first, end)) if affects_market(gap, ticker)]
    sessions = [*engine.read(sessions_between(first - _MARGIN_US, end))]
    spans = [
        span
        for row in followed
        for span in _covered_spans(
            row,
            [gap for gap in gaps if gap.gatherer == row.gatherer],
            [session for session in sessions if session.gatherer == row.gatherer],
            proven=proven,
        )
    ]
    return _first_uncovered(spans, after, until)


def _relevant(followed: Iterable[FollowedSince], after: int) -> Iterator[FollowedSince]:
    """Yield the last row of each gatherer up to an instant, and all later ones."""
    last: dict[str, FollowedSince] = {}
    for row in followed:
        if row.since > after:
            yield row
        else:
            last[row.gatherer] = row
    yield from last.values()


def _covered_spans(
    followed: FollowedSince, gaps: Sequence[GapRecord], sessions: Sequence[Session], *, proven: bool
) -> Iterator[_CoveredSpan]:
    """Yield the spans in which everything was received on the subscription of a book."""
    own = [gap for gap in gaps if _interrupts(gap, followed)]
    if any(gap.reason in WRONG_BOOK_REASONS for gap in own):
        return
    ends = [(gap_start(gap), describe_gap(gap)) for gap in own if gap.reason not in HEALING_REASONS]
    ends += _coverage_ends(followed, sessions, closing=not ends, proven=proven)
    end, reason = min(ends, default=(LATEST, ""))
    start = followed.since + 1
    for gap in sorted((gap for gap in own if gap.reason in HEALING_REASONS), key=gap_start):
        if gap_start(gap) > start:
            yield _CoveredSpan(start, min(end, gap_start(gap)), describe_gap(gap))
        start = max(start, gap.detected_at + CLOCK_SLACK_US if gap.to_ts is None else gap.to_ts + 1)
    if start < end:
        yield _CoveredSpan(start, end, reason)


def _interrupts(gap: GapRecord, followed: FollowedSince) -> bool:
    if gap.resolved or gap.detected_at <= followed.heard_at or gap.conn != followed.conn:
        return False
    # A market that is no longer listed may be recorded without its subscription.
    return gap.sid == followed.sid or gap.reason == "left"


def _coverage_ends(
    followed: FollowedSince, sessions: Sequence[Session], *, closing: bool, proven: bool
) -> Iterator[tuple[int, str]]:
    """Yield up to when a gatherer is reliable, and why not longer."""
    name, watermark, stored, stopped = followed.gatherer, EARLIEST, EARLIEST, False
    for session in sessions:
        if session.what == "started" and session.at > followed.heard_at:
            yield stored, f"{name} was not running from {format_instant(watermark)}"
            return
        if session.what == "closed" and session.conn == followed.conn and closing:
            reason = f"{name}: connection {session.conn} was closed at {format_instant(session.at)}"
            yield max(stored, session.at - CLOCK_SLACK_US), reason
        if session.what in _WATERMARKS:
            watermark, stopped = session.at, session.what == "stopped"
            stored = max(
                stored, watermark if session.why == EXCHANGE_TIME else watermark - CLOCK_SLACK_US
            )
    if not stopped and not proven:
        yield stored, f"{name} has no watermark after {format_instant(watermark)}"


def _first_uncovered(spans: Sequence[_CoveredSpan], after: int, until: int) -> Interruption | None:
    """Return the first period between two instants that is in no span."""
    at, reason = after + 1, set[str]()
    while at <= until:
        here = [span for span in spans if span.start <= at < span.end]
        if not here:
            start = min((span.start for span in spans if span.start > at), default=LATEST)
            unknown = f"no gatherer followed the market at {format_instant(at)}"
            return Interruption(at, start, "", "; ".join(sorted(reason)) or unknown)
        last = max(span.end for span in here)
        at, reason = last, {span.reason for span in here if span.end == last}
    return None
