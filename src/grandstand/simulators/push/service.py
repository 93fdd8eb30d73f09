"""The push service: the two APNs hosts and a Web Push service on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections import Counter, deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from random import Random
from typing import Final

import msgspec

from grandstand.core.clock import Clock
from grandstand.simulators.push.channels import BroadcastChannels
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
    check_push,
    parse_payload,
)
from grandstand.simulators.push.webpush import SimulatedBrowsers

LOOPBACK: Final = "127.0.0.1"
_DEVICE: Final = "/3/device/"
_BROADCAST: Final = "/4/broadcasts/apps/"
_KEPT_ARRIVALS: Final = 100_000


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
    behaviours: ScriptedReplies = field(default_factory=ScriptedReplies)
    links: list[Http2Connection] = field(default_factory=list)
    count: Counter[str] = field(default_factory=Counter)
    kept_arrivals: int = _KEPT_ARRIVALS

    def __post_init__(self) -> None:
        """Build what it is made of."""
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
                await open_servers.enter_async_context(_listening(self, answer, context, at))
                for answer, at in ((self.answer, port), (self.manage, manage_port))
            ]
            apns, manage = (f"{LOOPBACK}:{at}" for at in listening)
            self.browsers.origin = f"https://{apns}"
            yield Addresses(apns, manage, self.browsers.origin, certificate.trusting())

    def answer(self, link: Http2Connection, asked: Http2Request) -> Http2Response | None:
        """Return a request to the host that pushes."""
        if self.browsers.owns(asked.path):
            return self.browsers.answer(asked)
        if asked.path.startswith(_BROADCAST):
            return self._finish(link, asked, self._broadcast(link, asked))
        if not asked.path.startswith(_DEVICE):
            return self._finish(link, asked, Rejection("BadPath"))
        token = asked.path.removeprefix(_DEVICE)
        behaviour = self.behaviours.next_for(token)
        if behaviour.silent:
            return None
        if behaviour.reason == "RefusedStream":
            return REFUSED_STREAM
        fault = self._push(link, asked, token, behaviour)
        self._note(asked, token, fault)
        reply = self._finish(link, asked, fault or Http2Response(200))
        return _late(reply, behaviour)

    def manage(self, link: Http2Connection, asked: Http2Request) -> Http2Response:
        """Return a request to the host that manages channels."""
        fault = self.keys.fault(link, asked.headers.get("authorization"))
        return self._finish(link, asked, Rejection(fault) if fault else self.channels.manage(asked))

    def limit(self, streams: int) -> None:
        """Change how many streams clients may have open, now and later."""
        self.streams = streams
        for link in self.links:
            link.limit(streams)

    def send_away(self, reason: str = "Shutdown") -> None:
        """Send every client away."""
        for link in self.links:
            link.send_away(reason)

    def _push(
        self, link: Http2Connection, asked: Http2Request, token: str, behaviour: ScriptedReply
    ) -> Rejection | None:
        if asked.method != "POST":
            return Rejection("MethodNotAllowed")
        reason = self.keys.fault(link, asked.headers.get("authorization"))
        reason = reason or check_push(asked, token, self.bundles)
        if reason:
            return Rejection(reason)
        payload = parse_payload(asked.body)
        if isinstance(payload, Rejection):
            return payload
        if behaviour.reason:
            since = behaviour.since or self.clock.now()
            gone = STATUS_BY_REASON[behaviour.reason] == STATUS_BY_REASON["Unregistered"]
            return Rejection(behaviour.reason, int(since.timestamp() * 1000) if gone else None)
        bundle = self.wall.bundle_of(token.lower())
        if bundle is None:
            return Rejection("BadDeviceToken")
        if bundle != bundle_for_topic(asked.headers["apns-topic"]):
            return Rejection("DeviceTokenNotForTopic")
        self.wall.push(token.lower(), asked.headers.get("apns-push-type", "alert"), payload)
        return None

    def _broadcast(self, link: Http2Connection, asked: Http2Request) -> Http2Response | Rejection:
        if asked.method != "POST":
            return Rejection("MethodNotAllowed")
        reason = self.keys.fault(link, asked.headers.get("authorization"))
        if reason:
            return Rejection(reason)
        found = self.channels.send(asked.path.removeprefix(_BROADCAST), asked)
        if isinstance(found, Rejection):
            return found
        channel, payload = found
        self.count["reached by broadcast"] += self.wall.broadcast(channel.id, payload)
        return Http2Response(200)

    def _finish(
        self, link: Http2Connection, asked: Http2Request, outcome: Http2Response | Rejection
    ) -> Http2Response:
        """Return with the id the client gave, and change its limit by how it did."""
        reason = outcome.reason if isinstance(outcome, Rejection) else None
        self.count[reason or "good"] += 1
        proven = reason is None or STATUS_BY_REASON[reason] != STATUS_BY_REASON["Forbidden"]
        if proven and not link.facts.get("trusted"):
            link.facts["trusted"] = True
            link.away_after = self.away_after
            link.limit(self.streams)
        elif self.wary:
            link.limit(1 if reason else self.streams)
        named = asked.headers.get("apns-id") or asked.headers.get("apns-request-id")
        name = "apns-request-id" if "apns-request-id" in asked.headers else "apns-id"
        headers = ((name, named or self._new_id()),)
        if isinstance(outcome, Http2Response):
            return Http2Response(outcome.status, (*headers, *outcome.headers), outcome.body)
        told: dict[str, object] = {"reason": outcome.reason}
        if outcome.since is not None:
            told["timestamp"] = outcome.since
        return Http2Response(STATUS_BY_REASON[outcome.reason], headers, msgspec.json.encode(told))

    def _note(self, asked: Http2Request, token: str, fault: Rejection | None) -> None:
        said = asked.headers.get
        self.arrivals.append(
            ReceivedPush(
                token,
                said("apns-id", ""),
                said("apns-priority", "10"),
                said("apns-expiration", ""),
                fault.reason if fault else None,
                asked.body,
            )
        )

    def _catch_up(self, _phone: Phone, activity: Activity) -> None:
        """Give an activity that begins to listen the newest message of its channel."""
        kept = self.channels.newest(activity.channel) if activity.channel else None
        if kept is not None:
            activity.take(kept["aps"], self.clock.epoch())

    def _new_id(self) -> str:
        digits = self.random.randbytes(16).hex().upper()
        parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
        return "-".join(parts)


def _late(reply: Http2Response, behaviour: ScriptedReply) -> Http2Response:
    return Http2Response(reply.status, reply.headers, reply.body, behaviour.delay_seconds)


@contextlib.asynccontextmanager
async def _listening(
    service: PushService, answer: RequestHandler, context: ssl.SSLContext, port: int
) -> AsyncIterator[int]:
    links: list[Http2Connection] = service.links
    server = await asyncio.get_running_loop().create_server(
        lambda: Http2Connection(answer, links, service.first_streams), LOOPBACK, port, ssl=context
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
