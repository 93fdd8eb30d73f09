"""A Web Push service (RFC 8030) and the browsers subscribed to it."""

from __future__ import annotations

import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

import jwt
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from grandstand.core.clock import Clock
from grandstand.simulators.push.http2_server import Http2Request, Http2Response

PREFIX: Final = "/wpush/v2/"
_LONGEST_TOKEN_SECONDS: Final = 86_400
_KEY_BYTES: Final = 65
_HEAD_BYTES: Final = 21
_URGENCIES: Final = frozenset({"very-low", "low", "normal", "high"})


@dataclass(frozen=True, slots=True)
class ReceivedMessage:
    """A message that a browser decrypted."""

    text: str
    ttl: int
    urgency: str
    topic: str | None


@dataclass
class SimulatedBrowser:
    """A subscription with its keys and messages.

    `gone` is the status of an expired endpoint; `allows` restricts it to one server key.
    """

    id: str
    origin: str
    allows: str | None = None
    gone: int | None = None
    busy_seconds: int | None = None
    shown: list[ReceivedMessage] = field(default_factory=list)
    private: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1()), repr=False
    )
    auth: bytes = field(default_factory=lambda: secrets.token_bytes(16), repr=False)

    @property
    def subscription(self) -> dict[str, Any]:
        """The subscription as a page sends it to its server."""
        return {
            "endpoint": f"{self.origin}{PREFIX}{self.id}",
            "keys": {
                "p256dh": encode64(encode_public_key(self.private)),
                "auth": encode64(self.auth),
            },
        }

    def decrypt(self, body: bytes) -> bytes | None:
        """Decrypt a message (RFC 8188, RFC 8291), or return None."""
        salt, size, rest = body[:16], body[20:_HEAD_BYTES], body[_HEAD_BYTES:]
        if len(size) != 1 or size[0] != _KEY_BYTES or len(rest) < _KEY_BYTES:
            return None
        theirs, sealed = rest[:_KEY_BYTES], rest[_KEY_BYTES:]
        try:
            public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), theirs)
            shared = self.private.exchange(ec.ECDH(), public)
            info = b"WebPush: info\x00" + encode_public_key(self.private) + theirs
            secret = _derive(shared, self.auth, info, 32)
            key = _derive(secret, salt, b"Content-Encoding: aes128gcm\x00", 16)
            nonce = _derive(secret, salt, b"Content-Encoding: nonce\x00", 12)
            padded = AESGCM(key).decrypt(nonce, sealed, None)
        except (ValueError, InvalidTag):
            return None
        text, mark, _ = padded.rstrip(b"\x00").rpartition(b"\x02")
        return text if mark else None


@dataclass
class SimulatedBrowsers:
    """All subscriptions; servers authenticate with VAPID (RFC 8292)."""

    clock: Clock
    origin: str = ""
    browsers: dict[str, SimulatedBrowser] = field(default_factory=dict)

    def subscribe(self, allows: str | None = None) -> SimulatedBrowser:
        """Return a new subscription, for any server or for the one with a key."""
        browser = SimulatedBrowser(secrets.token_urlsafe(24), self.origin, allows)
        self.browsers[browser.id] = browser
        return browser

    def owns(self, path: str) -> bool:
        """Return whether a path is an endpoint."""
        return path.startswith(PREFIX)

    def handle(self, request: Http2Request) -> Http2Response:
        """Handle a message to a subscription."""
        browser = self.browsers.get(request.path.removeprefix(PREFIX))
        if browser is None:
            return Http2Response(404)
        if browser.gone is not None:
            return Http2Response(browser.gone)
        status = self._check(browser, request)
        if status:
            return Http2Response(status)
        if browser.busy_seconds is not None:
            return Http2Response(429, (("retry-after", str(browser.busy_seconds)),))
        text = browser.decrypt(request.body)
        if text is None:
            return Http2Response(400)
        header = request.headers.get
        ttl, urgency, topic = int(header("ttl", "0")), header("urgency", "normal"), header("topic")
        if topic is not None:
            browser.shown = [each for each in browser.shown if each.topic != topic]
        browser.shown.append(ReceivedMessage(text.decode("utf-8", "replace"), ttl, urgency, topic))
        return Http2Response(
            201, (("location", f"{self.origin}/m/{len(browser.shown)}"), ("ttl", str(ttl)))
        )

    def _check(self, browser: SimulatedBrowser, request: Http2Request) -> int | None:
        header = request.headers.get
        if request.method != "POST":
            return 405
        if not self._is_authorized(browser, header("authorization", "")):
            return 403 if header("authorization") else 401
        if not header("ttl", "").isdigit() or header("content-encoding") != "aes128gcm":
            return 400
        if header("urgency", "normal") not in _URGENCIES or len(header("topic", "")) > 32:
            return 400
        return 413 if len(request.body) > 4_096 else None

    def _is_authorized(self, browser: SimulatedBrowser, authorization: str) -> bool:
        scheme, _, rest = authorization.partition(" ")
        parts = dict(part.strip().partition("=")[::2] for part in rest.split(","))
        if scheme.lower() != "vapid" or not {"t", "k"} <= parts.keys():
            return False
        if browser.allows is not None and parts["k"] != browser.allows:
            return False
        try:
            public = ec.EllipticCurvePublicKey.from_encoded_point(
                ec.SECP256R1(), decode64(parts["k"])
            )
            claims: dict[str, Any] = jwt.decode(
                parts["t"],
                public,
                algorithms=["ES256"],
                audience=_origin(browser.origin),
                options={"require": ["exp", "aud"], "verify_exp": False},
            )
        except (ValueError, jwt.PyJWTError):
            return False
        left = float(claims["exp"]) - self.clock.epoch()
        return 0 < left <= _LONGEST_TOKEN_SECONDS


def encode_public_key(key: ec.EllipticCurvePrivateKey) -> bytes:
    """Return an uncompressed public key of 65 bytes."""
    return key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def encode64(data: bytes) -> str:
    """Encode as URL-safe base64 without padding."""
    return urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def decode64(text: str) -> bytes:
    """Decode URL-safe base64 without padding. Raises ValueError."""
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _derive(secret: bytes, salt: bytes, info: bytes, size: int) -> bytes:
    return HKDF(algorithm=hashes.SHA256(), length=size, salt=salt, info=info).derive(secret)
