"""Kept here: whether the way from a base to an instant is unbroken, and what broke it if not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

import msgspec

from grandstand.apps.gatherer.model.lines import SLACK_US
from grandstand.apps.gatherer.store import Gap, Session
from grandstand.apps.gatherer.store.patterns import EARLIEST, LATEST, gaps_between, sessions_between
from grandstand.storage.series.engines.protocol import SeriesEngine

_BEFORE_US: Final = 60_000_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# After these the next changes are kept again, so that another gatherer can fill the hole.
_PASSING: Final = frozenset((None, "missed", "refused"))
# These say that a book was wrong, and not since when.
_WRONG: Final = frozenset(("negative", "crossed", "audit"))
_ENDINGS: Final = frozenset(("disconnected", "ended"))
_names: Final = msgspec.json.Decoder(list[str])


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


def doubt(engine: SeriesEngine, way: Way, *, merged: bool) -> str | None:
    """Answer what puts the book at the end of a way in doubt; None when nothing does.

    Of one gatherer every break before the instant counts. Of a merged store only what all
    gatherers missed at one time counts. Where the base is later than the instant, nothing at all
    may lie between them.
    """
    if way.since > way.at:
        return _backward(engine, way)
    if merged:
        missed = missed_by_all(engine, way)
        return None if missed is None else missed.why
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
        and (gap.detected_at <= until or gap.reason in _WRONG)
        and (gap.conn or gap.tickers is not None)
    ]
    stops = _stops(sessions, way, until, 0, proven=way.until < LATEST)
    found = sorted((*_gaps(gaps, way), *stops))
    return next((each.why for each in found if each.start <= way.at), None)


def missed_by_all(engine: SeriesEngine, way: Way) -> Break | None:
    """Answer the first time on a way, in a merged store, at which every gatherer was away."""
    end = min(way.at + _BEFORE_US, LATEST)
    gaps = [*engine.read(gaps_between(way.since - _BEFORE_US, end))]
    sessions = [*engine.read(sessions_between(way.since - _BEFORE_US, end))]
    breaks = [*_bounded(gaps, way), *_stops(_unexplained(sessions, gaps), way, end, SLACK_US)]
    names = {each.gatherer for each in sessions} | {each.gatherer for each in breaks}
    return _common(names, breaks, way)


def _backward(engine: SeriesEngine, way: Way) -> str | None:
    heard = max(way.held_from, way.since - _BEFORE_US)
    if way.at < heard:
        return f"the market was first heard at {instant_text(heard)}"
    start, end = way.at - SLACK_US, way.since + 1
    gaps = _gaps(engine.read(gaps_between(start, end)), way)
    sessions = engine.read(sessions_between(way.at, end))
    conns = {conn for _, conn, _ in way.streams} | {0}
    began = (each for each in sessions if each.what != "whole" and each.conn in conns)
    reasons = (*(gap.why for gap in gaps), *(_told(each, way.at) for each in began))
    return next(iter(reasons), None)


def instant_text(at_us: int) -> str:
    """Answer microseconds since 1970 as a date and time."""
    return (_EPOCH + timedelta(microseconds=at_us)).isoformat().replace("+00:00", "Z")


def _gaps(gaps: Iterable[Gap], way: Way) -> Iterator[Break]:
    for gap in gaps:
        if not gap.resolved and _concerns(gap, way):
            yield Break(_began(gap), LATEST, gap.gatherer, _named(gap))


def _began(gap: Gap) -> int:
    """Answer the instant before which nothing is missing because of a gap."""
    if gap.reason in _WRONG:
        return EARLIEST
    return gap.detected_at - SLACK_US if gap.from_ts is None else gap.from_ts


def _bounded(gaps: list[Gap], way: Way) -> Iterator[Break]:
    """Answer gaps as far as they reach: after them, changes are kept again."""
    healed = {_identity(gap): gap.resolved_at for gap in gaps if gap.resolved}
    for gap in gaps:
        if gap.resolved or not _concerns(gap, way):
            continue
        end = gap.detected_at + SLACK_US if gap.to_ts is None else gap.to_ts + 1
        if gap.reason not in _PASSING:
            resolved_at = healed.get(_identity(gap))
            end = LATEST if resolved_at is None else resolved_at + SLACK_US
        yield Break(_began(gap), end, gap.gatherer, _named(gap))


def _identity(gap: Gap) -> tuple[int, str, int, int, int]:
    return gap.detected_at, gap.gatherer, gap.conn, gap.sid, gap.expected_seq


def _named(gap: Gap) -> str:
    return (
        f"{gap.gatherer} has a gap ({gap.reason or 'missed'}) found at "
        f"{instant_text(gap.detected_at)} on connection {gap.conn}, subscription {gap.sid}"
    )


def _unexplained(sessions: list[Session], gaps: list[Gap]) -> list[Session]:
    """Answer sessions without the starts and ends that gaps tell of, market by market."""
    told = {(gap.gatherer, gap.conn) for gap in gaps if gap.reason in _ENDINGS}
    return [
        each
        for each in sessions
        if each.what not in ("closed", "started") or (each.gatherer, each.conn) not in told
    ]


def _concerns(gap: Gap, way: Way) -> bool:
    if gap.tickers is not None:
        return way.ticker in _names.decode(gap.tickers)
    if not gap.conn:
        return True
    heard = {(conn, sid) for name, conn, sid in way.streams if name in (gap.gatherer, None)}
    return not heard or any(
        conn in (gap.conn, None) and sid in (gap.sid, None) for conn, sid in heard
    )


def _stops(
    sessions: list[Session], way: Way, until: int, slack: int, *, proven: bool = False
) -> Iterator[Break]:
    """Answer the breaks that sessions tell of; `proven` says a later row shows all was kept.

    A first start within `slack` after the base is that of the process the base came from.
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
            if each.what == "started" and relied is None and each.at <= way.since + slack:
                continue
            if each.what == "closed" and conns and each.conn not in conns and None not in conns:
                continue
            start = each.at
            if each.what == "started":
                start, relied = way.since if relied is None else relied, each.at
            yield Break(start - SLACK_US, LATEST, name, _told(each, start))
        unproven = relied is not None and not stopped and relied - SLACK_US < way.at < LATEST
        if unproven and not proven and relied is not None:
            why = f"{name} has not proven that it kept everything after {instant_text(relied)}"
            yield Break(relied - SLACK_US, LATEST, name, why)


def _told(session: Session, start: int) -> str:
    reason = f" ({session.why})" if session.why else ""
    if session.what == "started":
        return f"{session.gatherer} was not running from {instant_text(start)}{reason}"
    what = f"connection {session.conn} was {session.what}" if session.conn else "it stopped"
    return f"{session.gatherer}: {what} at {instant_text(session.at)}{reason}"


def _common(names: set[str], breaks: list[Break], way: Way) -> Break | None:
    """Answer a break during which every gatherer was away; None when one was always there."""
    if not names:
        return None
    moments = sorted({way.since, *(each.start for each in breaks if way.since <= each.start)})
    for moment in moments:
        if moment > way.at:
            return None
        away = [each for each in breaks if each.start <= moment < each.end]
        if {each.gatherer for each in away} == names:
            why = "; ".join(sorted({each.why for each in away}))
            return Break(moment, min(each.end for each in away), "", why)
    return None
