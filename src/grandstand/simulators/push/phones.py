"""Kept here: a wall of simulated phones, and what each of their lock screens shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, TypeAlias

from grandstand.base.clock import Clock
from grandstand.simulators.push.activities import Activity, Lock, Payload

_MOST_ACTIVITIES: Final = 5
_DEVICE_TOKEN_BYTES: Final = 32
_ACTIVITY_TOKEN_BYTES: Final = 80

Decodes: TypeAlias = Callable[[Mapping[str, Any]], bool]


@dataclass
class Phone:
    """One phone with the app on it: its tokens, its activities and its plain notifications.

    `dropped` counts what Apple took and the phone made nothing of, by reason.
    """

    name: str
    bundle_id: str
    device_token: str
    start_token: str
    activities: list[Activity] = field(default_factory=list)
    notifications: list[dict[str, Any]] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)

    def locks(self, now: float) -> list[Lock]:
        """Answer what the lock screen shows of each activity that is on it."""
        shown = (activity.shown(now) for activity in self.activities)
        return [lock for lock in shown if lock is not None]

    def running(self, now: float) -> list[Activity]:
        """Answer the activities that have not ended."""
        return [activity for activity in self.activities if activity.runs(now)]


Started: TypeAlias = Callable[[Phone, Activity], None]


@dataclass
class Wall:
    """All phones; pushes reach them by token or by channel.

    `decodes` says whether the app can read a content state, as its Swift type decides. Whoever is
    in `started` hears of each activity that a push began, as the app's server does.
    """

    clock: Clock
    random: Random
    decodes: Decodes = field(default=lambda _: True)
    phones: list[Phone] = field(default_factory=list)
    started: list[Started] = field(default_factory=list)
    _by_token: dict[str, tuple[Phone, Activity | None]] = field(default_factory=dict)

    def add(self, name: str, bundle_id: str) -> Phone:
        """Put a phone on the wall."""
        phone = Phone(name, bundle_id, self._token(_DEVICE_TOKEN_BYTES), self._token())
        self.phones.append(phone)
        self._by_token[phone.device_token] = self._by_token[phone.start_token] = (phone, None)
        return phone

    def begin(self, phone: Phone, attributes: Mapping[str, Any], state: Payload) -> Activity:
        """Begin an activity on a phone by hand, as its owner does in the app."""
        activity = Activity(self._token(), dict(attributes), state, self.clock.epoch())
        phone.activities.append(activity)
        self._by_token[activity.token] = (phone, activity)
        return activity

    def rotate(self, phone: Phone, activity: Activity) -> str:
        """Give an activity another token, as iOS does now and then; answer it."""
        self._by_token.pop(activity.token, None)
        activity.token = self._token()
        self._by_token[activity.token] = (phone, activity)
        return activity.token

    def dismiss(self, activity: Activity) -> None:
        """Swipe an activity off the lock screen; its token may still be taken."""
        activity.dismiss(self.clock.epoch())

    def forget_all_but(self, kept: int, phone: Phone) -> None:
        """Forget what a phone showed before its newest so many, and the tokens of it."""
        for activity in phone.activities[:-kept]:
            self._by_token.pop(activity.token, None)
        del phone.activities[:-kept], phone.notifications[:-kept]

    def bundle_of(self, token: str) -> str | None:
        """Answer the app a token belongs to, None for one that no phone has."""
        found = self._by_token.get(token)
        return found[0].bundle_id if found else None

    def push(self, token: str, push_type: str, payload: Payload) -> None:
        """Bring a push to the phone of a token."""
        found = self._by_token.get(token)
        if found is None:
            return
        phone, activity = found
        if push_type != "liveactivity":
            phone.notifications.append(payload)
        elif activity is not None:
            self._change(phone, activity, payload)
        elif token == phone.start_token:
            self._start(phone, payload)
        else:
            phone.dropped["no activity has this token"] += 1

    def broadcast(self, channel: str, payload: Payload) -> int:
        """Bring a push to every activity on a channel; answer how many there are."""
        listening = list(self._listening(channel))
        for phone, activity in listening:
            self._change(phone, activity, payload)
        return len(listening)

    def locks(self) -> dict[str, list[Lock]]:
        """Answer what every lock screen shows now, by the names of phones."""
        now = self.clock.epoch()
        return {phone.name: phone.locks(now) for phone in self.phones}

    def _listening(self, channel: str) -> Iterator[tuple[Phone, Activity]]:
        for phone in self.phones:
            for activity in phone.activities:
                if activity.channel == channel:
                    yield phone, activity

    def _change(self, phone: Phone, activity: Activity, payload: Payload) -> None:
        aps = payload.get("aps", {})
        fault = self._unreadable(aps) or activity.take(aps, self.clock.epoch())
        if fault:
            phone.dropped[fault] += 1

    def _start(self, phone: Phone, payload: Payload) -> None:
        aps = payload.get("aps", {})
        now = self.clock.epoch()
        fault = self._unreadable(aps) or _start_fault(aps)
        if fault is None and len(phone.running(now)) >= _MOST_ACTIVITIES:
            fault = "too many activities"
        if fault:
            phone.dropped[fault] += 1
            return
        activity = Activity(self._token(), aps["attributes"], aps["content-state"], now)
        activity.channel = aps.get("input-push-channel")
        activity.begin(aps)
        phone.activities.append(activity)
        self._by_token[activity.token] = (phone, activity)
        for hear in self.started:
            hear(phone, activity)

    def _unreadable(self, aps: Payload) -> str | None:
        state = aps.get("content-state")
        if not isinstance(aps.get("timestamp"), int):
            return "no timestamp"
        if not isinstance(state, dict) or not self.decodes(state):
            return "content state cannot be decoded"
        return None

    def _token(self, size: int = _ACTIVITY_TOKEN_BYTES) -> str:
        return self.random.randbytes(size).hex()


def _start_fault(aps: Payload) -> str | None:
    """Answer why iOS makes nothing of a start that Apple has taken."""
    if aps.get("event") != "start":
        return "not a start"
    if not isinstance(aps.get("attributes-type"), str) or not isinstance(
        aps.get("attributes"), dict
    ):
        return "start without attributes"
    alert = aps.get("alert")
    if not isinstance(alert, dict) or not alert.get("title"):
        return "start without alert"
    return None
