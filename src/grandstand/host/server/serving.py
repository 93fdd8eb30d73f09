"""Binding, starting and stopping the server, and limits on its connections."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import importlib.util
import ipaddress
import resource
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.utils import get_remote_addr
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from grandstand.core.errors import Conflict, InvalidInput
from grandstand.core.logging import get_logger

GRACE_SECONDS = 3
DRAIN_SECONDS: Final = 0.5
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
# Files besides connections: the stores of six threads, series, logs, outgoing connections.
_RESERVED_FILES: Final = 256
_MOST_FILES: Final = 65_536
_LINGER_SECONDS: Final = 1.0
_WARNING_SECONDS: Final = 60.0


def raise_file_limit() -> int:
    """Raise the soft limit of open files as far as allowed, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return _MOST_FILES if soft == resource.RLIM_INFINITY else soft


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Limits on connections and on request headers.

    `connections` is reduced so that the process keeps files for everything else.
    """

    header_bytes: int = 65_536
    header_seconds: float = 10.0
    connections: int = 10_000
    connections_per_address: int = 1_000


@dataclass(slots=True)
class _Address:
    """The connections of one address; `waiting` lists those without a running request."""

    count: int = 0
    waiting: dict[asyncio.Transport, None] = field(default_factory=dict)


class ConnectionTable:
    """The open connections of a server.

    A new connection beyond a limit takes the place of the one that has waited longest for a
    request, so that half-sent requests cannot lock others out. If every connection is in use, the
    new one is refused.
    """

    def __init__(self, limits: ConnectionLimits, *, unlimited: Sequence[str]) -> None:
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        most = files if files != resource.RLIM_INFINITY else _MOST_FILES
        self.limits = limits
        self.draining = False
        self.most = min(limits.connections, max(most - _RESERVED_FILES, most // 2))
        self._unlimited = tuple(ipaddress.ip_network(each) for each in unlimited)
        self._open: dict[asyncio.Transport, _Address] = {}
        self._waiting: dict[asyncio.Transport, None] = {}
        self._addresses: dict[str, _Address] = {}
        self._names: dict[asyncio.Transport, str] = {}
        self._log = get_logger("server")
        self._warned_at = float("-inf")

    def __len__(self) -> int:
        return len(self._open)

    @property
    def waiting(self) -> tuple[asyncio.Transport, ...]:
        """The connections without a running request, longest wait first."""
        return tuple(self._waiting)

    def admit(self, transport: asyncio.Transport) -> bool:
        """Add a connection, closing another one where needed; False if it must be refused."""
        remote = get_remote_addr(transport)
        name = _network_of(remote[0]) if remote else ""
        address = self._addresses.get(name) or _Address()
        exceeded, candidates = "", self._waiting
        limited = address.count >= self.limits.connections_per_address
        if limited and not self._is_unlimited(remote[0] if remote else ""):
            exceeded, candidates = "address", address.waiting
        elif len(self._open) >= self.most:
            exceeded = "total"
        if exceeded:
            self._warn(exceeded, name)
            oldest = next(iter(candidates), None)
            if oldest is None:
                return False
            self.release(oldest)
            oldest.abort()
            # It may have been the last connection of this address.
            address = self._addresses.get(name) or _Address()
        self._addresses[name] = address
        address.count += 1
        self._open[transport], self._names[transport] = address, name
        self.wait(transport)
        return True

    def _is_unlimited(self, address: str) -> bool:
        try:
            parsed = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(parsed in network for network in self._unlimited)

    def wait(self, transport: asyncio.Transport) -> None:
        """Note that a connection waits for a request."""
        address = self._open.get(transport)
        if address is not None:
            self._waiting[transport] = address.waiting[transport] = None

    def use(self, transport: asyncio.Transport) -> None:
        """Note that a connection has a running request."""
        address = self._open.get(transport)
        if address is not None:
            self._waiting.pop(transport, None)
            address.waiting.pop(transport, None)

    def release(self, transport: asyncio.Transport) -> None:
        """Remove a connection."""
        address = self._open.pop(transport, None)
        if address is None:
            return
        self._waiting.pop(transport, None)
        address.waiting.pop(transport, None)
        address.count -= 1
        name = self._names.pop(transport)
        if not address.count:
            self._addresses.pop(name, None)

    def _warn(self, limit: str, address: str) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._warned_at >= _WARNING_SECONDS:
            self._warned_at = now
            self._log.warning(
                "connection_limit_reached", limit=limit, address=address, open=len(self._open)
            )


def _network_of(address: str) -> str:
    """Return what is counted as one address: the /64 network of an IPv6 address."""
    if ":" not in address or address == "::1":
        return address
    try:
        parsed = ipaddress.IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Network((parsed, 64), strict=False))


class LimitedConfig(uvicorn.Config):
    """A configuration whose connections have limits."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        limits: ConnectionLimits | None = None,
        unlimited: Sequence[str] = (),
        **options: Any,  # noqa: ANN401 - uvicorn's own
    ) -> None:
        super().__init__(app, http=LimitedHttpProtocol, **options)
        self.table = ConnectionTable(limits or ConnectionLimits(), unlimited=unlimited)


class LimitedHttpProtocol(HttpToolsProtocol):
    """HTTP with limits on the size and duration of headers, and on connections."""

    config: LimitedConfig

    def __init__(self, config: LimitedConfig, *args: Any, **options: Any) -> None:  # noqa: ANN401 - uvicorn's own
        super().__init__(config, *args, **options)
        self._table = config.table
        self._limits = config.table.limits
        self._timer: asyncio.TimerHandle | None = None
        self._refused = False
        self._begun = False
        # Bytes since the last complete header or part of a body: trailers count too.
        self._unfinished_bytes = 0
        self._progressed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the connection and wait for its first header."""
        # uvloop's transports do not inherit from asyncio's.
        stream = cast("asyncio.Transport", transport)
        super().connection_made(stream)
        if self._table.admit(stream):
            self._start_timer()
        else:
            self._refuse(503, "Too many connections. Try again later.")

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop counting the connection."""
        self._stop_timer()
        self._table.release(self.transport)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what was received, as long as headers stay within the limit."""
        most = self._limits.header_bytes
        while data and not self._refused and not self.transport.is_closing():
            left = most - self._unfinished_bytes
            piece, data = (data, b"") if len(data) <= left else (data[:left], data[left:])
            self._progressed = False
            super().data_received(piece)
            if self._progressed:
                self._unfinished_bytes = 0
                continue
            self._unfinished_bytes += len(piece)
            if self._unfinished_bytes >= most:
                self._refuse(431, f"The request header exceeds {most:,} bytes.")
        if self._timer is None and self._is_waiting:
            self._start_timer()

    @property
    def _is_waiting(self) -> bool:
        return not self._begun or self.cycle.response_complete

    def on_headers_complete(self) -> None:
        """Start the request."""
        self._progressed = True
        self._stop_timer()
        self._table.use(self.transport)
        super().on_headers_complete()
        # A WebSocket has no cycle.
        self._begun = not self.parser.should_upgrade() or not self._should_upgrade()
        if self._table.draining and self._begun:
            self.cycle.keep_alive = False

    def on_body(self, body: bytes) -> None:
        """Pass on a part of the body."""
        self._progressed = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End the body."""
        self._progressed = True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        if not self.pipeline:
            self._table.wait(self.transport)

    def handle_websocket_upgrade(self) -> None:
        """Hand the connection over."""
        self._stop_timer()
        self._unset_keepalive_if_required()
        super().handle_websocket_upgrade()

    def shutdown(self) -> None:
        """Finish the running request, or close."""
        if self._refused:
            self.transport.abort()
        else:
            super().shutdown()

    def _start_timer(self) -> None:
        self._timer = self.loop.call_later(self._limits.header_seconds, self._end_wait)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end_wait(self) -> None:
        self._timer = None
        if self._refused or self.transport.is_closing():
            return
        if not self._begun and self._unfinished_bytes:
            seconds = self._limits.header_seconds
            self._refuse(408, f"The request header took longer than {seconds:g} s.")
        else:
            self.transport.close()

    def _refuse(self, status: int, reason: str) -> None:
        """Respond and close. Closing at once, with data unread, would discard the response."""
        self._refused = True
        self._stop_timer()
        self._unset_keepalive_if_required()
        self._table.release(self.transport)
        if not self._is_waiting:
            self.transport.abort()
            return
        phrase = {408: "Request Timeout", 431: "Request Header Fields Too Large"}.get(
            status, "Service Unavailable"
        )
        head = (
            f"HTTP/1.1 {status} {phrase}\r\ncontent-type: text/plain; charset=utf-8\r\n"
            f"content-length: {len(reason)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + reason.encode())
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._timer = self.loop.call_later(_LINGER_SECONDS, self.transport.abort)


class LimitedWebSocketProtocol(WebSocketsSansIOProtocol):
    """A WebSocket that counts as a connection until it is closed."""

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop counting the connection."""
        if isinstance(self.config, LimitedConfig):
            self.config.table.release(self.transport)
        super().connection_lost(exc)


class LimitedServer(uvicorn.Server):
    """A uvicorn server that closes its connections cleanly."""

    config: LimitedConfig

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop accepting, respond to what busy clients send meanwhile, then close.

        A connection that is closed while its client sends the next request would be reset.
        """
        for server in self.servers:
            server.close()
        table = self.config.table
        table.draining = True
        loop = asyncio.get_running_loop()
        until = loop.time() + DRAIN_SECONDS
        while table.waiting and not self.force_exit and loop.time() < until:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await super().shutdown(sockets)


class Server(LimitedServer):
    """A server that leaves signals to its caller."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do not capture signals."""
        yield


def make_server(
    app: ASGIApp,
    *,
    behind_proxy: bool = False,
    trusted_proxies: Sequence[str] = (),
    limits: ConnectionLimits | None = None,
) -> Server:
    """Create the server; `serve(sockets=[...])` serves until `should_exit` is set.

    Behind a proxy, the client's address is the one that a proxy on this machine, or one of
    `trusted_proxies`, forwards.
    """
    proxies = ("127.0.0.1", "::1", *trusted_proxies)
    config = LimitedConfig(
        app,
        limits=limits,
        # Everybody's connections come from the proxy.
        unlimited=proxies if behind_proxy else (),
        ws=LimitedWebSocketProtocol,
        ws_max_size=65_536,
        ws_per_message_deflate=False,
        loop="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        log_level="warning",
        server_header=False,
        proxy_headers=behind_proxy,
        forwarded_allow_ips=list(proxies),
        timeout_keep_alive=75,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    return Server(config)


@contextlib.contextmanager
def _signals(stop: Callable[[], None]) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


async def wait_for_signal(work: asyncio.Task[None] | None = None) -> None:
    """Wait for SIGINT or SIGTERM; raise the error if the background work fails meanwhile."""
    stopping = asyncio.Event()
    with _signals(stopping.set):
        await _either(asyncio.create_task(stopping.wait()), work)


async def serve_until_stopped(
    server: Server,
    listening: socket.socket,
    before_stop: Callable[[], Awaitable[None]],
    work: asyncio.Task[None] | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM; a second signal stops at once.

    `before_stop` runs after the first signal, while the server still responds. Raises the error if
    `work` fails.
    """
    stopping = asyncio.Event()

    def stop() -> None:
        server.force_exit = stopping.is_set()
        stopping.set()

    with _signals(stop):
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            await _either(asyncio.create_task(stopping.wait()), work, serving)
        finally:
            await before_stop()
            server.should_exit = True
            await serving


async def _either(waiting: asyncio.Task[bool], *others: asyncio.Task[None] | None) -> None:
    known = [task for task in others if task is not None]
    await asyncio.wait({waiting, *known}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    for task in known:
        if task.done():
            task.result()


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """Return uvloop's event loop if it is installed."""
    if importlib.util.find_spec("uvloop") is None:
        return asyncio.new_event_loop
    import uvloop

    return uvloop.new_event_loop


LOOPBACK: Final = "127.0.0.1"


class PortInUse(Conflict):
    """Another program uses the port."""

    code = "port-taken"


class InvalidAddress(InvalidInput):
    """This machine does not have the address, or may not bind to it."""

    code = "address-unusable"


def url_of(host: str, port: int) -> str:
    """Return the URL of a local port."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def bind(host: str, port: int) -> socket.socket:
    """Bind a port before anything else starts; 0 binds any free port.

    Raises PortInUse or InvalidAddress with what to do.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=1024)
        # Connections inherit it. Without it a body waits 40 ms until the head is acknowledged;
        # asyncio sets it only on sockets that name their protocol.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening
    except OSError as fault:
        if fault.errno == errno.EADDRINUSE:
            raise PortInUse(
                f"Port {port} of {host} is in use. Stop the program that listens there, or choose "
                "another port (0 means any free port)."
            ) from fault
        raise InvalidAddress(
            f"Cannot listen on {host} port {port}: {fault.strerror or fault}"
        ) from fault
