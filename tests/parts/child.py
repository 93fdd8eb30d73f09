"""Child processes that end with the test run, even if it is killed."""

import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_TIMEOUT_SECONDS = 10.0


@dataclass(frozen=True)
class Account:
    """The user and group a server runs as."""

    user: int
    group: int


@dataclass(frozen=True)
class Server:
    """A server process: command, working folder, log file and stop signal."""

    command: Sequence[str]
    folder: Path
    log: Path
    stop_signal: int
    account: Account | None = None


@contextmanager
def running(server: Server) -> Iterator[subprocess.Popen[bytes]]:
    """Start a server; at the end, stop it and kill it if it does not stop."""
    with server.log.open("ab") as log:
        process = subprocess.Popen(
            [*_dies_with_parent(server.stop_signal), *server.command],
            cwd=server.folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            user=server.account.user if server.account else None,
            group=server.account.group if server.account else None,
            extra_groups=[] if server.account else None,
        )
    try:
        yield process
    finally:
        process.send_signal(server.stop_signal)
        try:
            process.wait(_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def log_tail(log: Path) -> str:
    """Return the end of a server's log, for error messages."""
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    return " | ".join(line.strip() for line in lines if line.strip())[-600:]


def _name(stop_signal: int) -> str:
    return signal.Signals(stop_signal).name.removeprefix("SIG")


def _dies_with_parent(stop_signal: int) -> list[str]:
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", _name(stop_signal), "--"] if setpriv else []
