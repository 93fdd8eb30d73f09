"""Our own DynamoDB endpoint, served from a thread of the test run."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grandstand.core.clock import SystemClock
from grandstand.host.server.serving import LOOPBACK, bind
from grandstand.host.tables_server import make_server
from grandstand.storage.tables.dynamodb_server.server import DynamoDbServer
from grandstand.storage.tables.engines.sqlite import SqliteEngine


@contextmanager
def running_endpoint(file: Path | None) -> Iterator[str]:
    """Serve the tables of that file, or of memory, and answer the address."""
    engine = SqliteEngine.open(file, clock=SystemClock(), metered=True)
    with bind(LOOPBACK, 0) as listening:
        server = make_server(DynamoDbServer(engine, clock=SystemClock()))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join()
    engine.close()
