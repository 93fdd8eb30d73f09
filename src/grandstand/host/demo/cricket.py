"""Simulated cricket: recorded matches replayed around the clock, and a phone that follows."""

from __future__ import annotations

import contextlib
from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from grandstand.core.clock import Clock
from grandstand.core.errors import Conflict, NotFound
from grandstand.kit.auth.caller import LOCAL_OWNER
from grandstand.simulators.push.phones import LockScreenActivity

if TYPE_CHECKING:
    from grandstand.apps.cricket.services import Cricket
    from grandstand.simulators.asgi import Application, Message, Receive, Send
    from grandstand.simulators.push.phones import Activity, Phone, PhoneWall
    from grandstand.simulators.scores.feed import ScoreFeed
    from grandstand.simulators.scores.timeline import TimelineConfig

_SLOT: Final = timedelta(minutes=48)  # two innings of 20 overs, with a ball every 10 seconds
_EPOCH: Final = datetime(2026, 1, 1, tzinfo=UTC)
_RECORDINGS: Final = (1001349, 1370353)
_FIRST_ID: Final = 5_000_000
_BEFORE: Final = 3
_AFTER: Final = 6


@dataclass
class Fixtures:
    """The schedule of replayed matches; it depends on time alone, in every process."""

    feed: ScoreFeed
    clock: Clock

    @property
    def live_id(self) -> int:
        """The match in play, at the toss, or just ended."""
        return _FIRST_ID + self._slot

    @property
    def past_ids(self) -> tuple[int, ...]:
        """The earlier matches that are still listed."""
        return tuple(_FIRST_ID + self._slot - back for back in range(1, _BEFORE + 1))

    @property
    def _slot(self) -> int:
        return (self.clock.now() - _EPOCH) // _SLOT

    @property
    def application(self) -> Application:
        """The feed as an ASGI app; the schedule is refreshed with each request."""
        feed = self.feed.application

        async def serve(scope: Message, receive: Receive, send: Send) -> None:
            self.refresh()
            await feed(scope, receive, send)

        return serve

    def refresh(self) -> None:
        """Add current, recent and upcoming matches to the feed, and remove the rest."""
        wanted = range(self._slot - _BEFORE, self._slot + _AFTER + 1)
        for replay in self.feed.replays:
            if replay.match_id - _FIRST_ID not in wanted:
                self.feed.take_off(replay.match_id)
        for slot in wanted:
            if self.feed.find(_FIRST_ID + slot) is None:
                self._play(slot)

    def _play(self, slot: int) -> None:
        from grandstand.simulators.scores.matches import read_recorded_match

        number = _RECORDINGS[slot % len(_RECORDINGS)]
        self.feed.play(
            read_recorded_match(number),
            starts_at=_EPOCH + slot * _SLOT + timedelta(minutes=1),
            match_id=_FIRST_ID + slot,
            config=_timeline_config(number),
        )


def _timeline_config(number: int) -> TimelineConfig:
    from grandstand.simulators.scores.timeline import Interruption, TimelineConfig

    rain = (Interruption(inning=2, balls=3, minutes=4, overs=15, target=171),)
    return TimelineConfig(
        interruptions=rain if number == _RECORDINGS[1] else (),
        seconds_per_ball=10.0,
        toss_minutes_before=8,
        innings_break_minutes=2,
        fix_seconds=4,
    )


BUNDLE_ID: Final = "org.example.cricket"
_DEVICE_ID: Final = "simulated-phone"
_SHOWN: Final = 2
_FILE: Final = "phone.json"
_FRESH_SECONDS: Final = 900.0


class LockScreen(msgspec.Struct, frozen=True):
    """The contents of a lock screen, newest first, and when they were stored."""

    at: float = 0.0
    locks: list[LockScreenActivity] = []
    notifications: list[dict[str, Any]] = []


@dataclass
class DemoPhone:
    """A simulated phone and the API calls of its app.

    Its lock screen is also stored in the folder, for a server whose jobs run in another process.
    """

    wall: PhoneWall
    fixtures: Fixtures
    folder: Path
    _begun: deque[tuple[Phone, Activity]] = field(default_factory=deque)
    _phone: Phone | None = None
    _let_go: int = 0

    def locks(self) -> list[LockScreenActivity]:
        """Return the lock screen, newest first."""
        return self._screen().locks

    def notifications(self) -> list[dict[str, Any]]:
        """Return the latest notifications, newest first."""
        return self._screen().notifications

    def changes(self) -> int:
        """Return a number that grows with every change of the lock screen."""
        return self._let_go + self._held()

    def put_screen(self) -> None:
        """Store the current lock screen."""
        unfinished = self.folder / f"{_FILE}.unfinished"
        unfinished.write_bytes(msgspec.json.encode(self._screen()))
        unfinished.replace(self.folder / _FILE)

    def _screen(self) -> LockScreen:
        now = self.wall.clock.epoch()
        if self._phone is None:
            stored = self._find_screen()
            return (
                stored if stored is not None and now - stored.at < _FRESH_SECONDS else LockScreen()
            )
        shown = self.wall.locks().get(self._phone.name, [])
        newest = sorted(shown, key=lambda lock: -lock.timestamp)
        return LockScreen(now, newest[:_SHOWN], self._phone.notifications[::-1][:_SHOWN])

    def _find_screen(self) -> LockScreen | None:
        try:
            return msgspec.json.decode((self.folder / _FILE).read_bytes(), type=LockScreen)
        except (OSError, msgspec.MsgspecError):
            return None

    def _held(self) -> int:
        phone = self._phone
        if phone is None:
            return 0
        return len(phone.notifications) + sum(len(each.seen) for each in phone.activities)

    async def begin(self, cricket: Cricket) -> None:
        """Register the phone for the owner of this machine."""
        from grandstand.apps.cricket.domain.live_activities import DeviceRegistration

        if self._phone is None:
            self._phone = self.wall.add("A simulated phone", BUNDLE_ID)
            self.wall.started.append(lambda phone, activity: self._begun.append((phone, activity)))
        registration = DeviceRegistration(
            self._phone.device_token, _DEVICE_ID, os_version="26.0", app_version="simulated"
        )
        await cricket.devices.register(LOCAL_OWNER.user_id, registration)
        await cricket.devices.set_push_to_start(
            LOCAL_OWNER.user_id, self._phone.device_token, self._phone.start_token
        )
        # The activities of an earlier process are lost with its phone.
        with contextlib.suppress(NotFound):
            await cricket.follows.unfollow(LOCAL_OWNER.user_id, str(self.fixtures.live_id))

    async def look(self, cricket: Cricket) -> None:
        """Follow the current match and register the tokens of new activities."""
        match_id = str(self.fixtures.live_id)
        while self._begun:
            _, activity = self._begun.popleft()
            activity_match_id = str(activity.attributes.get("matchId") or match_id)
            try:
                await cricket.live_activities.register(
                    LOCAL_OWNER.user_id, activity_match_id, _DEVICE_ID, activity.token
                )
            except (NotFound, Conflict):
                continue
        if self._phone is not None:
            before = self._held()
            self.wall.forget_all_but(6, self._phone)
            self._let_go += before - self._held()
        try:
            if await cricket.follows.find(LOCAL_OWNER.user_id, match_id) is None:
                await cricket.follows.follow(LOCAL_OWNER.user_id, match_id)
        except (NotFound, Conflict):
            return
