"""Kept here: plain alerts to devices: that a followed match begins soon, and a test of the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import msgspec

from grandstand.apps.cricket.model.alerts import Alert, announcement_due
from grandstand.apps.cricket.model.tokens import push_id
from grandstand.apps.cricket.service.means import ANNOUNCE, Means
from grandstand.apps.cricket.service.ports import Target
from grandstand.apps.cricket.service.refusals import (
    DeviceUnknown,
    PushingOff,
    PushKeyMissing,
)
from grandstand.apps.cricket.service.values import MatchView
from grandstand.apps.cricket.store import Delivery, Device, MatchFollow
from grandstand.kit.outbox import Consequence
from grandstand.storage.tables.errors import ConditionFailed

_TEST: Final = Alert("Grandstand", "Pushes reach this device.")
_TEST_LIVES: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Announcement:
    """Who is told that a match begins soon, and when it does."""

    match_id: str
    user_id: str
    starts: datetime
    title: str
    body: str


class Announcing:
    """Tells each follower once that a match begins soon, and again when it was moved."""

    def __init__(self, means: Means) -> None:
        self._means = means

    async def announce(self, match: MatchView) -> int:
        """Write down an announcement for every follower who needs one; answer how many."""
        now, announced = self._means.now(), 0
        ahead = timedelta(minutes=self._means.settings.announce_minutes)
        if not announcement_due(match.starts_at, now, None, ahead=ahead):
            return 0
        async for follow in self._means.each(MatchFollow.of_match(match.match_id)):
            if announcement_due(match.starts_at, now, follow.announced_for, ahead=ahead):
                announced += await self._write(match, follow, now)
        return announced

    async def _write(self, match: MatchView, follow: MatchFollow, now: datetime) -> int:
        minutes = max(1, round((match.starts_at - now).total_seconds() / 60))
        named = [side.name or side.code or "?" for side in (match.home, match.away)]
        announcement = Announcement(
            match.match_id,
            follow.user_id,
            match.starts_at,
            f"{named[0]} v {named[1]}"[:60],
            f"Begins in {minutes} minutes" if minutes > 1 else "Begins in a minute",
        )
        key = f"{match.match_id}:{follow.user_id}:{int(match.starts_at.timestamp())}"
        write = self._means.outbox.write(ANNOUNCE, key, announcement)
        return int(await self._means.wrote(follow.announce(match.starts_at), write))

    async def deliver(self, consequence: Consequence) -> None:
        """Send an announcement to all devices of a person, once, while it is of use.

        Raises PushingOff when Apple cannot have it yet.
        """
        told = msgspec.json.decode(consequence.body, type=Announcement)
        phones, now = self._means.phones, self._means.now()
        muted = (await self._means.choice(told.user_id)).silent(now)
        devices = await self._means.store(Device.of_user(told.user_id))
        if phones is None or muted or now >= told.starts or not devices:
            return
        delivery = f"announce#{consequence.idempotency_key}"
        mark = Delivery(match_id=told.match_id, delivery=delivery, begun_at=now)
        try:
            await self._means.store(mark.begin())
        except ConditionFailed:
            return
        targets = [Target(each.apns_token, push_id(delivery, each.device_id)) for each in devices]
        verdicts = await phones.alert(
            Alert(told.title, told.body), targets, match_id=told.match_id, expires_at=told.starts
        )
        for device, verdict in zip(devices, verdicts, strict=True):
            if verdict.fate == "gone":
                await self._means.store(Device.forget(device.user_id, device.device_token))
        if all(verdict.fate == "unsent" for verdict in verdicts):
            await self._means.store(Delivery.take_back(told.match_id, delivery))
            message = f"An announcement was not sent yet: {verdicts[0].reason}"
            raise PushingOff(message, verdicts[0].retry_seconds)

    async def test(self, user_id: str) -> Mapping[str, str]:
        """Send an alert to a person's own devices; raise PushKeyMissing and DeviceUnknown."""
        phones = self._means.phones
        if phones is None:
            message = (
                "Nothing can be pushed: set GRANDSTAND_CRICKET_APNS_KEY, _APNS_KEY_ID, "
                "_APNS_TEAM_ID and _APNS_BUNDLE_ID"
            )
            raise PushKeyMissing(message)
        devices = await self._means.store(Device.of_user(user_id))
        if not devices:
            raise DeviceUnknown("You have no device yet: register one with POST /user/device")
        now = self._means.now()
        targets = [Target(each.apns_token, push_id(str(now), each.device_id)) for each in devices]
        verdicts = await phones.alert(_TEST, targets, match_id="test", expires_at=now + _TEST_LIVES)
        return {
            device.device_id: f"{verdict.fate} {verdict.reason}".strip()
            for device, verdict in zip(devices, verdicts, strict=True)
        }
