"""Kept here: a match as the feed tells it, turned into what tables keep of it, and back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final, cast

from grandstand.apps.cricket.model import Fixture as Scores
from grandstand.apps.cricket.model import MatchPhase
from grandstand.apps.cricket.model.display import Moment, content, display
from grandstand.apps.cricket.model.phases import is_long, overs_allowed, phase_of
from grandstand.apps.cricket.sources.sportmonks import HeardFixture
from grandstand.apps.cricket.sources.sportmonks.fixtures import parse_fixture
from grandstand.apps.cricket.sources.sportmonks.reading import Reading, Row
from grandstand.apps.cricket.store import CachedFixture, DisplayState, Fixture

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


def scores_of(cached: CachedFixture) -> Scores | None:
    """Answer a match as the feed's kept words have it."""
    return parse_fixture(Reading(), cast("Row", _plain(cached.fixture)))


def _plain(value: object) -> object:
    """Answer stored words with texts in place of decimals, as they are read again."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value
