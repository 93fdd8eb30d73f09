"""Simulated phones with their Live Activities and notifications."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, TypeAlias

from grandstand.core.clock import Clock

Payload: TypeAlias = dict[str, Any]

# iOS ends an activity after eight hours and keeps what has ended for four more at most.
_LONGEST_SECONDS: Final = 8 * 3600
_KEPT_SECONDS: Final = 4 * 3600


@dataclass(frozen=True, slots=True)
class LockScreenActivity:
    """What a lock screen shows of an activity."""

    state: Payload
    attributes: Payload
    timestamp: int
    stale: bool
    ended: bool
    alert: str | None
    updates: int
    alerts: int


@dataclass
class Activity:
    """A Live Activity; applies pushes once each, ordered by timestamp.

    `seen` has the timestamps shown and `alerts` the alerts, so that tests can detect a step
    back or a repeated alert.
    """

    token: str
    attributes: Payload
    state: Payload
    began_at: float
    channel: str | None = None
    timestamp: int = 0
    stale_at: float | None = None
    ended_at: float | None = None
    gone_at: float | None = None
    alerts: list[str] = field(default_factory=list)
    seen: list[int] = field(default_factory=list)

    def take(self, aps: Payload, now: float) -> str | None:
        """Apply an update or an end; return why it is ignored, or None."""
        event, timestamp = aps.get("event"), aps["timestamp"]
        if event not in {"update", "end"}:
            return f"event {event!r} for an activity that runs"
        if not self.runs(now):
            return "activity is over"
        if timestamp < self.timestamp:
            return "older than what is shown"
        if timestamp == self.timestamp and self.seen:
            return "shown already"
        self.show(aps)
        if event == "end":
            self.ended_at = now
            latest = now + _KEPT_SECONDS
            self.gone_at = min(float(aps.get("dismissal-date", latest)), latest)
        return None

    def dismiss(self, now: float) -> None:
        self.ended_at = self.ended_at or now
        self.gone_at = now

    def runs(self, now: float) -> bool:
        """Return whether it has not ended by a push, by hand or by age."""
        return self.ended_at is None and now - self.began_at < _LONGEST_SECONDS

    def shown(self, now: float) -> LockScreenActivity | None:
        """Return what the lock screen shows, or None once it is gone."""
        expires_at = self.began_at + _LONGEST_SECONDS
        gone_at = self.gone_at if self.gone_at is not None else expires_at + _KEPT_SECONDS
        if now >= gone_at:
            return None
        return LockScreenActivity(
            state=self.state,
            attributes=self.attributes,
            timestamp=self.timestamp,
            stale=self.stale_at is not None and now >= self.stale_at,
            ended=not self.runs(now),
            alert=self.alerts[-1] if self.alerts else None,
            updates=len(self.seen),
            alerts=len(self.alerts),
        )

    def show(self, aps: Payload) -> None:
        """Show a state, with its alert."""
        self.timestamp = aps["timestamp"]
        self.seen.append(self.timestamp)
        self.state = aps["content-state"]
        stale = aps.get("stale-date")
        self.stale_at = float(stale) if isinstance(stale, int | float) else None
        alert = aps.get("alert")
        if isinstance(alert, dict) and alert.get("title"):
            self.alerts.append(": ".join(filter(None, (alert["title"], alert.get("body")))))


StateDecoder: TypeAlias = Callable[[Mapping[str, Any]], bool]


@dataclass
class Phone:
    """A phone with the app: tokens, activities and notifications.

    `dropped` counts accepted pushes that the phone ignored, by reason.
    """

    name: str
    bundle_id: str
    device_token: str
    start_token: str
    activities: list[Activity] = field(default_factory=list)
    notifications: list[dict[str, Any]] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)

    def locks(self, now: float) -> list[LockScreenActivity]:
        """Return the activities on the lock screen."""
        shown = (activity.shown(now) for activity in self.activities)
        return [lock for lock in shown if lock is not None]

    def running(self, now: float) -> list[Activity]:
        """Return the activities that have not ended."""
        return [activity for activity in self.activities if activity.runs(now)]


StartListener: TypeAlias = Callable[[Phone, Activity], None]


@dataclass
class PhoneWall:
    """All phones; pushes reach them by token or by channel.

    `decodes` decides whether the app can decode a content state. The `started` listeners are
    called for each activity started by push.
    """

    clock: Clock
    random: Random
    decodes: StateDecoder = field(default=lambda _: True)
    phones: list[Phone] = field(default_factory=list)
    started: list[StartListener] = field(default_factory=list)
    _by_token: dict[str, tuple[Phone, Activity | None]] = field(default_factory=dict)

    def add(self, name: str, bundle_id: str) -> Phone:
        phone = Phone(name, bundle_id, self._token(32), self._token())
        self.phones.append(phone)
        self._by_token[phone.device_token] = self._by_token[phone.start_token] = (phone, None)
        return phone

    def begin(self, phone: Phone, attributes: Mapping[str, Any], state: Payload) -> Activity:
        """Start an activity as the user does in the app."""
        activity = Activity(self._token(), dict(attributes), state, self.clock.epoch())
        phone.activities.append(activity)
        self._by_token[activity.token] = (phone, activity)
        return activity

    def rotate(self, phone: Phone, activity: Activity) -> str:
        """Replace the token of an activity, as iOS does at times, and return it."""
        self._by_token.pop(activity.token, None)
        activity.token = self._token()
        self._by_token[activity.token] = (phone, activity)
        return activity.token

    def dismiss(self, activity: Activity) -> None:
        """Dismiss an activity; its token may still be accepted."""
        activity.dismiss(self.clock.epoch())

    def forget_all_but(self, count: int, phone: Phone) -> None:
        """Remove all but the newest activities and notifications of a phone."""
        for activity in phone.activities[:-count]:
            self._by_token.pop(activity.token, None)
        del phone.activities[:-count], phone.notifications[:-count]

    def bundle_of(self, token: str) -> str | None:
        """Return the bundle id of a token, or None if no phone has it."""
        found = self._by_token.get(token)
        return found[0].bundle_id if found else None

    def push(self, token: str, push_type: str, payload: Payload) -> None:
        """Deliver a push to the phone of a token."""
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
        """Deliver a push to every activity on a channel; return how many there are."""
        count = 0
        for phone in self.phones:
            for activity in phone.activities:
                if activity.channel == channel:
                    self._change(phone, activity, payload)
                    count += 1
        return count

    def locks(self) -> dict[str, list[LockScreenActivity]]:
        """Return the lock screens by phone name."""
        now = self.clock.epoch()
        return {phone.name: phone.locks(now) for phone in self.phones}

    def _change(self, phone: Phone, activity: Activity, payload: Payload) -> None:
        aps = payload.get("aps", {})
        fault = self._check_state(aps) or activity.take(aps, self.clock.epoch())
        if fault:
            phone.dropped[fault] += 1

    def _start(self, phone: Phone, payload: Payload) -> None:
        aps = payload.get("aps", {})
        now = self.clock.epoch()
        fault = self._check_state(aps) or _check_start(aps)
        if fault is None and len(phone.running(now)) >= 5:
            fault = "too many activities"
        if fault:
            phone.dropped[fault] += 1
            return
        activity = Activity(self._token(), aps["attributes"], aps["content-state"], now)
        activity.channel = aps.get("input-push-channel")
        activity.show(aps)
        phone.activities.append(activity)
        self._by_token[activity.token] = (phone, activity)
        for listener in self.started:
            listener(phone, activity)

    def _check_state(self, aps: Payload) -> str | None:
        state = aps.get("content-state")
        if not isinstance(aps.get("timestamp"), int):
            return "no timestamp"
        if not isinstance(state, dict) or not self.decodes(state):
            return "content state cannot be decoded"
        return None

    def _token(self, size: int = 80) -> str:
        return self.random.randbytes(size).hex()


def _check_start(aps: Payload) -> str | None:
    """Return why iOS ignores a start, or None."""
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
