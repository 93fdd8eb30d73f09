"""Ticks of active matches: comparing the feed with the stored state and saving the result."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Literal

import msgspec
from msgspec.structs import replace

from grandstand.apps.cricket.domain import match_events
from grandstand.apps.cricket.domain.alerts import still_holds
from grandstand.apps.cricket.domain.display import DisplayMoment
from grandstand.apps.cricket.domain.event_detection import Detection, detect_events
from grandstand.apps.cricket.domain.live_activities import Lifetimes
from grandstand.apps.cricket.domain.match_state import MatchState
from grandstand.apps.cricket.services.interfaces import Database, ScoreFeed, copy_fields
from grandstand.apps.cricket.services.push.la_coordinator import LACoordinator
from grandstand.apps.cricket.services.push.updates import (
    EVENT_LOG,
    AlertConfirmation,
    MatchUpdate,
    MatchUpdateRepository,
    build_update,
)
from grandstand.apps.cricket.services.queries.fixtures import (
    DisplayStateBuilder,
    FixtureCacheService,
    FixtureService,
)
from grandstand.apps.cricket.sources.sportmonks import FeedMatch
from grandstand.apps.cricket.store.matches import LOCKS, ActiveMatch, LoggedEvent
from grandstand.core.errors import GrandstandError, Unavailable
from grandstand.core.logging import get_logger
from grandstand.kit.live import Publisher
from grandstand.kit.outbox import Outbox, OutboxMessage
from grandstand.storage.tables import Put
from grandstand.storage.tables.errors import ConditionFailed
from grandstand.storage.tables.leases import Leases
from grandstand.storage.tables.operations.item_ops import Write

# A DynamoDB transaction has at most 100 writes, including the state and two outbox messages.
_MAX_LOGGED_EVENTS: Final = 90
# The process that wrote an update delivers it itself; the outbox may after this time.
_DELIVERY_HEAD_START: Final = timedelta(seconds=5)

TickOutcome = Literal["unchanged", "changed", "busy", "lost", "registered"]


@dataclass(frozen=True, slots=True)
class TickResult:
    """The result of a tick; `lost` if another process owns the match by now."""

    match_id: str
    outcome: TickOutcome
    seq: int = 0
    events: tuple[str, ...] = ()
    key_event: str | None = None


@dataclass(frozen=True, slots=True)
class EventRecord:
    """A detected event; `filtered` is the reason why it was not pushed."""

    seq: int
    event_key: str
    kind: match_events.EventKind
    text: str
    inning: int
    position: int
    ball_id: int | None
    player_id: int | None
    value: int | None
    priority: int
    alert: bool
    filtered: match_events.FilterReason | None
    at: datetime


@dataclass(frozen=True, slots=True)
class EventPage:
    """Detected events, newest first; `cursor` continues after them, None at the end."""

    events: tuple[EventRecord, ...]
    cursor: str | None = None


class LogRemainder(msgspec.Struct, frozen=True):
    """Events of a tick that did not fit into its transaction."""

    match_id: str = msgspec.field(name="match_id")
    seq: int = msgspec.field(name="seq")
    at: datetime = msgspec.field(name="at")
    events: tuple[match_events.MatchEvent, ...] = msgspec.field(name="events")


class LockService:
    """Locks that let one process at a time tick a match."""

    def __init__(self, *, store: Database, instance: str, seconds: float) -> None:
        self._store = store
        self._leases = Leases(LOCKS, instance, seconds=seconds)

    @asynccontextmanager
    async def hold(self, match_id: str) -> AsyncIterator[bool]:
        """Hold the lock of a match for the length of a block; yields False if another has it."""
        lease = await self._store(self._leases.acquire(f"match:{match_id}"))
        if lease is None:
            yield False
            return
        try:
            yield True
        finally:
            # If the store does not respond, the lock expires.
            with suppress(GrandstandError):
                await self._store(self._leases.release(lease))


@dataclass(kw_only=True, eq=False)
class ActiveMatchRepository:
    """Active matches, and those that this process owns.

    A match is owned under an epoch that every write requires: once another process has taken it
    over, no write of this one succeeds. The epoch is obtained before the feed is requested, so
    that an owner never writes data that was fetched before.
    """

    store: Database
    instance: str
    owned: dict[str, ActiveMatch] = field(default_factory=dict)

    async def all(self) -> list[ActiveMatch]:
        return list(await self.store(ActiveMatch.all_items()))

    async def own(self, match_id: str) -> ActiveMatch | None:
        """Become the owner of an active match; None if it is not active."""
        if match_id in self.owned:
            return self.owned[match_id]
        try:
            match = await self.store(ActiveMatch.take_over(match_id, self.instance))
        except ConditionFailed:
            return None
        if match.status != "active":
            return None
        self.owned[match_id] = match
        return match

    def disown(self, match_id: str) -> None:
        """Forget a match; the next tick starts from the stored state."""
        self.owned.pop(match_id, None)

    async def register(self, match_id: str) -> bool:
        """Start or resume polling a match; False if another process polls it."""
        match = ActiveMatch(
            match_id=match_id,
            status="active",
            instance_id=self.instance,
            cooldowns={},
            epoch=int(self.store.now().timestamp() * 1000),
        )
        for write in (ActiveMatch.reactivate(match_id, self.instance), match.register()):
            try:
                self.owned[match_id] = await self.store(write)
            except ConditionFailed:
                continue
            return True
        return False

    async def touch(self, match: ActiveMatch, now: datetime) -> ActiveMatch | None:
        """Record a tick without changes; None if another process owns the match."""
        if not await self.store.attempt(ActiveMatch.touch(match.match_id, match.epoch, now)):
            self.disown(match.match_id)
            return None
        self.owned[match.match_id] = touched = match.replace(last_tick_at=now)
        return touched

    async def deactivate(self, match: ActiveMatch, expires: datetime) -> None:
        """Stop polling a match that has ended."""
        ended = ActiveMatch.deactivate(match.match_id, match.epoch, expires)
        if not await self.store.attempt(ended):
            get_logger("cricket").info("match_already_ended", match_id=match.match_id)
        self.disown(match.match_id)


@dataclass(kw_only=True, eq=False)
class MatchEventBus:
    """Publishes the events of a tick: to the event log, the outbox and open pages."""

    store: Database
    outbox: Outbox
    updates: MatchUpdateRepository
    publisher: Publisher

    def writes(
        self, update: MatchUpdate, events: Sequence[match_events.MatchEvent], now: datetime
    ) -> list[Write]:
        """Return the log entries and outbox messages to write with the tick."""
        match_id, seq = update.match_id, update.seq
        writes: list[Write] = [
            LoggedEvent.from_event(match_id, seq, event, now).create()
            for event in events[:_MAX_LOGGED_EVENTS]
        ]
        if len(events) > _MAX_LOGGED_EVENTS:
            remainder = LogRemainder(match_id, seq, now, tuple(events[_MAX_LOGGED_EVENTS:]))
            writes.append(self.outbox.write(EVENT_LOG, f"{match_id}:{seq}:{now}", remainder))
        writes += self.updates.writes(update, now + _DELIVERY_HEAD_START)
        return writes

    def publish(self, update: MatchUpdate) -> None:
        """Refresh open pages of the match."""
        event = update.event_alert.event if update.event_alert else None
        self.publisher.publish(
            f"cricket/matches/{update.match_id}",
            {"seq": update.seq, "phase": update.phase, "event": event.text if event else None},
        )
        self.publisher.publish("cricket/matches", {"match_id": update.match_id, "seq": update.seq})

    async def page(
        self, match_id: str, *, limit: int = 100, cursor: str | None = None
    ) -> EventPage:
        """Return the event log of a match, newest first."""
        query = LoggedEvent.newest_first(match_id)
        page = await self.store.page(query, limit, after=cursor)
        events = tuple(copy_fields(EventRecord, event) for event in page.items)
        return EventPage(events, page.cursor)

    async def log_remainder(self, message: OutboxMessage) -> None:
        """Write the events that did not fit into the transaction of their tick."""
        rest = msgspec.json.decode(message.body, type=LogRemainder)
        await self.store.write_many(
            LoggedEvent.from_event(rest.match_id, rest.seq, event, rest.at).put()
            for event in rest.events
        )

    async def confirm_alert(self, message: OutboxMessage) -> None:
        """Send an alert if its event still holds.

        Raises Unavailable if another update was written at the same time.
        """
        confirmation = msgspec.json.decode(message.body, type=AlertConfirmation)
        match = await self.store(ActiveMatch.by_id_consistent(confirmation.match_id))
        if match is None or match.state is None:
            return
        if not still_holds(confirmation.event_alert.event, match.state):
            return
        repeated = await self.updates.repeat(match, confirmation.event_alert)
        if not repeated and match.status == "active":
            raise Unavailable(f"Match {confirmation.match_id} was just updated. Try again.")


@dataclass(kw_only=True, eq=False)
class MatchTicker:
    """Ticks the matches this process owns."""

    store: Database
    feed: ScoreFeed
    matches: ActiveMatchRepository
    locks: LockService
    event_bus: MatchEventBus
    coordinator: LACoordinator
    fixtures: FixtureService
    displays: DisplayStateBuilder
    thresholds: match_events.Thresholds
    lifetimes: Lifetimes
    confirm_alerts: bool

    async def poll_now(self, match_id: str) -> TickResult:
        """Tick one match now, whoever owns it.

        Raises MatchNotFound, and what the feed raises.
        """
        await self.fixtures.get(match_id)
        return await self.fetch_and_tick(match_id)

    async def fetch_and_tick(self, match_id: str) -> TickResult:
        """Take a match over, fetch it and tick it.

        Raises MatchNotFound, and what the feed raises.
        """
        self.matches.disown(match_id)
        match = await self.matches.own(match_id)
        if match is None:
            return TickResult(match_id, "lost")
        requested_at = self.store.now()
        fetched = await self.feed.fixture(match_id, since=match.previous_ball_id)
        return await self.tick(fetched.value, requested_at)

    async def tick(self, fetched: FeedMatch, requested_at: datetime) -> TickResult:
        """Compare an owned match with its fetched state, and save and publish what changed."""
        match_id = fetched.snapshot.match_id
        async with self.locks.hold(match_id) as acquired:
            match = self.matches.owned.get(match_id)
            if not acquired or match is None:
                return TickResult(match_id, "lost" if acquired else "busy")
            now = self.store.now()
            detection = detect_events(match.state, fetched.snapshot, now, self.thresholds)
            for warning in detection.warnings:
                get_logger("cricket").warning(
                    "match_incomplete", match_id=match_id, warning=warning
                )
            if detection.changed:
                return await self._save(match, fetched, detection, requested_at, now)
            touched = await self.matches.touch(match, now)
            if touched is None:
                return TickResult(match_id, "lost")
            await self._end_if_over(touched, now)
            return TickResult(match_id, "unchanged", match.seq)

    async def _save(
        self,
        match: ActiveMatch,
        fetched: FeedMatch,
        detection: Detection,
        requested_at: datetime,
        now: datetime,
    ) -> TickResult:
        state = detection.state if match.state else await self._continue_seq(detection.state)
        update = build_update(
            match,
            fetched.snapshot,
            state,
            detection.key_event,
            requested_at=requested_at,
            now=now,
            lifetimes=self.lifetimes,
        )
        if self.confirm_alerts:
            update = replace(update, silent=True)
        tick = (state, now, update.key, update.timestamp)
        saved = await self.store.transact(
            match.save_tick(*tick), *self.event_bus.writes(update, detection.events, now)
        )
        if not saved:
            self.matches.disown(match.match_id)
            return TickResult(match.match_id, "lost")
        self.matches.owned[match.match_id] = after = match.after_tick(*tick)
        self.coordinator.offer(update)
        await self._save_caches(fetched, match, update)
        await self._end_if_over(after, now)
        self.event_bus.publish(update)
        key_event = detection.key_event
        return TickResult(
            match.match_id,
            "changed",
            state.seq,
            tuple(event.key for event in detection.events),
            key_event.key if key_event else None,
        )

    async def _continue_seq(self, state: MatchState) -> MatchState:
        """Continue the sequence numbers of a match whose earlier ticks are in the log."""
        logged = await self.store.page(LoggedEvent.newest_first(state.match_id), 1)
        last = max([event.seq for event in logged.items], default=0)
        return dataclasses.replace(state, seq=last + state.seq)

    async def _save_caches(
        self, fetched: FeedMatch, before: ActiveMatch, update: MatchUpdate
    ) -> None:
        """Cache the fixture and display states; the next tick repairs a failure."""
        now = update.created_at
        event = update.event_alert.event if update.event_alert else None
        moment = DisplayMoment(update.timestamp, update.seq, event)
        writes: list[Put[Any]] = [FixtureCacheService.build(fetched, now).save()]
        writes += self.displays.writes(fetched.snapshot, moment, now)
        try:
            await self.store.write_many(writes)
            await self.fixtures.save_progress(fetched.snapshot, before, now)
        except GrandstandError as error:
            get_logger("cricket").warning(
                "match_caches_not_saved", match_id=update.match_id, error=str(error)
            )

    async def _end_if_over(self, match: ActiveMatch, now: datetime) -> None:
        if match.match_phase == "ended" and match.status == "active":
            await self.matches.deactivate(match, now + self.lifetimes.kept_after_end)
            await self.fixtures.archive(match.match_id, now)
