"""Kept here: what a test or a demo may ask of the exchange that no client could: its truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs

import msgspec

from grandstand.simulators.asgi import Message
from grandstand.simulators.exchange.floor.lifecycle import Becoming
from grandstand.simulators.exchange.floor.world import World
from grandstand.simulators.exchange.pacing import step
from grandstand.simulators.exchange.rest.answers import Answer
from grandstand.simulators.exchange.rest.questions import Query
from grandstand.simulators.exchange.stream.faults import CONTROL as STREAM_FAULTS
from grandstand.simulators.exchange.stream.faults import StreamFault

if TYPE_CHECKING:
    from grandstand.simulators.exchange.exchange import Exchange

CONTROL: Final = "/simulator/"


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
    becoming: Becoming


class _Create(msgspec.Struct, forbid_unknown_fields=True):
    opens_in_seconds: float = 0.0
    open_seconds: float = 3600.0


class _Fees(msgspec.Struct, forbid_unknown_fields=True):
    event_ticker: str
    multiplier: int | None = None


class _Disconnect(msgspec.Struct, forbid_unknown_fields=True):
    code: int = 0


async def control(exchange: Exchange, scope: Message, body: bytes) -> Answer:
    """Answer a request under /simulator/: a GET asks for the truth, a PUT or POST changes it."""
    query = parse_qs(scope["query_string"].decode())
    try:
        if scope["path"] == STREAM_FAULTS:
            return _faults(exchange, scope["method"], body)
        if not isinstance(exchange.floor, World):
            return 404, {"error": "a recording has no truth of its own"}
        what = scope["path"].removeprefix(CONTROL)
        if scope["method"] == "GET":
            return _truth(exchange, exchange.floor, what, query)
        return await _change(exchange, exchange.floor, what, body)
    except (msgspec.MsgspecError, KeyError, ValueError) as fault:
        return 400, {"error": str(fault)}


def _faults(exchange: Exchange, method: str, body: bytes) -> Answer:
    faults = exchange.stream_faults
    if method == "PUT":
        faults.ask_for(*msgspec.json.decode(body, type=list[StreamFault]))
    return 200, {"rules": faults.rules, "struck": faults.struck}


def _truth(exchange: Exchange, world: World, what: str, query: Query) -> Answer:
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


async def _change(exchange: Exchange, world: World, what: str, body: bytes) -> Answer:
    decode = msgspec.json.decode
    match what:
        case "step":
            done = await step(exchange, world, decode(body, type=_Step).events, patient=True)
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
