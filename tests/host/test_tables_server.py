"""The endpoint on a socket."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import msgspec
import pytest

from grandstand.core.clock import SystemClock
from grandstand.host.server.serving import LOOPBACK, InvalidAddress, PortInUse, bind
from grandstand.host.tables_server import make_server
from grandstand.storage.tables.dynamodb_server.server import MAX_BODY, DynamoDbServer
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from tests.storage.tables.dynamodb_server.sdk_client import SIGNED, ApiCaller, target

PROGRAM = """
from grandstand.core.clock import SystemClock
from grandstand.host.tables_server import serve
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.dynamodb_server.server import DynamoDbServer

engine = SqliteEngine.open(None, clock=SystemClock())
server = DynamoDbServer(engine, clock=SystemClock())
serve(server, port=0, announce=lambda *at: print(*at, flush=True))
engine.close()
print("stopped", flush=True)
"""


@contextmanager
def serving(front: DynamoDbServer, sweep_seconds: float = 60) -> Iterator[int]:
    """Serve a front from a thread; the port."""
    server = make_server(front, sweep_seconds)
    with bind(LOOPBACK, 0) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield listening.getsockname()[1]
        server.should_exit = True
        thread.join()


@pytest.fixture
def front() -> Iterator[DynamoDbServer]:
    """A front in memory, with one table."""
    engine = SqliteEngine.open(None, clock=SystemClock())
    made = DynamoDbServer(engine, clock=SystemClock())
    ApiCaller(made).table("things")
    yield made
    engine.close()


@pytest.fixture
def port(front: DynamoDbServer) -> Iterator[int]:
    """Where the front is served."""
    with serving(front) as number:
        yield number


def ask(
    port: int, method: str, body: bytes, path: str = "/", **headers: str
) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=30)
    connection.request(method, path, body, {**SIGNED, **headers})
    reply = connection.getresponse()
    reply.data = reply.read()  # type: ignore[attr-defined]
    connection.close()
    return reply


def body_of(reply: http.client.HTTPResponse) -> bytes:
    data: bytes = reply.data  # type: ignore[attr-defined]
    return data


def test_a_request_is_answered_over_the_network(port: int) -> None:
    reply = ask(port, "POST", b"{}", **{"X-Amz-Target": target("ListTables")})

    assert (reply.status, body_of(reply)) == (200, b'{"TableNames":["things"]}')
    assert reply.headers["x-amz-crc32"]
    assert reply.headers["date"]


def test_a_look_at_the_root_finds_it_healthy(port: int) -> None:
    reply = ask(port, "GET", b"")

    assert (reply.status, body_of(reply)) == (200, f"healthy: 127.0.0.1:{port} ".encode())


@pytest.mark.parametrize(("method", "path"), [("PUT", "/"), ("GET", "/else"), ("POST", "/else")])
def test_another_method_or_path_is_an_unknown_operation(port: int, method: str, path: str) -> None:
    reply = ask(port, method, b"{}", path)

    assert (reply.status, body_of(reply)) == (404, b"<UnknownOperationException/>\n")


def test_a_body_far_too_large_is_refused_and_not_kept(port: int) -> None:
    reply = ask(port, "POST", b" " * (2 * MAX_BODY), **{"X-Amz-Target": target("ListTables")})

    assert reply.status == 413
    assert b"RequestEntityTooLargeException" in body_of(reply)


def test_many_clients_are_served_at_once(port: int) -> None:
    def put(number: int) -> int:
        item = {"TableName": "things", "Item": {"p": {"S": str(number)}}}
        wanted = {"X-Amz-Target": target("PutItem")}
        return ask(port, "POST", msgspec.json.encode(item), **wanted).status

    with ThreadPoolExecutor(8) as pool:
        statuses = set(pool.map(put, range(100)))

    assert statuses == {200}
    counted = ask(
        port,
        "POST",
        b'{"TableName":"things","Select":"COUNT"}',
        **{"X-Amz-Target": target("Scan")},
    )
    assert b'"Count":100' in body_of(counted)


def test_expired_items_go_while_it_runs(front: DynamoDbServer) -> None:
    caller = ApiCaller(front)
    caller(
        "UpdateTimeToLive",
        TableName="things",
        TimeToLiveSpecification={"Enabled": True, "AttributeName": "t"},
    )
    past = str(int(time.time()) - 60)
    caller("PutItem", TableName="things", Item={"p": {"S": "x"}, "t": {"N": past}})

    with serving(front, sweep_seconds=0.05):
        left = _left_at_last(caller)

    assert left == 0


def _left_at_last(caller: ApiCaller) -> int:
    """How many things are left, once there are none or a minute is over."""
    end = time.monotonic() + 60
    while (left := int(caller("Scan", TableName="things")["Count"])) and time.monotonic() < end:
        time.sleep(0.05)
    return left


def test_a_taken_port_is_told_before_anything_is_begun() -> None:
    with bind(LOOPBACK, 0) as taken:
        number = taken.getsockname()[1]

        with pytest.raises(PortInUse) as told:
            bind(LOOPBACK, number)

    assert str(told.value) == (
        f"Port {number} of 127.0.0.1 is in use. Stop the program that listens there, or choose "
        "another port (0 means any free port)."
    )


def test_an_address_of_another_machine_cannot_be_used() -> None:
    with pytest.raises(InvalidAddress, match=r"Cannot listen on 192\.0\.2\.1 port 0"):
        bind("192.0.2.1", 0)


def test_it_listens_to_this_machine_alone_unless_told_otherwise() -> None:
    with bind(LOOPBACK, 0) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"
        assert listening.family == socket.AF_INET


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_it_without_a_word_too_many(number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as program:
        assert program.stdout is not None
        port = int(program.stdout.readline().split()[1])
        served = ask(port, "GET", b"").status
        program.send_signal(number)
        out, err = program.communicate(timeout=60)

    assert (served, out, err) == (200, "stopped\n", "")
