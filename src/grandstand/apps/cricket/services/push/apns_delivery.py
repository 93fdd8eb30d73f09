"""Pushing a match update to every Live Activity of the match, without alerting anybody twice."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from grandstand.apps.cricket.domain.alerts import Alert, should_alert
from grandstand.apps.cricket.domain.errors import PushUnavailable
from grandstand.apps.cricket.domain.live_activities import (
    PushResult,
    PushTarget,
    is_expired_by_ios,
    is_rejection_current,
    make_push_id,
)
from grandstand.apps.cricket.domain.match_events import EventKind
from grandstand.apps.cricket.services.interfaces import Database, PushGateway
from grandstand.apps.cricket.services.push.updates import (
    RESEND,
    EventAlert,
    MatchUpdate,
    ResendRequest,
)
from grandstand.apps.cricket.store.matches import ActiveMatch, Delivery
from grandstand.apps.cricket.store.users import LiveActivity
from grandstand.core.clock import Clock
from grandstand.core.errors import Unavailable
from grandstand.core.logging import get_logger
from grandstand.kit.events import Events
from grandstand.kit.outbox import Outbox
from grandstand.storage.tables.errors import ConditionFailed

PAGE_SIZE: Final = 1000
# Sorts before every session key: no user id starts with a blank.
_BEFORE_ALL_SESSIONS: Final = " "
_MAX_RESENDS: Final = 5
_FIRST_RESEND_SECONDS: Final = 5.0
_STATS_WINDOW_SECONDS: Final = 10.0
_NEWS_KINDS: Final[frozenset[EventKind]] = frozenset({"wicket", "hattrick", "hundred", "match_end"})


class PushStats:
    """Counts of pushes by this process, and the rate of the last ten seconds."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._recent: deque[tuple[float, int]] = deque()
        self.delivered = 0
        self.rejected = 0

    def add(self, delivered: int, rejected: int) -> None:
        self.delivered += delivered
        self.rejected += rejected
        self._recent.append((self._clock.monotonic(), delivered + rejected))
        self._drop_old()

    @property
    def per_second(self) -> float:
        self._drop_old()
        return sum(count for _, count in self._recent) / _STATS_WINDOW_SECONDS

    def _drop_old(self) -> None:
        oldest = self._clock.monotonic() - _STATS_WINDOW_SECONDS
        while self._recent and self._recent[0][0] < oldest:
            self._recent.popleft()


@dataclass(kw_only=True, eq=False)
class ApnsDeliveryService:
    """Pushes updates to the sessions of a match, page by page, and stores the progress.

    Before the sessions of a page are alerted, the end of the page is stored by one process alone.
    A process that takes over pushes to the rest, and to that page without an alert.
    """

    store: Database
    outbox: Outbox
    gateway: PushGateway | None
    activity_log: Events
    stats: PushStats

    async def push_update(self, update: MatchUpdate, older: Sequence[MatchUpdate] = ()) -> None:
        """Push an update to all sessions, with the most important alert of it and older ones.

        Raises Unavailable if another process delivers the same, and PushUnavailable if a broadcast
        channel does not accept it now.
        """
        if self.gateway is None:
            return
        delivery = await self._create_delivery(update.match_id, update.key)
        if delivery.finished_at is not None:
            return
        older = [each for each in older if each.audible]
        alert, alerting = await self._choose_alert((*older, update), delivery)
        match = await self.store(ActiveMatch.by_id(update.match_id))
        channel_id = match.channel_id if match else None
        if channel_id is not None and delivery.sent_until is None:
            alerting = await self._broadcast(self.gateway, update, channel_id, alert, alerting)
        reached = delivery.pushed
        async for page in self._pages(update.match_id, delivery.sent_until or ""):
            sessions = [
                session
                for session in page
                if channel_id is None or session.channel_id != channel_id
            ]
            alerting, delivered, rejected = await self._push_page(update, sessions, alert, alerting)
            await self.store(delivery.mark_sent(page[-1].session_key, delivered, rejected))
            reached += len(page) if channel_id is not None else delivered
        now = self.store.now()
        for each in (update, *older):
            await self._create_delivery(each.match_id, each.key)
            await self.store(Delivery.finish(each.match_id, each.key, now))
            await self._log_activity(each, reached)

    async def _choose_alert(
        self, updates: Sequence[MatchUpdate], delivery: Delivery
    ) -> tuple[EventAlert | None, Delivery]:
        """Return the most important alert of some updates, and the delivery it belongs to.

        `delivery` is that of the last update.
        """
        ranked = [(each.audible.event.priority, each) for each in updates if each.audible]
        if not ranked:
            return None, delivery
        source = min(ranked, key=lambda pair: pair[0])[1]
        if source is not updates[-1]:
            delivery = await self._create_delivery(source.match_id, source.key)
        return source.audible, delivery

    async def _broadcast(
        self,
        gateway: PushGateway,
        update: MatchUpdate,
        channel_id: str,
        event_alert: EventAlert | None,
        alerting: Delivery,
    ) -> Delivery:
        """Push an update to a channel; return the delivery of its alert."""
        alert = event_alert.alert if event_alert and event_alert.event.alert else None
        if alerting.alerted_until is not None:
            alert = None
        if alert is not None:
            alerting = await self._mark_alerted(alerting, _BEFORE_ALL_SESSIONS, 1)
        push_id = make_push_id(update.key, channel_id)
        result = await gateway.broadcast(update.payload(alert), channel_id, push_id)
        if result.outcome in ("unsent", "uncertain"):
            raise PushUnavailable(
                f"The broadcast channel does not accept the update: {result.reason}.",
                result.retry_seconds,
            )
        if result.outcome != "delivered":
            get_logger("cricket").error("broadcast_rejected", reason=result.reason)
        return alerting

    async def _push_page(
        self,
        update: MatchUpdate,
        page: Sequence[LiveActivity],
        alert: EventAlert | None,
        alerting: Delivery,
    ) -> tuple[Delivery, int, int]:
        """Push to a page of sessions; return the delivery of the alert, and two counts.

        They are the numbers of delivered and of rejected pushes.
        """
        now, until = self.store.now(), alerting.alerted_until or ""
        loud: list[LiveActivity] = []
        silent: list[LiveActivity] = []
        for session in page:
            if (
                session.status == "active"
                and session.update_token is not None
                and not is_expired_by_ios(session.session_started_at, now)
            ):
                is_alerted = (
                    alert is not None
                    and session.session_key > until
                    and should_alert(session.alert_preferences, alert.event, now)
                )
                (loud if is_alerted else silent).append(session)
        if loud:
            alerting = await self._mark_alerted(alerting, page[-1].session_key, len(loud))
        first = await self.send(update, loud, alert.alert if alert else None)
        second = await self.send(update, silent)
        return alerting, first[0] + second[0], first[1] + second[1]

    async def find_delivery(self, update: MatchUpdate) -> Delivery | None:
        return await self.store(Delivery.by_key(update.match_id, update.key))

    async def _create_delivery(self, match_id: str, key: str) -> Delivery:
        """Return the delivery of an update, created if it does not exist."""
        delivery = Delivery(match_id=match_id, delivery=key, started_at=self.store.now())
        try:
            return await self.store(delivery.create())
        except ConditionFailed:
            return await self.store(Delivery.by_key(match_id, key)) or delivery

    async def _mark_alerted(self, delivery: Delivery, until: str, count: int) -> Delivery:
        """Store that sessions up to a key are alerted. Raises Unavailable if another did."""
        try:
            return await self.store(delivery.mark_alerted(until, count))
        except ConditionFailed as error:
            raise Unavailable(
                f"Another process is pushing the update of match {delivery.match_id}."
            ) from error

    async def send(
        self,
        update: MatchUpdate,
        sessions: Sequence[LiveActivity],
        alert: Alert | None = None,
        attempt: int = 0,
    ) -> tuple[int, int]:
        """Push to some sessions; return how many were delivered and how many rejected."""
        if not sessions or self.gateway is None:
            return 0, 0
        targets = [
            PushTarget(session.update_token or "", make_push_id(update.key, session.session_key))
            for session in sessions
        ]
        results = await self.gateway.push(update.payload(alert), targets)
        missed: list[LiveActivity] = []
        wait_seconds, rejected = 0.0, 0
        for session, result in zip(sessions, results, strict=True):
            if result.outcome == "gone":
                rejected += 1
                await self._suspend(session, result)
            elif result.outcome in ("unsent", "uncertain"):
                missed.append(session)
                wait_seconds = max(wait_seconds, result.retry_seconds or 0.0)
            elif result.outcome != "delivered":
                get_logger("cricket").error("push_rejected", reason=result.reason)
        self.stats.add(sum(result.outcome == "delivered" for result in results), rejected)
        if missed:
            await self._resend_later(update, missed, attempt, wait_seconds)
        return len(sessions) - rejected - len(missed), rejected

    async def _pages(self, match_id: str, after: str) -> AsyncIterator[list[LiveActivity]]:
        """Yield the sessions of a match in pages, after a session key."""
        query, cursor = LiveActivity.of_match(match_id), None
        while True:
            page = await self.store.page(query, PAGE_SIZE, after=cursor)
            rest = [session for session in page.items if session.session_key > after]
            if rest:
                yield rest
            cursor = page.cursor
            if cursor is None:
                return

    async def _suspend(self, session: LiveActivity, result: PushResult) -> None:
        if not is_rejection_current(result.at, session.token_registered_at):
            return
        if not await self.store.attempt(session.suspend_token(self.store.now())):
            get_logger("cricket").info("session_token_changed", match_id=session.match_id)

    async def _resend_later(
        self,
        update: MatchUpdate,
        missed: Sequence[LiveActivity],
        attempt: int,
        wait_seconds: float,
    ) -> None:
        if attempt >= _MAX_RESENDS:
            return
        seconds = max(wait_seconds, _FIRST_RESEND_SECONDS * 2**attempt)
        request = ResendRequest(
            update.match_id,
            tuple((session.user_id, session.device_id) for session in missed),
            attempt + 1,
        )
        key = f"{update.key}:{attempt}:{missed[0].session_key}"
        due_at = self.store.now() + timedelta(seconds=seconds)
        await self.outbox.put(RESEND, key, request, due_at=due_at)

    async def _log_activity(self, update: MatchUpdate, phones: int) -> None:
        """Record an important event that was pushed in the activity log of the platform."""
        alert = update.audible
        if alert is None or alert.event.kind not in _NEWS_KINDS or not phones:
            return
        reached = "1 phone" if phones == 1 else f"{phones:,} phones"
        text = f"{alert.title}. {alert.body}. Pushed to {reached}"
        href = f"/cricket/matches/{update.match_id}"
        await self.activity_log.record("cricket", alert.event.kind, text, href)
