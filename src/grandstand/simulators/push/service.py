"""The push service: the two APNs hosts with broadcast channels, and Web Push, on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import re
import ssl
from base64 import b64encode
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

import msgspec

from grandstand.core.clock import Clock
from grandstand.simulators.push.http2_server import (
    REFUSED_STREAM,
    Certificate,
    Http2Connection,
    Http2Request,
    Http2Response,
    RequestHandler,
)
from grandstand.simulators.push.phones import Activity, Phone, PhoneWall
from grandstand.simulators.push.validation import (
    STATUS_BY_REASON,
    KeyRing,
    Rejection,
    ScriptedReplies,
    ScriptedReply,
    bundle_for_topic,
    check_priority,
    check_push,
    parse_payload,
)
from grandstand.simulators.push.webpush import SimulatedBrowsers

LOOPBACK: Final = "127.0.0.1"
_DEVICE: Final = "/3/device/"
_BROADCAST: Final = "/4/broadcasts/apps/"
MAX_BROADCAST_BYTES: Final = 5_120
_CHANNELS_PATH: Final = re.compile(r"/1/apps/(?P<bundle>[^/]+)/(?P<what>channels|all-channels)")


@dataclass(frozen=True, slots=True)
class BroadcastChannel:
    """A channel; with `stores` the newest message is stored for new listeners."""

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

    def manage(self, request: Http2Request) -> Http2Response | Rejection:
        """Create, read, list or delete channels."""
        found = _CHANNELS_PATH.fullmatch(request.path)
        if found is None:
            return Rejection("BadPath")
        bundle = found["bundle"]
        if not self.enabled(bundle):
            return Rejection("FeatureNotEnabled")
        if found["what"] == "all-channels":
            return self._list(bundle) if request.method == "GET" else Rejection("MethodNotAllowed")
        match request.method:
            case "POST":
                return self._create(bundle, request.body)
            case "GET" | "DELETE":
                return self._get_or_delete(bundle, request)
            case _:
                return Rejection("MethodNotAllowed")

    def send(
        self, bundle: str, request: Http2Request
    ) -> tuple[BroadcastChannel, dict[str, Any]] | Rejection:
        """Return the channel and payload of a broadcast, or why it is rejected."""
        if not self.enabled(bundle):
            return Rejection("BroadcastFeatureNotEnabled")
        channel = self._channel(bundle, request)
        if isinstance(channel, Rejection):
            return channel
        fault = self._send_fault(channel, request)
        if fault:
            return Rejection(fault)
        payload = parse_payload(request.body, MAX_BROADCAST_BYTES)
        if isinstance(payload, Rejection):
            return payload
        if channel.stores and request.headers.get("apns-expiration", "0") != "0":
            self.stored[channel.id] = (self.clock.epoch(), payload)
        return channel, payload

    def newest(self, channel_id: str) -> dict[str, Any] | None:
        """Return the stored message of a channel."""
        stored_at, payload = self.stored.get(channel_id, (0.0, None))
        return payload if self.clock.epoch() - stored_at < 8 * 3600 else None

    def _send_fault(self, channel: BroadcastChannel, request: Http2Request) -> str | None:
        push_type = request.headers.get("apns-push-type")
        if push_type is None:
            return "MissingPushType"
        if push_type.lower() != "liveactivity":
            return "InvalidPushType"
        expiration = request.headers.get("apns-expiration", "")
        if not expiration.isdigit() or (not channel.stores and expiration != "0"):
            return "BadExpirationDate"
        return check_priority(request.headers.get("apns-priority", ""))

    def _channel(self, bundle: str, request: Http2Request) -> BroadcastChannel | Rejection:
        channel_id = request.headers.get("apns-channel-id")
        if not channel_id:
            return Rejection("MissingChannelId")
        channel = self.channels.get(channel_id)
        if channel is None or channel.bundle_id != bundle:
            is_valid = re.fullmatch(r"[A-Za-z0-9+/]+={0,2}", channel_id) is not None
            return Rejection("ChannelNotRegistered" if is_valid else "BadChannelId")
        return channel

    def _get_or_delete(self, bundle: str, request: Http2Request) -> Http2Response | Rejection:
        channel = self._channel(bundle, request)
        if isinstance(channel, Rejection):
            return channel
        if request.method == "DELETE":
            del self.channels[channel.id]
            self.stored.pop(channel.id, None)
            return Http2Response(204)
        policy = {"message-storage-policy": int(channel.stores), "push-type": "LiveActivity"}
        return Http2Response(200, (), msgspec.json.encode(policy))

    def _list(self, bundle: str) -> Http2Response:
        ids = [channel.id for channel in self.channels.values() if channel.bundle_id == bundle]
        return Http2Response(200, (), msgspec.json.encode({"channels": ids}))

    def _create(self, bundle: str, body: bytes) -> Http2Response | Rejection:
        try:
            values = msgspec.json.decode(body, type=dict[str, Any])
        except msgspec.DecodeError:
            return Rejection("BadRequest")
        policy, push_type = values.get("message-storage-policy"), values.get("push-type")
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


@dataclass(frozen=True, slots=True)
class Addresses:
    """The addresses of the service; `trusting` is the TLS context for its certificate.

    Pushes go to `apns`, channels are managed at `manage`, and browser endpoints are at
    `webpush`.
    """

    apns: str
    manage: str
    webpush: str
    trusting: ssl.SSLContext = field(repr=False)


@dataclass(frozen=True, slots=True)
class ReceivedPush:
    """A push and its result."""

    token: str
    apns_id: str
    priority: str
    expiration: str
    reason: str | None
    body: bytes = field(repr=False)


@dataclass
class PushService:
    """The server: `bundles` are its apps, `wall` the phones it reaches.

    A client may open `first_streams` streams until a request has a valid token, then
    `streams`; with `wary` a rejected push limits it to one again. The last `kept_arrivals`
    pushes are in `arrivals`.
    """

    clock: Clock
    random: Random
    bundles: set[str] = field(default_factory=lambda: {"org.example.cricket"})
    broadcasting: bool = True
    streams: int = 1_000
    first_streams: int = 1
    wary: bool = False
    away_after: int | None = None
    scripted: ScriptedReplies = field(default_factory=ScriptedReplies)
    links: list[Http2Connection] = field(default_factory=list)
    count: Counter[str] = field(default_factory=Counter)
    kept_arrivals: int = 100_000

    def __post_init__(self) -> None:

        self.arrivals: deque[ReceivedPush] = deque(maxlen=self.kept_arrivals)
        self.keys = KeyRing(self.clock)
        self.wall = PhoneWall(self.clock, self.random)
        self.channels = BroadcastChannels(
            self.clock, self.random, lambda bundle: self.broadcasting and bundle in self.bundles
        )
        self.browsers = SimulatedBrowsers(self.clock)
        self.wall.started.append(self._catch_up)

    @contextlib.asynccontextmanager
    async def serving(self, port: int = 0, manage_port: int = 0) -> AsyncIterator[Addresses]:
        """Serve on loopback; the block's end closes every connection. Port 0 takes any free one."""
        certificate = Certificate.make()
        context = certificate.serving()
        async with contextlib.AsyncExitStack() as open_servers:
            listening = [
                await open_servers.enter_async_context(_listen(self, handler, context, at))
                for handler, at in ((self.handle, port), (self.manage, manage_port))
            ]
            apns, manage = (f"{LOOPBACK}:{at}" for at in listening)
            self.browsers.origin = f"https://{apns}"
            yield Addresses(apns, manage, self.browsers.origin, certificate.trusting())

    def handle(self, link: Http2Connection, request: Http2Request) -> Http2Response | None:
        """Handle a request to the host that pushes."""
        if self.browsers.owns(request.path):
            return self.browsers.handle(request)
        if request.path.startswith(_BROADCAST):
            return self._finish(link, request, self._broadcast(link, request))
        if not request.path.startswith(_DEVICE):
            return self._finish(link, request, Rejection("BadPath"))
        token = request.path.removeprefix(_DEVICE)
        script = self.scripted.next_for(token)
        if script.silent:
            return None
        if script.reason == "RefusedStream":
            return REFUSED_STREAM
        fault = self._push(link, request, token, script)
        self._record(request, token, fault)
        reply = self._finish(link, request, fault or Http2Response(200))
        return Http2Response(reply.status, reply.headers, reply.body, script.delay_seconds)

    def manage(self, link: Http2Connection, request: Http2Request) -> Http2Response:
        """Handle a request to the host that manages channels."""
        fault = self.keys.fault(link, request.headers.get("authorization"))
        return self._finish(
            link, request, Rejection(fault) if fault else self.channels.manage(request)
        )

    def limit(self, streams: int) -> None:
        """Change how many streams clients may have open, now and later."""
        self.streams = streams
        for link in self.links:
            link.limit(streams)

    def send_away(self, reason: str = "Shutdown") -> None:
        """Send GOAWAY to every client."""
        for link in self.links:
            link.send_away(reason)

    def _push(
        self, link: Http2Connection, request: Http2Request, token: str, script: ScriptedReply
    ) -> Rejection | None:
        if request.method != "POST":
            return Rejection("MethodNotAllowed")
        reason = self.keys.fault(link, request.headers.get("authorization"))
        reason = reason or check_push(request, token, self.bundles)
        if reason:
            return Rejection(reason)
        payload = parse_payload(request.body)
        if isinstance(payload, Rejection):
            return payload
        if script.reason:
            since = script.since or self.clock.now()
            gone = STATUS_BY_REASON[script.reason] == STATUS_BY_REASON["Unregistered"]
            return Rejection(script.reason, int(since.timestamp() * 1000) if gone else None)
        bundle = self.wall.bundle_of(token.lower())
        if bundle is None:
            return Rejection("BadDeviceToken")
        if bundle != bundle_for_topic(request.headers["apns-topic"]):
            return Rejection("DeviceTokenNotForTopic")
        self.wall.push(token.lower(), request.headers.get("apns-push-type", "alert"), payload)
        return None

    def _broadcast(self, link: Http2Connection, request: Http2Request) -> Http2Response | Rejection:
        if request.method != "POST":
            return Rejection("MethodNotAllowed")
        reason = self.keys.fault(link, request.headers.get("authorization"))
        if reason:
            return Rejection(reason)
        found = self.channels.send(request.path.removeprefix(_BROADCAST), request)
        if isinstance(found, Rejection):
            return found
        channel, payload = found
        self.count["reached by broadcast"] += self.wall.broadcast(channel.id, payload)
        return Http2Response(200)

    def _finish(
        self, link: Http2Connection, request: Http2Request, outcome: Http2Response | Rejection
    ) -> Http2Response:
        """Add the id of the request, and adjust the stream limit of the client."""
        reason = outcome.reason if isinstance(outcome, Rejection) else None
        self.count[reason or "good"] += 1
        proven = reason is None or STATUS_BY_REASON[reason] != STATUS_BY_REASON["Forbidden"]
        if proven and not link.facts.get("trusted"):
            link.facts["trusted"] = True
            link.away_after = self.away_after
            link.limit(self.streams)
        elif self.wary:
            link.limit(1 if reason else self.streams)
        named = request.headers.get("apns-id") or request.headers.get("apns-request-id")
        name = "apns-request-id" if "apns-request-id" in request.headers else "apns-id"
        headers = ((name, named or self._new_id()),)
        if isinstance(outcome, Http2Response):
            return Http2Response(outcome.status, (*headers, *outcome.headers), outcome.body)
        body: dict[str, object] = {"reason": outcome.reason}
        if outcome.since is not None:
            body["timestamp"] = outcome.since
        return Http2Response(STATUS_BY_REASON[outcome.reason], headers, msgspec.json.encode(body))

    def _record(self, request: Http2Request, token: str, fault: Rejection | None) -> None:
        headers = request.headers
        self.arrivals.append(
            ReceivedPush(
                token,
                headers.get("apns-id", ""),
                headers.get("apns-priority", "10"),
                headers.get("apns-expiration", ""),
                fault.reason if fault else None,
                request.body,
            )
        )

    def _catch_up(self, _phone: Phone, activity: Activity) -> None:
        """Deliver the stored message of a channel to an activity that subscribes."""
        stored = self.channels.newest(activity.channel) if activity.channel else None
        if stored is not None:
            activity.take(stored["aps"], self.clock.epoch())

    def _new_id(self) -> str:
        digits = self.random.randbytes(16).hex().upper()
        parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
        return "-".join(parts)


@contextlib.asynccontextmanager
async def _listen(
    service: PushService, handler: RequestHandler, context: ssl.SSLContext, port: int
) -> AsyncIterator[int]:
    links: list[Http2Connection] = service.links
    server = await asyncio.get_running_loop().create_server(
        lambda: Http2Connection(handler, links, service.first_streams), LOOPBACK, port, ssl=context
    )
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for link in links:
            link.drop()
        # The loop's next rounds close the sockets.
        for _ in range(3):
            await asyncio.sleep(0)
