"""Verification of signed requests."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, Literal, TypeAlias

from jwt import get_algorithm_by_name
from jwt.algorithms import Algorithm
from jwt.exceptions import PyJWTError

from grandstand.core.errors import InvalidInput
from grandstand.simulators.exchange.market import MILLISECOND

KEY: Final = "kalshi-access-key"
TIMESTAMP: Final = "kalshi-access-timestamp"
SIGNATURE: Final = "kalshi-access-signature"
# PS256 is RSA-PSS with SHA-256, MGF1 of the same, and a salt as long as the digest.
_ALGORITHMS: Final = ("EdDSA", "PS256")
# What stands before the 32 bytes of an Ed25519 key, by RFC 8410.
_PRIVATE_HEAD: Final = bytes.fromhex("302e020100300506032b657004220420")
_PUBLIC_HEAD: Final = bytes.fromhex("302a300506032b6570032100")
_KEY_BYTES: Final = 32

Refusal: TypeAlias = Literal["missing", "unknown key", "bad timestamp", "bad signature"]


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A key a client can be given: its id, its private half in PEM, and its public half."""

    key_id: str
    private: str = field(repr=False)
    public: str

    @classmethod
    def made(cls, key_id: str, random: Random) -> KeyPair:
        """Make an Ed25519 key by chance, for this exchange and no other."""
        private = _pem("PRIVATE", _PRIVATE_HEAD + random.randbytes(_KEY_BYTES))
        loaded: Any = get_algorithm_by_name("EdDSA").prepare_key(private)
        raw: bytes = loaded.public_key().public_bytes_raw()
        return cls(key_id, private, _pem("PUBLIC", _PUBLIC_HEAD + raw))


class Keyring:
    """The public halves of keys; a signature is good for `allowed_ms` around the exchange's now.

    Raises InvalidInput for a key it could not check.
    """

    def __init__(self, keys: Mapping[str, str], allowed_ms: int = 30_000) -> None:
        self._keys = {key_id: _loaded(public) for key_id, public in keys.items()}
        self._allowed_ms = allowed_ms

    def refusal(
        self, headers: Mapping[str, str], method: str, path: str, now_us: int
    ) -> Refusal | None:
        """Return why a request is not who it says, None when it is; header names are lower case.

        What is signed is the timestamp, the method and the path without its query.
        """
        if not all(name in headers for name in (KEY, TIMESTAMP, SIGNATURE)):
            return "missing"
        if headers[KEY] not in self._keys:
            return "unknown key"
        stamp = headers[TIMESTAMP]
        if not stamp.isdecimal() or abs(int(stamp) - now_us // MILLISECOND) > self._allowed_ms:
            return "bad timestamp"
        try:
            signature = base64.b64decode(headers[SIGNATURE], validate=True)
        except binascii.Error:
            return "bad signature"
        algorithm, key = self._keys[headers[KEY]]
        good = algorithm.verify(f"{stamp}{method}{path}".encode(), key, signature)
        return None if good else "bad signature"


def _loaded(public: str) -> tuple[Algorithm, Any]:
    for name in _ALGORITHMS:
        algorithm = get_algorithm_by_name(name)
        try:
            return algorithm, algorithm.prepare_key(public)
        except PyJWTError:
            continue
    raise InvalidInput("A key of the exchange is neither Ed25519 nor RSA: give a public key in PEM")


def _pem(half: str, data: bytes) -> str:
    text = base64.b64encode(data).decode()
    return f"-----BEGIN {half} KEY-----\n{text}\n-----END {half} KEY-----\n"
