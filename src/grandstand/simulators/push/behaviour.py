"""Kept here: the reasons Apple's push service gives, and which tokens get which of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

REASONS: Final[dict[str, int]] = {
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
class Behaviour:
    """What a token gets: a reason (None for success), after how long, and how many times.

    After `times` requests it behaves again; `silent` gives no answer at all. `since` is the moment
    a 410 tells.
    """

    reason: str | None = None
    times: int | None = None
    delay_seconds: float = 0.0
    silent: bool = False
    since: datetime | None = None


@dataclass
class Behaviours:
    """What was asked for, by token, and for everybody."""

    by_token: dict[str, Behaviour] = field(default_factory=dict)
    everybody: Behaviour | None = None
    _used: dict[str, int] = field(default_factory=dict)

    def ask_for(self, behaviour: Behaviour, *tokens: str) -> None:
        """Let tokens behave like this from now on; without a token, all of them."""
        for token in tokens:
            self.by_token[token] = behaviour
            self._used[token] = 0
        if not tokens:
            self.everybody = behaviour
            self._used[""] = 0

    def next_for(self, token: str) -> Behaviour:
        """Answer how a token behaves this time."""
        for name, behaviour in ((token, self.by_token.get(token)), ("", self.everybody)):
            if behaviour is None:
                continue
            if behaviour.times is None or self._used.get(name, 0) < behaviour.times:
                self._used[name] = self._used.get(name, 0) + 1
                return behaviour
        return Behaviour()
