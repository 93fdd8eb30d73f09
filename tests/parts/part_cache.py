"""The cache of fetched parts: each made once, under a lock, and trusted only by its stamp."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.parts.environment import (
    ROOT,
    fetching_environment,
    install_command,
    state_folder,
)

_NPM_FOLDER = Path(__file__).parent / "npm"


class MissingPartError(Exception):
    """A part that is neither on the machine nor in the cache."""

    def __init__(self, part: str, why: str) -> None:
        super().__init__(f"{part}: {why}")
        self.part = part
        self.why = why
        self.command = install_command(part)


@dataclass(frozen=True)
class PartCache:
    """Hands out folders of fetched parts; with `may_fetch` it makes the ones that are not there."""

    may_fetch: bool

    def kept(self, part: str, pins: Sequence[Path], make: Callable[[Path], None]) -> Path:
        """The folder of a part, as its pins say; raises MissingPartError when it cannot be had."""
        folder = state_folder() / "parts" / part
        want = _stamp(pins)
        if _stamped(folder, want):
            return folder
        if not self.may_fetch:
            raise MissingPartError(part, _why_not_there(folder))
        with _locked(folder.with_name(f"{part}.lock")):
            if not _stamped(folder, want):
                _make_anew(part, folder, want, make)
        return folder


def wheel_pins(part: str) -> Path:
    """The pinned list of a part that comes as wheels."""
    return ROOT / "requirements" / f"part-{part}.txt"


def npm_pins(part: str) -> list[Path]:
    """The pinned list of a part that comes from npm."""
    return [_NPM_FOLDER / part / name for name in ("package.json", "package-lock.json")]


def install_wheels(part: str, folder: Path) -> None:
    """Unpacks the wheels of a part into a folder, each checked against its pinned hash."""
    pins = wheel_pins(part)
    _uv("pip", "install", "--target", str(folder), "--python", sys.executable, *_hashed(pins))


def install_environment(part: str, folder: Path) -> None:
    """Makes a virtual environment of its own for a part."""
    _uv("venv", "--quiet", "--allow-existing", "--python", sys.executable, str(folder))
    python = folder / "bin" / "python"
    _uv("pip", "install", "--python", str(python), *_hashed(wheel_pins(part)))


def install_npm(part: str, folder: Path, npm: Sequence[str]) -> None:
    """Installs a part's npm packages; npm compares each with the hash in the lock file."""
    for pin in npm_pins(part):
        shutil.copy(pin, folder)
    cache = state_folder() / "npm"
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--engine-strict=false")
    _fetch([*npm, "ci", *quiet, "--cache", str(cache)], folder)


def _hashed(pins: Path) -> tuple[str, ...]:
    return ("--quiet", "--require-hashes", "--no-deps", "-r", str(pins))


def _uv(*arguments: str) -> None:
    inside = Path(sys.prefix) / "bin" / "uv"
    uv = shutil.which("uv") or str(inside)
    _fetch([uv, *arguments], ROOT)


def _fetch(command: Sequence[str], folder: Path) -> None:
    """Runs a fetching command; the machine's certificates first, then those the tool brings."""
    for system_certificates in (True, False):
        environment = fetching_environment(system_certificates=system_certificates)
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            return
    said = [line.strip() for line in (done.stderr + done.stdout).splitlines() if line.strip()]
    raise OSError(f"{Path(command[0]).name} failed: " + " | ".join(said[:4]))


def _make_anew(part: str, folder: Path, want: str, make: Callable[[Path], None]) -> None:
    failed = folder.with_name(f"{part}.failed")
    sys.stderr.write(f"grandstand: fetching {part}\n")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        make(folder)
    except (OSError, subprocess.CalledProcessError) as error:
        failed.write_text(str(error), encoding="utf-8")
        raise MissingPartError(part, str(error)) from error
    failed.unlink(missing_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, encoding="utf-8") as stamp:
        stamp.write(want)
    Path(stamp.name).replace(folder / ".stamp")


def _stamp(pins: Sequence[Path]) -> str:
    """Changes with the pins and with the way parts are made."""
    digest = hashlib.sha256(str(ROOT).encode())
    for path in (*pins, Path(__file__)):
        digest.update(path.read_bytes())
    digest.update(f"{sys.version_info[:2]}".encode())
    return digest.hexdigest()


def _stamped(folder: Path, want: str) -> bool:
    try:
        return (folder / ".stamp").read_text(encoding="utf-8") == want
    except OSError:
        return False


def _why_not_there(folder: Path) -> str:
    failed = folder.with_name(f"{folder.name}.failed")
    if failed.is_file():
        return failed.read_text(encoding="utf-8")
    return "not on this machine and not fetched yet"


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
