"""Kept here: how requests to the exchange are signed; the key itself never leaves this file."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Self

from jwt import get_algorithm_by_name
from jwt.algorithms import Algorithm
from jwt.exceptions import PyJWTError

from grandstand.apps.gatherer.sources.kalshi.errors import SigningKeyUnusable
from grandstand.base.clock import Clock
from grandstand.base.log import remember

SOCKET_PATH: Final = "/trade-api/ws/v2"
_ENDING: Final = "-----END"
_BEGINNING: Final = "-----BEGIN"
# PS256 is RSA-PSS with SHA-256, MGF1 of the same and a salt of 32 bytes, as the exchange wants it.
_WAYS: Final = (("PS256", "RSA"), ("EdDSA", "Ed25519"))


class Signer:
    """Signs requests with a private key, RSA or Ed25519, for one key id."""

    def __init__(
        self, key_id: str, kind: str, sign: Callable[[bytes], bytes], clock: Clock
    ) -> None:
        self.key_id = key_id
        self.kind = kind
        self._sign = sign
        self._clock = clock

    @classmethod
    def of(cls, key_id: str, pem: str, clock: Clock) -> Self:
        """Answer what signs with a key in PEM form (PKCS#1 or PKCS#8).

        Raises SigningKeyUnusable; the text of the key is in no error and in no log.
        """
        text = _pem(pem)
        remember(*(line for line in text.splitlines() if not line.startswith("-----")))
        if not key_id:
            message = "There is a private key but no key id: set GRANDSTAND_GATHERER_KEY_ID"
            raise SigningKeyUnusable(message)
        for name, kind in _WAYS:
            algorithm = get_algorithm_by_name(name)
            key = _loaded(algorithm, text)
            if key is not None:
                return cls(key_id, kind, lambda said: algorithm.sign(said, key), clock)  # noqa: B023 - returned at once
        message = (
            "The private key cannot be used: give an RSA or Ed25519 key in PEM form, the whole "
            "file from its BEGIN to its END line, without a password"
        )
        raise SigningKeyUnusable(message)

    def headers(self, method: str, path: str) -> Mapping[str, str]:
        """Answer the headers that sign a request made now; the path is without its query."""
        stamp = str(int(self._clock.epoch() * 1000))
        said = f"{stamp}{method.upper()}{path.partition('?')[0]}".encode()
        return {
            "KALSHI-ACCESS-KEY": self.key_id,
            "KALSHI-ACCESS-TIMESTAMP": stamp,
            "KALSHI-ACCESS-SIGNATURE": b64encode(self._sign(said)).decode("ascii"),
        }

    def handshake(self, path: str = SOCKET_PATH) -> Mapping[str, str]:
        """Answer the headers that open a WebSocket now."""
        return self.headers("GET", path)

    def __repr__(self) -> str:
        return f"Signer({self.kind}, [redacted])"


def read_signer(key_id: str, key: str, key_file: Path | None, clock: Clock) -> Signer | None:
    """Answer what signs by the settings, from the key itself or its file; None when none is set.

    Raises SigningKeyUnusable.
    """
    if key:
        return Signer.of(key_id, key, clock)
    if key_file is None:
        return None
    try:
        text = key_file.expanduser().read_text("ascii")
    except (OSError, UnicodeDecodeError) as fault:
        message = f"The private key in {key_file} cannot be read: {type(fault).__name__}"
        raise SigningKeyUnusable(message) from None
    return Signer.of(key_id, text, clock)


def _pem(text: str) -> str:
    """Answer a key with its line breaks, which environments often carry as two characters."""
    found = text.strip().replace("\\n", "\n").replace("\r\n", "\n")
    if "\n" in found or not found.startswith(_BEGINNING):
        return found
    head, _, rest = found.removeprefix(_BEGINNING).partition("-----")
    body, _, tail = rest.partition(_ENDING)
    lines = "\n".join(body.split())
    return f"{_BEGINNING}{head}-----\n{lines}\n{_ENDING}{tail}"


def _loaded(algorithm: Algorithm, text: str) -> object | None:
    """Answer the private key, None when it is none of this kind."""
    try:
        key: object = algorithm.prepare_key(text)
        algorithm.sign(b"", key)
    except (PyJWTError, ValueError, TypeError, AttributeError):
        return None
    return key
