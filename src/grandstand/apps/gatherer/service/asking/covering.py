"""Kept here: whether, in a merged store, some gatherer heard every change of a market at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from grandstand.apps.gatherer.model.lines import SLACK_US
from grandstand.apps.gatherer.service.asking.proof import (
    PASSING,
    WRONG,
    Break,
    began,
    instant_text,
    named,
    names_market,
)
from grandstand.apps.gatherer.service.asking.together import Readable
from grandstand.apps.gatherer.store import TOLD, Followed, Gap, Session
from grandstand.apps.gatherer.store.patterns import (
    EARLIEST,
    LATEST,
    followed_between,
    gaps_between,
    sessions_between,
)

# Every book that is followed is told again each hour, if only as a keyframe.
_LOOKED_BACK_US: Final = 2 * 3600 * 1_000_000
_AROUND_US: Final = 60_000_000
_RELIED: Final = frozenset(("whole", "stopped"))


class _Stretch(NamedTuple):
    """From `start` up to `end` a gatherer heard every change; then not, and `why`."""

    start: int
    end: int
    why: str


def uncovered(
    engine: Readable, ticker: str, after: int, until: int, *, proven: bool = False
) -> Break | None:
    """Answer the first time after an instant, up to another, of which nobody heard everything.

    None when at any instant between them some gatherer followed the market on a subscription that
    was unbroken. How far gatherers have proven to have kept everything counts too, unless it is
    `proven` otherwise.
    """
    if until <= after:
        return None
    window = followed_between(ticker, max(EARLIEST, after - _LOOKED_BACK_US), until + 1)
    followed = [*_needed(engine.read(window), after)]
    first = min((each.heard_at for each in followed), default=after)
    end = min(until + _AROUND_US, LATEST)
    gaps = [gap for gap in engine.read(gaps_between(first, end)) if names_market(gap, ticker)]
    sessions = [*engine.read(sessions_between(first - _AROUND_US, end))]
    stretches = [
        stretch
        for each in followed
        for stretch in _stretches(
            each,
            [gap for gap in gaps if gap.gatherer == each.gatherer],
            [session for session in sessions if session.gatherer == each.gatherer],
            proven=proven,
        )
    ]
    return _first_without(stretches, after, until)


def _needed(followed: Iterable[Followed], after: int) -> Iterator[Followed]:
    """Answer the last of each gatherer up to an instant, and all after it."""
    last: dict[str, Followed] = {}
    for each in followed:
        if each.since > after:
            yield each
        else:
            last[each.gatherer] = each
    yield from last.values()


def _stretches(
    followed: Followed, gaps: Sequence[Gap], sessions: Sequence[Session], *, proven: bool
) -> Iterator[_Stretch]:
    """Answer the stretches in which all was heard on the subscription of a book."""
    mine = [gap for gap in gaps if _breaks(gap, followed)]
    if any(gap.reason in WRONG for gap in mine):
        return
    ends = [(began(gap), named(gap)) for gap in mine if gap.reason not in PASSING]
    ends += _stops(followed, sessions, closing=not ends, proven=proven)
    end, why = min(ends, default=(LATEST, ""))
    start = followed.since + 1
    for gap in sorted((gap for gap in mine if gap.reason in PASSING), key=began):
        if began(gap) > start:
            yield _Stretch(start, min(end, began(gap)), named(gap))
        start = max(start, gap.detected_at + SLACK_US if gap.to_ts is None else gap.to_ts + 1)
    if start < end:
        yield _Stretch(start, end, why)


def _breaks(gap: Gap, followed: Followed) -> bool:
    if gap.resolved or gap.detected_at <= followed.heard_at or gap.conn != followed.conn:
        return False
    # One that is left because it is listed no more may not say on which subscription it was.
    return gap.sid == followed.sid or gap.reason == "left"


def _stops(
    followed: Followed, sessions: Sequence[Session], *, closing: bool, proven: bool
) -> Iterator[tuple[int, str]]:
    """Answer up to when a gatherer can be relied on, and why not further."""
    name, relied, kept, stopped = followed.gatherer, EARLIEST, EARLIEST, False
    for each in sessions:
        if each.what == "started" and each.at > followed.heard_at:
            yield kept, f"{name} was not running from {instant_text(relied)}"
            return
        if each.what == "closed" and each.conn == followed.conn and closing:
            why = f"{name}: connection {each.conn} was closed at {instant_text(each.at)}"
            yield max(kept, each.at - SLACK_US), why
        if each.what in _RELIED:
            relied, stopped = each.at, each.what == "stopped"
            kept = max(kept, relied if each.why == TOLD else relied - SLACK_US)
    if not stopped and not proven:
        yield kept, f"{name} has not proven that it kept everything after {instant_text(relied)}"


def _first_without(stretches: Sequence[_Stretch], after: int, until: int) -> Break | None:
    """Answer the first time between two instants that is in no stretch."""
    at, why = after + 1, set[str]()
    while at <= until:
        here = [each for each in stretches if each.start <= at < each.end]
        if not here:
            start = min((each.start for each in stretches if each.start > at), default=LATEST)
            nobody = f"nobody is known to have followed the market at {instant_text(at)}"
            return Break(at, start, "", "; ".join(sorted(why)) or nobody)
        last = max(each.end for each in here)
        at, why = last, {each.why for each in here if each.end == last}
    return None
