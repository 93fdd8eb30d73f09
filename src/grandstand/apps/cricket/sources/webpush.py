"""Kept here: pushes to browsers (RFC 8030): sealed for one of them (8291), signed by us (8292)."""

from __future__ import annotations

import re
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias
from urllib.parse import urlsplit

import jwt
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from grandstand.apps.cricket.sources.apns.answers import (
    DELIVERED,
    Doubtful,
    Gone,
    Later,
    PushResult,
    Refused,
    Stopped,
)
from grandstand.base.clock import Clock
from grandstand.base.errors import InvalidInput
from grandstand.base.log import remember
from grandstand.wire.push import Lost, Outcome, PushClient, Request, SharedHeaders

Urgency: TypeAlias = Literal["very-low", "low", "normal", "high"]

SERVICES: Final = (
    "fcm.googleapis.com",
    "push.services.mozilla.com",
    "push.apple.com",
    "notify.windows.com",
)
"""Where browsers' endpoints are; nothing is sent elsewhere, whatever a subscription says."""

MOST_BYTES: Final = 3_993
"""What a message may take: services take 4,096 bytes once it is sealed."""

_ADDRESS: Final = re.compile(r"[!-~]+")
_KEY_BYTES: Final = 65
_AUTH_BYTES: Final = 16
_RECORD_BYTES: Final = 4_096
_TOKEN_LIVES_SECONDS: Final = 43_200
_TOKEN_USED_SECONDS: Final = 21_600
_WAIT_SECONDS: Final = 30.0
_SOON_SECONDS: Final = 1.0
_LONGEST_WAIT_SECONDS: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class Subscription:
    """Where a browser is reached, and with what its messages are sealed."""

    endpoint: str
    p256dh: str = field(repr=False)
    auth: str = field(repr=False)


class WebPush:
    """Pushes to browsers that subscribed with our public key.

    `client_of` makes the client of a host, once; `also_hosts` are services of one's own.
    """

    def __init__(
        self,
        *,
        key: str,
        contact: str,
        clock: Clock,
        client_of: Callable[[str], PushClient],
        also_hosts: tuple[str, ...] = (),
    ) -> None:
        self._pem = key
        self._contact = contact
        self._clock = clock
        self._client_of = client_of
        self._also_hosts = also_hosts
        self._clients: dict[str, PushClient] = {}
        self._signed: dict[str, tuple[float, str]] = {}

    @property
    def public_key(self) -> str:
        """What a page subscribes with; raises InvalidInput when our key cannot be used."""
        return _encode(_point(self._private()))

    def check(self, subscription: Subscription) -> None:
        """Raise InvalidInput for a subscription that nothing could be sent to."""
        if not self._is_known(subscription.endpoint):
            message = "The endpoint is of no push service that is known here"
            raise InvalidInput(message)
        _keys(subscription)

    def _is_known(self, endpoint: str) -> bool:
        if _ADDRESS.fullmatch(endpoint) is None:
            return False
        try:
            parts = urlsplit(endpoint)
        except ValueError:
            return False
        host = parts.netloc.lower().removesuffix(":443")
        public = any(host == each or host.endswith(f".{each}") for each in SERVICES)
        known = parts.netloc in self._also_hosts or (public and "@" not in host)
        return known and parts.scheme == "https"

    async def send(
        self,
        subscription: Subscription,
        message: bytes,
        *,
        ttl_seconds: int = 600,
        urgency: Urgency = "normal",
        topic: str | None = None,
    ) -> PushResult:
        """Send one message and answer what came of it; one of the same topic replaces it.

        Raises InvalidInput for a subscription or a key of ours that cannot be used.
        """
        self.check(subscription)
        if len(message) > MOST_BYTES:
            return Refused("PayloadTooLarge")
        parts = urlsplit(subscription.endpoint)
        pairs = [
            ("authorization", self._proof(f"https://{parts.netloc}")),
            ("content-encoding", "aes128gcm"),
            ("content-type", "application/octet-stream"),
            ("ttl", str(ttl_seconds)),
            ("urgency", urgency),
        ]
        if topic is not None:
            pairs.append(("topic", topic))
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        request = Request(path, SharedHeaders(pairs), seal(subscription, message))
        if parts.netloc not in self._clients:
            self._clients[parts.netloc] = self._client_of(parts.netloc)
        (outcome,) = await self._clients[parts.netloc].send([request])
        return _result(outcome)

    async def close(self) -> None:
        """End all connections; what is still under way is lost."""
        for client in self._clients.values():
            await client.close()

    def _proof(self, origin: str) -> str:
        now = self._clock.epoch()
        made_at, proof = self._signed.get(origin, (0.0, ""))
        if not proof or now - made_at >= _TOKEN_USED_SECONDS:
            claims = {"aud": origin, "exp": int(now) + _TOKEN_LIVES_SECONDS, "sub": self._contact}
            token = jwt.encode(claims, self._private(), algorithm="ES256")
            remember(token)
            proof = f"vapid t={token}, k={self.public_key}"
            self._signed[origin] = (now, proof)
        return proof

    def _private(self) -> ec.EllipticCurvePrivateKey:
        try:
            key = serialization.load_pem_private_key(self._pem.encode(), password=None)
        except (TypeError, ValueError):
            key = None
        if not isinstance(key, ec.EllipticCurvePrivateKey) or key.curve.name != "secp256r1":
            message = "The key for browsers cannot be used: it is a P-256 key in PEM"
            raise InvalidInput(message)
        return key


def seal(
    subscription: Subscription,
    message: bytes,
    *,
    salt: bytes | None = None,
    private: ec.EllipticCurvePrivateKey | None = None,
) -> bytes:
    """Answer a message that only its browser can read; raise InvalidInput for useless keys.

    Salt and key are new for each message; they are given only to compare with known results.
    """
    salt = salt or secrets.token_bytes(16)
    private = private or ec.generate_private_key(ec.SECP256R1())
    theirs, auth = _keys(subscription)
    ours = _point(private)
    info = b"WebPush: info\x00" + _public(theirs) + ours
    secret = _derive(private.exchange(ec.ECDH(), theirs), auth, info, 32)
    key = _derive(secret, salt, b"Content-Encoding: aes128gcm\x00", 16)
    nonce = _derive(secret, salt, b"Content-Encoding: nonce\x00", 12)
    sealed = AESGCM(key).encrypt(nonce, message + b"\x02", None)
    return salt + _RECORD_BYTES.to_bytes(4, "big") + bytes([len(ours)]) + ours + sealed


def _result(outcome: Outcome) -> PushResult:
    if isinstance(outcome, Lost):
        return Doubtful(outcome.reason) if outcome.sent else Later(outcome.reason, _SOON_SECONDS)
    reason = f"status {outcome.status}"
    match outcome.status:
        case 200 | 201 | 202:
            return DELIVERED
        case 404 | 410:
            return Gone(reason)
        case 401 | 403:
            return Stopped(reason)
        case 429 | 500 | 502 | 503 | 504:
            said = outcome.headers.get("retry-after", "")
            wait = float(said) if said.isascii() and said.isdigit() else _WAIT_SECONDS
            return Later(reason, min(wait, _LONGEST_WAIT_SECONDS))
        case _:
            return Refused(reason)


def _keys(subscription: Subscription) -> tuple[ec.EllipticCurvePublicKey, bytes]:
    try:
        point, auth = _decode(subscription.p256dh), _decode(subscription.auth)
        public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
    except ValueError:
        point, auth, public = b"", b"", None
    if public is None or len(point) != _KEY_BYTES or len(auth) != _AUTH_BYTES:
        message = "The keys of the subscription are not those of a browser: p256dh and auth"
        raise InvalidInput(message)
    return public, auth


def _point(key: ec.EllipticCurvePrivateKey) -> bytes:
    return _public(key.public_key())


def _public(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(
        serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
    )


def _derive(secret: bytes, salt: bytes, info: bytes, size: int) -> bytes:
    return HKDF(algorithm=hashes.SHA256(), length=size, salt=salt, info=info).derive(secret)


def _encode(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def _decode(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
