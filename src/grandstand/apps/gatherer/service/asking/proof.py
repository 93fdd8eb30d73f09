"""Kept here: whether the way from a base to an instant is unbroken, and what broke it if not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from grandstand.apps.gatherer.model.lines import SLACK_US
from grandstand.apps.gatherer.service.asking.together import Readable
from grandstand.apps.gatherer.store import Gap, Session
from grandstand.apps.gatherer.store.patterns import EARLIEST, LATEST, gaps_between, sessions_between

_BEFORE_US: Final = 60_000_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# After these the next changes are kept again, so that another gatherer can fill the hole.
PASSING: Final = frozenset((None, "missed", "refused"))
# These say that a book was wrong, and not since when.
WRONG: Final = frozenset(("negative", "crossed", "audit"))
_ENDINGS: Final = frozenset(("disconnected", "ended"))


@dataclass(frozen=True, slots=True)
class Way:
    """The way from a base to an instant, and on which connections it was heard.

    `until` is the first position behind it: the change that follows the instant, where there is
    one. `streams` are gatherer, connection and sid of each row used. A base later than the instant
    says nothing of the time before `held_from`: the market may not have been followed then.
    """

    ticker: str
    since: int
    at: int
    until: int
    streams: frozenset[tuple[str | None, int | None, int | None]] = field(default=frozenset())
    held_from: int = EARLIEST


class Break(NamedTuple):
    """From `start` up to `end` a gatherer cannot be relied on."""

    start: int
    end: int
    gatherer: str
    why: str


def doubt(engine: Readable, way: Way) -> str | None:
    """Answer what puts the book at the end of a way, of one gatherer, in doubt; None if nothing.

    Every break before the instant counts. Where the base is later than the instant, nothing at
    all may lie between them.
    """
    if way.since > way.at:
        return _backward(engine, way)
    end = min(way.at + _BEFORE_US, LATEST)
    until = min(way.until, end)
    gaps = [*engine.read(gaps_between(way.since - SLACK_US, end))]
    sessions = [*engine.read(sessions_between(way.since - _BEFORE_US, end))]
    explained = {(gap.gatherer, gap.conn) for gap in gaps if gap.reason in _ENDINGS}
    sessions = [
        each
        for each in sessions
        if each.what != "closed" or (each.gatherer, each.conn) not in explained
    ]
    # The change that follows may be the very one that showed what was missed before it.
    gaps = [
        gap
        for gap in gaps
        if way.since < gap.detected_at
        and (gap.detected_at <= until or gap.reason in WRONG)
        and (gap.conn or gap.tickers is not None)
    ]
    stops = _stops(sessions, way, until)
    found = sorted((*_gaps(gaps, way), *stops))
    return next((each.why for each in found if each.start <= way.at), None)


def _backward(engine: Readable, way: Way) -> str | None:
    heard = max(way.held_from, way.since - _BEFORE_US)
    if way.at < heard:
        return f"the market was first heard at {instant_text(heard)}"
    start, end = way.at - SLACK_US, way.since + 1
    gaps = _gaps(engine.read(gaps_between(start, end)), way)
    sessions = engine.read(sessions_between(way.at, end))
    conns = {conn for _, conn, _ in way.streams} | {0}
    came = (each for each in sessions if each.what != "whole" and each.conn in conns)
    reasons = (*(gap.why for gap in gaps), *(_told(each, way.at) for each in came))
    return next(iter(reasons), None)


def instant_text(at_us: int) -> str:
    """Answer microseconds since 1970 as a date and time."""
    return (_EPOCH + timedelta(microseconds=at_us)).isoformat().replace("+00:00", "Z")


def _gaps(gaps: Iterable[Gap], way: Way) -> Iterator[Break]:
    for gap in gaps:
        if not gap.resolved and _concerns(gap, way):
            yield Break(began(gap), LATEST, gap.gatherer, named(gap))


def began(gap: Gap) -> int:
    """Answer the instant before which nothing is missing because of a gap."""
    if gap.reason in WRONG:
        return EARLIEST
    return gap.detected_at - SLACK_US if gap.from_ts is None else gap.from_ts


def named(gap: Gap) -> str:
    """Answer what is told of a gap."""
    return (
        f"{gap.gatherer} has a gap ({gap.reason or 'missed'}) found at "
        f"{instant_text(gap.detected_at)} on connection {gap.conn}, subscription {gap.sid}"
    )


def names_market(gap: Gap, ticker: str) -> bool:
    """Tell whether a gap is one of a market: it names it, or none at all."""
    markets = gap.named
    return markets is None or ticker in markets


def _concerns(gap: Gap, way: Way) -> bool:
    if gap.tickers is not None:
        return names_market(gap, way.ticker)
    if not gap.conn:
        return True
    heard = {(conn, sid) for name, conn, sid in way.streams if name in (gap.gatherer, None)}
    return not heard or any(
        conn in (gap.conn, None) and sid in (gap.sid, None) for conn, sid in heard
    )


def _stops(sessions: list[Session], way: Way, until: int) -> Iterator[Break]:
    """Answer the breaks that sessions tell of.

    A change that follows proves nothing by itself: of a process that was killed it may be kept,
    and the gap before it not. Only `whole` and `stopped` say that both are.
    """
    for name in {each.gatherer for each in sessions}:
        mine = [each for each in sessions if each.gatherer == name]
        conns = {conn for owner, conn, _ in way.streams if owner in (name, None)}
        relied: int | None = None
        stopped = False
        for each in mine:
            inside = way.since < each.at < until
            if each.what in ("whole", "stopped"):
                relied = each.at
            stopped = each.what == "stopped" or (stopped and each.what != "started")
            if not inside or each.what in ("whole", "opened"):
                continue
            if each.what == "closed" and conns and each.conn not in conns and None not in conns:
                continue
            start = each.at
            if each.what == "started":
                start, relied = way.since if relied is None else relied, each.at
            yield Break(start - SLACK_US, LATEST, name, _told(each, start))
        if relied is None or stopped or way.until <= relied:
            continue
        if relied - SLACK_US < way.at < LATEST:
            why = f"{name} has not proven that it kept everything after {instant_text(relied)}"
            yield Break(relied - SLACK_US, LATEST, name, why)


def _told(session: Session, start: int) -> str:
    reason = f" ({session.why})" if session.why else ""
    if session.what == "started":
        return f"{session.gatherer} was not running from {instant_text(start)}{reason}"
    what = f"connection {session.conn} was {session.what}" if session.conn else "it stopped"
    return f"{session.gatherer}: {what} at {instant_text(session.at)}{reason}"
