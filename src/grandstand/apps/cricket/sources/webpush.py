"""Client for Web Push: RFC 8030, encrypted (RFC 8291) and signed (RFC 8292)."""

from __future__ import annotations

import re
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from typing import Final, Literal, TypeAlias
from urllib.parse import urlsplit

import jwt
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from grandstand.apps.cricket.domain.live_activities import BrowserSubscription, PushResult
from grandstand.apps.cricket.sources.apns import describe_failure, load_key
from grandstand.core.clock import Clock
from grandstand.core.errors import InvalidInput
from grandstand.core.logging import register_secrets
from grandstand.net.http2_push.client import PushClient
from grandstand.net.http2_push.requests import NoResponse, PushOutcome, PushRequest, SharedHeaders

Urgency: TypeAlias = Literal["very-low", "low", "normal", "high"]

PUSH_SERVICES: Final = (
    "fcm.googleapis.com",
    "push.services.mozilla.com",
    "push.apple.com",
    "notify.windows.com",
)
"""The push services of browsers; nothing is sent to other hosts."""

MAX_MESSAGE_BYTES: Final = 3_993
"""The limit of a message; services accept 4,096 bytes after encryption."""

_ADDRESS: Final = re.compile(r"[!-~]+")
_KEY_BYTES: Final = 65
_AUTH_BYTES: Final = 16
_RECORD_BYTES: Final = 4_096
_TOKEN_LIFETIME_SECONDS: Final = 43_200
_TOKEN_RENEWAL_SECONDS: Final = 21_600
_DEFAULT_RETRY_SECONDS: Final = 30.0
_MAX_RETRY_SECONDS: Final = 86_400.0
_KEY_HELP: Final = "Invalid Web Push key. Set GRANDSTAND_CRICKET_WEBPUSH_KEY to a P-256 key in PEM."


class WebPushClient:
    """Sends messages to browsers that subscribed with our public key.

    `create_client` creates the client of a host, once; `extra_hosts` are further push services.
    """

    def __init__(
        self,
        *,
        key: str,
        contact: str,
        clock: Clock,
        create_client: Callable[[str], PushClient],
        extra_hosts: tuple[str, ...] = (),
    ) -> None:
        self._pem = key
        self._contact = contact
        self._clock = clock
        self._create_client = create_client
        self._extra_hosts = extra_hosts
        self._clients: dict[str, PushClient] = {}
        self._signed: dict[str, tuple[float, str]] = {}

    @property
    def public_key(self) -> str:
        """The application server key. Raises InvalidInput if our key cannot be used."""
        point = _point(load_key(self._pem, _KEY_HELP))
        return urlsafe_b64encode(point).rstrip(b"=").decode("ascii")

    def check(self, subscription: BrowserSubscription) -> None:
        """Raise InvalidInput if nothing can be sent to the subscription."""
        if not self._is_allowed(subscription.endpoint):
            raise InvalidInput(
                "Unknown push service. Send the subscription as the browser returned it."
            )
        _keys(subscription)

    def _is_allowed(self, endpoint: str) -> bool:
        if _ADDRESS.fullmatch(endpoint) is None:
            return False
        try:
            parts = urlsplit(endpoint)
        except ValueError:
            return False
        host = parts.netloc.lower().removesuffix(":443")
        public = any(host == each or host.endswith(f".{each}") for each in PUSH_SERVICES)
        known = parts.netloc in self._extra_hosts or (public and "@" not in host)
        return known and parts.scheme == "https"

    async def send(
        self,
        subscription: BrowserSubscription,
        message: bytes,
        *,
        ttl_seconds: int = 600,
        urgency: Urgency = "normal",
        topic: str | None = None,
    ) -> PushResult:
        """Send one message; it replaces an undelivered one with the same topic.

        Raises InvalidInput if the subscription or our key cannot be used.
        """
        self.check(subscription)
        if len(message) > MAX_MESSAGE_BYTES:
            return PushResult("rejected", "PayloadTooLarge")
        parts = urlsplit(subscription.endpoint)
        pairs = [
            ("authorization", self._authorization(f"https://{parts.netloc}")),
            ("content-encoding", "aes128gcm"),
            ("content-type", "application/octet-stream"),
            ("ttl", str(ttl_seconds)),
            ("urgency", urgency),
        ]
        if topic is not None:
            pairs.append(("topic", topic))
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        request = PushRequest(path, SharedHeaders(pairs), encrypt_message(subscription, message))
        if parts.netloc not in self._clients:
            self._clients[parts.netloc] = self._create_client(parts.netloc)
        (outcome,) = await self._clients[parts.netloc].send([request])
        return _parse_result(outcome)

    async def close(self) -> None:
        """Close all connections; messages in flight are lost."""
        for client in self._clients.values():
            await client.close()

    def _authorization(self, origin: str) -> str:
        now = self._clock.epoch()
        signed_at, header = self._signed.get(origin, (0.0, ""))
        if not header or now - signed_at >= _TOKEN_RENEWAL_SECONDS:
            claims = {
                "aud": origin,
                "exp": int(now) + _TOKEN_LIFETIME_SECONDS,
                "sub": self._contact,
            }
            token = jwt.encode(claims, load_key(self._pem, _KEY_HELP), algorithm="ES256")
            register_secrets(token)
            header = f"vapid t={token}, k={self.public_key}"
            self._signed[origin] = (now, header)
        return header


def encrypt_message(
    subscription: BrowserSubscription,
    message: bytes,
    *,
    salt: bytes | None = None,
    private: ec.EllipticCurvePrivateKey | None = None,
) -> bytes:
    """Encrypt a message for a browser. Raises InvalidInput if its keys cannot be used.

    Salt and key are random by default; tests pass them to compare with known results.
    """
    salt = salt or secrets.token_bytes(16)
    private = private or ec.generate_private_key(ec.SECP256R1())
    theirs, auth = _keys(subscription)
    ours = _point(private)
    info = b"WebPush: info\x00" + _public(theirs) + ours
    secret = _derive(private.exchange(ec.ECDH(), theirs), auth, info, 32)
    key = _derive(secret, salt, b"Content-Encoding: aes128gcm\x00", 16)
    nonce = _derive(secret, salt, b"Content-Encoding: nonce\x00", 12)
    encrypted = AESGCM(key).encrypt(nonce, message + b"\x02", None)
    return salt + _RECORD_BYTES.to_bytes(4, "big") + bytes([len(ours)]) + ours + encrypted


def _parse_result(outcome: PushOutcome) -> PushResult:
    if isinstance(outcome, NoResponse):
        return describe_failure(outcome)
    reason = f"status {outcome.status}"
    match outcome.status:
        case 200 | 201 | 202:
            return PushResult("delivered")
        case 404 | 410:
            return PushResult("gone", reason)
        case 401 | 403:
            return PushResult("forbidden", reason)
        case 429 | 500 | 502 | 503 | 504:
            header = outcome.headers.get("retry-after", "")
            is_number = header.isascii() and header.isdigit()
            seconds = float(header) if is_number else _DEFAULT_RETRY_SECONDS
            return PushResult("unsent", reason, retry_seconds=min(seconds, _MAX_RETRY_SECONDS))
        case _:
            return PushResult("rejected", reason)


def _keys(subscription: BrowserSubscription) -> tuple[ec.EllipticCurvePublicKey, bytes]:
    try:
        point, auth = _decode(subscription.p256dh), _decode(subscription.auth)
        public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
    except ValueError:
        point, auth, public = b"", b"", None
    if public is None or len(point) != _KEY_BYTES or len(auth) != _AUTH_BYTES:
        raise InvalidInput(
            "Invalid subscription keys. Send p256dh and auth as the browser returned them."
        )
    return public, auth


def _point(key: ec.EllipticCurvePrivateKey) -> bytes:
    return _public(key.public_key())


def _public(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(
        serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
    )


def _derive(secret: bytes, salt: bytes, info: bytes, size: int) -> bytes:
    return HKDF(algorithm=hashes.SHA256(), length=size, salt=salt, info=info).derive(secret)


def _decode(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
