"""Kept here: broadcast channels at Apple: one for a match, made before it and deleted after it."""

from __future__ import annotations

from typing import Final

import msgspec

from grandstand.apps.cricket.sources.apns.answers import (
    DELIVERED,
    PushResult,
    Refused,
    result_of,
)
from grandstand.apps.cricket.sources.apns.signing import ProviderToken
from grandstand.wire.push import Answer, Outcome, PushClient, Request, SharedHeaders

_CREATED: Final = 201
_NO_CONTENT: Final = 204
_OK: Final = 200
_SENSELESS: Final = Refused("an answer that makes no sense")


class _Listed(msgspec.Struct):
    channels: list[str] = msgspec.field(default_factory=list)


class ApnsChannels:
    """Makes, lists and deletes the channels of one app, on the host Apple has for that."""

    def __init__(self, client: PushClient, token: ProviderToken, *, bundle_id: str) -> None:
        self._client = client
        self._token = token
        self._path = f"/1/apps/{bundle_id}"

    async def create(self, *, stores: bool = False) -> str | PushResult:
        """Answer the id of a new channel, or why there is none.

        One that stores keeps its newest message for eight hours; one that does not has a higher
        budget. It cannot be changed later.
        """
        body = {"message-storage-policy": int(stores), "push-type": "LiveActivity"}
        outcome = await self._ask("POST", "/channels", msgspec.json.encode(body))
        if isinstance(outcome, Answer) and outcome.status == _CREATED:
            return outcome.headers.get("apns-channel-id", "") or _SENSELESS
        return result_of(outcome)

    async def delete(self, channel: str) -> PushResult:
        """Delete a channel; one that is not there counts as deleted."""
        outcome = await self._ask("DELETE", "/channels", channel=channel)
        if isinstance(outcome, Answer) and (
            outcome.status == _NO_CONTENT or b"ChannelNotRegistered" in outcome.body
        ):
            return DELIVERED
        return result_of(outcome)

    async def list(self) -> list[str] | PushResult:
        """Answer the ids of all channels, or why they cannot be had."""
        outcome = await self._ask("GET", "/all-channels")
        if not isinstance(outcome, Answer) or outcome.status != _OK:
            return result_of(outcome)
        try:
            return msgspec.json.decode(outcome.body, type=_Listed).channels
        except msgspec.MsgspecError:
            return _SENSELESS

    async def close(self) -> None:
        """End all connections; what is still under way is lost."""
        await self._client.close()

    async def _ask(
        self, method: str, path: str, body: bytes = b"", *, channel: str = ""
    ) -> Outcome:
        pairs = [("authorization", self._token.bearer())]
        if channel:
            pairs.append(("apns-channel-id", channel))
        request = Request(f"{self._path}{path}", SharedHeaders(pairs), body, method=method)
        (outcome,) = await self._client.send([request])
        return outcome
