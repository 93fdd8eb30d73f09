"""Limits on headers and connections, and a clean end of connections when the server stops."""

from __future__ import annotations

import asyncio
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx2
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from grandstand.host.server.serving import (
    LOOPBACK,
    ConnectionLimits,
    Server,
    bind,
    make_server,
    raise_file_limit,
)

_HALF = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "


async def _echo(scope: Scope, receive: Receive, send: Send) -> None:
    body = await Request(scope, receive).body()
    await PlainTextResponse(f"{len(body)} bytes")(scope, receive, send)


@contextmanager
def _served(limits: ConnectionLimits) -> Iterator[tuple[Server, int]]:
    server = make_server(_echo, limits=limits)
    with bind(LOOPBACK, 0) as listening:
        port = listening.getsockname()[1]
        thread = threading.Thread(target=asyncio.run, args=[server.serve(sockets=[listening])])
        thread.start()
        try:
            yield server, port
        finally:
            server.should_exit = True
            thread.join(30)


def _connect(port: int) -> socket.socket:
    return socket.create_connection((LOOPBACK, port), timeout=30)


def _read_all(connection: socket.socket) -> bytes:
    received = b""
    while piece := connection.recv(65_536):
        received += piece
    return received


def _request(port: int) -> bytes:
    with _connect(port) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        return _read_all(connection)


def test_a_slow_header_ends_with_408() -> None:
    with _served(ConnectionLimits(header_seconds=0.2)) as (_, port), _connect(port) as slow:
        slow.sendall(_HALF)

        reply = _read_all(slow)

    assert reply.startswith(b"HTTP/1.1 408 Request Timeout\r\n")


def test_a_header_sent_byte_by_byte_is_not_given_more_time() -> None:
    with _served(ConnectionLimits(header_seconds=0.3)) as (_, port), _connect(port) as slow:
        slow.sendall(_HALF)
        slow.setblocking(False)
        for _ in range(200):
            try:
                slow.send(b"a")
                if slow.recv(100).startswith(b"HTTP/1.1 408"):
                    break
            except BlockingIOError:
                time.sleep(0.01)
        else:
            pytest.fail("the connection is still open")


def test_a_silent_connection_is_closed() -> None:
    with _served(ConnectionLimits(header_seconds=0.2)) as (_, port), _connect(port) as silent:
        assert _read_all(silent) == b""


def test_a_second_request_has_the_same_time_limit() -> None:
    with _served(ConnectionLimits(header_seconds=0.2)) as (_, port), _connect(port) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        first = slow.recv(65_536)
        slow.sendall(_HALF)

        rest = _read_all(slow)

    assert first.startswith(b"HTTP/1.1 200")
    assert b"HTTP/1.1 200" not in rest


@pytest.mark.parametrize("pieces", [1, 10])
def test_a_header_over_the_limit_ends_with_431(pieces: int) -> None:
    with _served(ConnectionLimits(header_bytes=4096)) as (_, port), _connect(port) as large:
        for _ in range(pieces):
            large.sendall(_HALF if pieces > 1 else _HALF + b"a" * 5000)
            large.sendall(b"a" * (5000 // pieces) + b"\r\nX: ")

        reply = _read_all(large)

    assert reply.startswith(b"HTTP/1.1 431 Request Header Fields Too Large\r\n")


def test_a_body_may_be_larger_than_the_header_limit() -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\nConnection: close\r\n\r\n"
    with _served(ConnectionLimits(header_bytes=1024)) as (_, port), _connect(port) as connection:
        connection.sendall(head + b"x" * 500_000)

        reply = _read_all(connection)

    assert reply.endswith(b"500000 bytes")


def test_trailers_of_a_chunked_body_are_limited_too() -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX: "
    with _served(ConnectionLimits(header_bytes=1024)) as (_, port), _connect(port) as connection:
        connection.sendall(head)
        with suppress(ConnectionError):
            for _ in range(100):
                connection.sendall(b"a" * 1024)
                time.sleep(0.001)
            pytest.fail("the connection is still open")


def test_a_new_connection_replaces_the_one_that_waited_longest() -> None:
    limits = ConnectionLimits(connections=20)
    with _served(limits) as (server, port), ExitStack() as stack:
        half_open = [stack.enter_context(_connect(port)) for _ in range(30)]
        for connection in half_open[-10:]:
            connection.sendall(_HALF)

        reply = _request(port)

        assert reply.startswith(b"HTTP/1.1 200")
        assert len(server.config.table) <= 20
        assert half_open[0].recv(10) == b""


def test_connections_of_one_address_are_limited() -> None:
    limits = ConnectionLimits(connections_per_address=5)
    with _served(limits) as (server, port), ExitStack() as stack:
        for _ in range(10):
            stack.enter_context(_connect(port)).sendall(_HALF)

        reply = _request(port)

        assert reply.startswith(b"HTTP/1.1 200")
        assert len(server.config.table) <= 5


def test_no_connection_in_use_is_closed_for_a_new_one() -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nConnection: close\r\n\r\n"
    with _served(ConnectionLimits(connections=2)) as (server, port), ExitStack() as stack:
        busy = [stack.enter_context(_connect(port)) for _ in range(2)]
        for connection in busy:
            connection.sendall(head)
        while server.config.table.waiting or len(server.config.table) < 2:
            time.sleep(0.01)

        refused = _request(port)
        for connection in busy:
            connection.sendall(b"12345")
        replies = [_read_all(connection) for connection in busy]

    assert refused.startswith(b"HTTP/1.1 503")
    assert all(reply.endswith(b"5 bytes") for reply in replies)


def test_the_soft_file_limit_is_raised() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(1024, before[0]), before[1]))

        raised = raise_file_limit()

        assert raised == resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        assert raised == min(before[1], 65_536)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@contextmanager
def _process(home: Path, *, files: int | None = None) -> Iterator[tuple[int, int]]:
    """Run the real server; yields its process id and port."""
    command = [sys.executable, "-m", "grandstand", "serve", "--port", "0"]
    if files is not None:
        command = ["sh", "-c", f'ulimit -n {files} && exec "$@"', "sh", *command]
    program = subprocess.Popen(
        command,
        env=os.environ | {"GRANDSTAND_HOME": str(home), "GRANDSTAND_LOG_LEVEL": "warning"},
        stderr=subprocess.PIPE,
        text=True,
    )
    with program:
        assert program.stderr is not None
        found = re.search(r"http://127\.0\.0\.1:(\d+)", program.stderr.readline())
        assert found
        port = int(found[1])
        try:
            for _ in range(600):
                try:
                    httpx2.get(f"http://{LOOPBACK}:{port}/health", trust_env=False)
                    break
                except httpx2.TransportError:
                    time.sleep(0.05)
            yield program.pid, port
        finally:
            program.kill()


def _resident_bytes(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found
    return int(found[1]) * 1024


def test_half_open_requests_do_not_stop_the_service(tmp_path: Path) -> None:
    own = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(own[1], 4096), own[1]))
    try:
        with _process(tmp_path, files=1024) as (_, port), ExitStack() as stack:
            for _ in range(1100):
                stack.enter_context(_connect(port)).sendall(b"GET / HTTP/1.1\r\nX: ")

            replies = [
                httpx2.get(f"http://{LOOPBACK}:{port}{path}", trust_env=False).status_code
                for path in ("/health", "/", "/api/platform/me", "/health/ready")
            ]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, own)

    assert replies == [200, 200, 200, 200]


def test_a_header_of_200_mb_does_not_take_memory(tmp_path: Path) -> None:
    with _process(tmp_path) as (process, port):
        before = _resident_bytes(process)
        with _connect(port) as large:
            large.sendall(_HALF)
            sent = 0
            with suppress(ConnectionError):
                while sent < 200_000_000:
                    large.sendall(b"a" * 1_000_000)
                    sent += 1_000_000
            grown = _resident_bytes(process) - before
        with _connect(port) as large:
            large.sendall(_HALF + b"a" * 70_000)
            reply = _read_all(large)

    assert reply.startswith(b"HTTP/1.1 431")
    assert grown < 20_000_000


def test_busy_clients_are_not_reset_when_the_server_stops(tmp_path: Path) -> None:
    failures: list[Exception] = []
    with _process(tmp_path) as (process, port):

        def ask() -> None:
            with httpx2.Client(base_url=f"http://{LOOPBACK}:{port}", trust_env=False) as client:
                while True:
                    try:
                        client.get("/health")
                    except httpx2.TransportError as error:
                        failures.append(error)
                        return

        threads = [threading.Thread(target=ask) for _ in range(6)]
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        os.kill(process, signal.SIGTERM)
        for thread in threads:
            thread.join(30)

    assert [type(failure) for failure in failures] == [httpx2.ConnectError] * 6


def test_an_idle_connection_is_closed_cleanly_when_the_server_stops() -> None:
    with _served(ConnectionLimits()) as (server, port), _connect(port) as idle:
        idle.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        received = idle.recv(65_536)
        server.should_exit = True

        received += _read_all(idle)

    assert received.endswith(b"0 bytes")
