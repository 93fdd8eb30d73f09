"""Control API for tests and demos, and the pacing of the world."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs

import msgspec

from grandstand.core.clock import Clock
from grandstand.simulators.asgi import Message
from grandstand.simulators.exchange.market import LifecycleChange
from grandstand.simulators.exchange.rest import QueryParams, RestResponse
from grandstand.simulators.exchange.world import World
from grandstand.simulators.exchange.ws_connections import STREAM_FAULTS_PATH, StreamFault

if TYPE_CHECKING:
    from grandstand.simulators.exchange.server import Exchange

_MIN_WAIT_SECONDS: Final = 0.004
_MAX_WAIT_SECONDS: Final = 0.1
_BATCH_EVENTS: Final = 2000


class Pace(msgspec.Struct, forbid_unknown_fields=True):
    """The number of events per second, and the time between lifecycle changes; 0 for none."""

    events_per_second: float = 0.0
    lifecycle_every_seconds: float = 0.0


class TokenBucket:
    """Tokens that refill at a rate, up to those of one second."""

    def __init__(self, per_second: int, clock: Clock) -> None:
        self._per_second = per_second
        self._clock = clock
        self._tokens = float(per_second)
        self._at = clock.monotonic()

    def take(self, count: int) -> bool:
        """Take tokens, or return False if there are too few."""
        now = self._clock.monotonic()
        earned = (now - self._at) * self._per_second
        self._tokens, self._at = min(self._tokens + earned, float(self._per_second)), now
        if self._tokens < count:
            return False
        self._tokens -= count
        return True


async def run_at_pace(exchange: Exchange) -> None:
    """Produce events at the exchange's pace until cancelled; it catches up at most one second."""
    clock, pace, due = exchange.clock, exchange.pace, 0.0
    last = changed = clock.monotonic()
    while True:
        rate = pace.events_per_second
        wait = 1.0 / rate if rate else _MAX_WAIT_SECONDS
        await asyncio.sleep(min(max(wait, _MIN_WAIT_SECONDS), _MAX_WAIT_SECONDS))
        now = clock.monotonic()
        due, last = min(due + (now - last) * rate, rate), now
        world = exchange.source
        if isinstance(world, World):
            if due >= 1 and exchange.rest.trading_active:
                due -= await step_world(exchange, world, int(due))
            every = pace.lifecycle_every_seconds
            if every and now - changed >= every:
                changed = now
                exchange.publish(world.change_any_market())
        exchange.flush()


async def step_world(exchange: Exchange, world: World, count: int, *, drain: bool = False) -> int:
    """Produce events in batches, and return their number.

    With `drain` it waits for slow clients, which a real exchange does not.
    """
    done = 0
    while done < count:
        events = world.step(min(count - done, _BATCH_EVENTS))
        if not events:
            break
        done += len(events)
        exchange.publish(events)
        await asyncio.sleep(0)
        if drain:
            await exchange.drained()
    return done


CONTROL_PATH: Final = "/simulator/"


class _Step(msgspec.Struct, forbid_unknown_fields=True):
    events: int


class _Skew(msgspec.Struct, forbid_unknown_fields=True):
    seconds: float


class _Status(msgspec.Struct, forbid_unknown_fields=True):
    exchange_active: bool = True
    trading_active: bool = True


class _Lifecycle(msgspec.Struct, forbid_unknown_fields=True):
    ticker: str
    change: LifecycleChange


class _Create(msgspec.Struct, forbid_unknown_fields=True):
    opens_in_seconds: float = 0.0
    open_seconds: float = 3600.0


class _Fees(msgspec.Struct, forbid_unknown_fields=True):
    event_ticker: str
    multiplier: int | None = None


class _Disconnect(msgspec.Struct, forbid_unknown_fields=True):
    code: int = 0


async def handle_control(exchange: Exchange, scope: Message, body: bytes) -> RestResponse:
    """Handle a request under /simulator/: GET returns the ground truth, PUT and POST change it."""
    query, world = parse_qs(scope["query_string"].decode()), exchange.source
    try:
        if scope["path"] == STREAM_FAULTS_PATH:
            faults = exchange.stream_faults
            if scope["method"] == "PUT":
                faults.ask_for(*msgspec.json.decode(body, type=list[StreamFault]))
            return 200, {"rules": faults.rules, "struck": faults.struck}
        if not isinstance(world, World):
            return 404, {"error": "a replay has no ground truth"}
        what = scope["path"].removeprefix(CONTROL_PATH)
        if scope["method"] == "GET":
            return _truth(exchange, world, what, query)
        return await _change(exchange, world, what, body)
    except (msgspec.MsgspecError, KeyError, ValueError) as error:
        return 400, {"error": str(error)}


def _truth(exchange: Exchange, world: World, what: str, query: QueryParams) -> RestResponse:
    truth = world.truth
    match what:
        case "truth":
            return 200, {
                "now_us": world.now_us(),
                "markets": len(world.markets),
                "deltas": truth.deltas_made,
                "trades": len(truth.trades),
                "quotes": len(truth.quotes),
                "lifecycle": len(truth.lifecycle),
                "connections": len(exchange.hub.connections),
                "connections_made": exchange.connections_made,
            }
        case "truth/tickers":
            return 200, truth.tickers
        case "truth/deltas":
            after = int(query.get("after", ["0"])[0])
            return 200, list(truth.deltas(query["ticker"][0], after))
        case "truth/books":
            instants = sorted(int(text) for text in query["at"][0].split(","))
            books = truth.books_at(query["ticker"][0], instants)
            levels = [(book.levels(yes=True), book.levels(yes=False)) for book in books]
            return 200, list(zip(instants, levels, strict=False))
        case "truth/trades":
            return 200, truth.trades
        case "truth/quotes":
            return 200, truth.quotes
        case "truth/lifecycle":
            return 200, truth.lifecycle
    return 404, {"error": "not found"}


async def _change(exchange: Exchange, world: World, what: str, body: bytes) -> RestResponse:
    decode = msgspec.json.decode
    match what:
        case "step":
            done = await step_world(exchange, world, decode(body, type=_Step).events, drain=True)
            return 200, {"events": done}
        case "pace":
            pace = decode(body, type=Pace)
            exchange.pace.events_per_second = pace.events_per_second
            exchange.pace.lifecycle_every_seconds = pace.lifecycle_every_seconds
            return 200, {}
        case "skew":
            world.skew_seconds = decode(body, type=_Skew).seconds
            return 200, {}
        case "status":
            status = decode(body, type=_Status)
            exchange.rest.exchange_active = status.exchange_active
            exchange.rest.trading_active = status.trading_active
            return 200, {}
        case "lifecycle":
            request = decode(body, type=_Lifecycle)
            events = world.change_market(request.ticker, request.change)
        case "create":
            new = decode(body, type=_Create)
            events = world.create(new.opens_in_seconds, new.open_seconds)
        case "fees":
            fees = decode(body, type=_Fees)
            events = world.change_fees(fees.event_ticker, fees.multiplier)
        case "disconnect":
            code = decode(body, type=_Disconnect).code
            for connection in [*exchange.hub.connections.values()]:
                connection.transport.close(code)
            return 200, {}
        case _:
            return 404, {"error": "not found"}
    exchange.publish(events)
    return (200 if events else 404), events
