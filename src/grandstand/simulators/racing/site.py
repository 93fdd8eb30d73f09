"""Kept here: the race site as one application: three hosts, their addresses, their manners."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from random import Random
from threading import Lock
from typing import Final
from urllib.parse import parse_qs

import msgspec

from grandstand.base.clock import Clock
from grandstand.simulators.asgi import (
    Application,
    Message,
    Receive,
    Send,
    answer,
    answer_json,
    body_of,
)
from grandstand.simulators.blemishes import Blemish, Blemishes
from grandstand.simulators.faults import CONTROL as FAULTS
from grandstand.simulators.faults import Faults, Faulty
from grandstand.simulators.racing.arrivals import Arrival, Arrivals, Host
from grandstand.simulators.racing.blemishes import CONTROL, Wrong, blemished
from grandstand.simulators.racing.pages.frame import Addresses
from grandstand.simulators.racing.routes import Asked, Form, Page, page
from grandstand.simulators.racing.world import World

_HOSTS: Final[tuple[Host, ...]] = ("race", "nar", "db")
_BLOCKED_AGENTS: Final = ("python-requests/", "Python-urllib/")
_TOO_MANY: Final = 429
_BAD_REQUEST: Final = 400
_TYPE_TEXT: Final = (b"content-type", b"text/plain; charset=utf-8")
_MISSING: Final = Page("<html><body><p>ページが見つかりません</p></body></html>", status=404)


@dataclass(frozen=True, slots=True)
class Manners:
    """What the site asks of visitors.

    A request sooner than `least_gap_seconds` after the last one of its host is refused; agents
    that begin with one of `blocked_agents` get a bad request, as reported of the real site.
    """

    least_gap_seconds: float = 0.0
    wait_seconds: float = 30.0
    blocked_agents: tuple[str, ...] = _BLOCKED_AGENTS
    closed: tuple[str, ...] = ("/simulator/", "/mypage/")


@dataclass
class Site:
    """The server: `world` is what is true, `clock` the world's time, `wall` that of visitors.

    The hosts are reached by the beginning of the path (/race, /nar, /db) or, without it, by a
    name that begins with one of them and a dot.
    """

    world: World
    clock: Clock
    wall: Clock
    form: Form = field(default_factory=Form)
    manners: Manners = field(default_factory=Manners)
    faults: Faults = field(default_factory=lambda: Faults(Random(1)))  # noqa: S311 - repeatable
    blemishes: Blemishes[Wrong] = field(default_factory=Blemishes)
    arrivals: Arrivals = field(default_factory=Arrivals)
    _making: Lock = field(default_factory=Lock)

    @property
    def application(self) -> Application:
        """The ASGI application: arrivals are noted before anything can go wrong."""
        faulty = Faulty(self._serve, self.faults)

        async def noted(scope: Message, receive: Receive, send: Send) -> None:
            found = _host(scope) if scope["type"] == "http" else None
            if found is None or scope["path"] in {FAULTS, CONTROL}:
                await faulty(scope, receive, send)
                return
            host, path = found
            query = scope["query_string"].decode()
            agent = dict(scope["headers"]).get(b"user-agent", b"").decode("latin-1")
            shown = f"{path}?{query}" if query else path
            gap = self.arrivals.begin(Arrival(self.wall.monotonic(), host, shown, agent))
            try:
                if gap is not None and gap < self.manners.least_gap_seconds:
                    wait = (b"retry-after", f"{self.manners.wait_seconds:g}".encode())
                    await answer(send, _TOO_MANY, b"too many requests", [wait])
                elif not agent or agent.startswith(self.manners.blocked_agents):
                    await answer(send, _BAD_REQUEST, b"bad request")
                else:
                    await faulty(scope, receive, send)
            finally:
                self.arrivals.end(host)

        return noted

    async def _serve(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["path"] == CONTROL:
            await self._control(scope, receive, send)
            return
        found = _host(scope)
        if scope["path"] == "/robots.txt" and (found is None or found[1] == "/robots.txt"):
            prefixes = [""] if found else [f"/{host}" for host in _HOSTS]
            await answer(send, 200, self._robots(prefixes), [_TYPE_TEXT])
        elif found is None:
            await answer(send, 404, b"no such page", [_TYPE_TEXT])
        elif found[1] == "/robots.txt":
            await answer(send, 200, self._robots([""]), [_TYPE_TEXT])
        else:
            await self._page(scope, send, found)

    async def _page(self, scope: Message, send: Send, found: tuple[Host, str]) -> None:
        host, path = found
        query = {name: many[0] for name, many in parse_qs(scope["query_string"].decode()).items()}
        asked = Asked(host, path, query, self.clock.now(), _addresses(scope))
        made = await asyncio.to_thread(self._made, asked) or _MISSING
        status, body = made.status, made.body
        if wrong := self.blemishes.strike(scope["path"]):
            status, body = blemished(wrong, body, made.encoding)
        await answer(send, status, body, [(b"content-type", made.content_type.encode())])

    def _made(self, asked: Asked) -> Page | None:
        with self._making:
            return page(self.world, self.form, asked)

    async def _control(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["method"] == "PUT":
            try:
                wanted = msgspec.json.decode(await body_of(receive), type=list[Blemish[Wrong]])
            except msgspec.MsgspecError as fault:
                await answer(send, 400, str(fault).encode(), [_TYPE_TEXT])
                return
            self.blemishes.ask_for(*wanted)
        await answer_json(send, 200, self.blemishes.asked)

    def _robots(self, prefixes: list[str]) -> bytes:
        closed = "".join(
            f"Disallow: {prefix}{path}\n" for prefix in prefixes for path in self.manners.closed
        )
        return f"User-agent: *\n{closed}".encode()


def _host(scope: Message) -> tuple[Host, str] | None:
    """Answer the host a request is for, and its path there."""
    path: str = scope["path"]
    named = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
    for host in _HOSTS:
        if named.startswith(f"{host}."):
            return host, path
    for host in _HOSTS:
        if path.startswith(f"/{host}/"):
            return host, path.removeprefix(f"/{host}")
    return None


def _addresses(scope: Message) -> Addresses:
    named = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
    for host in _HOSTS:
        if named.startswith(f"{host}."):
            rest = named.removeprefix(f"{host}.")
            return Addresses(f"http://race.{rest}", f"http://nar.{rest}", f"http://db.{rest}")
    return Addresses(f"http://{named}/race", f"http://{named}/nar", f"http://{named}/db")
