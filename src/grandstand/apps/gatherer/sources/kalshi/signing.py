"""Signing of requests to the exchange, and errors of keys and paging."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ClassVar, Final, Self

from jwt import get_algorithm_by_name
from jwt.algorithms import Algorithm
from jwt.exceptions import PyJWTError

from grandstand.core.clock import Clock
from grandstand.core.errors import InvalidInput, NotAllowed
from grandstand.core.logging import register_secrets


class InvalidSigningKey(InvalidInput):
    """The private key is missing, unreadable, or of an unsupported kind."""

    code: ClassVar[str] = "invalid-signing-key"


class KeyRejected(NotAllowed):
    """The exchange does not accept the key, or not for this request."""

    code: ClassVar[str] = "key-rejected"


SOCKET_PATH: Final = "/trade-api/ws/v2"
_PEM_END: Final = "-----END"
_PEM_BEGIN: Final = "-----BEGIN"
# PS256 is RSA-PSS with SHA-256, MGF1-SHA-256 and a salt of 32 bytes, as the exchange requires.
_ALGORITHMS: Final = (("PS256", "RSA"), ("EdDSA", "Ed25519"))


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
    def from_pem(cls, key_id: str, pem: str, clock: Clock) -> Self:
        """Create a signer from a private key in PEM form (PKCS#1 or PKCS#8).

        Raises InvalidSigningKey; the key appears in no error and in no log.
        """
        text = _pem(pem)
        register_secrets(*(line for line in text.splitlines() if not line.startswith("-----")))
        if not key_id:
            raise InvalidSigningKey(
                "A private key is set but no key ID. Set GRANDSTAND_GATHERER_KEY_ID."
            )
        for name, kind in _ALGORITHMS:
            algorithm = get_algorithm_by_name(name)
            key = _load_key(algorithm, text)
            if key is not None:
                return cls(key_id, kind, lambda message: algorithm.sign(message, key), clock)  # noqa: B023 - returned at once
        raise InvalidSigningKey(
            "The private key cannot be used. Use an unencrypted RSA or Ed25519 key in PEM form, "
            "including the BEGIN and END lines."
        )

    def headers(self, method: str, path: str) -> Mapping[str, str]:
        """Return the headers that sign a request made now; the query is not signed."""
        stamp = str(int(self._clock.epoch() * 1000))
        message = f"{stamp}{method.upper()}{path.partition('?')[0]}".encode()
        return {
            "KALSHI-ACCESS-KEY": self.key_id,
            "KALSHI-ACCESS-TIMESTAMP": stamp,
            "KALSHI-ACCESS-SIGNATURE": b64encode(self._sign(message)).decode("ascii"),
        }

    def handshake(self, path: str = SOCKET_PATH) -> Mapping[str, str]:
        """Return the headers that open a WebSocket."""
        return self.headers("GET", path)

    def __repr__(self) -> str:
        return f"Signer({self.kind}, [redacted])"


def read_signer(key_id: str, key: str, key_file: Path | None, clock: Clock) -> Signer | None:
    """Return the signer of the settings; None if no key is set.

    Raises InvalidSigningKey.
    """
    if key:
        return Signer.from_pem(key_id, key, clock)
    if key_file is None:
        return None
    try:
        text = key_file.expanduser().read_text("ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSigningKey(
            f"Cannot read the private key in {key_file}: {type(error).__name__}."
        ) from None
    return Signer.from_pem(key_id, text, clock)


def _pem(text: str) -> str:
    """Restore line breaks, which environment variables often carry as two characters."""
    found = text.strip().replace("\\n", "\n").replace("\r\n", "\n")
    if "\n" in found or not found.startswith(_PEM_BEGIN):
        return found
    head, _, rest = found.removeprefix(_PEM_BEGIN).partition("-----")
    body, _, tail = rest.partition(_PEM_END)
    lines = "\n".join(body.split())
    return f"{_PEM_BEGIN}{head}-----\n{lines}\n{_PEM_END}{tail}"


def _load_key(algorithm: Algorithm, text: str) -> object | None:
    """Return the private key; None if it is not of this kind."""
    try:
        key: object = algorithm.prepare_key(text)
        algorithm.sign(b"", key)
    except (PyJWTError, ValueError, TypeError, AttributeError):
        return None
    return key
