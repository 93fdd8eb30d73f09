"""Services that speak DynamoDB's protocol: by a script, or a real one made lossy."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from grandstand.storage.tables.engines.dynamodb.engine import DynamoEngine

Body: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """What a service answers."""

    status: int
    body: bytes


@dataclass(frozen=True)
class Lost:
    """The connection breaks instead of an answer."""


@dataclass(frozen=True)
class Call:
    """What a client asked."""

    operation: str
    body: Body
    headers: dict[str, str]
    raw: bytes


Answer: TypeAlias = Callable[[Call], Reply | Lost]
ServiceOf: TypeAlias = "Callable[[Answer], Service]"
EngineOn: TypeAlias = Callable[..., DynamoEngine]


def ok(**body: object) -> Reply:
    """Return with success."""
    return Reply(200, json.dumps(body).encode())


def refusal(name: str, message: str = "no", status: int = 400, **more: object) -> Reply:
    """Return with one of DynamoDB's errors."""
    body = {"__type": f"com.amazonaws.dynamodb.v20120810#{name}", "message": message, **more}
    return Reply(status, json.dumps(body).encode())


@dataclass
class Service:
    """A running service, and what it was asked so far."""

    endpoint: str
    calls: list[Call] = field(default_factory=list)

    @property
    def operations(self) -> list[str]:
        """The names of what was asked, in order."""
        return [call.operation for call in self.calls]


@dataclass
class Script:
    """Answers one after another; asked more often than it knows, it fails the test."""

    answers: list[Reply | Lost]
    _lock: Lock = field(default_factory=Lock)

    def __call__(self, _call: Call) -> Reply | Lost:
        with self._lock:
            return self.answers.pop(0)


@dataclass
class Lossy:
    """Passes calls on to a real service, and loses the first answers to some operations."""

    endpoint: str
    losses: dict[str, int]

    def __call__(self, call: Call) -> Reply | Lost:
        reply = forwarded(self.endpoint, call)
        left = self.losses.get(call.operation, 0)
        self.losses[call.operation] = left - 1
        return Lost() if left > 0 else reply


def forwarded(endpoint: str, call: Call) -> Reply:
    """Pass a call on to a real service."""
    connection = http.client.HTTPConnection(urlsplit(endpoint).netloc, timeout=30)
    try:
        connection.request("POST", "/", call.raw, call.headers)
        response = connection.getresponse()
        return Reply(response.status, response.read())
    finally:
        connection.close()


@contextmanager
def serving(answer: Answer) -> Iterator[Service]:
    """Run a service on this machine."""
    service = Service("")

    class Conversation(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            operation = self.headers["X-Amz-Target"].rpartition(".")[2]
            headers = {name: value for name, value in self.headers.items() if name != "Host"}
            call = Call(operation, json.loads(raw), headers, raw)
            service.calls.append(call)
            reply = answer(call)
            if isinstance(reply, Lost):
                self.close_connection = True
                return
            self.send_response(reply.status)
            self.send_header("Content-Type", "application/x-amz-json-1.0")
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Conversation)
    server.daemon_threads = True
    service.endpoint = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
