"""The state folder, and the environment variables test dependencies run with."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_OFF = frozenset({"", "0", "false"})

# Each of these has redirected a client, a server or Java.
_UNWANTED_PREFIXES = ("AWS_", "PG")
_UNWANTED = ("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "NODE_OPTIONS")
_WANTED = {
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    # Commands would otherwise simulate the sources that are not connected.
    "GRANDSTAND_DEMO_PLAY": "off",
    "NO_PROXY": "127.0.0.1,localhost",
    "no_proxy": "127.0.0.1,localhost",
}


def state_folder() -> Path:
    """Return the folder for caches and downloads: the one `./test` chose, or .state."""
    return Path(os.environ.get("TEST_STATE") or ROOT / ".state")


def in_ci(environment: Mapping[str, str]) -> bool:
    """Return whether a missing part is a failure. An empty CI, 0 and false mean no."""
    return environment.get("CI", "").lower() not in _OFF


def tidy_environment() -> None:
    """Remove variables that would redirect the servers and clients of the tests."""
    for name in list(os.environ):
        if name.startswith(_UNWANTED_PREFIXES) or name in _UNWANTED:
            del os.environ[name]
    os.environ.update(_WANTED)
    if not in_ci(os.environ):
        os.environ.pop("CI", None)


def fetching_environment(*, system_certificates: bool) -> dict[str, str]:
    """Return the environment for uv and npm: a writable home and the system's certificates."""
    environment = dict(os.environ)
    home = environment.get("HOME", "")
    if not home or not os.access(home, os.W_OK):
        own = state_folder() / "home"
        own.mkdir(parents=True, exist_ok=True)
        environment["HOME"] = str(own)
    bundle = environment.get("SSL_CERT_FILE") or "/etc/ssl/certs/ca-certificates.crt"
    if system_certificates and Path(bundle).is_file():
        environment["UV_SYSTEM_CERTS"] = "true"
        environment.setdefault("NODE_EXTRA_CA_CERTS", bundle)
    else:
        environment.pop("UV_SYSTEM_CERTS", None)
    environment["PATH"] = environment.get("PATH", os.defpath)
    return environment


def install_command(part: str) -> str:
    """Return the command that downloads one part."""
    python = Path(sys.prefix) / "bin" / "python"
    shown = python.relative_to(ROOT) if python.is_relative_to(ROOT) else python
    return f"{shown} -m tests.parts {part}"
