"""Kept here: what administrators see: what is polled, who owns it, how pushes go."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Final

from grandstand.apps.cricket.model.errors import MatchUnknown
from grandstand.apps.cricket.service.looking.matches import Matches
from grandstand.apps.cricket.service.means import TOPICS, Means
from grandstand.apps.cricket.service.telling.bulletins import Bulletins, parse_bulletin
from grandstand.apps.cricket.service.telling.delivering import Delivering
from grandstand.apps.cricket.service.values import HubMatch, HubView, Lags, LastPush
from grandstand.apps.cricket.store import ActiveMatch, Delivery, LiveActivity

_MOST_COUNTED: Final = 1000
_SEEN_SECONDS: Final = 3.0


class Hub:
    """Looks at everything; a look is kept for a moment, since it reads much."""

    def __init__(
        self, means: Means, matches: Matches, bulletins: Bulletins, delivering: Delivering
    ) -> None:
        self._means = means
        self._matches = matches
        self._bulletins = bulletins
        self._delivering = delivering
        self._seen: HubView | None = None
        self._good_until = float("-inf")

    async def look(self) -> HubView:
        """Answer what is polled and pushed, at most a few seconds old."""
        clock = self._means.clock
        if self._seen is None or clock.monotonic() >= self._good_until:
            self._seen = await self._look()
            self._good_until = clock.monotonic() + _SEEN_SECONDS
        return self._seen

    async def _look(self) -> HubView:
        now, pushed = self._means.now(), self._delivering.pushed
        found = await self._means.store(ActiveMatch.everything())
        found = sorted(found, key=lambda each: (each.status != "active", each.match_id))
        waiting = {
            topic: len(await self._means.outbox.waiting(topic, _MOST_COUNTED)) for topic in TOPICS
        }
        return HubView(
            at=now,
            matches=tuple([await self._match(each, now) for each in found]),
            feed=await self._means.feed.status(),
            pushing=self._means.phones is not None,
            waiting=waiting,
            pushes_per_second=pushed.per_second,
            pushed=pushed.delivered,
            rejected=pushed.rejected,
        )

    async def _match(self, match: ActiveMatch, now: datetime) -> HubMatch:
        try:
            view = await self._matches.read(match.match_id)
            title = f"{view.home.name or '?'} v {view.away.name or '?'}"
        except MatchUnknown:
            title = match.match_id
        sessions: Counter[str] = Counter()
        async for session in self._means.each(LiveActivity.of_match(match.match_id)):
            sessions[session.status] += 1
        seen, delivery = match.last_tick_at, await self._newest_delivery(match)
        return HubMatch(
            match_id=match.match_id,
            title=title,
            status=match.status,
            phase=match.match_phase,
            owner=match.instance_id or "",
            epoch=match.epoch,
            seq=match.seq,
            last_tick_at=seen,
            lag_seconds=None if seen is None else (now - seen).total_seconds(),
            sessions=dict(sessions),
            lags=await self._lags(match, delivery),
            last_push=None if delivery is None else _last_push(delivery),
            channel_id=match.channel_id,
        )

    async def _newest_delivery(self, match: ActiveMatch) -> Delivery | None:
        if match.told_key is None:
            return None
        return await self._means.store(Delivery.one(match.match_id, match.told_key))

    async def _lags(self, match: ActiveMatch, delivery: Delivery | None) -> Lags:
        row = await self._bulletins.row_of(match)
        if row is None:
            return Lags()
        bulletin = parse_bulletin(row.body)
        return Lags(
            _between(bulletin.asked_at, bulletin.made_at),
            _between(bulletin.made_at, row.created_at),
            _between(row.created_at, delivery.begun_at if delivery else None),
            _between(delivery.begun_at, delivery.finished_at) if delivery else None,
        )


def _last_push(delivery: Delivery) -> LastPush:
    return LastPush(delivery.begun_at, delivery.pushed, delivery.rejected, delivery.alerted)


def _between(start: datetime | None, end: datetime | None) -> float | None:
    """Answer the seconds from one moment to another; moments are kept to the millisecond."""
    if start is None or end is None:
        return None
    return max(0.0, (end - start).total_seconds())
