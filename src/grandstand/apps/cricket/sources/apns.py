"""Client for the Apple Push Notification service (APNs): Live Activities, alerts, broadcasts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import msgspec

from grandstand.apps.cricket.domain.alerts import Alert
from grandstand.apps.cricket.domain.display import ATTRIBUTES_TYPE
from grandstand.apps.cricket.domain.errors import PushUnavailable
from grandstand.apps.cricket.domain.live_activities import PushResult, PushTarget
from grandstand.core.clock import Clock
from grandstand.core.errors import InvalidInput
from grandstand.core.logging import get_logger, register_secrets
from grandstand.core.metrics import Metrics
from grandstand.net.http2_push.client import PushClient
from grandstand.net.http2_push.requests import (
    NoResponse,
    PushOutcome,
    PushRequest,
    PushResponse,
    SharedHeaders,
)

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric import ec

MAX_PAYLOAD_BYTES: Final = 4_096
MAX_BROADCAST_BYTES: Final = 5_120

PushType: TypeAlias = Literal["liveactivity", "alert"]

DELIVERED: Final = PushResult("delivered")
_TOO_LARGE: Final = PushResult("rejected", "PayloadTooLarge")
_START_LIFETIME_SECONDS: Final = 600
_MAX_COLLAPSE_ID_BYTES: Final = 64
_LIVE_TOPIC_SUFFIX: Final = ".push-type.liveactivity"

# APNs asks for at most about one push per second to one activity.
_TOO_MANY_REQUESTS_SECONDS: Final = 5.0
_SERVER_ERROR_SECONDS: Final = 15.0
_RETRY_SOON_SECONDS: Final = 1.0
_GONE_REASONS: Final = frozenset({"BadDeviceToken", "DeviceTokenNotForTopic"})
# For these reasons APNs recommends a new connection or a new provider token.
_RECONNECT_REASONS: Final = frozenset(
    {
        "IdleTimeout",
        "ServiceUnavailable",
        "Shutdown",
        "TooManyProviderTokenUpdates",
        "UnrelatedKeyIdInToken",
    }
)
_REPEAT_REASONS: Final = frozenset({"TooManyProviderTokenUpdates", "UnrelatedKeyIdInToken"})
_EXPIRED_TOKEN: Final = "ExpiredProviderToken"  # noqa: S105 - a reason, not a secret

# APNs rejects tokens older than an hour, and tokens renewed more often than every 20 minutes.
_TOKEN_RENEWAL_SECONDS: Final = 2_700
_MIN_TOKEN_AGE_SECONDS: Final = 1_200
_KEY_HELP: Final = (
    "Invalid APNs key. Set GRANDSTAND_CRICKET_APNS_KEY to the whole .p8 file from Apple, which "
    "starts with -----BEGIN PRIVATE KEY-----."
)


@dataclass(frozen=True, slots=True)
class ApnsPayload:
    """The body and headers of a push, shared by all its targets.

    iOS limits pushes of priority 10 per hour, but not of 5. `expires_at` 0 means that APNs does
    not store the push. A push replaces an undelivered one with the same `collapse_id`.
    """

    body: bytes
    push_type: PushType = "liveactivity"
    priority: Literal[5, 10] = 5
    expires_at: int = 0
    collapse_id: str | None = None


def update_payload(
    content_state: Mapping[str, object],
    *,
    timestamp: int,
    stale_at: datetime,
    alert: Alert | None = None,
) -> ApnsPayload:
    """Return an update of a running activity; with an alert it has priority 10."""
    aps = _aps("update", content_state, timestamp, alert)
    aps["stale-date"] = int(stale_at.timestamp())
    return ApnsPayload(msgspec.json.encode({"aps": aps}), priority=10 if alert else 5)


def end_payload(
    content_state: Mapping[str, object],
    *,
    timestamp: int,
    dismissal_at: datetime,
    alert: Alert | None = None,
) -> ApnsPayload:
    """Return the end of an activity; iOS removes it at once if `dismissal_at` is in the past."""
    aps = _aps("end", content_state, timestamp, alert)
    aps["dismissal-date"] = int(dismissal_at.timestamp())
    return ApnsPayload(msgspec.json.encode({"aps": aps}), priority=10)


def start_payload(
    content_state: Mapping[str, object],
    *,
    attributes: Mapping[str, str],
    timestamp: int,
    stale_at: datetime,
    alert: Alert,
    channel_id: str | None = None,
) -> ApnsPayload:
    """Return the push-to-start of an activity.

    iOS drops a start without an alert. With a channel the activity receives broadcasts, without
    one the app sends us its update token. Concurrent starts for a match collapse into one.
    """
    aps = _aps("start", content_state, timestamp, alert)
    aps["stale-date"] = int(stale_at.timestamp())
    aps["attributes-type"] = ATTRIBUTES_TYPE
    aps["attributes"] = attributes
    if channel_id is None:
        aps["input-push-token"] = 1
    else:
        aps["input-push-channel"] = channel_id
    return ApnsPayload(
        msgspec.json.encode({"aps": aps}),
        priority=10,
        expires_at=timestamp + _START_LIFETIME_SECONDS,
        collapse_id=f"start-{attributes['matchId']}"[:_MAX_COLLAPSE_ID_BYTES],
    )


def alert_payload(alert: Alert, *, match_id: str, expires_at: datetime) -> ApnsPayload:
    """Return a plain notification about a match, outside any activity."""
    aps: dict[str, object] = {"alert": {"title": alert.title, "body": alert.body}}
    aps |= {"sound": alert.sound, "thread-id": f"match-{match_id}"}
    return ApnsPayload(
        msgspec.json.encode({"aps": aps, "matchId": match_id}),
        push_type="alert",
        priority=10,
        expires_at=int(expires_at.timestamp()),
        collapse_id=f"match-{match_id}"[:_MAX_COLLAPSE_ID_BYTES],
    )


def _aps(
    event: str, content_state: Mapping[str, object], timestamp: int, alert: Alert | None
) -> dict[str, object]:
    aps: dict[str, object] = {
        "timestamp": timestamp,
        "event": event,
        "content-state": content_state,
        "relevance-score": 100 if content_state["phase"] == "live" else 50,
    }
    if alert is not None:
        aps["alert"] = {"title": alert.title, "body": alert.body, "sound": alert.sound}
    return aps


class _ErrorBody(msgspec.Struct):
    reason: str = ""
    timestamp: int | None = None


def parse_result(outcome: PushOutcome) -> PushResult:
    """Return what a response means for the push."""
    if isinstance(outcome, NoResponse):
        return describe_failure(outcome)
    status = outcome.status
    if status == 200:
        return DELIVERED
    body = _error_body(outcome)
    reason = body.reason or f"status {status}"
    if status == 410:
        return PushResult("gone", reason, _from_milliseconds(body.timestamp))
    if reason in _GONE_REASONS:
        return PushResult("gone", reason)
    if status == 403:
        return PushResult("forbidden", reason)
    if status == 429:
        return PushResult("unsent", reason, retry_seconds=_TOO_MANY_REQUESTS_SECONDS)
    if reason == "IdleTimeout":
        return PushResult("unsent", reason, retry_seconds=_RETRY_SOON_SECONDS)
    if status >= 500:
        return PushResult("unsent", reason, retry_seconds=_SERVER_ERROR_SECONDS)
    return PushResult("rejected", reason)


def describe_failure(failure: NoResponse) -> PushResult:
    if failure.sent:
        return PushResult("uncertain", failure.reason)
    return PushResult("unsent", failure.reason, retry_seconds=_RETRY_SOON_SECONDS)


def _reason(outcome: PushOutcome) -> str:
    return "" if isinstance(outcome, NoResponse) else _error_body(outcome).reason


def _error_body(response: PushResponse) -> _ErrorBody:
    try:
        return (
            msgspec.json.decode(response.body, type=_ErrorBody) if response.body else _ErrorBody()
        )
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return _ErrorBody()


def _from_milliseconds(milliseconds: int | None) -> datetime | None:
    try:
        return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (OverflowError, OSError, ValueError):
        return None


class ProviderToken:
    """The JWT that authenticates us; signed on use and renewed after 45 minutes."""

    def __init__(self, *, key: str, key_id: str, team_id: str, clock: Clock) -> None:
        self._pem = key
        self._key_id = key_id
        self._team_id = team_id
        self._clock = clock
        self._private: ec.EllipticCurvePrivateKey | None = None
        self._signed_at: float | None = None
        self._bearer = ""

    def bearer(self) -> str:
        """Return the authorization header. Raises InvalidInput if the key cannot be used."""
        now = self._clock.epoch()
        if self._signed_at is None or now - self._signed_at >= _TOKEN_RENEWAL_SECONDS:
            self._sign(now)
        return self._bearer

    def renew_expired(self, bearer: str) -> bool:
        """Renew a token that APNs calls expired, and return whether there is another to try.

        A token of the last 20 minutes is not renewed: then a clock is wrong.
        """
        if bearer != self._bearer:
            return True
        now = self._clock.epoch()
        if self._signed_at is not None and now - self._signed_at < _MIN_TOKEN_AGE_SECONDS:
            return False
        self._sign(now)
        return True

    def _sign(self, now: float) -> None:
        import jwt

        self._private = self._private or load_key(self._pem, _KEY_HELP)
        claims = {"iss": self._team_id, "iat": int(now)}
        headers = {"kid": self._key_id}
        token = jwt.encode(claims, self._private, algorithm="ES256", headers=headers)
        register_secrets(token)
        self._signed_at, self._bearer = now, f"bearer {token}"


def load_key(pem: str, help_text: str) -> ec.EllipticCurvePrivateKey:
    """Return a P-256 key. Raises InvalidInput with the help text if it is another."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    try:
        key = serialization.load_pem_private_key(pem.encode(), password=None)
    except (TypeError, ValueError):
        key = None
    if not isinstance(key, ec.EllipticCurvePrivateKey) or key.curve.name != "secp256r1":
        raise InvalidInput(help_text)
    return key


class ApnsClient:
    """Sends pushes for one app and manages its broadcast channels.

    Every outcome is a value. Pushes that fail because of the provider token or the connection are
    repeated once. Channels are managed on a host of their own, with `channels_client`.
    """

    def __init__(
        self,
        client: PushClient,
        token: ProviderToken,
        *,
        bundle_id: str,
        metrics: Metrics,
        channels_client: PushClient | None = None,
    ) -> None:
        self._client = client
        self._token = token
        self._bundle_id = bundle_id
        self._metrics = metrics
        self._channels_client = channels_client

    async def push(
        self,
        payload: ApnsPayload,
        targets: Sequence[PushTarget],
        *,
        within_seconds: float = 30.0,
    ) -> list[PushResult]:
        """Send one payload to many tokens and return the results in the same order.

        Raises InvalidInput if the push key cannot be used.
        """
        if len(payload.body) > MAX_PAYLOAD_BYTES:
            results = [_TOO_LARGE] * len(targets)
        else:

            def requests(bearer: str) -> list[PushRequest]:
                shared = self._headers(payload, bearer)
                return [
                    PushRequest(
                        f"/3/device/{target.token}",
                        shared,
                        payload.body,
                        (("apns-id", target.push_id),),
                    )
                    for target in targets
                ]

            outcomes = await self._send(requests, within_seconds)
            results = [parse_result(outcome) for outcome in outcomes]
        for outcome, count in Counter(result.outcome for result in results).items():
            self._metrics.count("pushes", count, outcome=outcome)
        return results

    async def broadcast(
        self,
        payload: ApnsPayload,
        channel_id: str,
        request_id: str,
        *,
        within_seconds: float = 30.0,
    ) -> PushResult:
        """Send one push to all activities on a channel.

        Raises InvalidInput if the push key cannot be used.
        """
        if len(payload.body) > MAX_BROADCAST_BYTES:
            return _TOO_LARGE

        def requests(bearer: str) -> list[PushRequest]:
            headers = SharedHeaders(
                (
                    ("authorization", bearer),
                    ("apns-channel-id", channel_id),
                    ("apns-push-type", "liveactivity"),
                    ("apns-priority", str(payload.priority)),
                    ("apns-expiration", str(payload.expires_at)),
                    ("apns-request-id", request_id),
                )
            )
            path = f"/4/broadcasts/apps/{self._bundle_id}"
            return [PushRequest(path, headers, payload.body)]

        (outcome,) = await self._send(requests, within_seconds)
        result = parse_result(outcome)
        self._metrics.count("pushes", 1, outcome=result.outcome)
        return result

    async def create_channel(self) -> str:
        """Create a broadcast channel that stores no messages, which has the higher budget.

        Raises PushUnavailable if APNs does not create one.
        """
        body = msgspec.json.encode({"message-storage-policy": 0, "push-type": "LiveActivity"})
        outcome = await self._manage("POST", body)
        if isinstance(outcome, PushResponse) and outcome.status == 201:
            channel_id = outcome.headers.get("apns-channel-id", "")
            if channel_id:
                return channel_id
        reason = parse_result(outcome).reason or "no channel id in the response"
        raise PushUnavailable(f"APNs created no broadcast channel: {reason}.")

    async def delete_channel(self, channel_id: str) -> None:
        """Delete a broadcast channel, if it exists."""
        outcome = await self._manage("DELETE", channel_id=channel_id)
        if isinstance(outcome, PushResponse) and (
            outcome.status == 204 or b"ChannelNotRegistered" in outcome.body
        ):
            return
        get_logger("cricket").warning(
            "broadcast_channel_not_deleted", reason=parse_result(outcome).reason
        )

    async def close(self) -> None:
        """Close all connections; pushes in flight are lost."""
        await self._client.close()
        if self._channels_client is not None:
            await self._channels_client.close()

    async def _send(
        self, build: Callable[[str], list[PushRequest]], within_seconds: float
    ) -> list[PushOutcome]:
        bearer = self._token.bearer()
        outcomes = await self._client.send(build(bearer), within_seconds=within_seconds)
        reasons = {
            _reason(outcome)
            for outcome in outcomes
            if isinstance(outcome, PushResponse) and outcome.body
        }
        repeated_reasons = reasons & _REPEAT_REASONS
        if _EXPIRED_TOKEN in reasons and self._token.renew_expired(bearer):
            repeated_reasons = repeated_reasons | {_EXPIRED_TOKEN}
        if reasons & _RECONNECT_REASONS:
            self._client.renew()
        if not repeated_reasons:
            return outcomes
        failed = [at for at, outcome in enumerate(outcomes) if _reason(outcome) in repeated_reasons]
        requests = build(self._token.bearer())
        repeated = await self._client.send(
            [requests[at] for at in failed], within_seconds=within_seconds
        )
        for at, outcome in zip(failed, repeated, strict=True):
            outcomes[at] = outcome
        return outcomes

    def _headers(self, payload: ApnsPayload, bearer: str) -> SharedHeaders:
        suffix = _LIVE_TOPIC_SUFFIX if payload.push_type == "liveactivity" else ""
        pairs = [
            ("authorization", bearer),
            ("apns-topic", f"{self._bundle_id}{suffix}"),
            ("apns-push-type", payload.push_type),
            ("apns-priority", str(payload.priority)),
            ("apns-expiration", str(payload.expires_at)),
        ]
        if payload.collapse_id:
            pairs.append(("apns-collapse-id", payload.collapse_id))
        return SharedHeaders(pairs)

    async def _manage(self, method: str, body: bytes = b"", *, channel_id: str = "") -> PushOutcome:
        if self._channels_client is None:
            raise PushUnavailable("Broadcast channels are off. Set GRANDSTAND_CRICKET_BROADCAST.")
        pairs = [("authorization", self._token.bearer())]
        if channel_id:
            pairs.append(("apns-channel-id", channel_id))
        path = f"/1/apps/{self._bundle_id}/channels"
        request = PushRequest(path, SharedHeaders(pairs), body, method=method)
        (outcome,) = await self._channels_client.send([request])
        return outcome
