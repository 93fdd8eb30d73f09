"""Kept here: broadcast channels: made, read, deleted, and pushed to once for all who listen."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

import msgspec

from grandstand.base.clock import Clock
from grandstand.simulators.push.checks import Fault, payload_of, priority_fault
from grandstand.simulators.push.http2 import Asked, Reply

MOST_BROADCAST_BYTES: Final = 5_120
_KEPT_SECONDS: Final = 8 * 3600
_PATH: Final = re.compile(r"/1/apps/(?P<bundle>[^/]+)/(?P<what>channels|all-channels)")
_PRIORITIES: Final = ("1", "5", "10")


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel of an app; with `stores` the newest message is kept for who comes later."""

    id: str
    bundle_id: str
    stores: bool


@dataclass
class Channels:
    """The channels of every app."""

    clock: Clock
    random: Random
    enabled: Callable[[str], bool]
    most: int = 10_000
    channels: dict[str, Channel] = field(default_factory=dict)
    stored: dict[str, tuple[float, dict[str, Any]]] = field(default_factory=dict)

    def manage(self, asked: Asked) -> Reply | Fault:
        """Make, read, list or delete channels."""
        found = _PATH.fullmatch(asked.path)
        if found is None:
            return Fault("BadPath")
        bundle = found["bundle"]
        if not self.enabled(bundle):
            return Fault("FeatureNotEnabled")
        if found["what"] == "all-channels":
            return self._list(bundle) if asked.method == "GET" else Fault("MethodNotAllowed")
        match asked.method:
            case "POST":
                return self._make(bundle, asked.body)
            case "GET" | "DELETE":
                return self._one(bundle, asked)
            case _:
                return Fault("MethodNotAllowed")

    def send(self, bundle: str, asked: Asked) -> tuple[Channel, dict[str, Any]] | Fault:
        """Answer the channel and the payload of a broadcast, or what is wrong with it."""
        if not self.enabled(bundle):
            return Fault("BroadcastFeatureNotEnabled")
        channel = self._channel(bundle, asked)
        if isinstance(channel, Fault):
            return channel
        fault = self._send_fault(channel, asked)
        if fault:
            return Fault(fault)
        payload = payload_of(asked.body, MOST_BROADCAST_BYTES)
        if isinstance(payload, Fault):
            return payload
        if channel.stores and asked.headers.get("apns-expiration", "0") != "0":
            self.stored[channel.id] = (self.clock.epoch(), payload)
        return channel, payload

    def newest(self, channel_id: str) -> dict[str, Any] | None:
        """Answer the message that is kept for who begins to listen."""
        kept_at, payload = self.stored.get(channel_id, (0.0, None))
        return payload if self.clock.epoch() - kept_at < _KEPT_SECONDS else None

    def _send_fault(self, channel: Channel, asked: Asked) -> str | None:
        push_type = asked.headers.get("apns-push-type")
        if push_type is None:
            return "MissingPushType"
        if push_type.lower() != "liveactivity":
            return "InvalidPushType"
        expiration = asked.headers.get("apns-expiration", "")
        if not expiration.isdigit() or (not channel.stores and expiration != "0"):
            return "BadExpirationDate"
        return priority_fault(asked.headers.get("apns-priority", ""), _PRIORITIES)

    def _channel(self, bundle: str, asked: Asked) -> Channel | Fault:
        named = asked.headers.get("apns-channel-id")
        if not named:
            return Fault("MissingChannelId")
        channel = self.channels.get(named)
        if channel is None or channel.bundle_id != bundle:
            known = re.fullmatch(r"[A-Za-z0-9+/]+={0,2}", named) is not None
            return Fault("ChannelNotRegistered" if known else "BadChannelId")
        return channel

    def _one(self, bundle: str, asked: Asked) -> Reply | Fault:
        channel = self._channel(bundle, asked)
        if isinstance(channel, Fault):
            return channel
        if asked.method == "DELETE":
            del self.channels[channel.id]
            self.stored.pop(channel.id, None)
            return Reply(204)
        told = {"message-storage-policy": int(channel.stores), "push-type": "LiveActivity"}
        return Reply(200, (), msgspec.json.encode(told))

    def _list(self, bundle: str) -> Reply:
        ids = [channel.id for channel in self.channels.values() if channel.bundle_id == bundle]
        return Reply(200, (), msgspec.json.encode({"channels": ids}))

    def _make(self, bundle: str, body: bytes) -> Reply | Fault:
        try:
            told = msgspec.json.decode(body, type=dict[str, Any])
        except msgspec.DecodeError:
            return Fault("BadRequest")
        policy, push_type = told.get("message-storage-policy"), told.get("push-type")
        if policy not in {0, 1}:
            return Fault("BadRequest")
        if push_type is None:
            return Fault("MissingPushType")
        if push_type != "LiveActivity":
            return Fault("InvalidPushType")
        if sum(each.bundle_id == bundle for each in self.channels.values()) >= self.most:
            return Fault("CannotCreateChannelConfig")
        channel_id = b64encode(self.random.randbytes(16)).decode("ascii")
        self.channels[channel_id] = Channel(channel_id, bundle, stores=policy == 1)
        return Reply(201, (("apns-channel-id", channel_id),))
