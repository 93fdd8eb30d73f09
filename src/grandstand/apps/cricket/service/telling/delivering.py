"""Kept here: telling a bulletin to every Live Activity of a match, nobody alerted twice."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import msgspec

from grandstand.apps.cricket.model import Seat
from grandstand.apps.cricket.model.alerts import Alert, wakes
from grandstand.apps.cricket.model.display import content
from grandstand.apps.cricket.model.sessions import is_rejection_current, is_worn_out
from grandstand.apps.cricket.model.tokens import push_id
from grandstand.apps.cricket.service.means import RESEND, WEBHOOK, Means
from grandstand.apps.cricket.service.ports import Phones, Target, Verdict
from grandstand.apps.cricket.service.refusals import PushingOff, TickOutpaced
from grandstand.apps.cricket.service.telling.bulletins import Bulletin, Bulletins, parse_bulletin
from grandstand.apps.cricket.service.telling.house_news import tell_house
from grandstand.apps.cricket.service.telling.pushed import Pushed
from grandstand.apps.cricket.service.telling.subscriptions import Subscriptions
from grandstand.apps.cricket.store import ActiveMatch, Delivery, LiveActivity
from grandstand.base.log import log
from grandstand.kit.outbox import Consequence
from grandstand.storage.tables.errors import ConditionFailed

PAGE: Final = 1000
# Before every place: nobody's id begins with a blank.
_FIRST_PLACE: Final = " "
_RESENDS: Final = 5
_FIRST_RESEND_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class Missed:
    """Who is to be told once more, as the match stands by then."""

    match_id: str
    places: tuple[tuple[str, str], ...]
    tries: int = 1


def _hears(session: LiveActivity, bulletin: Bulletin) -> bool:
    """Tell whether a session is still to be told; the end also when its record was closed."""
    closed = session.status == "ended" and session.end_reason == "match_ended"
    return session.status == "active" or (closed and bulletin.event == "end")


class Delivering:
    """Tells bulletins: pages through the sessions, and keeps the page it has come to.

    Before a page is alerted its end is marked, by one teller alone; whoever takes over tells the
    rest, and those of the marked page without an alert.
    """

    def __init__(self, means: Means, bulletins: Bulletins, subscriptions: Subscriptions) -> None:
        self._means = means
        self._bulletins = bulletins
        self._subscriptions = subscriptions
        self.pushed = Pushed(means.clock)

    async def deliver(self, consequence: Consequence) -> None:
        """Tell a bulletin from the outbox; of one that is no longer the newest only its alert.

        Raises TickOutpaced when another is telling the same, and PushingOff when a broadcast
        channel does not take it now.
        """
        bulletin = parse_bulletin(consequence.body)
        match = await self._means.store(ActiveMatch.as_it_is(bulletin.match_id))
        if match is None or match.told_key == bulletin.key:
            await self.fan_out(bulletin)
            return
        if bulletin.alert is None or await self._find(bulletin) is not None:
            return
        newest = await self._bulletins.newest(match)
        known = None if newest is None else await self._find(newest)
        if newest is not None and (known is None or known.finished_at is None):
            await self.fan_out(newest, (bulletin,))

    async def fan_out(self, bulletin: Bulletin, older: tuple[Bulletin, ...] = ()) -> None:
        """Tell a bulletin to all sessions, with the most important alert of it and older ones.

        Raises as `deliver` does.
        """
        if self._means.phones is not None:
            telling = _Telling(self._means, self._means.phones, self.pushed, bulletin)
            await telling.run([each for each in older if each.alert is not None])
        for each in (*older, bulletin):
            await self._call_hook(each)
            await self._subscriptions.shout(each)

    async def resend(self, consequence: Consequence) -> None:
        """Tell those who were missed how their match stands now, without an alert."""
        missed = msgspec.json.decode(consequence.body, type=Missed)
        match = await self._means.store(ActiveMatch.as_it_is(missed.match_id))
        newest = None if match is None else await self._bulletins.newest(match)
        phones = self._means.phones
        if newest is None or phones is None:
            return
        seats = tuple(Seat(missed.match_id, user, device) for user, device in missed.places)
        found = await self._means.store(LiveActivity.several(seats))
        sessions = [each for each in found if each is not None and _hears(each, newest)]
        telling = _Telling(self._means, phones, self.pushed, newest, missed.tries)
        await telling.tell_again(sessions)

    async def hook(self, consequence: Consequence) -> None:
        """Post a key event to the webhook; raise what `wire.errors` lists."""
        if self._means.hooks is not None:
            key = consequence.idempotency_key
            await self._means.hooks.post(consequence.body.encode(), key)

    async def _call_hook(self, bulletin: Bulletin) -> None:
        if self._means.hooks is None or bulletin.told is None or bulletin.quiet:
            return
        event = bulletin.told.event
        body = {
            "matchId": bulletin.match_id,
            "seq": bulletin.seq,
            "at": bulletin.at,
            "kind": event.kind,
            "key": event.key,
            "text": event.text,
            "state": content(bulletin.shown),
        }
        await self._means.outbox.put(WEBHOOK, f"{bulletin.key}:{event.key}", body)

    async def _find(self, bulletin: Bulletin) -> Delivery | None:
        return await self._means.store(Delivery.one(bulletin.match_id, bulletin.key))


class _Telling:
    """One bulletin on its way to all sessions of a match."""

    def __init__(
        self, means: Means, phones: Phones, pushed: Pushed, bulletin: Bulletin, tries: int = 0
    ) -> None:
        self._means = means
        self._phones = phones
        self._pushed = pushed
        self._bulletin = bulletin
        self._tries = tries
        self._voice: Bulletin | None = None
        self._alerting: Delivery | None = None

    async def run(self, older: Sequence[Bulletin]) -> None:
        """Tell everybody who was not told yet."""
        bulletin, store = self._bulletin, self._means.store
        delivery = await self._begun(bulletin)
        if delivery.finished_at is not None:
            return
        speaking = [each for each in (*older, bulletin) if each.alert and each.told]
        if speaking:
            self._voice = min(speaking, key=lambda each: each.told.event.priority)  # type: ignore[union-attr] # checked just above
            self._alerting = delivery
            if self._voice is not bulletin:
                self._alerting = await self._begun(self._voice)
        match = await store(ActiveMatch.by_id(bulletin.match_id))
        channel = match.channel_id if match else None
        if channel is not None and delivery.sent_until is None:
            await self._broadcast(channel)
        reached = delivery.pushed
        async for page in self._pages(delivery.sent_until or ""):
            counts = await self._tell_page(
                [each for each in page if each.channel_id != channel or channel is None]
            )
            await store(delivery.sent(page[-1].place, *counts))
            reached += len(page) if channel is not None else counts[0]
        now = self._means.now()
        for each in (bulletin, *older):
            await self._begun(each)
            await store(Delivery.finish(each.match_id, each.key, now))
            await tell_house(self._means.events, each, reached)

    async def tell_again(self, sessions: Sequence[LiveActivity]) -> None:
        """Tell some sessions, without an alert."""
        await self._send(sessions, None)

    async def _begun(self, bulletin: Bulletin) -> Delivery:
        fresh = Delivery(
            match_id=bulletin.match_id, delivery=bulletin.key, begun_at=self._means.now()
        )
        try:
            return await self._means.store(fresh.begin())
        except ConditionFailed:
            found = await self._means.store(Delivery.one(bulletin.match_id, bulletin.key))
            return found or fresh

    async def _pages(self, after: str) -> AsyncIterator[list[LiveActivity]]:
        """Answer the sessions of the match in pages, from a place on."""
        reading, cursor = LiveActivity.of_match(self._bulletin.match_id), None
        while True:
            page = await self._means.store.page(reading, PAGE, after=cursor)
            left = [each for each in page.items if each.place > after]
            if left:
                yield left
            cursor = page.cursor
            if cursor is None:
                return

    async def _broadcast(self, channel_id: str) -> None:
        bulletin, voice = self._bulletin, self._voice
        loud = voice is not None and voice.told is not None and voice.told.event.alert
        alert = voice.alert if voice is not None and loud else None
        if self._alerting is None or self._alerting.alerted_until is not None:
            alert = None
        if alert is not None:
            await self._mark(_FIRST_PLACE, 1)
        request_id = push_id(bulletin.key, channel_id)
        verdict = await self._phones.broadcast(bulletin.notice(alert), channel_id, request_id)
        if verdict.fate in ("later", "unsent"):
            message = f"The broadcast channel does not take it now: {verdict.reason}"
            raise PushingOff(message, verdict.retry_seconds)
        if verdict.fate != "delivered":
            log("cricket").error("a broadcast was refused", reason=verdict.reason)

    async def _tell_page(self, page: Sequence[LiveActivity]) -> tuple[int, int]:
        now = self._means.now()
        fit = [
            each
            for each in page
            if each.status == "active"
            and each.update_token is not None
            and not is_worn_out(each.session_started_at, now)
        ]
        voice, alerting = self._voice, self._alerting
        told = voice.told if voice else None
        loud: list[LiveActivity] = []
        if told is not None and alerting is not None:
            until = alerting.alerted_until or ""
            loud = [each for each in fit if each.place > until]
            loud = [each for each in loud if wakes(each.choice, told.event, now)]
        if loud:
            await self._mark(page[-1].place, len(loud))
        waked = {each.place for each in loud}
        quiet = [each for each in fit if each.place not in waked]
        first = await self._send(loud, told.alert if told else None)
        second = await self._send(quiet, None)
        return first[0] + second[0], first[1] + second[1]

    async def _mark(self, until: str, alerted: int) -> None:
        """Mark that everybody up to a place is alerted; raise TickOutpaced if another has."""
        alerting = self._alerting
        assert alerting is not None  # noqa: S101 - asked only where there is an alert
        try:
            self._alerting = await self._means.store(alerting.alerting(until, alerted))
        except ConditionFailed as refused:
            message = f"Another is telling the news of match {alerting.match_id}"
            raise TickOutpaced(message) from refused

    async def _send(self, sessions: Sequence[LiveActivity], alert: Alert | None) -> tuple[int, int]:
        if not sessions:
            return 0, 0
        key = self._bulletin.key
        targets = [Target(each.update_token or "", push_id(key, each.place)) for each in sessions]
        verdicts = await self._phones.tell(self._bulletin.notice(alert), targets)
        missed: list[LiveActivity] = []
        wait, rejected = 0.0, 0
        for session, verdict in zip(sessions, verdicts, strict=True):
            if verdict.fate == "delivered":
                continue
            if verdict.fate == "gone":
                rejected += 1
                await self._suspend(session, verdict)
            elif verdict.fate == "refused":
                log("cricket").error("a push was refused", reason=verdict.reason)
            else:
                missed.append(session)
                wait = max(wait, verdict.retry_seconds or 0.0)
        self._count(verdicts, rejected)
        if missed:
            await self._later(missed, wait)
        return len(sessions) - rejected - len(missed), rejected

    def _count(self, verdicts: Sequence[Verdict], rejected: int) -> None:
        self._pushed.add(sum(each.fate == "delivered" for each in verdicts), rejected)

    async def _suspend(self, session: LiveActivity, verdict: Verdict) -> None:
        if not is_rejection_current(verdict.at, session.token_registered_at):
            return
        try:
            await self._means.store(session.suspend_token(self._means.now()))
        except ConditionFailed:
            log("cricket").info("a session has another token by now", match=session.match_id)

    async def _later(self, missed: Sequence[LiveActivity], wait_seconds: float) -> None:
        """Tell some once more later; live updates are perishable, so not for ever."""
        if self._tries >= _RESENDS:
            return
        seconds = max(wait_seconds, _FIRST_RESEND_SECONDS * 2**self._tries)
        due = self._means.now() + timedelta(seconds=seconds)
        body = Missed(
            self._bulletin.match_id,
            tuple((each.user_id, each.device_id) for each in missed),
            self._tries + 1,
        )
        key = f"{self._bulletin.key}:{self._tries}:{missed[0].place}"
        await self._means.outbox.put(RESEND, key, body, due_at=due)
