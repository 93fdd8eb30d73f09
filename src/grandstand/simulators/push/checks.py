"""Kept here: what Apple's push service checks in a request before anybody is reached."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from grandstand.simulators.push.http2 import Asked

MOST_BYTES: Final = 4_096
_PUSH_TYPES: Final = frozenset(
    {
        "alert",
        "background",
        "complication",
        "controls",
        "fileprovider",
        "liveactivity",
        "location",
        "mdm",
        "pushtotalk",
        "voip",
        "widgets",
    }
)
_LIVE: Final = ".push-type.liveactivity"
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_TOPIC: Final = re.compile(r"[A-Za-z0-9.-]+")
_HEX: Final = re.compile(r"(?:[0-9a-fA-F]{2})+")
_COLLAPSE_BYTES: Final = 64
_PRIORITIES: Final = ("1", "5", "10")


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a request is refused; `since` comes with a token that is gone, in milliseconds."""

    reason: str
    since: int | None = None


def push_fault(asked: Asked, token: str, bundles: Iterable[str]) -> str | None:
    """Answer the reason a push to one token is refused for, None when it is in order."""
    headers = asked.headers
    if any(name.startswith(("apns-", "authorization")) for name in asked.twice):
        return "DuplicateHeaders"
    if not token:
        return "MissingDeviceToken"
    push_type = headers.get("apns-push-type", "alert")
    if push_type not in _PUSH_TYPES:
        return "InvalidPushType"
    return (
        topic_fault(headers.get("apns-topic"), push_type, bundles)
        or _details_fault(headers)
        or (None if _HEX.fullmatch(token) else "BadDeviceToken")
    )


def topic_fault(topic: str | None, push_type: str, bundles: Iterable[str]) -> str | None:
    """Answer what is wrong with a topic: a Live Activity's ends in the push type."""
    if topic is None:
        return "MissingTopic"
    if not _TOPIC.fullmatch(topic):
        return "BadTopic"
    if (push_type == "liveactivity") != topic.endswith(_LIVE):
        return "BadTopic"
    return None if topic.removesuffix(_LIVE) in bundles else "TopicDisallowed"


def bundle_of(topic: str) -> str:
    """Answer the app a topic is of."""
    return topic.removesuffix(_LIVE)


def priority_fault(priority: str, allowed: tuple[str, ...] = _PRIORITIES) -> str | None:
    """Answer what is wrong with a priority."""
    return None if priority in allowed else "BadPriority"


def payload_of(body: bytes, most_bytes: int = MOST_BYTES) -> dict[str, Any] | Fault:
    """Answer a payload, or why it is none."""
    if not body:
        return Fault("PayloadEmpty")
    if len(body) > most_bytes:
        return Fault("PayloadTooLarge")
    try:
        payload = msgspec.json.decode(body, type=dict[str, Any])
    except msgspec.DecodeError:
        return Fault("PayloadEmpty")
    return payload if isinstance(payload.get("aps"), dict) else Fault("PayloadEmpty")


def _details_fault(headers: dict[str, str]) -> str | None:
    if not _UUID.fullmatch(headers.get("apns-id", "00000000-0000-0000-0000-000000000000")):
        return "BadMessageId"
    if not headers.get("apns-expiration", "0").isdigit():
        return "BadExpirationDate"
    collapse = headers.get("apns-collapse-id", "-")
    if not 0 < len(collapse.encode()) <= _COLLAPSE_BYTES:
        return "BadCollapseId"
    return priority_fault(headers.get("apns-priority", "10"))
