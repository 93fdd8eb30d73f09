"""A typed read through the full stack, beside bare FastAPI that returns the same bytes."""

import socket
import statistics
import threading
import time
from pathlib import Path

from benchmarks.harness.rows import Row, Times
from benchmarks.host.serving import PATH, running

_CONNECTIONS = 4
# Several requests on the wire at once, so that the server is never idle for the client's sake.
_AT_ONCE = 16
_REQUESTS = 6_400


def reads(home: Path, *, rounds: int) -> Row:
    """Requests a second of both, in turns."""
    with running("ours", home) as ours, running("bare", home) as theirs:
        for port in (ours, theirs):
            _rate(port, _REQUESTS // 4)
        taken = [(_rate(ours, _REQUESTS), _rate(theirs, _REQUESTS)) for _ in range(rounds)]
    return Row(
        measure="typed read through the full stack, with access log",
        unit="requests/s",
        ours=statistics.median(one for one, _ in taken),
        peers={"bare FastAPI": statistics.median(other for _, other in taken)},
        aim=Times(0.6, "bare FastAPI"),
    )


def _rate(port: int, requests: int) -> float:
    each = requests // _CONNECTIONS // _AT_ONCE
    threads = [threading.Thread(target=_ask, args=(port, each)) for _ in range(_CONNECTIONS)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return each * _CONNECTIONS * _AT_ONCE / (time.perf_counter() - start)


def _first(connection: socket.socket, request: bytes) -> bytes:
    connection.sendall(request)
    answer = b""
    while not answer.endswith(b"}]"):
        answer += connection.recv(65_536)
    return answer


def _ask(port: int, batches: int) -> None:
    lines = ("Accept: application/json", "User-Agent: bench", "Accept-Encoding: gzip")
    head = f"GET {PATH} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
    request = (head + "\r\n".join(lines) + "\r\n\r\n").encode()
    with socket.create_connection(("127.0.0.1", port)) as connection:
        answer = _first(connection, request)
        assert answer.startswith(b"HTTP/1.1 200"), answer
        assert b"MARKET-4" in answer
        for _ in range(batches):
            connection.sendall(request * _AT_ONCE)
            left = len(answer) * _AT_ONCE
            while left > 0:
                left -= len(connection.recv(262_144))
