"""Verification of signed requests."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from jwt import get_algorithm_by_name
from jwt.algorithms import Algorithm
from jwt.exceptions import PyJWTError

from grandstand.core.errors import InvalidInput
from grandstand.simulators.exchange.market import MILLISECOND

KEY: Final = "kalshi-access-key"
TIMESTAMP: Final = "kalshi-access-timestamp"
SIGNATURE: Final = "kalshi-access-signature"
# PS256 is RSA-PSS with SHA-256, MGF1-SHA-256 and a salt as long as the digest.
_ALGORITHMS: Final = ("EdDSA", "PS256")

Refusal: TypeAlias = Literal["missing", "unknown key", "bad timestamp", "bad signature"]


class Keyring:
    """Public keys in PEM form, by id; a signature is valid within `allowed_ms` of its timestamp.

    Raises InvalidInput for an unsupported key.
    """

    def __init__(self, keys: Mapping[str, str], allowed_ms: int = 30_000) -> None:
        self._keys = {key_id: _load_key(public) for key_id, public in keys.items()}
        self._allowed_ms = allowed_ms

    def refusal(
        self, headers: Mapping[str, str], method: str, path: str, now_us: int
    ) -> Refusal | None:
        """Return why the signature of a request is invalid; None if it is valid.

        It covers the timestamp, the method and the path without its query. Header names are in
        lower case.
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


def _load_key(public: str) -> tuple[Algorithm, Any]:
    for name in _ALGORITHMS:
        algorithm = get_algorithm_by_name(name)
        try:
            return algorithm, algorithm.prepare_key(public)
        except PyJWTError:
            continue
    raise InvalidInput("Invalid key. Use an Ed25519 or RSA public key in PEM form.")
