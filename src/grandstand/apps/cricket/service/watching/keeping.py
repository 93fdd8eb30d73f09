"""Kept here: what is kept beside a match: its fixture, and what is shown of it."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import Any

from grandstand.apps.cricket.model import NEUTRAL_TEAM, Detected
from grandstand.apps.cricket.model import Fixture as Scores
from grandstand.apps.cricket.model.display import Moment
from grandstand.apps.cricket.service.kept import cached_of, fixture_of, shown_to
from grandstand.apps.cricket.service.means import Means
from grandstand.apps.cricket.service.telling.bulletins import Bulletin
from grandstand.apps.cricket.sources.sportmonks import HeardFixture
from grandstand.apps.cricket.store import ActiveMatch, Fixture
from grandstand.base.errors import GrandstandError
from grandstand.base.log import log
from grandstand.storage.tables import Put
from grandstand.storage.tables.errors import ConditionFailed


class Keeping:
    """Keeps fixtures and display states beside the matches; a miss is made good by the next."""

    def __init__(self, means: Means) -> None:
        self._means = means

    async def keep(
        self, heard: HeardFixture, saved: ActiveMatch, bulletin: Bulletin, before: ActiveMatch
    ) -> None:
        """Keep what a changed tick has brought, as far as the store lets us."""
        scores, now = heard.fixture, bulletin.made_at
        event = bulletin.told.event if bulletin.told else None
        writes: list[Put[Any]] = [cached_of(heard, now).keep()]
        writes += [
            shown_to(scores, team_id, self._moment(saved, bulletin, event), now).keep()
            for team_id in dict.fromkeys((NEUTRAL_TEAM, scores.home.team_id, scores.away.team_id))
            if team_id
        ]
        try:
            await self._means.store.write_many(writes)
            await self._progress(scores, before, now)
        except GrandstandError as fault:
            log("cricket").warning("not kept beside", match=saved.match_id, error=str(fault))

    @staticmethod
    def _moment(saved: ActiveMatch, bulletin: Bulletin, event: Detected | None) -> Moment:
        return Moment(bulletin.at, saved.seq, event)

    async def _progress(self, scores: Scores, before: ActiveMatch, now: datetime) -> None:
        if (before.previous_status, before.memory.note) == (scores.status, scores.note[:80]):
            return
        try:
            await self._means.store(
                Fixture.progress(scores.match_id, scores.status, scores.note or None, now)
            )
        except ConditionFailed:
            known = fixture_of(scores, now).replace(live_updated_at=now)
            await self._means.store(known.put())

    async def archive(self, match_id: str, now: datetime) -> None:
        """Note that a match has left the live list."""
        with suppress(ConditionFailed):
            await self._means.store(Fixture.archive(match_id, now))
