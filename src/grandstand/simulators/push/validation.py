"""Validation of APNs requests: provider tokens, headers, payloads and scripted replies."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias

import jwt
import msgspec
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from grandstand.core.clock import Clock
from grandstand.simulators.push.http2_server import Http2Connection, Http2Request

STATUS_BY_REASON: Final[dict[str, int]] = {
    "BadCollapseId": 400,
    "BadDeviceToken": 400,
    "BadExpirationDate": 400,
    "BadMessageId": 400,
    "BadPriority": 400,
    "BadTopic": 400,
    "DeviceTokenNotForTopic": 400,
    "DuplicateHeaders": 400,
    "IdleTimeout": 400,
    "InvalidPushType": 400,
    "MissingDeviceToken": 400,
    "MissingTopic": 400,
    "PayloadEmpty": 400,
    "TopicDisallowed": 400,
    "BadCertificate": 403,
    "BadCertificateEnvironment": 403,
    "BadEnvironmentKeyIdInToken": 403,
    "ExpiredProviderToken": 403,
    "Forbidden": 403,
    "InvalidProviderToken": 403,
    "MissingProviderToken": 403,
    "UnrelatedKeyIdInToken": 403,
    "BadPath": 404,
    "MethodNotAllowed": 405,
    "ExpiredToken": 410,
    "Unregistered": 410,
    "PayloadTooLarge": 413,
    "TooManyProviderTokenUpdates": 429,
    "TooManyRequests": 429,
    "InternalServerError": 500,
    "ServiceUnavailable": 503,
    "Shutdown": 503,
    # Of broadcasts and the management of channels:
    "BadChannelId": 400,
    "BadRequest": 400,
    "CannotCreateChannelConfig": 400,
    "ChannelNotRegistered": 400,
    "InvalidPushTypeForChannel": 400,
    "MissingChannelId": 400,
    "MissingPushType": 400,
    "BroadcastFeatureNotEnabled": 403,
    "FeatureNotEnabled": 403,
    "NotFound": 404,
}
"""Every reason the service gives, with its status."""


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """The reply to a token: a reason (None for success), after a delay, a number of times.

    After `times` requests the token behaves normally; `silent` sends no response. `since` is
    the time in a 410.
    """

    reason: str | None = None
    times: int | None = None
    delay_seconds: float = 0.0
    silent: bool = False
    since: datetime | None = None


@dataclass
class ScriptedReplies:
    """Scripted replies by token, and for all tokens."""

    by_token: dict[str, ScriptedReply] = field(default_factory=dict)
    default: ScriptedReply | None = None
    _used: dict[str, int] = field(default_factory=dict)

    def script(self, reply: ScriptedReply, *tokens: str) -> None:
        """Script the reply to some tokens, or to all."""
        for token in tokens:
            self.by_token[token] = reply
            self._used[token] = 0
        if not tokens:
            self.default = reply
            self._used[""] = 0

    def next_for(self, token: str) -> ScriptedReply:
        """Return the reply to a token."""
        for name, reply in ((token, self.by_token.get(token)), ("", self.default)):
            if reply is None:
                continue
            if reply.times is None or self._used.get(name, 0) < reply.times:
                self._used[name] = self._used.get(name, 0) + 1
                return reply
        return ScriptedReply()


MAX_PAYLOAD_BYTES: Final = 4_096
_PUSH_TYPES: Final = frozenset(
    {
        "alert",
        "background",
        "complication",
        "controls",
        "fileprovider",
        "liveactivity",
        "location",
        "mdm",
        "pushtotalk",
        "voip",
        "widgets",
    }
)
_LIVE: Final = ".push-type.liveactivity"
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_TOPIC: Final = re.compile(r"[A-Za-z0-9.-]+")
_HEX: Final = re.compile(r"(?:[0-9a-fA-F]{2})+")
_COLLAPSE_BYTES: Final = 64


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a request is rejected; `since` is when a token became invalid, in milliseconds."""

    reason: str
    since: int | None = None


def check_push(request: Http2Request, token: str, bundles: Iterable[str]) -> str | None:
    """Return the reason why a push is rejected, or None."""
    headers = request.headers
    if any(name.startswith(("apns-", "authorization")) for name in request.repeated):
        return "DuplicateHeaders"
    if not token:
        return "MissingDeviceToken"
    push_type = headers.get("apns-push-type", "alert")
    if push_type not in _PUSH_TYPES:
        return "InvalidPushType"
    return (
        check_topic(headers.get("apns-topic"), push_type, bundles)
        or _details_fault(headers)
        or (None if _HEX.fullmatch(token) else "BadDeviceToken")
    )


def check_topic(topic: str | None, push_type: str, bundles: Iterable[str]) -> str | None:
    """Return the reason why a topic is rejected; that of a Live Activity has a suffix."""
    if topic is None:
        return "MissingTopic"
    if not _TOPIC.fullmatch(topic):
        return "BadTopic"
    if (push_type == "liveactivity") != topic.endswith(_LIVE):
        return "BadTopic"
    return None if topic.removesuffix(_LIVE) in bundles else "TopicDisallowed"


def bundle_for_topic(topic: str) -> str:
    return topic.removesuffix(_LIVE)


def check_priority(priority: str) -> str | None:
    return None if priority in ("1", "5", "10") else "BadPriority"


def parse_payload(body: bytes, most_bytes: int = MAX_PAYLOAD_BYTES) -> dict[str, Any] | Rejection:
    """Return a payload, or why it is rejected."""
    if not body:
        return Rejection("PayloadEmpty")
    if len(body) > most_bytes:
        return Rejection("PayloadTooLarge")
    try:
        payload = msgspec.json.decode(body, type=dict[str, Any])
    except msgspec.DecodeError:
        return Rejection("PayloadEmpty")
    return payload if isinstance(payload.get("aps"), dict) else Rejection("PayloadEmpty")


def _details_fault(headers: dict[str, str]) -> str | None:
    if not _UUID.fullmatch(headers.get("apns-id", "00000000-0000-0000-0000-000000000000")):
        return "BadMessageId"
    if not headers.get("apns-expiration", "0").isdigit():
        return "BadExpirationDate"
    collapse = headers.get("apns-collapse-id", "-")
    if not 0 < len(collapse.encode()) <= _COLLAPSE_BYTES:
        return "BadCollapseId"
    return check_priority(headers.get("apns-priority", "10"))


Environment: TypeAlias = Literal["production", "sandbox"]

_MAX_AGE_SECONDS: Final = 3_600
_MIN_RENEWAL_SECONDS: Final = 1_200
_AHEAD_SECONDS: Final = 300


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A signing key as Apple issues it; the private key is a PEM (.p8)."""

    team_id: str
    key_id: str
    pem: str = field(repr=False)
    environment: Environment | None = None

    @classmethod
    def make(
        cls, team_id: str = "TEAM123456", key_id: str = "KEY1234567", **more: Environment
    ) -> SigningKey:
        key = ec.generate_private_key(ec.SECP256R1()).private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        return cls(team_id, key_id, key.decode("ascii"), more.get("environment"))

    @property
    def public(self) -> ec.EllipticCurvePublicKey:
        private = serialization.load_pem_private_key(self.pem.encode(), password=None)
        if not isinstance(private, ec.EllipticCurvePrivateKey):
            raise TypeError("Push keys use the curve P-256.")
        return private.public_key()


@dataclass
class KeyRing:
    """Checks provider tokens: signed by a known key, at most an hour old, rarely renewed.

    A connection is bound to one team and key, and may change its token every 20 minutes.
    """

    clock: Clock
    environment: Environment = "production"
    keys: dict[str, SigningKey] = field(default_factory=dict)
    _checked: dict[str, tuple[SigningKey, int] | None] = field(default_factory=dict)

    def add(self, *keys: SigningKey) -> None:
        self.keys |= {key.key_id: key for key in keys}

    def fault(self, link: Http2Connection, authorization: str | None) -> str | None:
        """Return the reason why a token is rejected, or None."""
        scheme, _, token = (authorization or "").partition(" ")
        if not authorization or scheme.lower() != "bearer" or not token:
            return "MissingProviderToken"
        if token not in self._checked:
            self._checked[token] = self._verify(token)
        verified = self._checked[token]
        if verified is None:
            return "InvalidProviderToken"
        key, issued_at = verified
        now = self.clock.epoch()
        if issued_at > now + _AHEAD_SECONDS:
            return "InvalidProviderToken"
        if now - issued_at > _MAX_AGE_SECONDS:
            return "ExpiredProviderToken"
        if key.environment not in {None, self.environment}:
            return "BadEnvironmentKeyIdInToken"
        return self._check_binding(link, key, token, now)

    def _check_binding(
        self, link: Http2Connection, key: SigningKey, token: str, now: float
    ) -> str | None:
        bound = link.facts.setdefault("key", key)
        if isinstance(bound, SigningKey) and bound != key:
            same_team = bound.team_id == key.team_id
            return "UnrelatedKeyIdInToken" if same_team else "InvalidProviderToken"
        before = link.facts.get("token")
        if before == token:
            return None
        changed_at = link.facts.get("token changed at")
        if isinstance(changed_at, float) and now - changed_at < _MIN_RENEWAL_SECONDS:
            return "TooManyProviderTokenUpdates"
        link.facts |= {"token": token, "token changed at": now}
        return None

    def _verify(self, token: str) -> tuple[SigningKey, int] | None:
        try:
            head = jwt.get_unverified_header(token)
            key = self.keys.get(str(head.get("kid", "")))
            if key is None or len(key.key_id) != 10:
                return None
            claims: dict[str, Any] = jwt.decode(
                token, key.public, algorithms=["ES256"], options={"verify_iat": False}
            )
        except jwt.PyJWTError:
            return None
        issued_at = claims.get("iat")
        if claims.get("iss") != key.team_id or not isinstance(issued_at, int):
            return None
        return key, issued_at
