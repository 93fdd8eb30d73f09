"""A reader of the exchange's stream, and what it makes of the frames: nothing of ours is used."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ed25519, padding, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from websockets.asyncio.client import ClientConnection, connect

from grandstand.core.clock import SystemClock
from grandstand.simulators.exchange.server import Exchange, ExchangeRules
from grandstand.simulators.exchange.world import World, WorldConfig

STREAM = "/trade-api/ws/v2"
REST = "/trade-api/v2"

Frame = dict[str, Any]


class Reader:
    """Sends commands and takes frames; what was sent before a command is there before its reply."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self._ids = 1000

    async def send(self, command: Mapping[str, object]) -> None:
        await self.socket.send(json.dumps(command))

    async def take(self) -> Frame:
        return dict(json.loads(await self.socket.recv()))

    async def taken(self) -> list[Frame]:
        """Everything that is on its way by now."""
        return [json.loads(text) for text in await self.texts()]

    async def texts(self) -> list[str]:
        self._ids += 1
        await self.send({"id": self._ids, "cmd": "list_subscriptions"})
        texts: list[str] = []
        while f'"id":{self._ids},' not in (text := str(await self.socket.recv()))[:20]:
            texts.append(text)
        return texts

    async def subscribed(
        self, channels: Iterable[str], tickers: Iterable[str] | None = None, **params: object
    ) -> list[Frame]:
        """Subscribe, and answer the replies and what came with them."""
        asked: dict[str, object] = {"channels": [*channels], **params}
        asked |= {} if tickers is None else {"market_tickers": [*tickers]}
        await self.send({"id": 1, "cmd": "subscribe", "params": asked})
        return await self.taken()

    async def updated(self, sid: int, action: str, *tickers: str, **more: object) -> list[Frame]:
        """Update a subscription, and answer what came of it."""
        params = {"sids": [sid], "action": action, "market_tickers": [*tickers], **more}
        await self.send({"id": 2, "cmd": "update_subscription", "params": params})
        return await self.taken()


@dataclass(frozen=True)
class KeyPair:
    """A key of a client, in PEM form."""

    key_id: str
    private: str
    public: str


def ed25519_key(key_id: str) -> KeyPair:
    key = ed25519.Ed25519PrivateKey.generate()
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return KeyPair(key_id, private.decode(), public.decode())


def rsa_key(key_id: str, form: PrivateFormat) -> KeyPair:
    """An RSA key, in PKCS#8 or in PKCS#1."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    private = key.private_bytes(Encoding.PEM, form, NoEncryption())
    return KeyPair(key_id, private.decode(), public.decode())


def signed(key: KeyPair, method: str, path: str, at_ms: int) -> dict[str, str]:
    """The headers of a request, as a client has to make them."""
    private = load_pem_private_key(key.private.encode(), None)
    text = f"{at_ms}{method}{path}".encode()
    if isinstance(private, ed25519.Ed25519PrivateKey):
        signature = private.sign(text)
    else:
        assert isinstance(private, rsa.RSAPrivateKey)
        pss = padding.PSS(padding.MGF1(hashes.SHA256()), padding.PSS.DIGEST_LENGTH)
        signature = private.sign(text, pss, hashes.SHA256())
    return {
        "KALSHI-ACCESS-KEY": key.key_id,
        "KALSHI-ACCESS-TIMESTAMP": str(at_ms),
        "KALSHI-ACCESS-SIGNATURE": base64.b64encode(signature).decode(),
    }


@asynccontextmanager
async def reading(
    address: str, headers: Mapping[str, str] | None = None, path: str = STREAM
) -> AsyncIterator[Reader]:
    async with connect(
        f"ws://{address}{path}",
        additional_headers=headers or {},
        compression=None,
        max_size=None,
        max_queue=None,
        proxy=None,
    ) as socket:
        yield Reader(socket)


def exchange_of(config: WorldConfig | None = None, rules: ExchangeRules | None = None) -> Exchange:
    """An exchange that stands still until its world is stepped."""
    clock = SystemClock()
    return Exchange(world_of(config), clock, rules)


def world_of(config: WorldConfig | None = None) -> World:
    return World(SystemClock(), config or WorldConfig(markets=12))


def happen(exchange: Exchange, count: int) -> None:
    """Step the world of an exchange, and publish the events."""
    exchange.publish(world_in(exchange).step(count))


def world_in(exchange: Exchange) -> World:
    assert isinstance(exchange.source, World)
    return exchange.source


def open_tickers(exchange: Exchange) -> list[str]:
    now = exchange.source.now_us()
    return [it.ticker for it in world_in(exchange).listed if it.status(now) == "active"]


def price_of(text: str) -> int:
    whole, part = text.split(".")
    return int(whole) * 100_000 + int(part.ljust(5, "0"))


def size_of(text: str) -> int:
    return int(text.replace(".", ""))


def levels_of(told: Iterable[Iterable[str]]) -> dict[int, int]:
    return {price_of(price): size_of(size) for price, size in told}


def rebuilt(frames: Iterable[Frame], ticker: str) -> dict[str, dict[int, int]]:
    """The book of a market by a stream's snapshots and deltas."""
    book: dict[str, dict[int, int]] = {"yes": {}, "no": {}}
    for frame in frames:
        msg = frame.get("msg")
        if not isinstance(msg, dict) or msg.get("market_ticker") != ticker:
            continue
        if frame["type"] == "orderbook_snapshot":
            book = {side: levels_of(msg.get(f"{side}_dollars_fp", ())) for side in ("yes", "no")}
        elif frame["type"] == "orderbook_delta":
            side, price = book[msg["side"]], price_of(msg["price_dollars"])
            side[price] = side.get(price, 0) + size_of(msg["delta_fp"])
            if not side[price]:
                del side[price]
    return book
