"""A temporary folder per test run for the files of servers."""

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.parts.environment import state_folder

_PREFIX = "gs-"

# A UNIX socket's path may have 107 bytes; PostgreSQL adds about 20 to the folder.
_LONGEST_BASE = 60


@contextmanager
def run_folder() -> Iterator[Path]:
    """Create a folder with a short path that other users can enter, and remove it at the end."""
    base = _base()
    _sweep(base)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
    folder.chmod(0o711)
    owner = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(owner, fcntl.LOCK_EX)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(owner)


def _base() -> Path:
    """Return the first folder with a short path that is writable and not mounted noexec."""
    for base in (Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp"), state_folder()):  # noqa: S108
        if len(os.fsencode(base)) <= _LONGEST_BASE and _runs_programs(base):
            return base
    raise OSError("no temporary folder that is short and not mounted noexec; set TMPDIR to one")


def _runs_programs(base: Path) -> bool:
    try:
        with tempfile.TemporaryDirectory(prefix=_PREFIX, dir=base) as folder:
            program = Path(folder) / "program"
            program.write_text("#!/bin/sh\n", encoding="utf-8")
            program.chmod(0o700)
            return subprocess.run([program], check=False).returncode == 0
    except OSError:
        return False


def _sweep(base: Path) -> None:
    """Remove the folders of killed runs, whose lock is free."""
    for folder in base.glob(f"{_PREFIX}*"):
        try:
            if folder.stat().st_uid != os.getuid():
                continue
            with (folder / "lock").open("rb+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue
