"""The simulated exchange as one ASGI application."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final
from urllib.parse import parse_qs

import msgspec

from grandstand.core.clock import Clock
from grandstand.simulators import asgi
from grandstand.simulators.exchange import control, ws_connections
from grandstand.simulators.exchange.market import ExchangeEvent, MarketSource, RecordedMarkets
from grandstand.simulators.exchange.rest import RequestBudget, RestApi, RestResponse
from grandstand.simulators.exchange.signing import KEY, Keyring
from grandstand.simulators.exchange.ws_commands import CommandHandler, StreamLimits
from grandstand.simulators.faults import CONTROL as FAULTS
from grandstand.simulators.faults import Faults, Faulty
from grandstand.simulators.serving import serve

REST_PATH: Final = "/trade-api/v2"
STREAM_PATH: Final = "/trade-api/ws/v2"
_MAX_WAITING_BYTES: Final = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeRules:
    """Access rules, limits and quirks.

    Without `keys` requests need no signature; `barred` keys are rejected. Every delta whose number
    is a multiple of `unstamped_every` has no `ts_ms`, as real ones sometimes; 0 for none.
    """

    keys: Mapping[str, str] | None = None
    barred: tuple[str, ...] = ()
    allowed_ms: int = 30_000
    limits: StreamLimits = field(default_factory=StreamLimits)
    budget: RequestBudget = field(default_factory=RequestBudget)
    stale_seconds: float = 0.0
    unstamped_every: int = 0
    ping_seconds: float = 10.0


class Exchange:
    """The server of a market source; it produces events at a pace while it is served."""

    def __init__(
        self,
        source: MarketSource,
        clock: Clock,
        rules: ExchangeRules | None = None,
        pace: control.Pace | None = None,
        *,
        seed: int = 1,
    ) -> None:
        rules = rules or ExchangeRules()
        self.source = source
        self.clock = clock
        self.pace = pace or control.Pace()
        self.hub = ws_connections.Hub(source, unstamped_every=rules.unstamped_every)
        self.rest = RestApi(source, rules.budget, rules.stale_seconds)
        self.stream_faults = ws_connections.StreamFaults(Random(seed))  # noqa: S311 - repeatable
        self.rest_faults = Faults(Random(seed))  # noqa: S311 - repeatable
        self.connections_made = 0
        self._ping_seconds = rules.ping_seconds
        self._barred = frozenset(rules.barred)
        self._limits = rules.limits
        self._commands = CommandHandler(self.hub, source, rules.limits)
        self._keyring = None if rules.keys is None else Keyring(rules.keys, rules.allowed_ms)
        self._buckets: dict[str, control.TokenBucket] = {}

    @contextlib.asynccontextmanager
    async def serve(self, port: int = 0) -> AsyncIterator[str]:
        """Serve the exchange on loopback, and return its address."""
        stream, every = ws_connections.StreamProtocol, self._ping_seconds
        async with serve(self.application, port, stream=stream, ping_seconds=every) as address:
            running = asyncio.create_task(self.run())
            try:
                yield address
            finally:
                running.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await running

    async def run(self) -> None:
        """Produce events until cancelled."""
        await control.run_at_pace(self)

    @property
    def application(self) -> asgi.Application:
        """The ASGI application; `rest_faults` apply to REST, `stream_faults` to the stream."""
        faulty = Faulty(self._rest, self.rest_faults)

        async def serve(scope: asgi.Message, receive: asgi.Receive, send: asgi.Send) -> None:
            if scope["type"] == "websocket":
                await self._stream(scope, receive, send)
            elif scope["path"].startswith(control.CONTROL_PATH) and scope["path"] != FAULTS:
                status, body = await control.handle_control(
                    self, scope, await asgi.read_body(receive)
                )
                await asgi.send_json(send, status, body)
            else:
                await faulty(scope, receive, send)

        return serve

    def publish(self, events: list[ExchangeEvent]) -> None:
        """Send events to all subscriptions."""
        now = self.clock.monotonic()
        for connection in self.hub.connections.values():
            connection.now = now
        self.hub.publish(events)
        self.flush()

    def flush(self) -> None:
        """Send waiting frames; a client that is too slow loses its subscriptions."""
        now = self.clock.monotonic()
        for connection in [*self.hub.connections.values()]:
            self._flush(connection, now)

    async def drained(self) -> None:
        """Return when no client has much left to read."""
        while any(  # noqa: ASYNC110 - a transport has no event for it
            not connection.ended and connection.transport.waiting_bytes() > _MAX_WAITING_BYTES
            for connection in self.hub.connections.values()
        ):
            await asyncio.sleep(0.001)

    def _flush(self, connection: ws_connections.Connection, now: float) -> None:
        if connection.transport.waiting_bytes() > self._limits.waiting_bytes:
            subscriptions = connection.subscriptions.values()
            connection.terminal += [(subscription, 25) for subscription in subscriptions]
        for subscription, code in connection.terminal:
            self._commands.overflow(subscription, code)
        connection.terminal.clear()
        connection.flush(now)

    async def _stream(self, scope: asgi.Message, receive: asgi.Receive, send: asgi.Send) -> None:
        await receive()
        headers = _headers(scope)
        refusal = self._refusal(headers, "GET", scope["path"])
        rejection: tuple[int, str] | None = None
        if scope["path"] != STREAM_PATH:
            rejection = 404, "not found"
        elif not self.rest.exchange_active:
            rejection = 503, "the exchange is closed"
        elif refusal is not None:
            rejection = 401, refusal
        elif headers.get(KEY) in self._barred:
            rejection = 403, "not allowed"
        if rejection is not None:
            await _reject(send, *rejection)
            return
        await send({"type": "websocket.accept"})
        self.connections_made += 1
        transport = scope["extensions"][ws_connections.TRANSPORT_EXTENSION]["transport"]
        signed = KEY in headers
        connection = ws_connections.Connection(
            self.connections_made, transport, self.stream_faults, signed=signed
        )
        self.hub.connections[connection.number] = connection
        try:
            while (message := await receive())["type"] == "websocket.receive":
                now = self.clock.monotonic()
                text = message.get("text") or message.get("bytes") or ""
                self._commands.handle(connection, text, now)
                self._flush(connection, now)
        finally:
            self.hub.leave(connection)

    async def _rest(self, scope: asgi.Message, receive: asgi.Receive, send: asgi.Send) -> None:
        await asgi.read_body(receive)
        status, body = self._respond(scope, _headers(scope))
        await asgi.send_json(send, status, body)

    def _respond(self, scope: asgi.Message, headers: Mapping[str, str]) -> RestResponse:
        path, budget = scope["path"], self.rest.budget
        route = path.removeprefix(REST_PATH)
        if route == path:
            return 404, {"error": {"code": "not_found", "message": "not found"}}
        if (
            KEY in headers
            or route.startswith(("/account/", "/portfolio/"))
            or "/orderbook" in route
        ):
            refusal = self._refusal(headers, scope["method"], path)
            if refusal is not None:
                return 401, _unauthorized(refusal)
        if headers.get(KEY) in self._barred:
            return 403, _unauthorized("not allowed")
        bucket = self._buckets.setdefault(
            headers.get(KEY, ""), control.TokenBucket(budget.read_per_second, self.clock)
        )
        if not bucket.take(budget.cost):
            return 429, {"error": {"code": "too_many_requests", "message": "too many requests"}}
        return self.rest.respond(route, parse_qs(scope["query_string"].decode()))

    def _refusal(self, headers: Mapping[str, str], method: str, path: str) -> str | None:
        if self._keyring is None:
            return None
        return self._keyring.refusal(headers, method, path, self.source.now_us())


class ReplayExchange(Exchange):
    """An exchange whose markets and events are added by a replay.

    `play` adds them to `markets` and calls `send`; see the gatherer's `Playback`.
    """

    def __init__(
        self, play: Callable[[ReplayExchange], Coroutine[Any, Any, None]], clock: Clock
    ) -> None:
        self.markets = RecordedMarkets()
        super().__init__(self.markets, clock)
        self._play = play

    async def run(self) -> None:
        """Run the replay."""
        await self._play(self)

    @property
    def is_listening(self) -> bool:
        """Whether a client has a subscription."""
        return any(connection.subscriptions for connection in self.hub.connections.values())

    async def send(self, at_us: int) -> None:
        """Send what was added up to a time; returns when no client has much left to read."""
        self.markets.at = at_us
        events, self.markets.events = self.markets.events, []
        self.publish(events)
        await self.drained()

    def disconnect(self, code: int) -> None:
        """Close all connections with a code; 0 aborts them."""
        for connection in [*self.hub.connections.values()]:
            connection.transport.close(code)


def _headers(scope: asgi.Message) -> dict[str, str]:
    return {
        name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
    }


def _unauthorized(refusal: str) -> dict[str, object]:
    return {"error": {"code": "authentication_error", "message": refusal}}


async def _reject(send: asgi.Send, status: int, refusal: str) -> None:
    body = msgspec.json.encode(_unauthorized(refusal))
    await send({"type": "websocket.http.response.start", "status": status, "headers": [asgi.JSON]})
    await send({"type": "websocket.http.response.body", "body": body})
