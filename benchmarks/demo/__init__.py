"""The demo at rest: how soon it answers, and what it takes once its past is played."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import URLError
from urllib.request import urlopen

from benchmarks.demo.watching import Watched, watch
from benchmarks.harness.rows import Limit, Row

_LONGEST_SETTLING = 300
_CALM = 20.0
_SHORT, _LONG = 60.0, 3600.0


def run(*, full: bool) -> list[Row]:
    """Measure a minute at rest; `full` an hour."""
    with TemporaryDirectory() as place:
        home = Path(place)
        begun = time.monotonic()
        with _up(home) as (program, port):
            _first_page(port)
            answered = time.monotonic() - begun
            _settle(home)
            settled = time.monotonic() - begun
            time.sleep(_CALM)
            seen = watch(program.pid, _LONG if full else _SHORT)
            program.send_signal(signal.SIGINT)
            assert program.wait(30) == 0
    return [
        Row("start to the first page", "s", answered, aim=Limit(5), higher_is_better=False),
        Row("start until the past is played", "s", settled, higher_is_better=False),
        *_at_rest(seen, "an hour" if full else "a minute"),
    ]


def _at_rest(seen: Watched, how_long: str) -> list[Row]:
    memory = Row(
        f"resident memory of all processes, the most in {how_long}",
        "MB",
        seen.most_bytes / 1e6,
        aim=Limit(300),
        higher_is_better=False,
    )
    work = Row(
        f"share of a core, over {how_long}",
        "%",
        seen.cpu_share * 100,
        aim=Limit(15),
        higher_is_better=False,
    )
    return [memory, work]


@contextmanager
def _up(home: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """`grandstand up` with nothing connected, and its port."""
    told = {"GRANDSTAND_HOME": str(home), "GRANDSTAND_DEMO_PLAY": "on"}
    surroundings = os.environ | told | {"GRANDSTAND_LOG_LEVEL": "error"}
    words = [sys.executable, "-m", "grandstand", "up", "--port", "0"]
    program = subprocess.Popen(words, env=surroundings, stderr=subprocess.PIPE, text=True)
    with program:
        assert program.stderr is not None
        found = re.search(r"http://127\.0\.0\.1:(\d+)", program.stderr.readline())
        assert found
        try:
            yield program, int(found[1])
        finally:
            program.kill()


def _first_page(port: int) -> None:
    while True:
        try:
            with urlopen(f"http://127.0.0.1:{port}/") as answer:
                assert "Simulated" in answer.read().decode()
                return
        except URLError:
            time.sleep(0.01)


def _settle(home: Path) -> None:
    """Wait until the days before today are played."""
    ends = time.monotonic() + _LONGEST_SETTLING
    while not (home / "simulated" / "past.done").exists():
        assert time.monotonic() < ends, "the past was not played in time"
        time.sleep(0.5)
