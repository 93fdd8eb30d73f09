"""The simulated exchange as one ASGI application."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qs

import msgspec

from grandstand.core.clock import Clock
from grandstand.simulators.asgi import (
    JSON,
    Application,
    Message,
    Receive,
    Send,
    read_body,
    send_json,
)
from grandstand.simulators.exchange.control import (
    CONTROL_PATH,
    PlaybackSpeed,
    TokenBucket,
    handle_control,
    run_at_speed,
)
from grandstand.simulators.exchange.market import ExchangeEvent, MarketSource
from grandstand.simulators.exchange.rest import RequestBudget, RestApi
from grandstand.simulators.exchange.signing import KEY, Keyring
from grandstand.simulators.exchange.ws_commands import CommandHandler, StreamLimits
from grandstand.simulators.exchange.ws_connections import (
    TRANSPORT_EXTENSION,
    Connection,
    Hub,
    StreamFaults,
    StreamProtocol,
)
from grandstand.simulators.faults import CONTROL as FAULTS
from grandstand.simulators.faults import Faults, Faulty
from grandstand.simulators.serving import serve

REST_PATH: Final = "/trade-api/v2"
STREAM_PATH: Final = "/trade-api/ws/v2"
_SIGNED: Final = ("/account/", "/portfolio/")
_MOST_WAITING_BYTES: Final = 4 * 1024 * 1024
_BREATH_SECONDS: Final = 0.001


ExchangeLoop: TypeAlias = Callable[["Exchange"], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True)
class ExchangeRules:
    """How strict the exchange is.

    Without `keys` anybody may come in, signed or not; keys that are `barred` may do nothing. Each
    delta whose number is a multiple of `unstamped_every` has no stamp in milliseconds, as the real
    ones may have none; 0 is never.
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
    """The server of a floor, which `running` keeps going: at a world's pace, if nothing is said."""

    def __init__(
        self,
        floor: MarketSource,
        clock: Clock,
        rules: ExchangeRules | None = None,
        pace: PlaybackSpeed | None = None,
        *,
        seed: int = 1,
        running: ExchangeLoop = run_at_speed,
    ) -> None:
        rules = rules or ExchangeRules()
        self.floor = floor
        self.clock = clock
        self.pace = pace or PlaybackSpeed()
        self.hub = Hub(floor, unstamped_every=rules.unstamped_every)
        self.rest = RestApi(floor, rules.budget, rules.stale_seconds)
        self.stream_faults = StreamFaults(Random(seed))  # noqa: S311 - repeatable
        self.rest_faults = Faults(Random(seed))  # noqa: S311 - repeatable
        self.connections_made = 0
        self._running = running
        self._ping_seconds = rules.ping_seconds
        self._barred = frozenset(rules.barred)
        self._limits = rules.limits
        self._commands = CommandHandler(self.hub, floor, rules.limits)
        self._keyring = None if rules.keys is None else Keyring(rules.keys, rules.allowed_ms)
        self._buckets: dict[str, TokenBucket] = {}

    @contextlib.asynccontextmanager
    async def serve(self, port: int = 0) -> AsyncIterator[str]:
        """Serve the exchange on loopback and keep its pace; answer the address."""
        stream, every = StreamProtocol, self._ping_seconds
        async with serve(self.application, port, stream=stream, ping_seconds=every) as address:
            running = asyncio.create_task(self._running(self))
            try:
                yield address
            finally:
                running.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await running

    @property
    def application(self) -> Application:
        """The ASGI application; faults strike REST only, for the stream has its own."""
        faulty = Faulty(self._rest, self.rest_faults)

        async def serve(scope: Message, receive: Receive, send: Send) -> None:
            if scope["type"] == "websocket":
                await self._stream(scope, receive, send)
            elif scope["path"].startswith(CONTROL_PATH) and scope["path"] != FAULTS:
                status, told = await handle_control(self, scope, await read_body(receive))
                await send_json(send, status, told)
            else:
                await faulty(scope, receive, send)

        return serve

    def tell(self, events: list[ExchangeEvent]) -> None:
        """Tell readers what happened, and let it go out."""
        now = self.clock.monotonic()
        for connection in self.hub.connections.values():
            connection.now = now
        self.hub.tell(events)
        self.flush()

    def flush(self) -> None:
        """Let everything that waits go out; a reader that is too slow loses its subscriptions."""
        now = self.clock.monotonic()
        for connection in [*self.hub.connections.values()]:
            self._flush(connection, now)

    async def drained(self) -> None:
        """Return when no reader has much left to take."""
        while any(  # noqa: ASYNC110 - a transport tells nobody how full it is
            not connection.ended and connection.line.waiting_bytes() > _MOST_WAITING_BYTES
            for connection in self.hub.connections.values()
        ):
            await asyncio.sleep(_BREATH_SECONDS)

    def _flush(self, connection: Connection, now: float) -> None:
        if connection.line.waiting_bytes() > self._limits.waiting_bytes:
            connection.terminal += [(it, 25) for it in connection.subscriptions.values()]
        for subscription, code in connection.terminal:
            self._commands.overflow(subscription, code)
        connection.terminal.clear()
        connection.flush(now)

    async def _stream(self, scope: Message, receive: Receive, send: Send) -> None:
        await receive()
        headers = _headers(scope)
        refusal = self._refusal(headers, "GET", scope["path"])
        if scope["path"] != STREAM_PATH:
            await _reject(send, 404, "not found")
            return
        if not self.rest.exchange_active:
            await _reject(send, 503, "the exchange is closed")
            return
        if refusal is not None:
            await _reject(send, 401, refusal)
            return
        if headers.get(KEY) in self._barred:
            await _reject(send, 403, "not allowed")
            return
        await send({"type": "websocket.accept"})
        self.connections_made += 1
        line = scope["extensions"][TRANSPORT_EXTENSION]["line"]
        signed = KEY in headers
        connection = Connection(self.connections_made, line, self.stream_faults, signed=signed)
        self.hub.connections[connection.number] = connection
        try:
            while (message := await receive())["type"] == "websocket.receive":
                now = self.clock.monotonic()
                asked = message.get("text") or message.get("bytes") or ""
                self._commands.take(connection, asked, now)
                self._flush(connection, now)
        finally:
            self.hub.leave(connection)

    async def _rest(self, scope: Message, receive: Receive, send: Send) -> None:
        await read_body(receive)
        path, headers = scope["path"], _headers(scope)
        within = path.removeprefix(REST_PATH)
        if within == path:
            await send_json(send, 404, {"error": {"code": "not_found", "message": "not found"}})
            return
        signed = KEY in headers
        if signed or within.startswith(_SIGNED) or "/orderbook" in within:
            refusal = self._refusal(headers, scope["method"], path)
            if refusal is not None:
                await send_json(send, 401, _unauthorized(refusal))
                return
        if headers.get(KEY) in self._barred:
            await send_json(send, 403, _unauthorized("not allowed"))
            return
        if not self._bucket(headers.get(KEY, "")).take(self.rest.budget.cost):
            told = {"error": {"code": "too_many_requests", "message": "too many requests"}}
            await send_json(send, 429, told)
            return
        status, body = self.rest.answer(within, parse_qs(scope["query_string"].decode()))
        await send_json(send, status, body)

    def _refusal(self, headers: Mapping[str, str], method: str, path: str) -> str | None:
        if self._keyring is None:
            return None
        return self._keyring.refusal(headers, method, path, self.floor.now_us())

    def _bucket(self, key_id: str) -> TokenBucket:
        budget = self.rest.budget
        return self._buckets.setdefault(key_id, TokenBucket(budget.read_per_second, self.clock))


def _headers(scope: Message) -> dict[str, str]:
    return {
        name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
    }


def _unauthorized(refusal: str) -> dict[str, object]:
    return {"error": {"code": "authentication_error", "message": refusal}}


async def _reject(send: Send, status: int, refusal: str) -> None:
    body = msgspec.json.encode(_unauthorized(refusal))
    await send({"type": "websocket.http.response.start", "status": status, "headers": [JSON]})
    await send({"type": "websocket.http.response.body", "body": body})
