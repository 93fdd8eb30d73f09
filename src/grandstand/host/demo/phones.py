"""Kept here: the simulated phone: it follows the match that is on, and its lock screen is drawn."""

from __future__ import annotations

import contextlib
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from grandstand.base.errors import Conflict, NotFound
from grandstand.kit.who.caller import LOCAL_OWNER

if TYPE_CHECKING:
    from grandstand.apps.cricket.service import Cricket
    from grandstand.host.demo.matches import Fixtures
    from grandstand.simulators.push import Activity, Lock, Phone, Wall

BUNDLE_ID: Final = "org.example.cricket"
_DEVICE_ID: Final = "simulated-phone"
_KEPT: Final = 6


@dataclass
class PhoneStory:
    """A phone on the wall, and what its app would tell our API of it."""

    wall: Wall
    fixtures: Fixtures
    _begun: deque[tuple[Phone, Activity]] = field(default_factory=deque)
    _phone: Phone | None = None

    def locks(self) -> list[Lock]:
        """Answer what is on the lock screen now, the newest first."""
        shown = self.wall.locks().get(self._phone.name, []) if self._phone is not None else []
        return sorted(shown, key=lambda lock: -lock.timestamp)[:2]

    def notifications(self) -> list[dict[str, Any]]:
        """Answer the last plain notifications, the newest first."""
        return [] if self._phone is None else self._phone.notifications[::-1][:2]

    def changes(self) -> int:
        """Answer a number that grows with whatever changes on the lock screen."""
        phone = self._phone
        if phone is None:
            return 0
        return len(phone.notifications) + sum(len(each.seen) for each in phone.activities)

    async def begin(self, cricket: Cricket) -> None:
        """Register the phone as its app does, for the owner of this machine."""
        from grandstand.apps.cricket.service import DeviceGiven

        if self._phone is None:
            self._phone = self.wall.add("A simulated phone", BUNDLE_ID)
            self.wall.started.append(lambda phone, made: self._begun.append((phone, made)))
        given = DeviceGiven(
            self._phone.device_token, _DEVICE_ID, os_version="26.0", app_version="simulated"
        )
        await cricket.register_device(LOCAL_OWNER, given)
        await cricket.set_push_to_start(
            LOCAL_OWNER, self._phone.device_token, self._phone.start_token
        )
        # What an earlier process had on its phone is gone with it.
        with contextlib.suppress(NotFound):
            await cricket.unfollow(LOCAL_OWNER, str(self.fixtures.live_id))

    async def look(self, cricket: Cricket) -> None:
        """Follow the match that is on, and tell the tokens of activities that have begun."""
        match_id = str(self.fixtures.live_id)
        while self._begun:
            _, activity = self._begun.popleft()
            told = str(activity.attributes.get("matchId") or match_id)
            try:
                await cricket.register_activity(LOCAL_OWNER, told, _DEVICE_ID, activity.token)
            except (NotFound, Conflict):
                continue
        if self._phone is not None:
            del self._phone.activities[:-_KEPT], self._phone.notifications[:-_KEPT]
        try:
            if await cricket.find_follow(LOCAL_OWNER, match_id) is None:
                await cricket.follow(LOCAL_OWNER, match_id)
        except (NotFound, Conflict):
            return
