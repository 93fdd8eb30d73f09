"""Kept here: the token that proves to Apple who pushes, renewed as rarely as its rules ask."""

from __future__ import annotations

from typing import Final

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from grandstand.base.clock import Clock
from grandstand.base.errors import InvalidInput
from grandstand.base.log import remember

# Apple refuses a token older than an hour, and one that is changed more than every 20 minutes.
_RENEWED_AFTER_SECONDS: Final = 2_700
_LEAST_BETWEEN_SECONDS: Final = 1_200


class ProviderToken:
    """One token for every connection, signed when it is used and the last one is 45 minutes old."""

    def __init__(self, *, key: str, key_id: str, team_id: str, clock: Clock) -> None:
        self._pem = key
        self._key_id = key_id
        self._team_id = team_id
        self._clock = clock
        self._private: ec.EllipticCurvePrivateKey | None = None
        self._signed_at: float | None = None
        self._bearer = ""

    def bearer(self) -> str:
        """Answer the value of the authorization header; raise InvalidInput for a useless key."""
        now = self._clock.epoch()
        if self._signed_at is None or now - self._signed_at >= _RENEWED_AFTER_SECONDS:
            self._sign(now)
        return self._bearer

    def expired(self, bearer: str) -> bool:
        """Hear that Apple calls a token too old; tell whether there is another one to try.

        A token of the last 20 minutes is not replaced: then it is a clock that is wrong.
        """
        if bearer != self._bearer:
            return True
        now = self._clock.epoch()
        if self._signed_at is not None and now - self._signed_at < _LEAST_BETWEEN_SECONDS:
            return False
        self._sign(now)
        return True

    def _sign(self, now: float) -> None:
        self._private = self._private or _read(self._pem)
        claims = {"iss": self._team_id, "iat": int(now)}
        head = {"kid": self._key_id}
        token = jwt.encode(claims, self._private, algorithm="ES256", headers=head)
        remember(token)
        self._signed_at, self._bearer = now, f"bearer {token}"


def _read(pem: str) -> ec.EllipticCurvePrivateKey:
    try:
        key = serialization.load_pem_private_key(pem.encode(), password=None)
    except (TypeError, ValueError):
        key = None
    if not isinstance(key, ec.EllipticCurvePrivateKey) or key.curve.name != "secp256r1":
        message = (
            "The push key cannot be used: give the whole .p8 file that Apple handed out, which "
            "begins with -----BEGIN PRIVATE KEY-----"
        )
        raise InvalidInput(message)
    return key
