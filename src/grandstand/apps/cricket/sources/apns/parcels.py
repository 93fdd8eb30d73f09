"""Kept here: what is put into a push: the payload of Live Activities and how urgent it is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, TypeAlias

import msgspec

from grandstand.apps.cricket.model.alerts import Alert, ApnsPriority
from grandstand.apps.cricket.model.display import UnifiedDisplayState, content
from grandstand.apps.cricket.model.swift import ATTRIBUTES_TYPE

MOST_BYTES: Final = 4_096
MOST_BROADCAST_BYTES: Final = 5_120

PushType: TypeAlias = Literal["liveactivity", "alert"]

_START_LIVES_SECONDS: Final = 600
_COLLAPSE_BYTES: Final = 64


@dataclass(frozen=True, slots=True)
class Parcel:
    """A payload and how it is to be carried; one parcel goes to very many tokens.

    `expires_at` 0 means now or never. What has the same `collapse_id` replaces what waits.
    """

    payload: bytes
    push_type: PushType = "liveactivity"
    priority: ApnsPriority = 5
    expires_at: int = 0
    collapse_id: str | None = None


def update_parcel(
    state: UnifiedDisplayState, *, timestamp: int, stale_at: datetime, alert: Alert | None = None
) -> Parcel:
    """Answer a new state for an activity that runs; with an alert it is urgent."""
    aps = _aps("update", state, timestamp, alert)
    aps["stale-date"] = int(stale_at.timestamp())
    return Parcel(_encoded(aps), priority=10 if alert else 5)


def end_parcel(
    state: UnifiedDisplayState,
    *,
    timestamp: int,
    dismissal_at: datetime,
    alert: Alert | None = None,
) -> Parcel:
    """Answer the last state of an activity; iOS removes it at once for a moment in the past."""
    aps = _aps("end", state, timestamp, alert)
    aps["dismissal-date"] = int(dismissal_at.timestamp())
    return Parcel(_encoded(aps), priority=10)


def start_parcel(
    state: UnifiedDisplayState,
    *,
    timestamp: int,
    stale_at: datetime,
    alert: Alert,
    channel: str | None = None,
) -> Parcel:
    """Answer what begins an activity on a phone that has none for the match.

    Without its alert iOS drops it silently. With a channel the activity listens to broadcasts,
    without one it sends us a token of its own. Racing starts for a match become one.
    """
    aps = _aps("start", state, timestamp, alert)
    aps["stale-date"] = int(stale_at.timestamp())
    aps["attributes-type"] = ATTRIBUTES_TYPE
    home, away = (state.teams[at].name if len(state.teams) > at else "" for at in (0, 1))
    aps["attributes"] = {"matchId": state.match_id, "homeTeam": home, "awayTeam": away}
    if channel is None:
        aps["input-push-token"] = 1
    else:
        aps["input-push-channel"] = channel
    return Parcel(
        _encoded(aps),
        priority=10,
        expires_at=timestamp + _START_LIVES_SECONDS,
        collapse_id=f"start-{state.match_id}"[:_COLLAPSE_BYTES],
    )


def alert_parcel(alert: Alert, *, match_id: str, expires_at: datetime) -> Parcel:
    """Answer a plain notification about a match, which is shown without an activity."""
    aps: dict[str, object] = {"alert": {"title": alert.title, "body": alert.body}}
    aps |= {"sound": alert.sound, "thread-id": f"match-{match_id}"}
    return Parcel(
        msgspec.json.encode({"aps": aps, "matchId": match_id}),
        push_type="alert",
        priority=10,
        expires_at=int(expires_at.timestamp()),
        collapse_id=f"match-{match_id}"[:_COLLAPSE_BYTES],
    )


def _aps(
    event: str, state: UnifiedDisplayState, timestamp: int, alert: Alert | None
) -> dict[str, object]:
    aps: dict[str, object] = {
        "timestamp": timestamp,
        "event": event,
        "content-state": content(state),
        "relevance-score": 100 if state.phase == "live" else 50,
    }
    if alert is not None:
        aps["alert"] = {"title": alert.title, "body": alert.body, "sound": alert.sound}
    return aps


def _encoded(aps: dict[str, object]) -> bytes:
    return msgspec.json.encode({"aps": aps})
