"""Kept here: starting Live Activities on the devices of those who follow a match."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import msgspec

from grandstand.apps.cricket.model import Seat
from grandstand.apps.cricket.model.alerts import Alert, AlertChoice
from grandstand.apps.cricket.model.sessions import next_start, restart_due, session_expires
from grandstand.apps.cricket.model.tokens import push_id
from grandstand.apps.cricket.service.means import START, Means
from grandstand.apps.cricket.service.ports import Notice, Target
from grandstand.apps.cricket.service.refusals import PushingOff
from grandstand.apps.cricket.service.telling.bulletins import Bulletin, Bulletins
from grandstand.apps.cricket.store import (
    ActiveMatch,
    Delivery,
    Device,
    LiveActivity,
    MatchFollow,
)
from grandstand.base.log import log
from grandstand.kit.outbox import Consequence
from grandstand.storage.tables.errors import ConditionFailed

_NO_DEVICE_FOR: Final = timedelta(minutes=2)
_COVERED_FOR: Final = timedelta(minutes=20)
_BROADCASTS_FROM: Final = 18


@dataclass(frozen=True, slots=True)
class Begun:
    """A start that was decided on: where, and which of its tries it is."""

    match_id: str
    user_id: str
    device_id: str
    device_token: str
    attempt: int


class Starting:
    """Decides who is sent a start, writes that down with the pending session, and sends it."""

    def __init__(self, means: Means, bulletins: Bulletins) -> None:
        self._means = means
        self._bulletins = bulletins
        self._lifetimes = means.lifetimes
        self._looked_up: dict[str, dict[str, datetime]] = {}

    async def start_for(
        self,
        match: ActiveMatch,
        user_id: str,
        known: Sequence[LiveActivity],
        ends: datetime | None = None,
        *,
        at_once: bool = False,
    ) -> int:
        """Start what one follower has not, or not any more; answer how many starts were sent.

        Whether there are further devices is looked up now and then. `at_once` looks now, and
        starts what was ended before.
        """
        now = self._means.now()
        looked_up = self._looked_up.get(match.match_id, {})
        by_device = {each.device_id: each for each in known}
        due = [
            each
            for each in known
            if (at_once and each.status == "ended") or self._is_due(each, match, now)
        ]
        if not due and not at_once and looked_up.get(user_id, now) > now:
            return 0
        devices = [each for each in await self._devices(user_id) if each.push_to_start_token]
        started = 0
        for device in devices:
            session = by_device.get(device.device_id)
            if session is None or session in due:
                started += await self._begin(match, device, session, ends)
        if not at_once:
            until = now + (_COVERED_FOR if known or devices else _NO_DEVICE_FOR)
            self._looked_up.setdefault(match.match_id, {})[user_id] = until
        return started

    def _is_due(self, session: LiveActivity, match: ActiveMatch, now: datetime) -> bool:
        if session.status == "ended":
            return False
        if session.status == "active":
            old = restart_due(session.session_started_at, match.match_phase, now, self._lifetimes)
            if not old:
                return False
        return next_start(session.attempts, now, self._lifetimes) == "start"

    def forget_all_but(self, match_ids: Container[str]) -> None:
        """Forget who was looked up for matches that are over, whoever has ended them."""
        over = [each for each in self._looked_up if each not in match_ids]
        for match_id in over:
            del self._looked_up[match_id]

    async def _devices(self, user_id: str) -> list[Device]:
        return await self._means.store(Device.of_user(user_id))

    async def _begin(
        self,
        match: ActiveMatch,
        device: Device,
        session: LiveActivity | None,
        ends: datetime | None,
    ) -> int:
        """Write a start down, if nobody else just did."""
        now, channel = self._means.now(), _channel_for(match, device)
        expires = session_expires(now, ends, self._lifetimes)
        if session is None:
            choice = await self._means.choice(device.user_id)
            session = _pending(Seat(match.match_id, device.user_id, device.device_id), now, choice)
            session = session.replace(expires=expires, channel_id=channel)
            write = session.expect()
            attempt = 1
        else:
            attempt = session.starts_sent + 1
            begin_again = session.start_again(now, expires, channel)
            write = begin_again  # type: ignore[assignment] # either is a write
        begun = Begun(
            match.match_id, device.user_id, device.device_id, device.device_token, attempt
        )
        key = f"{match.match_id}:{session.place}:{int(now.timestamp() * 1000)}"
        return int(await self._means.wrote(write, self._means.outbox.write(START, key, begun)))

    async def deliver(self, consequence: Consequence) -> None:
        """Send a start, once: what may have arrived is not sent again under the same try.

        Raises PushingOff when Apple cannot have it yet.
        """
        begun = msgspec.json.decode(consequence.body, type=Begun)
        store, phones = self._means.store, self._means.phones
        match = await store(ActiveMatch.as_it_is(begun.match_id))
        device = await store(Device.by_token(begun.user_id, begun.device_token))
        follow = await store(MatchFollow.one(begun.match_id, begun.user_id))
        newest = None if match is None else await self._bulletins.newest(match)
        if match is None or match.status != "active" or newest is None or phones is None:
            return
        if device is None or device.push_to_start_token is None or follow is None:
            return
        delivery = f"start#{consequence.idempotency_key}"
        mark = Delivery(match_id=begun.match_id, delivery=delivery, begun_at=self._means.now())
        try:
            await store(mark.begin())
        except ConditionFailed:
            return
        notice = self._notice(newest, match, device)
        target = Target(
            device.push_to_start_token, push_id(delivery, f"{begun.user_id}#{begun.device_id}")
        )
        (verdict,) = await phones.tell(notice, [target])
        if verdict.fate == "gone":
            await self._drop_token(device)
        if verdict.fate == "unsent":
            await store(Delivery.take_back(begun.match_id, delivery))
            message = f"A start was not sent yet: {verdict.reason}"
            raise PushingOff(message, verdict.retry_seconds)

    def _notice(self, newest: Bulletin, match: ActiveMatch, device: Device) -> Notice:
        alert = Alert(f"{newest.home} v {newest.away}"[:60], "The match is on.")
        return Notice(
            newest.match_id,
            "start",
            newest.at,
            newest.shown,
            10,
            stale_at=newest.stale_at,
            alert=alert,
            channel_id=_channel_for(match, device),
        )

    async def _drop_token(self, device: Device) -> None:
        try:
            await self._means.store(device.drop_push_to_start())
        except ConditionFailed:
            log("cricket").info("a device has another start token by now")


def _channel_for(match: ActiveMatch, device: Device) -> str | None:
    """Answer the channel of a match for a device that can listen to one: iOS 18 and later."""
    major = device.os_version.partition(".")[0]
    able = major.isdigit() and int(major) >= _BROADCASTS_FROM
    return match.channel_id if able else None


def _pending(seat: Seat, now: datetime, choice: AlertChoice) -> LiveActivity:
    return LiveActivity(
        match_id=seat.match_id,
        user_id=seat.user_id,
        device_id=seat.device_id,
        status="pending",
        session_started_at=now,
        starts_sent=1,
        start_sent_at=now,
        alert_kinds=None if choice.kinds is None else tuple(sorted(choice.kinds)),
        muted=choice.muted,
        muted_until=choice.muted_until,
    )
