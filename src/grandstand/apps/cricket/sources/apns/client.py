"""Kept here: pushes on their way to Apple, and what came of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from grandstand.apps.cricket.sources.apns.answers import (
    PushResult,
    Refused,
    reason_of,
    result_of,
)
from grandstand.apps.cricket.sources.apns.parcels import MOST_BROADCAST_BYTES, MOST_BYTES, Parcel
from grandstand.apps.cricket.sources.apns.signing import ProviderToken
from grandstand.base.metrics import Metrics
from grandstand.wire.push import Answer, Outcome, PushClient, Request, SharedHeaders

_TOO_LARGE: Final = Refused("PayloadTooLarge")
_LIVE: Final = ".push-type.liveactivity"
# Of these Apple says that another connection, or another token, is what helps.
_RENEWING: Final = frozenset(
    {
        "IdleTimeout",
        "ServiceUnavailable",
        "Shutdown",
        "TooManyProviderTokenUpdates",
        "UnrelatedKeyIdInToken",
    }
)
_AGAIN: Final = frozenset({"TooManyProviderTokenUpdates", "UnrelatedKeyIdInToken"})
_EXPIRED: Final = "ExpiredProviderToken"


class Letter(msgspec.Struct, frozen=True, gc=False):
    """A parcel for one token; `id` is a UUID and stays the same when it is sent again."""

    parcel: Parcel
    token: str
    id: str


class Apns:
    """Pushes for one app: letters to tokens, and broadcasts to channels.

    Every outcome is a value. A token too old for Apple is renewed and its letters are sent again,
    once; so are those that need another connection.
    """

    def __init__(
        self, client: PushClient, token: ProviderToken, *, bundle_id: str, metrics: Metrics
    ) -> None:
        self._client = client
        self._token = token
        self._bundle_id = bundle_id
        self._metrics = metrics

    async def deliver(
        self, letters: Sequence[Letter], *, within_seconds: float = 30.0
    ) -> list[PushResult]:
        """Send letters and answer what came of each, in the same order.

        Raises InvalidInput when the push key cannot be used.
        """
        fitting = [letter for letter in letters if len(letter.parcel.payload) <= MOST_BYTES]

        def addressed(bearer: str) -> list[Request]:
            shared: dict[int, SharedHeaders] = {}
            return [self._letter(letter, bearer, shared) for letter in fitting]

        sent = iter(await self._send(addressed, within_seconds))
        results = [
            result_of(next(sent)) if len(letter.parcel.payload) <= MOST_BYTES else _TOO_LARGE
            for letter in letters
        ]
        self._count(results)
        return results

    async def broadcast(
        self, parcel: Parcel, channel: str, *, push_id: str, within_seconds: float = 30.0
    ) -> PushResult:
        """Send one push to all who listen to a channel; raise InvalidInput for a useless key."""
        if len(parcel.payload) > MOST_BROADCAST_BYTES:
            return _TOO_LARGE

        def addressed(bearer: str) -> list[Request]:
            shared = SharedHeaders(
                (
                    ("authorization", bearer),
                    ("apns-channel-id", channel),
                    ("apns-push-type", "liveactivity"),
                    ("apns-priority", str(parcel.priority)),
                    ("apns-expiration", str(parcel.expires_at)),
                    ("apns-request-id", push_id),
                )
            )
            path = f"/4/broadcasts/apps/{self._bundle_id}"
            return [Request(path, shared, parcel.payload)]

        (outcome,) = await self._send(addressed, within_seconds)
        result = result_of(outcome)
        self._count([result])
        return result

    async def close(self) -> None:
        """End all connections; what is still under way is lost."""
        await self._client.close()

    async def _send(
        self, addressed: Callable[[str], list[Request]], within_seconds: float
    ) -> list[Outcome]:
        bearer = self._token.bearer()
        requests = addressed(bearer)
        outcomes = await self._client.send(requests, within_seconds=within_seconds)
        reasons = {reason_of(each) for each in outcomes if isinstance(each, Answer) and each.body}
        again = reasons & _AGAIN
        if _EXPIRED in reasons and self._token.expired(bearer):
            again = again | {_EXPIRED}
        if reasons & _RENEWING:
            self._client.renew()
        if not again:
            return outcomes
        unsent = [at for at, outcome in enumerate(outcomes) if reason_of(outcome) in again]
        requests = addressed(self._token.bearer())
        repeated = await self._client.send(
            [requests[at] for at in unsent], within_seconds=within_seconds
        )
        for at, outcome in zip(unsent, repeated, strict=True):
            outcomes[at] = outcome
        return outcomes

    def _letter(self, letter: Letter, bearer: str, known: dict[int, SharedHeaders]) -> Request:
        parcel = letter.parcel
        shared = known.get(id(parcel))
        if shared is None:
            shared = known[id(parcel)] = self._shared(parcel, bearer)
        return Request(
            f"/3/device/{letter.token}", shared, parcel.payload, (("apns-id", letter.id),)
        )

    def _shared(self, parcel: Parcel, bearer: str) -> SharedHeaders:
        live = parcel.push_type == "liveactivity"
        pairs = [
            ("authorization", bearer),
            ("apns-topic", f"{self._bundle_id}{_LIVE if live else ''}"),
            ("apns-push-type", parcel.push_type),
            ("apns-priority", str(parcel.priority)),
            ("apns-expiration", str(parcel.expires_at)),
        ]
        if parcel.collapse_id:
            pairs.append(("apns-collapse-id", parcel.collapse_id))
        return SharedHeaders(pairs)

    def _count(self, results: Sequence[PushResult]) -> None:
        for kind, amount in Counter(map(type, results)).items():
            self._metrics.count("pushes", amount, outcome=kind.__name__.lower())
