"""Client for Web Push: RFC 8030, encrypted (RFC 8291) and signed (RFC 8292)."""

from __future__ import annotations

import re
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, TypeAlias
from urllib.parse import SplitResult, urlsplit

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
from grandstand.net.errors import InvalidResponse
from grandstand.net.http2_push.client import PushClient
from grandstand.net.http2_push.requests import NoResponse, PushOutcome, PushRequest, SharedHeaders
from grandstand.net.retry import parse_retry_after

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
_HOST_LABEL: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_MAX_HOST_LENGTH: Final = 253
_MAX_PATH_LENGTH: Final = 1_024
_KEY_BYTES: Final = 65
_AUTH_BYTES: Final = 16
_RECORD_BYTES: Final = 4_096
_TOKEN_LIFETIME_SECONDS: Final = 43_200
_TOKEN_RENEWAL_SECONDS: Final = 21_600
_DEFAULT_RETRY_SECONDS: Final = 30.0
_KEY_HELP: Final = "Invalid Web Push key. Set GRANDSTAND_CRICKET_WEBPUSH_KEY to a P-256 key in PEM."


@dataclass(slots=True)
class _PooledClient:
    """The client of one host, the signed header for it, and its sends in flight."""

    client: PushClient
    authorization: str = ""
    signed_at: float = 0.0
    sending: int = 0


class WebPushClient:
    """Sends messages to browsers that subscribed with our public key.

    `create_client` creates the client of a host; `extra_hosts` are further push services. At most
    `max_clients` are open: for another host, the least recently used idle client is closed. A
    message without a response after `timeout_seconds` is given up.
    """

    def __init__(
        self,
        *,
        key: str,
        contact: str,
        clock: Clock,
        create_client: Callable[[str], PushClient],
        extra_hosts: tuple[str, ...] = (),
        timeout_seconds: float = 10.0,
        max_clients: int = 64,
    ) -> None:
        self._pem = key
        self._contact = contact
        self._clock = clock
        self._create_client = create_client
        self._extra_hosts = extra_hosts
        self._timeout_seconds = timeout_seconds
        self._max_clients = max_clients
        self._clients: OrderedDict[str, _PooledClient] = OrderedDict()

    @property
    def public_key(self) -> str:
        """The application server key. Raises InvalidInput if our key cannot be used."""
        point = _point(load_key(self._pem, _KEY_HELP))
        return urlsafe_b64encode(point).rstrip(b"=").decode("ascii")

    def check(self, subscription: BrowserSubscription) -> None:
        """Raise InvalidInput if nothing can be sent to the subscription."""
        self._read_endpoint(subscription.endpoint)
        _keys(subscription)

    def _read_endpoint(self, endpoint: str) -> tuple[str, str]:
        """Return the host and the path of an endpoint. Raises InvalidInput."""
        parts = None
        if _ADDRESS.fullmatch(endpoint) is not None:
            try:
                parts = urlsplit(endpoint)
            except ValueError:
                parts = None
        host = None if parts is None else self._allowed_host(parts)
        if parts is None or host is None:
            raise InvalidInput(
                "Unknown push service. Send the subscription as the browser returned it."
            )
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        if not path.startswith("/") or len(path) > _MAX_PATH_LENGTH:
            raise InvalidInput(
                f"The path of the endpoint must start with / and have at most {_MAX_PATH_LENGTH} "
                "characters. Send the subscription as the browser returned it."
            )
        return host, path

    def _allowed_host(self, parts: SplitResult) -> str | None:
        if parts.scheme != "https":
            return None
        if parts.netloc in self._extra_hosts:
            return parts.netloc
        host = parts.netloc.lower().removesuffix(":443")
        public = any(host == each or host.endswith(f".{each}") for each in PUSH_SERVICES)
        if not public or len(host) > _MAX_HOST_LENGTH:
            return None
        return host if all(map(_HOST_LABEL.fullmatch, host.split("."))) else None

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
        host, path = self._read_endpoint(subscription.endpoint)
        body = encrypt_message(subscription, message)
        if len(message) > MAX_MESSAGE_BYTES:
            return PushResult("rejected", "PayloadTooLarge")
        pooled = await self._borrow(host)
        if pooled is None:
            reason = "all clients are in use"
            return PushResult("unsent", reason, retry_seconds=_DEFAULT_RETRY_SECONDS)
        try:
            pairs = [
                ("authorization", self._authorization(pooled, f"https://{host}")),
                ("content-encoding", "aes128gcm"),
                ("content-type", "application/octet-stream"),
                ("ttl", str(ttl_seconds)),
                ("urgency", urgency),
            ]
            if topic is not None:
                pairs.append(("topic", topic))
            request = PushRequest(path, SharedHeaders(pairs), body)
            (outcome,) = await pooled.client.send([request], within_seconds=self._timeout_seconds)
        finally:
            pooled.sending -= 1
        return _parse_result(outcome, self._clock.now())

    @property
    def open_hosts(self) -> tuple[str, ...]:
        """The hosts that have a client, the least recently used first."""
        return tuple(self._clients)

    async def close(self) -> None:
        """Close all connections; messages in flight are lost."""
        while self._clients:
            _, pooled = self._clients.popitem()
            await pooled.client.close()

    async def _borrow(self, host: str) -> _PooledClient | None:
        """Return the client of a host, None if all clients are in use for other hosts."""
        pooled, closed = self._clients.get(host), None
        if pooled is None:
            if len(self._clients) >= self._max_clients:
                idle = next((name for name, each in self._clients.items() if not each.sending), "")
                if not idle:
                    return None
                closed = self._clients.pop(idle)
            pooled = self._clients[host] = _PooledClient(self._create_client(host))
        self._clients.move_to_end(host)
        pooled.sending += 1
        if closed is not None:
            try:
                await closed.client.close()
            except BaseException:
                pooled.sending -= 1
                raise
        return pooled

    def _authorization(self, pooled: _PooledClient, origin: str) -> str:
        now = self._clock.epoch()
        if not pooled.authorization or now - pooled.signed_at >= _TOKEN_RENEWAL_SECONDS:
            claims = {
                "aud": origin,
                "exp": int(now) + _TOKEN_LIFETIME_SECONDS,
                "sub": self._contact,
            }
            token = jwt.encode(claims, load_key(self._pem, _KEY_HELP), algorithm="ES256")
            register_secrets(token)
            pooled.authorization = f"vapid t={token}, k={self.public_key}"
            pooled.signed_at = now
        return pooled.authorization


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


def _parse_result(outcome: PushOutcome, now: datetime) -> PushResult:
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
            try:
                seconds = parse_retry_after(outcome.headers, now)
            except InvalidResponse:
                seconds = None
            wait = _DEFAULT_RETRY_SECONDS if seconds is None else seconds
            return PushResult("unsent", reason, retry_seconds=wait)
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
