"""Kept here: bulletins: how a match stands and at most one event, as phones are to be told it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Literal

import msgspec

from grandstand.apps.cricket.model import Detected, MatchPhase, MatchState
from grandstand.apps.cricket.model import Fixture as Scores
from grandstand.apps.cricket.model.alerts import Alert, alert_of, apns_priority, still_holds
from grandstand.apps.cricket.model.display import Moment, UnifiedDisplayState, display
from grandstand.apps.cricket.model.sessions import Lifetimes, dismissal_date, stale_date
from grandstand.apps.cricket.service.means import BULLETIN, CONFIRM, Means
from grandstand.apps.cricket.service.ports import Notice
from grandstand.apps.cricket.service.refusals import TickOutpaced
from grandstand.apps.cricket.store import ActiveMatch
from grandstand.kit.outbox import Consequence
from grandstand.storage.tables import Put

_SECOND: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Told:
    """The event of a bulletin, and what an alert about it says."""

    event: Detected
    title: str
    body: str

    @property
    def alert(self) -> Alert:
        """The alert as it is shown."""
        return Alert(self.title, self.body)


@dataclass(frozen=True, slots=True)
class Bulletin:
    """What phones are told of a match: the same whenever it is sent.

    `at` is the timestamp by which a phone knows what is newer: whole seconds, growing with each
    bulletin of a match. `quiet` says that its event wakes nobody, not yet at least. `asked_at` is
    when the feed was asked, where it was.
    """

    match_id: str
    epoch: int
    seq: int
    at: datetime
    made_at: datetime
    phase: MatchPhase
    event: Literal["update", "end"]
    shown: UnifiedDisplayState
    home: str
    away: str
    stale_at: datetime
    dismiss_at: datetime | None = None
    told: Told | None = None
    quiet: bool = False
    asked_at: datetime | None = None

    @property
    def key(self) -> str:
        """What tells it from all others."""
        return f"{self.match_id}:{self.epoch}:{self.seq}:{int(self.at.timestamp())}"

    @property
    def alert(self) -> Alert | None:
        """What it says to whom it wakes; None when it wakes nobody."""
        return self.told.alert if self.told and not self.quiet else None

    def notice(self, alert: Alert | None = None) -> Notice:
        """Answer it as it is pushed, with an alert or without."""
        return Notice(
            self.match_id,
            self.event,
            self.at,
            self.shown,
            apns_priority(alerts=alert is not None),
            stale_at=self.stale_at,
            dismiss_at=self.dismiss_at,
            alert=alert,
        )


@dataclass(frozen=True, slots=True)
class Doubted:
    """An event that people are alerted of after a while, if it still holds then."""

    match_id: str
    told: Told


def parse_bulletin(body: str) -> Bulletin:
    """Answer a bulletin as it was written into the outbox."""
    return msgspec.json.decode(body, type=Bulletin)


def next_stamp(match: ActiveMatch, now: datetime) -> datetime:
    """Answer the next timestamp of a match: now, or just after the last one."""
    whole = now.replace(microsecond=0)
    return whole if match.told_at is None else max(whole, match.told_at + _SECOND)


def make_bulletin(
    match: ActiveMatch,
    scores: Scores,
    state: MatchState,
    event: Detected | None,
    *,
    asked_at: datetime,
    now: datetime,
    lifetimes: Lifetimes,
) -> Bulletin:
    """Make the bulletin of a tick."""
    at = next_stamp(match, now)
    ended = state.phase == "ended"
    alert = None if event is None else alert_of(event, scores)
    told = None if event is None or alert is None else Told(event, alert.title, alert.body)
    return Bulletin(
        match_id=match.match_id,
        epoch=match.epoch,
        seq=state.seq,
        at=at,
        made_at=now,
        phase=state.phase,
        event="end" if ended else "update",
        shown=display(scores, Moment(at, state.seq, event)),
        home=scores.home.name or scores.home.code or "Home",
        away=scores.away.name or scores.away.code or "Away",
        stale_at=stale_date(state.phase, now, lifetimes),
        dismiss_at=dismissal_date(now, lifetimes) if ended else None,
        told=told,
        asked_at=asked_at,
    )


class Bulletins:
    """Writes bulletins down, finds the newest of a match, and tells one once more."""

    def __init__(self, means: Means) -> None:
        self._means = means

    def written(
        self, bulletin: Bulletin, due_at: datetime | None = None
    ) -> tuple[Put[Consequence], ...]:
        """Answer the writes that go with the tick that made a bulletin.

        Where alerts wait for the feed to take things back, the alert is a second row.
        """
        outbox = self._means.outbox
        written = outbox.write(BULLETIN, bulletin.key, bulletin, due_at=due_at)
        if not bulletin.quiet or bulletin.told is None:
            return (written,)
        doubted = Doubted(bulletin.match_id, bulletin.told)
        wait = timedelta(seconds=self._means.settings.confirm_seconds)
        later = outbox.write(CONFIRM, bulletin.key, doubted, due_at=bulletin.made_at + wait)
        return written, later

    async def newest(self, match: ActiveMatch) -> Bulletin | None:
        """Answer the newest bulletin of a match; None when there is none, or no longer."""
        found = await self.row_of(match)
        return None if found is None else parse_bulletin(found.body)

    async def row_of(self, match: ActiveMatch) -> Consequence | None:
        """Answer the newest bulletin of a match as it is in the outbox."""
        if match.told_key is None:
            return None
        return await self._means.outbox.find(BULLETIN, match.told_key)

    async def is_delivered(self, match: ActiveMatch) -> bool:
        """Tell whether the newest bulletin of a match is out, or was given up."""
        found = await self.row_of(match)
        return found is None or found.stage != "waiting"

    async def repeat(self, match: ActiveMatch, told: Told | None = None) -> bool:
        """Tell again how a match stands, under a new timestamp; False when there is newer news."""
        newest = await self.newest(match)
        if newest is None or newest.event == "end":
            return False
        now = self._means.now()
        again = replace(
            newest,
            epoch=match.epoch,
            at=next_stamp(match, now),
            made_at=now,
            stale_at=stale_date(newest.phase, now, self._means.lifetimes),
            told=told,
            quiet=False,
            asked_at=None,
        )
        write = self._means.outbox.write(BULLETIN, again.key, again)
        return await self._means.wrote(match.tell(again.key, again.at), write)

    async def confirm(self, consequence: Consequence) -> None:
        """Alert of an event that still holds; raise TickOutpaced when news comes just then."""
        doubted = msgspec.json.decode(consequence.body, type=Doubted)
        match = await self._means.store(ActiveMatch.as_it_is(doubted.match_id))
        if match is None or match.state is None:
            return
        if not still_holds(doubted.told.event, match.state):
            return
        if not await self.repeat(match, doubted.told) and match.status == "active":
            raise TickOutpaced(f"News of match {doubted.match_id} came just now: try again")
