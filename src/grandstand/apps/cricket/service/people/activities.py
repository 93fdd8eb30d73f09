"""Kept here: Live Activities on people's devices: registered, renewed, ended."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

import msgspec

from grandstand.apps.cricket.model import EndReason, Seat
from grandstand.apps.cricket.model.alerts import AlertChoice
from grandstand.apps.cricket.model.sessions import dismissal_date, session_expires
from grandstand.apps.cricket.model.tokens import check_token, push_id
from grandstand.apps.cricket.service.means import END, RESEND, Means
from grandstand.apps.cricket.service.ports import Target
from grandstand.apps.cricket.service.refusals import (
    ActivityUnknown,
    DeviceNameInvalid,
    MatchOver,
    PushingOff,
)
from grandstand.apps.cricket.service.telling.bulletins import Bulletin, Bulletins
from grandstand.apps.cricket.service.telling.delivering import Missed
from grandstand.apps.cricket.service.values import MatchView
from grandstand.apps.cricket.store import ActiveMatch, LiveActivity
from grandstand.kit.outbox import Consequence
from grandstand.storage.tables import Put
from grandstand.storage.tables.errors import ConditionFailed
from grandstand.storage.tables.operations.batches import Write

_PAST: Final = timedelta(hours=1)
_NAME: Final = re.compile(r"[A-Za-z0-9._:@=-]{1,100}")


@dataclass(frozen=True, slots=True)
class Ending:
    """An activity that is to be ended on its phone, by the token it had, and what it shows last."""

    place: str
    token: str
    last: Bulletin


def check_device_id(device_id: str) -> str:
    """Answer a device's id; raise DeviceNameInvalid when it cannot be one."""
    if _NAME.fullmatch(device_id) is None:
        message = (
            "A device id has 1 to 100 letters, digits and . _ : @ = -, as the device keeps it; "
            f"this has {len(device_id)} characters"
        )
        raise DeviceNameInvalid(message)
    return device_id


class Activities:
    """The sessions of one person at a time; what many are told is elsewhere."""

    def __init__(self, means: Means, bulletins: Bulletins) -> None:
        self._means = means
        self._bulletins = bulletins
        self._lifetimes = means.lifetimes

    async def of_user(self, user_id: str) -> tuple[LiveActivity, ...]:
        """Answer a person's sessions, newest first."""
        found = await self._means.store(LiveActivity.of_user(user_id))
        return tuple(sorted(found, key=lambda each: each.session_started_at, reverse=True))

    async def register(
        self, user_id: str, match: MatchView, device_id: str, token: str, choice: AlertChoice
    ) -> LiveActivity:
        """Keep the token of an activity; the one it replaces is ended on the phone.

        Raises TokenInvalid, DeviceNameInvalid and MatchOver.
        """
        seat = Seat(match.match_id, user_id, check_device_id(device_id))
        token, now = check_token(token, "activity token"), self._means.now()
        if match.phase == "ended":
            raise MatchOver(f"Match {match.match_id} is over: there is nothing more to show")
        known = await self._means.store(LiveActivity.one(seat))
        if known is not None and known.update_token == token and known.status == "active":
            return known
        expires = session_expires(now, match.ends_at, self._lifetimes)
        writes: list[Write] = [self._renewed(seat, token, known, now=now, expires=expires)]
        if known is not None and known.status == "active" and known.starts_sent:
            writes += await self._ending(known)
        await self._means.store.all(*writes)
        await self._means.store(LiveActivity.choose(seat, choice))
        session = await self._means.store.read(LiveActivity.one(seat))
        await self._catch_up(session, now)
        return session

    @staticmethod
    def _renewed(
        seat: Seat, token: str, known: LiveActivity | None, *, now: datetime, expires: datetime
    ) -> Write:
        """A token that changes while nothing was started anew is the same activity's."""
        rotated = known is not None and not known.starts_sent and known.status != "ended"
        if rotated:
            return LiveActivity.rotate(seat, token, now)
        return LiveActivity.register(seat, token, now, expires)

    async def _catch_up(self, session: LiveActivity, now: datetime) -> None:
        """Tell a session what it missed while its token was on the way: how things stand."""
        missed = Missed(session.match_id, ((session.user_id, session.device_id),), 0)
        key = f"{session.match_id}:{session.place}:{int(now.timestamp() * 1000)}"
        await self._means.outbox.put(RESEND, key, missed)

    async def end(
        self, user_id: str, match_id: str, device_id: str | None, reason: EndReason
    ) -> tuple[LiveActivity, ...]:
        """End a person's activity on a device, or on all; raise ActivityUnknown."""
        mine = [
            each
            for each in await self._means.store(LiveActivity.of_person(match_id, user_id))
            if each.status != "ended" and device_id in (None, each.device_id)
        ]
        if not mine:
            where = "any device" if device_id is None else f"device {device_id[:40]!r}"
            raise ActivityUnknown(f"There is no Live Activity for match {match_id} on {where}")
        return tuple([await self._end(each, reason) for each in mine])

    async def _end(self, session: LiveActivity, reason: EndReason) -> LiveActivity:
        now = self._means.now()
        writes: list[Write] = [LiveActivity.end(session.seat, now, reason)]
        if reason != "dismissed" and session.status == "active":
            writes += await self._ending(session)
        await self._means.store.all(*writes)
        return session.replace(status="ended", ended_at=now, end_reason=reason)

    async def _ending(self, session: LiveActivity) -> list[Put[Consequence]]:
        match = await self._means.store(ActiveMatch.as_it_is(session.match_id))
        newest = None if match is None else await self._bulletins.newest(match)
        if session.update_token is None or newest is None:
            return []
        now = self._means.now()
        # A phone ignores what is not newer than what it shows, by the second.
        at = now.replace(microsecond=0) + timedelta(seconds=2)
        gone_at = dismissal_date(at, self._lifetimes, at_once=True) - _PAST
        last = replace(newest, event="end", at=at, dismiss_at=gone_at)
        ending = Ending(session.place, session.update_token, last)
        key = f"{session.match_id}:{session.place}:{int(now.timestamp() * 1000)}"
        return [self._means.outbox.write(END, key, ending)]

    async def end_all(self, match_id: str, reason: EndReason = "match_ended") -> int:
        """Note that all sessions of a match are over; their phones were told by then."""
        ended, now = 0, self._means.now()
        expires = now + self._lifetimes.kept_after_end
        async for session in self._means.each(LiveActivity.of_match(match_id)):
            if session.status == "ended":
                continue
            over = LiveActivity.end(session.seat, now, reason).set(expires=expires)
            try:
                await self._means.store(over)
            except ConditionFailed:
                continue
            ended += 1
        return ended

    async def deliver_end(self, consequence: Consequence) -> None:
        """Take an activity off its phone at once; raise PushingOff when Apple may not have it."""
        ending = msgspec.json.decode(consequence.body, type=Ending)
        phones = self._means.phones
        if phones is None:
            return
        target = Target(ending.token, push_id(consequence.idempotency_key, ending.place))
        (verdict,) = await phones.tell(ending.last.notice(), [target])
        if verdict.fate in ("later", "unsent"):
            message = f"An activity was not ended on its phone yet: {verdict.reason}"
            raise PushingOff(message, verdict.retry_seconds)
