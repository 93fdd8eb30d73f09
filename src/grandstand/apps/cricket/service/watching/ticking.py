"""Kept here: one tick of a match: what the feed says against what was kept, written as one."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

import msgspec

from grandstand.apps.cricket.model import Advance, Detected, MatchState, advance
from grandstand.apps.cricket.model import Fixture as Scores
from grandstand.apps.cricket.model.phases import phase_of
from grandstand.apps.cricket.service.means import LOG, Means
from grandstand.apps.cricket.service.telling.bulletins import Bulletin, Bulletins, make_bulletin
from grandstand.apps.cricket.service.telling.courier import Courier
from grandstand.apps.cricket.service.values import Ticked
from grandstand.apps.cricket.service.watching.keeping import Keeping
from grandstand.apps.cricket.sources.sportmonks import HeardFixture
from grandstand.apps.cricket.store import LOCKS, ActiveMatch, LoggedEvent
from grandstand.base.errors import GrandstandError
from grandstand.base.log import log
from grandstand.kit.outbox import Consequence
from grandstand.storage.tables.errors import ConditionFailed
from grandstand.storage.tables.leases import Leases
from grandstand.storage.tables.operations.batches import Write

# A transaction of DynamoDB has at most 100 writes; the state and two rows go along.
_MOST_EVENTS: Final = 90
# The instance that made a bulletin tells it itself; others may after so long.
_HEAD_START: Final = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class LoggedRest:
    """Events of one tick that are still to be logged."""

    match_id: str
    seq: int
    at: datetime
    events: tuple[Detected, ...]


class Ticking:
    """Ticks the matches this instance owns; what it kept of them is good while it owns them.

    A match is owned under an epoch, and every write demands it: after another instance has taken
    the match over, nothing of this one lands. An epoch is obtained before the feed is asked, so
    that nobody who owns a match writes what was heard before.
    """

    def __init__(self, means: Means, bulletins: Bulletins, courier: Courier) -> None:
        self._means = means
        self._bulletins = bulletins
        self._courier = courier
        self._keeping = Keeping(means)
        self._leases = Leases(LOCKS, means.instance, seconds=means.lock_seconds)
        self._thresholds = means.thresholds
        self._lifetimes = means.lifetimes
        self._owned: dict[str, ActiveMatch] = {}

    @property
    def owned(self) -> dict[str, ActiveMatch]:
        """The matches this instance owns, as far as it knows."""
        return self._owned

    async def own(self, match_id: str) -> ActiveMatch | None:
        """Become the owner of a match that is polled; None when it is not."""
        known = self._owned.get(match_id)
        if known is not None:
            return known
        try:
            taken = await self._means.store(ActiveMatch.take_over(match_id, self._means.instance))
        except ConditionFailed:
            return None
        if taken.status != "active":
            return None
        self._owned[match_id] = taken
        return taken

    def disown(self, match_id: str) -> None:
        """Forget that a match is ours; the next look at it starts from what is stored."""
        self._owned.pop(match_id, None)

    async def register(self, match_id: str) -> bool:
        """Begin to poll a match, or poll it on if it was polled before; False if others do."""
        store, now = self._means.store, self._means.now()
        fresh = ActiveMatch(
            match_id=match_id,
            status="active",
            instance_id=self._means.instance,
            cooldowns={},
            epoch=int(now.timestamp() * 1000),
        )
        for write in (ActiveMatch.revive(match_id, self._means.instance), fresh.register()):
            try:
                self._owned[match_id] = await store(write)
            except ConditionFailed:
                continue
            return True
        return False

    async def tick_alone(self, match_id: str) -> Ticked:
        """Own a match, fetch it and tick it; raise MatchUnknown and what the feed raises."""
        self.disown(match_id)
        owned = await self.own(match_id)
        if owned is None:
            return Ticked(match_id, "lost")
        asked_at = self._means.now()
        heard = await self._means.feed.fixture(match_id, since=owned.previous_ball_id)
        return await self.tick(heard.value, asked_at)

    async def tick(self, heard: HeardFixture, asked_at: datetime) -> Ticked:
        """Compare an owned match with what was just heard of it, and write what came of it."""
        match_id = heard.fixture.match_id
        lease = await self._means.store(self._leases.acquire(f"match:{match_id}"))
        if lease is None:
            return Ticked(match_id, "busy")
        try:
            return await self._tick(heard, asked_at)
        finally:
            # A store that does not answer now lets the lock lapse by itself.
            with suppress(GrandstandError):
                await self._means.store(self._leases.release(lease))

    async def _tick(self, heard: HeardFixture, asked_at: datetime) -> Ticked:
        match = self._owned.get(heard.fixture.match_id)
        if match is None:
            return Ticked(heard.fixture.match_id, "lost")
        now = self._means.now()
        result = advance(match.state, heard.fixture, now, self._thresholds)
        for warning in result.warnings:
            log("cricket").warning("a match read in part", match=match.match_id, missing=warning)
        if not result.changed:
            return await self._touch(match, now)
        state = result.state if match.state else await self._first(match, result.state)
        bulletin = make_bulletin(
            match,
            heard.fixture,
            state,
            result.key_event,
            asked_at=asked_at,
            now=now,
            lifetimes=self._lifetimes,
        )
        return await self._save(match, heard, result._replace(state=state), bulletin)

    async def _first(self, match: ActiveMatch, state: MatchState) -> MatchState:
        """A match polled anew counts on from what its log holds."""
        logged = await self._means.store.page(LoggedEvent.latest(match.match_id), 1)
        base = max([each.seq for each in logged.items], default=0)
        return replace(state, seq=base + state.seq)

    async def _touch(self, match: ActiveMatch, now: datetime) -> Ticked:
        try:
            await self._means.store(ActiveMatch.touch(match.match_id, match.epoch, now))
        except ConditionFailed:
            self.disown(match.match_id)
            return Ticked(match.match_id, "lost")
        self._owned[match.match_id] = touched = match.replace(last_tick_at=now)
        await self._end_if_over(touched, now)
        return Ticked(match.match_id, "unchanged", match.seq)

    async def _save(
        self, match: ActiveMatch, heard: HeardFixture, result: Advance, bulletin: Bulletin
    ) -> Ticked:
        state, now = result.state, bulletin.made_at
        if self._means.settings.confirm_seconds:
            bulletin = replace(bulletin, quiet=True)
        writes: list[Write] = [match.advance(state, now, bulletin.key, bulletin.at)]
        writes += self._logged(match.match_id, state.seq, result.events, now)
        writes += self._bulletins.written(bulletin, now + _HEAD_START)
        if not await self._means.wrote(*writes):
            self.disown(match.match_id)
            return Ticked(match.match_id, "lost")
        saved = match.advanced(state, now, bulletin.key, bulletin.at)
        self._owned[match.match_id] = saved
        await self._after(match, saved, heard, bulletin)
        return Ticked(
            match.match_id,
            "changed",
            state.seq,
            tuple(event.key for event in result.events),
            result.key_event.key if result.key_event else None,
        )

    def _logged(
        self, match_id: str, seq: int, events: tuple[Detected, ...], now: datetime
    ) -> list[Write]:
        rows = [LoggedEvent.of(match_id, seq, event, now) for event in events]
        writes: list[Write] = [row.write() for row in rows[:_MOST_EVENTS]]
        if len(rows) > _MOST_EVENTS:
            rest = LoggedRest(match_id, seq, now, events[_MOST_EVENTS:])
            writes.append(self._means.outbox.write(LOG, f"{match_id}:{seq}:{now}", rest))
        return writes

    async def _after(
        self, before: ActiveMatch, saved: ActiveMatch, heard: HeardFixture, bulletin: Bulletin
    ) -> None:
        """Do what follows from a tick and may be done again or be missed."""
        self._courier.offer(bulletin)
        await self._keeping.keep(heard, saved, bulletin, before)
        await self._end_if_over(saved, bulletin.made_at)
        event = None if bulletin.told is None else bulletin.told.event
        self._means.teller.tell(
            f"cricket/matches/{saved.match_id}",
            {"seq": saved.seq, "phase": saved.match_phase, "event": event.text if event else None},
        )
        self._means.teller.tell("cricket/matches", {"match_id": saved.match_id, "seq": saved.seq})

    async def _end_if_over(self, match: ActiveMatch, now: datetime) -> None:
        if match.match_phase != "ended" or match.status != "active":
            return
        expires = now + self._lifetimes.kept_after_end
        try:
            await self._means.store(ActiveMatch.deactivate(match.match_id, match.epoch, expires))
        except ConditionFailed:
            log("cricket").info("another ended it", match=match.match_id)
        await self._keeping.archive(match.match_id, now)
        self.disown(match.match_id)

    async def log_rest(self, consequence: Consequence) -> None:
        """Write the events that did not go into the transaction of their tick."""
        rest = msgspec.json.decode(consequence.body, type=LoggedRest)
        rows = [LoggedEvent.of(rest.match_id, rest.seq, event, rest.at) for event in rest.events]
        await self._means.store.write_many(row.put() for row in rows)


def is_worth_polling(scores: Scores, now: datetime, ahead: timedelta) -> bool:
    """Tell whether a match of the live list is on, or begins soon."""
    phase = phase_of(scores.status)
    if phase == "prematch":
        return scores.starting_at is not None and scores.starting_at - now <= ahead
    return phase in ("live", "break")
