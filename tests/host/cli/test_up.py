"""Starting and stopping the platform from the command line, as a real process."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
import websockets.sync.client as sockets_client

from grandstand.host.server.serving import LOOPBACK, bind


def _environment(home: Path) -> dict[str, str]:
    return os.environ | {"GRANDSTAND_HOME": str(home)}


def _call(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "grandstand", *words],
        env=_environment(home),
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )


@contextmanager
def _running(home: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that serves, and its address."""
    program = subprocess.Popen(
        [sys.executable, "-m", "grandstand", *words, "--port", "0"],
        env=_environment(home),
        stderr=subprocess.PIPE,
        text=True,
    )
    with program:
        assert program.stderr is not None
        said = program.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+", said)
        assert found, said
        try:
            yield program, found[0]
        finally:
            program.kill()


def _ready(address: str, path: str) -> httpx2.Response:
    for _ in range(600):
        try:
            return httpx2.get(address + path, trust_env=False)
        except httpx2.TransportError:
            time.sleep(0.1)
    raise TimeoutError(address)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_up_serves_pages_and_runs_jobs_and_stops_when_told(tmp_path: Path, number: int) -> None:
    with _running(tmp_path, "up") as (program, address):
        home = _ready(address, "/")
        jobs = httpx2.get(f"{address}/api/platform/jobs", trust_env=False).json()["jobs"]
        socket = sockets_client.connect(f"ws{address[4:]}/live", proxy=None)
        with socket:
            program.send_signal(number)
            code = program.wait(120)

    assert home.status_code == 200
    assert "platform.sweep" in [job["name"] for job in jobs]
    assert code == 0


def test_serve_runs_no_jobs(tmp_path: Path) -> None:
    with _running(tmp_path, "serve") as (_, address):
        ready = _ready(address, "/health/ready").json()

    assert ready["parts"]["jobs"]["detail"] == "not run here"


def test_a_worker_runs_jobs_and_answers_monitors_only(tmp_path: Path) -> None:
    with _running(tmp_path, "worker") as (_, address):
        alive = _ready(address, "/health")
        page = httpx2.get(address, trust_env=False)

    assert (alive.status_code, page.status_code) == (200, 404)


def test_a_taken_port_is_one_sentence(tmp_path: Path) -> None:
    with bind(LOOPBACK, 0) as taken:
        port = taken.getsockname()[1]
        done = _call(tmp_path, "up", "--port", str(port))

    assert done.returncode == 73
    assert done.stderr.startswith(f"grandstand: Port {port} of 127.0.0.1 is in use")
    assert done.stderr.count("\n") == 1


def test_the_house_is_not_opened_to_other_machines_without_accounts(tmp_path: Path) -> None:
    done = _call(tmp_path, "up", "--host", "0.0.0.0", "--port", "0")  # noqa: S104 - it is refused

    assert done.returncode == 65
    assert "grandstand user add NAME --admin" in done.stderr
