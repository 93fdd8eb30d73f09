"""What every client of the benchmark pushes, where to, and how fast it was."""

import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from grandstand.simulators.push.http2_server import Certificate
from grandstand.simulators.push.validation import SigningKey

KEY = SigningKey.make()
BUNDLE = "org.example.cricket"
STATE = {"aps": {"timestamp": 1, "event": "update", "content-state": {"text": "x" * 330}}}
PAYLOAD = b'{"aps":{"timestamp":1,"event":"update","content-state":{"text":"' + b"x" * 330 + b'"}}}'


@dataclass(frozen=True)
class Pace:
    """How fast pushes went, and what each cost this process."""

    per_second: float
    cpu_micros: float


@dataclass(frozen=True)
class Sunk:
    """Where a sink listens, and what it is trusted with."""

    port: int
    certificate: Certificate
    file: Path

    def trusting(self) -> ssl.SSLContext:
        """What a client opens connections with."""
        context = self.certificate.trusting()
        context.set_alpn_protocols(["h2"])
        return context


@contextmanager
def sinking(*arguments: str) -> Iterator[Sunk]:
    """A sink in a process of its own."""
    certificate = Certificate.make()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "sink.pem")
        file.write_bytes(certificate.key + certificate.certificate)
        command = [sys.executable, "-m", "benchmarks.cricket.sink", str(file), *arguments]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                yield Sunk(int(process.stdout.readline()), certificate, file)
            finally:
                process.kill()


async def paced(send: Callable[[], Awaitable[object]], count: int, repeats: int = 5) -> Pace:
    """The median of some repeats, after one that warms up."""
    await send()
    taken, spent = [], []
    for _ in range(repeats):
        began, used = time.perf_counter(), time.process_time()
        await send()
        taken.append(time.perf_counter() - began)
        spent.append(time.process_time() - used)
    return Pace(count / statistics.median(taken), statistics.median(spent) / count * 1e6)
