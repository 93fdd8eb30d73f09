"""Kept here: the phones as Apple reaches them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from grandstand.apps.cricket.model.alerts import Alert
from grandstand.apps.cricket.service.ports import Notice, Target, Verdict
from grandstand.apps.cricket.service.refusals import PushingOff
from grandstand.apps.cricket.sources.apns import (
    Apns,
    ApnsChannels,
    Delivered,
    Doubtful,
    Gone,
    Later,
    Letter,
    Parcel,
    PushResult,
    alert_parcel,
    end_parcel,
    start_parcel,
    update_parcel,
)
from grandstand.base.log import log

_DELIVERED: Final = Verdict("delivered")


class ApplePhones:
    """Pushes through Apple; implements Phones."""

    def __init__(self, apns: Apns, channels: ApnsChannels | None = None) -> None:
        self._apns = apns
        self._channels = channels

    async def tell(self, notice: Notice, targets: Sequence[Target]) -> Sequence[Verdict]:
        """Send a notice to Live Activities by their tokens."""
        parcel = _parcel(notice)
        letters = [Letter(parcel, target.token, target.apns_id) for target in targets]
        return [verdict_of(result) for result in await self._apns.deliver(letters)]

    async def alert(
        self, alert: Alert, targets: Sequence[Target], *, match_id: str, expires_at: datetime
    ) -> Sequence[Verdict]:
        """Send a plain alert to devices by their tokens."""
        parcel = alert_parcel(alert, match_id=match_id, expires_at=expires_at)
        letters = [Letter(parcel, target.token, target.apns_id) for target in targets]
        return [verdict_of(result) for result in await self._apns.deliver(letters)]

    async def broadcast(self, notice: Notice, channel_id: str, request_id: str) -> Verdict:
        """Send a notice to everybody who listens to a channel."""
        result = await self._apns.broadcast(_parcel(notice), channel_id, push_id=request_id)
        return verdict_of(result)

    async def open_channel(self) -> str:
        """Make a broadcast channel and answer its id; raise PushingOff when there is none."""
        made = None if self._channels is None else await self._channels.create()
        if isinstance(made, str):
            return made
        raise PushingOff(f"No broadcast channel could be made: {made}")

    async def close_channel(self, channel_id: str) -> None:
        """Delete a broadcast channel; one that is not there is fine."""
        if self._channels is None:
            return
        result = await self._channels.delete(channel_id)
        if not isinstance(result, Delivered):
            log("cricket").warning("a channel was not deleted", result=str(result))

    async def close(self) -> None:
        """End all connections; what is still under way is lost."""
        await self._apns.close()
        if self._channels is not None:
            await self._channels.close()


def _parcel(notice: Notice) -> Parcel:
    stamp = int(notice.at.timestamp())
    if notice.event == "end":
        return end_parcel(
            notice.content,
            timestamp=stamp,
            dismissal_at=notice.dismiss_at or notice.at,
            alert=notice.alert,
        )
    stale = notice.stale_at or notice.at
    if notice.event == "start" and notice.alert is not None:
        return start_parcel(
            notice.content,
            timestamp=stamp,
            stale_at=stale,
            alert=notice.alert,
            channel=notice.channel_id,
        )
    return update_parcel(notice.content, timestamp=stamp, stale_at=stale, alert=notice.alert)


def verdict_of(result: PushResult) -> Verdict:
    """Answer what came of a push, as the service speaks of it."""
    if isinstance(result, Delivered):
        return _DELIVERED
    if isinstance(result, Gone):
        return Verdict("gone", result.reason, result.at)
    if isinstance(result, Later):
        return Verdict("unsent", result.reason, None, result.after_seconds)
    if isinstance(result, Doubtful):
        return Verdict("later", result.reason)
    return Verdict("refused", result.reason)
