"""Who is the local owner, and who is behind a proxy, on a real socket."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from grandstand.host.server.serving import LOOPBACK, ConnectionLimits, bind, make_server
from tests.host.server.serving import Served, serving, settings_in

PASSWORD = "a stand with a view"
_PUBLISHED: list[dict[str, Any]] = [
    {"https": True},
    {"allowed_hosts": ("stand.example.org",)},
    {"trusted_proxies": ("10.89.0.0/24",)},
]


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(settings_in(tmp_path_factory.mktemp("local")), apps=()) as running:
        yield running


def test_this_machine_is_the_owner_without_accounts(local: Served) -> None:
    with local.client() as client:
        me, metrics = client.get("/api/platform/me"), client.get("/metrics")

    assert (me.status_code, me.json()["via"], metrics.status_code) == (200, "owner", 200)


@pytest.mark.parametrize(
    "header",
    [
        "Forwarded",
        "X-Forwarded-For",
        "X-Forwarded-Host",
        "X-Forwarded-Proto",
        "X-Forwarded-Port",
        "X-Forwarded-Anything",
        "X-Real-IP",
        "Via",
    ],
)
def test_a_forwarded_request_needs_an_account(local: Served, header: str) -> None:
    with local.client(**{header: "127.0.0.1"}) as client:
        replies = [client.get(path) for path in ("/api/platform/me", "/metrics")]
        page = client.get("/", headers={"accept": "text/html"}, follow_redirects=False)

    assert [reply.status_code for reply in replies] == [401, 401]
    assert page.headers["location"].startswith("/login")


@pytest.mark.parametrize("server", _PUBLISHED)
def test_a_published_server_has_no_local_owner(tmp_path: Path, server: dict[str, Any]) -> None:
    with serving(settings_in(tmp_path, **server), apps=()) as served, served.client() as client:
        without = [client.get(path).status_code for path in ("/api/platform/me", "/metrics")]
        account = served.do(served.platform.people.add("ada", PASSWORD, admin=True))
        other = served.do(served.platform.people.add("ben", PASSWORD))
        key = served.do(served.platform.people.keys.issue(account.user_id, "scraper", admin=True))
        own = served.do(served.platform.people.keys.issue(other.user_id, "mine"))
        client.headers["authorization"] = f"Bearer {key.text}"
        admin = [client.get(path).status_code for path in ("/api/platform/me", "/metrics")]
        client.headers["authorization"] = f"Bearer {own.text}"
        user = [client.get(path).status_code for path in ("/api/platform/me", "/metrics")]

    assert (without, admin, user) == ([401, 401], [200, 200], [200, 403])


def test_many_host_names_do_not_lock_the_owner_out(local: Served) -> None:
    with local.client() as client:
        for number in range(70):
            host = f"a{number}.localhost:{local.port}"
            assert client.get("/health", headers={"host": host}).status_code == 200
        reply = client.get("/api/platform/me", headers={"host": f"[::1]:{local.port}"})

    assert reply.status_code == 200


async def _client(scope: Scope, receive: Receive, send: Send) -> None:
    client = Request(scope).client
    await PlainTextResponse(client.host if client else "")(scope, receive, send)


@contextmanager
def _behind(proxies: Sequence[str], limits: ConnectionLimits | None = None) -> Iterator[int]:
    server = make_server(_client, behind_proxy=True, trusted_proxies=proxies, limits=limits)
    with bind(LOOPBACK, 0) as listening:
        thread = threading.Thread(target=asyncio.run, args=[server.serve(sockets=[listening])])
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(30)


def _connect(port: int, source: str) -> socket.socket:
    return socket.create_connection((LOOPBACK, port), timeout=30, source_address=(source, 0))


def _ask(port: int, source: str) -> str:
    with _connect(port, source) as connection:
        connection.sendall(
            b"GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.7\r\n"
            b"Connection: close\r\n\r\n"
        )
        received = b""
        while piece := connection.recv(65_536):
            received += piece
    return received.partition(b"\r\n\r\n")[2].decode()


def test_the_client_of_a_trusted_proxy_is_the_forwarded_one() -> None:
    with _behind(["127.0.0.8/30"]) as port:
        found = [_ask(port, source) for source in ("127.0.0.1", "127.0.0.9", "127.0.0.2")]

    assert found == ["203.0.113.7", "203.0.113.7", "127.0.0.2"]


def test_a_trusted_proxy_may_open_more_connections_than_one_client() -> None:
    limits = ConnectionLimits(connections_per_address=1)
    with _behind(["127.0.0.9"], limits) as port, _connect(port, "127.0.0.9") as first:
        assert _ask(port, "127.0.0.9") == "203.0.113.7"
        first.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert first.recv(12) == b"HTTP/1.1 200"
