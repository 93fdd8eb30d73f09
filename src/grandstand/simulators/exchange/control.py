"""Control API for tests and demos, and the pacing of the world."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs

import msgspec

from grandstand.core.clock import Clock
from grandstand.simulators.asgi import Message
from grandstand.simulators.exchange.market import LifecycleChange
from grandstand.simulators.exchange.rest import QueryParams, RestResponse
from grandstand.simulators.exchange.world import World
from grandstand.simulators.exchange.ws_connections import STREAM_FAULTS_PATH as STREAM_FAULTS
from grandstand.simulators.exchange.ws_connections import StreamFault

if TYPE_CHECKING:
    from grandstand.simulators.exchange.server import Exchange

_LEAST_WAIT: Final = 0.004
_MOST_WAIT: Final = 0.1
_AT_ONCE: Final = 2000
_CATCH_UP_SECONDS: Final = 1.0


@dataclass
class PlaybackSpeed:
    """How many things happen in a second, and how often something becomes of a market."""

    events_per_second: float = 0.0
    lifecycle_every_seconds: float = 0.0


class TokenBucket:
    """Tokens that come back at a rate, up to a second's worth."""

    def __init__(self, per_second: int, clock: Clock) -> None:
        self._per_second = per_second
        self._clock = clock
        self._tokens = float(per_second)
        self._at = clock.monotonic()

    def take(self, count: int) -> bool:
        """Take tokens; answer False, and take none, when there are too few."""
        now = self._clock.monotonic()
        earned = (now - self._at) * self._per_second
        self._tokens, self._at = min(self._tokens + earned, float(self._per_second)), now
        if self._tokens < count:
            return False
        self._tokens -= count
        return True


async def run_at_speed(exchange: Exchange) -> None:
    """Keep the exchange's pace until cancelled; at a low one it mostly sleeps."""
    clock, pace, owed = exchange.clock, exchange.pace, 0.0
    last = turned = clock.monotonic()
    while True:
        rate = pace.events_per_second
        await asyncio.sleep(min(max(1.0 / rate if rate else _MOST_WAIT, _LEAST_WAIT), _MOST_WAIT))
        now = clock.monotonic()
        owed, last = min(owed + (now - last) * rate, rate * _CATCH_UP_SECONDS), now
        if not isinstance(exchange.floor, World):
            exchange.flush()
            continue
        if owed >= 1 and exchange.rest.trading_active:
            owed -= await step_world(exchange, exchange.floor, int(owed))
        every = pace.lifecycle_every_seconds
        if every and now - turned >= every:
            turned = now
            exchange.tell(exchange.floor.turn())
        exchange.flush()


async def step_world(exchange: Exchange, world: World, count: int, *, patient: bool = False) -> int:
    """Let so many things happen, some at a time; answer how many did.

    If `patient` it waits for slow readers, which no exchange does.
    """
    done = 0
    while done < count:
        events = world.step(min(count - done, _AT_ONCE))
        if not events:
            break
        done += len(events)
        exchange.tell(events)
        await asyncio.sleep(0)
        if patient:
            await exchange.drained()
    return done


CONTROL_PATH: Final = "/simulator/"


class _Step(msgspec.Struct, forbid_unknown_fields=True):
    events: int


class _Pace(msgspec.Struct, forbid_unknown_fields=True):
    events_per_second: float
    lifecycle_every_seconds: float = 0.0


class _Skew(msgspec.Struct, forbid_unknown_fields=True):
    seconds: float


class _Status(msgspec.Struct, forbid_unknown_fields=True):
    exchange_active: bool = True
    trading_active: bool = True


class _Lifecycle(msgspec.Struct, forbid_unknown_fields=True):
    ticker: str
    becoming: LifecycleChange


class _Create(msgspec.Struct, forbid_unknown_fields=True):
    opens_in_seconds: float = 0.0
    open_seconds: float = 3600.0


class _Fees(msgspec.Struct, forbid_unknown_fields=True):
    event_ticker: str
    multiplier: int | None = None


class _Disconnect(msgspec.Struct, forbid_unknown_fields=True):
    code: int = 0


async def handle_control(exchange: Exchange, scope: Message, body: bytes) -> RestResponse:
    """Return a request under /simulator/: a GET asks for the truth, a PUT or POST changes it."""
    query = parse_qs(scope["query_string"].decode())
    try:
        if scope["path"] == STREAM_FAULTS:
            return _faults(exchange, scope["method"], body)
        if not isinstance(exchange.floor, World):
            return 404, {"error": "a recording has no truth of its own"}
        what = scope["path"].removeprefix(CONTROL_PATH)
        if scope["method"] == "GET":
            return _truth(exchange, exchange.floor, what, query)
        return await _change(exchange, exchange.floor, what, body)
    except (msgspec.MsgspecError, KeyError, ValueError) as fault:
        return 400, {"error": str(fault)}


def _faults(exchange: Exchange, method: str, body: bytes) -> RestResponse:
    faults = exchange.stream_faults
    if method == "PUT":
        faults.ask_for(*msgspec.json.decode(body, type=list[StreamFault]))
    return 200, {"rules": faults.rules, "struck": faults.struck}


def _truth(exchange: Exchange, world: World, what: str, query: QueryParams) -> RestResponse:
    truth = world.truth
    match what:
        case "truth":
            told = {
                "now_us": world.now_us(),
                "markets": len(world.listed),
                "deltas": truth.deltas_made,
                "trades": len(truth.trades),
                "quotes": len(truth.quotes),
                "lifecycle": len(truth.lifecycle),
                "connections": len(exchange.hub.connections),
                "connections_made": exchange.connections_made,
            }
            return 200, told
        case "truth/tickers":
            return 200, truth.tickers
        case "truth/deltas":
            after = int(query.get("after", ["0"])[0])
            return 200, list(truth.deltas(query["ticker"][0], after))
        case "truth/books":
            moments = sorted(int(text) for text in query["at"][0].split(","))
            books = truth.books_at(query["ticker"][0], moments)
            levels = [(it.levels(yes=True), it.levels(yes=False)) for it in books]
            return 200, list(zip(moments, levels, strict=False))
        case "truth/trades":
            return 200, truth.trades
        case "truth/quotes":
            return 200, truth.quotes
        case "truth/lifecycle":
            return 200, truth.lifecycle
    return 404, {"error": "no such truth"}


async def _change(exchange: Exchange, world: World, what: str, body: bytes) -> RestResponse:
    decode = msgspec.json.decode
    match what:
        case "step":
            done = await step_world(exchange, world, decode(body, type=_Step).events, patient=True)
            return 200, {"events": done}
        case "pace":
            asked = decode(body, type=_Pace)
            exchange.pace.events_per_second = asked.events_per_second
            exchange.pace.lifecycle_every_seconds = asked.lifecycle_every_seconds
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
            wanted = decode(body, type=_Lifecycle)
            made = [world.become(wanted.ticker, wanted.becoming)]
        case "create":
            new = decode(body, type=_Create)
            made = [*world.create(new.opens_in_seconds, new.open_seconds)]
        case "fees":
            fees = decode(body, type=_Fees)
            made = [world.change_fees(fees.event_ticker, fees.multiplier)]
        case "disconnect":
            code = decode(body, type=_Disconnect).code
            for connection in [*exchange.hub.connections.values()]:
                connection.line.close(code)
            return 200, {}
        case _:
            return 404, {"error": "no such change"}
    news = [one for one in made if one is not None]
    exchange.tell([*news])
    return (200 if news else 404), news
