"""Broadcast channels of APNs."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

import msgspec

from grandstand.core.clock import Clock
from grandstand.simulators.push.http2_server import Http2Request, Http2Response
from grandstand.simulators.push.validation import Rejection, check_priority, parse_payload

MAX_BROADCAST_BYTES: Final = 5_120
_KEPT_SECONDS: Final = 8 * 3600
_PATH: Final = re.compile(r"/1/apps/(?P<bundle>[^/]+)/(?P<what>channels|all-channels)")
_PRIORITIES: Final = ("1", "5", "10")


@dataclass(frozen=True, slots=True)
class BroadcastChannel:
    """A channel; with `stores` the newest message is kept for new listeners."""

    id: str
    bundle_id: str
    stores: bool


@dataclass
class BroadcastChannels:
    """The channels of every app."""

    clock: Clock
    random: Random
    enabled: Callable[[str], bool]
    most: int = 10_000
    channels: dict[str, BroadcastChannel] = field(default_factory=dict)
    stored: dict[str, tuple[float, dict[str, Any]]] = field(default_factory=dict)

    def manage(self, asked: Http2Request) -> Http2Response | Rejection:
        """Create, read, list or delete channels."""
        found = _PATH.fullmatch(asked.path)
        if found is None:
            return Rejection("BadPath")
        bundle = found["bundle"]
        if not self.enabled(bundle):
            return Rejection("FeatureNotEnabled")
        if found["what"] == "all-channels":
            return self._list(bundle) if asked.method == "GET" else Rejection("MethodNotAllowed")
        match asked.method:
            case "POST":
                return self._make(bundle, asked.body)
            case "GET" | "DELETE":
                return self._one(bundle, asked)
            case _:
                return Rejection("MethodNotAllowed")

    def send(
        self, bundle: str, asked: Http2Request
    ) -> tuple[BroadcastChannel, dict[str, Any]] | Rejection:
        """Return the channel and payload of a broadcast, or why it is rejected."""
        if not self.enabled(bundle):
            return Rejection("BroadcastFeatureNotEnabled")
        channel = self._channel(bundle, asked)
        if isinstance(channel, Rejection):
            return channel
        fault = self._send_fault(channel, asked)
        if fault:
            return Rejection(fault)
        payload = parse_payload(asked.body, MAX_BROADCAST_BYTES)
        if isinstance(payload, Rejection):
            return payload
        if channel.stores and asked.headers.get("apns-expiration", "0") != "0":
            self.stored[channel.id] = (self.clock.epoch(), payload)
        return channel, payload

    def newest(self, channel_id: str) -> dict[str, Any] | None:
        """Return the stored message of a channel."""
        kept_at, payload = self.stored.get(channel_id, (0.0, None))
        return payload if self.clock.epoch() - kept_at < _KEPT_SECONDS else None

    def _send_fault(self, channel: BroadcastChannel, asked: Http2Request) -> str | None:
        push_type = asked.headers.get("apns-push-type")
        if push_type is None:
            return "MissingPushType"
        if push_type.lower() != "liveactivity":
            return "InvalidPushType"
        expiration = asked.headers.get("apns-expiration", "")
        if not expiration.isdigit() or (not channel.stores and expiration != "0"):
            return "BadExpirationDate"
        return check_priority(asked.headers.get("apns-priority", ""), _PRIORITIES)

    def _channel(self, bundle: str, asked: Http2Request) -> BroadcastChannel | Rejection:
        named = asked.headers.get("apns-channel-id")
        if not named:
            return Rejection("MissingChannelId")
        channel = self.channels.get(named)
        if channel is None or channel.bundle_id != bundle:
            known = re.fullmatch(r"[A-Za-z0-9+/]+={0,2}", named) is not None
            return Rejection("ChannelNotRegistered" if known else "BadChannelId")
        return channel

    def _one(self, bundle: str, asked: Http2Request) -> Http2Response | Rejection:
        channel = self._channel(bundle, asked)
        if isinstance(channel, Rejection):
            return channel
        if asked.method == "DELETE":
            del self.channels[channel.id]
            self.stored.pop(channel.id, None)
            return Http2Response(204)
        told = {"message-storage-policy": int(channel.stores), "push-type": "LiveActivity"}
        return Http2Response(200, (), msgspec.json.encode(told))

    def _list(self, bundle: str) -> Http2Response:
        ids = [channel.id for channel in self.channels.values() if channel.bundle_id == bundle]
        return Http2Response(200, (), msgspec.json.encode({"channels": ids}))

    def _make(self, bundle: str, body: bytes) -> Http2Response | Rejection:
        try:
            told = msgspec.json.decode(body, type=dict[str, Any])
        except msgspec.DecodeError:
            return Rejection("BadRequest")
        policy, push_type = told.get("message-storage-policy"), told.get("push-type")
        if policy not in {0, 1}:
            return Rejection("BadRequest")
        if push_type is None:
            return Rejection("MissingPushType")
        if push_type != "LiveActivity":
            return Rejection("InvalidPushType")
        if sum(each.bundle_id == bundle for each in self.channels.values()) >= self.most:
            return Rejection("CannotCreateChannelConfig")
        channel_id = b64encode(self.random.randbytes(16)).decode("ascii")
        self.channels[channel_id] = BroadcastChannel(channel_id, bundle, stores=policy == 1)
        return Http2Response(201, (("apns-channel-id", channel_id),))
