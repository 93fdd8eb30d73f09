"""The command as a process: how fast it starts, stops, and says what it can do."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from websockets.sync.client import connect

from benchmarks.harness.rows import Limit, Row
from benchmarks.harness.timing import seconds

_COMMAND = [sys.executable, "-m", "grandstand"]


def start(home: Path) -> list[Row]:
    """From the command to the first answer, in a new home and in one that is there."""
    return [_start(home, "start, first time"), _start(home, "start")]


def _start(home: Path, measure: str) -> Row:
    begun = time.monotonic()
    with _up(home):
        taken = time.monotonic() - begun
    return Row(measure, "s", taken, aim=Limit(1.5), higher_is_better=False)


def stop(home: Path) -> Row:
    """From Ctrl-C to the end, with 50 pages open."""
    with _up(home) as (program, port), ExitStack() as pages:
        for _ in range(50):
            pages.enter_context(connect(f"ws://127.0.0.1:{port}/live", proxy=None))
        begun = time.monotonic()
        program.send_signal(signal.SIGINT)
        assert program.wait(30) == 0
        taken = time.monotonic() - begun
    return Row("stop with 50 open sockets", "s", taken, aim=Limit(5), higher_is_better=False)


def help_text() -> Row:
    """The time of `grandstand --help`."""
    taken = seconds(lambda: subprocess.run([*_COMMAND, "--help"], check=True, capture_output=True))
    return Row("grandstand --help", "s", taken, aim=Limit(0.3), higher_is_better=False)


@contextmanager
def _up(home: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """`grandstand up` once it is ready, and its port."""
    surroundings = os.environ | {"GRANDSTAND_HOME": str(home), "GRANDSTAND_LOG_LEVEL": "warning"}
    words = [*_COMMAND, "up", "--port", "0"]
    program = subprocess.Popen(words, env=surroundings, stderr=subprocess.PIPE, text=True)
    with program:
        assert program.stderr is not None
        found = re.search(r"http://127\.0\.0\.1:(\d+)", program.stderr.readline())
        assert found
        _wait_until_ready(int(found[1]))
        try:
            yield program, int(found[1])
        finally:
            program.kill()


def _wait_until_ready(port: int) -> None:
    while True:
        try:
            with urlopen(f"http://127.0.0.1:{port}/health/ready"):
                return
        except URLError:
            time.sleep(0.005)
