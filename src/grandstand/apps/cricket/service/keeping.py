"""Kept here: what is kept beside a match: its fixture, and what is shown of it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final, cast

from grandstand.apps.cricket.model import NEUTRAL_TEAM, Detected, MatchPhase
from grandstand.apps.cricket.model import Fixture as Scores
from grandstand.apps.cricket.model.display import Moment, content, display
from grandstand.apps.cricket.model.phases import is_long, overs_allowed, phase_of
from grandstand.apps.cricket.service.bulletins import Bulletin
from grandstand.apps.cricket.service.means import Means
from grandstand.apps.cricket.sources.sportmonks import HeardFixture
from grandstand.apps.cricket.store import ActiveMatch, CachedFixture, DisplayState, Fixture
from grandstand.base.errors import GrandstandError
from grandstand.base.log import log
from grandstand.storage.tables import Put
from grandstand.storage.tables.errors import ConditionFailed

_CACHED: Final[dict[MatchPhase, timedelta]] = {
    "live": timedelta(minutes=5),
    "break": timedelta(minutes=30),
    "prematch": timedelta(hours=6),
    "ended": timedelta(days=60),
}
_DISPLAYED: Final[dict[MatchPhase, timedelta]] = {
    "live": timedelta(minutes=15),
    "break": timedelta(hours=2),
    "prematch": timedelta(hours=2),
    "ended": timedelta(days=2),
}
_DAYS_OF_TEST: Final = 5
_MINUTES_PER_OVER: Final = 5
_UNKNOWN_CODE: Final = "OTHER"


def phase_seen(status: str) -> MatchPhase:
    """Answer the phase of a status for who must have one: an unknown one is taken for live."""
    return phase_of(status) or "live"


def fixture_of(scores: Scores, now: datetime) -> Fixture:
    """Answer what is kept of a match as the feed has it."""
    starts = scores.starting_at or now
    competition = scores.competition
    return Fixture(
        match_id=scores.match_id,
        league_code=competition.code or competition.league_id or _UNKNOWN_CODE,
        start_time=starts,
        league_id=competition.league_id or None,
        season_id=competition.season_id or None,
        home_team_id=scores.home.team_id or None,
        away_team_id=scores.away.team_id or None,
        format=scores.format or None,
        round=scores.round or None,
        status=scores.status or None,
        note=scores.note or None,
        end_time=starts + planned_length(scores.format),
    )


def planned_length(match_format: str) -> timedelta:
    """Answer how long a match is planned to last, with its breaks."""
    if is_long(match_format):
        return timedelta(days=_DAYS_OF_TEST)
    overs = overs_allowed(match_format) or 50
    return timedelta(minutes=2 * overs * _MINUTES_PER_OVER + 60)


def cached_of(heard: HeardFixture, now: datetime) -> CachedFixture:
    """Answer the feed's words about a match, for as long as they are likely to be true."""
    scores = heard.fixture
    return CachedFixture(
        match_id=scores.match_id,
        league_id=scores.competition.league_id or _UNKNOWN_CODE,
        starting_at=scores.starting_at or now,
        fixture=cast("dict[str, Any]", heard.words),
        fetched_at=now,
        expires=now + _CACHED[phase_seen(scores.status)],
    )


def shown_to(scores: Scores, team_id: str, moment: Moment, now: datetime) -> DisplayState:
    """Answer what is shown of a match to who is for a team, as it is kept."""
    shown = display(scores, moment, team_id)
    return DisplayState(
        match_id=scores.match_id,
        team_id=team_id,
        state=cast("dict[str, Any]", content(shown)),
        computed_at=now,
        expires=now + _DISPLAYED[shown.phase],
    )


def plain_words(value: object) -> object:
    """Answer stored words with texts in place of decimals, as they are read again."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, Mapping):
        return {name: plain_words(each) for name, each in value.items()}
    return [plain_words(each) for each in value] if isinstance(value, list) else value


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
