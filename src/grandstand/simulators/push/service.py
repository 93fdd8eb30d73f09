"""Kept here: the push service as one server: Apple's two hosts, and the one browsers use."""

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

from grandstand.base.clock import Clock
from grandstand.simulators.push.activities import Activity
from grandstand.simulators.push.behaviour import REASONS, Behaviour, Behaviours
from grandstand.simulators.push.certificate import Certificate
from grandstand.simulators.push.channels import Channels
from grandstand.simulators.push.checks import Fault, bundle_of, payload_of, push_fault
from grandstand.simulators.push.http2 import REFUSED, Asked, Link, Reply, Respond
from grandstand.simulators.push.phones import Phone, Wall
from grandstand.simulators.push.tokens import KeyRing
from grandstand.simulators.push.webpush import Browsers

LOOPBACK: Final = "127.0.0.1"
_DEVICE: Final = "/3/device/"
_BROADCAST: Final = "/4/broadcasts/apps/"
_KEPT_ARRIVALS: Final = 100_000


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the service is: pushes go to `apns`, channels are managed at `manage`.

    Browsers' subscriptions are at `webpush`; `trusting` is what its certificate is trusted with.
    """

    apns: str
    manage: str
    webpush: str
    trusting: ssl.SSLContext = field(repr=False)


@dataclass(frozen=True, slots=True)
class Arrival:
    """One push that came, and what it was answered."""

    token: str
    apns_id: str
    priority: str
    expiration: str
    reason: str | None
    body: bytes = field(repr=False)


@dataclass
class PushService:
    """The server: `bundles` are the apps it pushes for, `wall` the phones it reaches.

    A client may have `first_streams` streams open until one of its requests has proven a key, and
    `streams` from then on; with `wary` a rejected push takes it back to one until a good one comes.
    The last `kept_arrivals` pushes are in `arrivals`.
    """

    clock: Clock
    random: Random
    bundles: set[str] = field(default_factory=lambda: {"org.example.cricket"})
    broadcasting: bool = True
    streams: int = 1_000
    first_streams: int = 1
    wary: bool = False
    away_after: int | None = None
    behaviours: Behaviours = field(default_factory=Behaviours)
    links: list[Link] = field(default_factory=list)
    count: Counter[str] = field(default_factory=Counter)
    kept_arrivals: int = _KEPT_ARRIVALS

    def __post_init__(self) -> None:
        """Build what it is made of."""
        self.arrivals: deque[Arrival] = deque(maxlen=self.kept_arrivals)
        self.keys = KeyRing(self.clock)
        self.wall = Wall(self.clock, self.random)
        self.channels = Channels(
            self.clock, self.random, lambda bundle: self.broadcasting and bundle in self.bundles
        )
        self.browsers = Browsers(self.clock)
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

    def answer(self, link: Link, asked: Asked) -> Reply | None:
        """Answer a request to the host that pushes."""
        if self.browsers.owns(asked.path):
            return self.browsers.answer(asked)
        if asked.path.startswith(_BROADCAST):
            return self._finish(link, asked, self._broadcast(link, asked))
        if not asked.path.startswith(_DEVICE):
            return self._finish(link, asked, Fault("BadPath"))
        token = asked.path.removeprefix(_DEVICE)
        behaviour = self.behaviours.next_for(token)
        if behaviour.silent:
            return None
        if behaviour.reason == "RefusedStream":
            return REFUSED
        fault = self._push(link, asked, token, behaviour)
        self._note(asked, token, fault)
        reply = self._finish(link, asked, fault or Reply(200))
        return _late(reply, behaviour)

    def manage(self, link: Link, asked: Asked) -> Reply:
        """Answer a request to the host that manages channels."""
        fault = self.keys.fault(link, asked.headers.get("authorization"))
        return self._finish(link, asked, Fault(fault) if fault else self.channels.manage(asked))

    def limit(self, streams: int) -> None:
        """Change how many streams clients may have open, now and later."""
        self.streams = streams
        for link in self.links:
            link.limit(streams)

    def send_away(self, reason: str = "Shutdown") -> None:
        """Send every client away."""
        for link in self.links:
            link.send_away(reason)

    def _push(self, link: Link, asked: Asked, token: str, behaviour: Behaviour) -> Fault | None:
        if asked.method != "POST":
            return Fault("MethodNotAllowed")
        reason = self.keys.fault(link, asked.headers.get("authorization"))
        reason = reason or push_fault(asked, token, self.bundles)
        if reason:
            return Fault(reason)
        payload = payload_of(asked.body)
        if isinstance(payload, Fault):
            return payload
        if behaviour.reason:
            since = behaviour.since or self.clock.now()
            gone = REASONS[behaviour.reason] == REASONS["Unregistered"]
            return Fault(behaviour.reason, int(since.timestamp() * 1000) if gone else None)
        bundle = self.wall.bundle_of(token.lower())
        if bundle is None:
            return Fault("BadDeviceToken")
        if bundle != bundle_of(asked.headers["apns-topic"]):
            return Fault("DeviceTokenNotForTopic")
        self.wall.push(token.lower(), asked.headers.get("apns-push-type", "alert"), payload)
        return None

    def _broadcast(self, link: Link, asked: Asked) -> Reply | Fault:
        if asked.method != "POST":
            return Fault("MethodNotAllowed")
        reason = self.keys.fault(link, asked.headers.get("authorization"))
        if reason:
            return Fault(reason)
        found = self.channels.send(asked.path.removeprefix(_BROADCAST), asked)
        if isinstance(found, Fault):
            return found
        channel, payload = found
        self.count["reached by broadcast"] += self.wall.broadcast(channel.id, payload)
        return Reply(200)

    def _finish(self, link: Link, asked: Asked, outcome: Reply | Fault) -> Reply:
        """Answer with the id the client gave, and change its limit by how it did."""
        reason = outcome.reason if isinstance(outcome, Fault) else None
        self.count[reason or "good"] += 1
        proven = reason is None or REASONS[reason] != REASONS["Forbidden"]
        if proven and not link.facts.get("trusted"):
            link.facts["trusted"] = True
            link.away_after = self.away_after
            link.limit(self.streams)
        elif self.wary:
            link.limit(1 if reason else self.streams)
        named = asked.headers.get("apns-id") or asked.headers.get("apns-request-id")
        name = "apns-request-id" if "apns-request-id" in asked.headers else "apns-id"
        headers = ((name, named or self._new_id()),)
        if isinstance(outcome, Reply):
            return Reply(outcome.status, (*headers, *outcome.headers), outcome.body)
        told: dict[str, object] = {"reason": outcome.reason}
        if outcome.since is not None:
            told["timestamp"] = outcome.since
        return Reply(REASONS[outcome.reason], headers, msgspec.json.encode(told))

    def _note(self, asked: Asked, token: str, fault: Fault | None) -> None:
        said = asked.headers.get
        self.arrivals.append(
            Arrival(
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


def _late(reply: Reply, behaviour: Behaviour) -> Reply:
    return Reply(reply.status, reply.headers, reply.body, behaviour.delay_seconds)


@contextlib.asynccontextmanager
async def _listening(
    service: PushService, answer: Respond, context: ssl.SSLContext, port: int
) -> AsyncIterator[int]:
    links: list[Link] = service.links
    server = await asyncio.get_running_loop().create_server(
        lambda: Link(answer, links, service.first_streams), LOOPBACK, port, ssl=context
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
