"""Kept here: one Live Activity on a phone: what iOS makes of starts, updates and ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

Payload: TypeAlias = dict[str, Any]

# iOS ends an activity after eight hours and keeps what has ended for four more at most.
_LONGEST_SECONDS: Final = 8 * 3600
_KEPT_SECONDS: Final = 4 * 3600


@dataclass(frozen=True, slots=True)
class Lock:
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
    """Applies pushes in the order of their timestamps, each once.

    `seen` keeps the timestamps shown, in order, and `alerts` what was alerted, so that a step back
    or a second alert can be found out.
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

    def begin(self, aps: Payload) -> None:
        """Show the first state, with its alert."""
        self._show(aps)

    def take(self, aps: Payload, now: float) -> str | None:
        """Apply an update or an end; answer why it is ignored, None when it is not."""
        event, timestamp = aps.get("event"), aps["timestamp"]
        if event not in {"update", "end"}:
            return f"event {event!r} for an activity that runs"
        if not self.runs(now):
            return "activity is over"
        if timestamp < self.timestamp:
            return "older than what is shown"
        if timestamp == self.timestamp and self.seen:
            return "shown already"
        self._show(aps)
        if event == "end":
            self.ended_at = now
            latest = now + _KEPT_SECONDS
            self.gone_at = min(float(aps.get("dismissal-date", latest)), latest)
        return None

    def dismiss(self, now: float) -> None:
        """Leave the lock screen."""
        self.ended_at = self.ended_at or now
        self.gone_at = now

    def runs(self, now: float) -> bool:
        """Tell whether it has not ended, by a push, by hand or by its age."""
        return self.ended_at is None and now - self.began_at < _LONGEST_SECONDS

    def shown(self, now: float) -> Lock | None:
        """Answer what the lock screen shows of it, None once it has left."""
        worn_out = self.began_at + _LONGEST_SECONDS
        gone_at = self.gone_at if self.gone_at is not None else worn_out + _KEPT_SECONDS
        if now >= gone_at:
            return None
        return Lock(
            state=self.state,
            attributes=self.attributes,
            timestamp=self.timestamp,
            stale=self.stale_at is not None and now >= self.stale_at,
            ended=not self.runs(now),
            alert=self.alerts[-1] if self.alerts else None,
            updates=len(self.seen),
            alerts=len(self.alerts),
        )

    def _show(self, aps: Payload) -> None:
        self.timestamp = aps["timestamp"]
        self.seen.append(self.timestamp)
        self.state = aps["content-state"]
        stale = aps.get("stale-date")
        self.stale_at = float(stale) if isinstance(stale, int | float) else None
        alert = aps.get("alert")
        if isinstance(alert, dict) and alert.get("title"):
            self.alerts.append(": ".join(filter(None, (alert["title"], alert.get("body")))))
