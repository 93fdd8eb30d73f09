"""Kept here: the simulated phone: it follows the match that is on, and its lock screen is drawn."""

from __future__ import annotations

import contextlib
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from grandstand.base.errors import Conflict, NotFound
from grandstand.kit.who.caller import LOCAL_OWNER
from grandstand.simulators.push.activities import Lock

if TYPE_CHECKING:
    from grandstand.apps.cricket.service import Cricket
    from grandstand.host.demo.matches import Fixtures
    from grandstand.simulators.push import Activity, Phone, Wall

BUNDLE_ID: Final = "org.example.cricket"
_DEVICE_ID: Final = "simulated-phone"
_KEPT: Final = 6
_SHOWN: Final = 2
_FILE: Final = "phone.json"
_FRESH_SECONDS: Final = 900.0


class Screen(msgspec.Struct, frozen=True):
    """What is on a lock screen, the newest first, and when that was so in seconds since 1970."""

    at: float = 0.0
    locks: list[Lock] = []
    notifications: list[dict[str, Any]] = []


@dataclass
class PhoneStory:
    """A phone on the wall, and what its app would tell our API of it.

    Its lock screen is kept in the folder too, for a server whose jobs another process runs.
    """

    wall: Wall
    fixtures: Fixtures
    folder: Path
    _begun: deque[tuple[Phone, Activity]] = field(default_factory=deque)
    _phone: Phone | None = None
    _let_go: int = 0

    def locks(self) -> list[Lock]:
        """Answer what is on the lock screen now, the newest first."""
        return self._screen().locks

    def notifications(self) -> list[dict[str, Any]]:
        """Answer the last plain notifications, the newest first."""
        return self._screen().notifications

    def changes(self) -> int:
        """Answer a number that grows with whatever changes on the lock screen."""
        return self._let_go + self._held()

    def put_screen(self) -> None:
        """Keep what is on the lock screen now."""
        unfinished = self.folder / f"{_FILE}.unfinished"
        unfinished.write_bytes(msgspec.json.encode(self._screen()))
        unfinished.replace(self.folder / _FILE)

    def _screen(self) -> Screen:
        now = self.wall.clock.epoch()
        if self._phone is None:
            kept = self._find_screen()
            return kept if kept is not None and now - kept.at < _FRESH_SECONDS else Screen()
        shown = self.wall.locks().get(self._phone.name, [])
        newest = sorted(shown, key=lambda lock: -lock.timestamp)
        return Screen(now, newest[:_SHOWN], self._phone.notifications[::-1][:_SHOWN])

    def _find_screen(self) -> Screen | None:
        try:
            return msgspec.json.decode((self.folder / _FILE).read_bytes(), type=Screen)
        except (OSError, msgspec.MsgspecError):
            return None

    def _held(self) -> int:
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
            before = self._held()
            self.wall.forget_all_but(_KEPT, self._phone)
            self._let_go += before - self._held()
        try:
            if await cricket.find_follow(LOCAL_OWNER, match_id) is None:
                await cricket.follow(LOCAL_OWNER, match_id)
        except (NotFound, Conflict):
            return
