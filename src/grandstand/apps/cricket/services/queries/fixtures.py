"""Fixtures, their scores and scorecards, and the display states of matches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any, Final, Literal, TypeAlias, cast

from grandstand.apps.cricket.domain import display
from grandstand.apps.cricket.domain.errors import MatchNotFound, TeamNotPlaying
from grandstand.apps.cricket.domain.matches import (
    NEUTRAL_TEAM,
    Competition,
    InningsScore,
    LeagueRecord,
    MatchPhase,
    MatchSnapshot,
    Side,
    TeamRecord,
    is_multi_day,
    overs_per_innings,
    phase_for_status,
)
from grandstand.apps.cricket.services.interfaces import Database, ScoreFeed
from grandstand.apps.cricket.services.queries.reference import LeagueService, TeamService
from grandstand.apps.cricket.sources.sportmonks import FeedMatch, FeedReader, Row, parse_fixture
from grandstand.apps.cricket.store.fixtures import (
    CachedFixture,
    DisplayState,
    Fixture,
)
from grandstand.apps.cricket.store.matches import ActiveMatch
from grandstand.core.errors import GrandstandError, InvalidInput
from grandstand.kit.app import SearchHit
from grandstand.kit.auth.caller import Caller
from grandstand.kit.text_search import MAX_HITS, best_matches
from grandstand.storage.tables import Put
from grandstand.storage.tables.cache import AsyncFlights

MatchFilter: TypeAlias = Literal["upcoming", "live", "completed"]

_FIXTURE_TTL: Final[dict[MatchPhase, timedelta]] = {
    "live": timedelta(minutes=5),
    "break": timedelta(minutes=30),
    "prematch": timedelta(hours=6),
    "ended": timedelta(days=60),
}
_DISPLAY_TTL: Final[dict[MatchPhase, timedelta]] = {
    "live": timedelta(minutes=15),
    "break": timedelta(hours=2),
    "prematch": timedelta(hours=2),
    "ended": timedelta(days=2),
}
_STAGES: Final[dict[MatchPhase, MatchFilter]] = {
    "prematch": "upcoming",
    "live": "live",
    "break": "live",
    "ended": "completed",
}
_UNKNOWN_LEAGUE: Final = "OTHER"
_LIVE_SCORECARD_SECONDS: Final = 5.0
_SCORECARD_SECONDS: Final = 300.0
_MAX_SCORECARDS: Final = 100


@dataclass(frozen=True, slots=True)
class Match:
    """A match with its score, which is from `updated_at`."""

    match_id: str
    league_id: str
    league_code: str
    league_name: str
    season_id: str
    home: Side
    away: Side
    starts_at: datetime
    ends_at: datetime | None
    format: str
    round: str
    venue: str
    status: str
    phase: MatchPhase
    stage: MatchFilter
    note: str
    innings: tuple[InningsScore, ...] = ()
    polled: bool = False
    updated_at: datetime | None = None
    archived_at: datetime | None = None

    @property
    def title(self) -> str:
        return f"{self.home.name or '?'} v {self.away.name or '?'}"


@dataclass(frozen=True, slots=True)
class MatchPage:
    """Matches by start; `cursor` continues after them, None at the end."""

    matches: tuple[Match, ...]
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Scorecard:
    """All innings, figures and balls of a match."""

    snapshot: MatchSnapshot
    as_of: datetime


@dataclass(frozen=True, slots=True)
class DisplayView:
    """The display state of a match for supporters of a team; `state` is the content state."""

    match_id: str
    team_id: str
    state: Mapping[str, object]
    computed_at: datetime


def match_phase(status: str) -> MatchPhase:
    """Return the phase of a status; an unknown status counts as live."""
    return phase_for_status(status) or "live"


def build_fixture(snapshot: MatchSnapshot, now: datetime) -> Fixture:
    """Return the fixture to store for a match."""
    starts_at = snapshot.starting_at or now
    competition = snapshot.competition
    return Fixture(
        match_id=snapshot.match_id,
        league_code=competition.code or competition.league_id or _UNKNOWN_LEAGUE,
        start_time=starts_at,
        league_id=competition.league_id or None,
        season_id=competition.season_id or None,
        home_team_id=snapshot.home.team_id or None,
        away_team_id=snapshot.away.team_id or None,
        format=snapshot.format or None,
        round=snapshot.round or None,
        status=snapshot.status or None,
        note=snapshot.note or None,
        end_time=starts_at + planned_length(snapshot.format),
    )


def planned_length(match_format: str) -> timedelta:
    """Return the planned length of a match, including breaks."""
    if is_multi_day(match_format):
        return timedelta(days=5)
    overs = overs_per_innings(match_format) or 50
    return timedelta(minutes=2 * overs * 5 + 60)


@dataclass(kw_only=True, eq=False)
class FixtureCacheService:
    """Raw fixtures of the feed, cached for a time that depends on the match phase."""

    store: Database

    async def get(self, match_ids: Iterable[str]) -> list[CachedFixture | None]:
        ids = tuple(match_ids)
        return list(await self.store(CachedFixture.by_ids(ids))) if ids else []

    async def snapshot(self, match_id: str) -> MatchSnapshot | None:
        """Return the cached snapshot of a match, without figures and balls."""
        cached = await self.store(CachedFixture.by_id(match_id))
        return None if cached is None else self.parse(cached)

    @staticmethod
    def parse(cached: CachedFixture) -> MatchSnapshot | None:
        return parse_fixture(FeedReader(), cast("Row", _decimals_to_text(cached.fixture)))

    @staticmethod
    def build(match: FeedMatch, now: datetime) -> CachedFixture:
        """Return the entry to store for a match."""
        snapshot = match.snapshot
        return CachedFixture(
            match_id=snapshot.match_id,
            league_id=snapshot.competition.league_id or _UNKNOWN_LEAGUE,
            starting_at=snapshot.starting_at or now,
            fixture=cast("dict[str, Any]", match.raw),
            fetched_at=now,
            expires=now + _FIXTURE_TTL[match_phase(snapshot.status)],
        )


@dataclass(kw_only=True, eq=False)
class FixtureService:
    """Matches from the store, and scorecards from the feed."""

    store: Database
    feed: ScoreFeed
    cache: FixtureCacheService
    leagues: LeagueService
    teams: TeamService
    sync_range: timedelta
    _scorecards: dict[str, tuple[float, Scorecard]] = field(default_factory=dict)
    _flights: AsyncFlights = field(default_factory=AsyncFlights)

    async def page(
        self,
        *,
        league: str | None = None,
        start: datetime | None = None,
        end: datetime | None = None,
        status: MatchFilter | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> MatchPage:
        """Return matches by start, by default of the days that are synced.

        `league` is an id or a code. Raises LeagueNotFound, and InvalidInput for an invalid
        `cursor`.
        """
        now = self.store.now()
        leagues = await self.leagues.all() if league is None else (await self.leagues.get(league),)
        fixtures = await self.starting_between(
            leagues, start or now - self.sync_range, end or now + self.sync_range
        )
        fixtures = _after(fixtures, cursor)
        matches: list[Match] = []
        for at in range(0, len(fixtures), limit or 1):
            page = await self.with_scores(fixtures[at : at + limit])
            matches += [match for match in page if status in (None, match.stage)]
            if len(matches) > limit:
                break
        last = matches[limit - 1] if len(matches) > limit else None
        position = f"{last.starts_at.isoformat()}|{last.match_id}" if last else None
        return MatchPage(tuple(matches[:limit]), position)

    async def starting_between(
        self, leagues: Sequence[LeagueRecord], start: datetime, end: datetime
    ) -> list[Fixture]:
        """Return the fixtures of leagues that start between two times, in order."""
        fixtures: dict[str, Fixture] = {}
        for code in dict.fromkeys(league.code or league.league_id for league in leagues):
            for fixture in await self.store(Fixture.starting_between(code, start, end)):
                fixtures[fixture.match_id] = fixture
        return sorted(fixtures.values(), key=lambda item: (item.start_time, item.match_id))

    async def get(self, match_id: str) -> Match:
        """Return one match. Raises MatchNotFound."""
        fixture = await self.store(Fixture.by_id(match_id)) if match_id else None
        if fixture is None:
            raise MatchNotFound(match_id)
        (match,) = await self.with_scores([fixture])
        return match

    async def with_scores(self, fixtures: Sequence[Fixture]) -> list[Match]:
        """Return fixtures as matches with their current scores."""
        ids = [fixture.match_id for fixture in fixtures]
        cached = await self.cache.get(ids)
        active = await self.store.get_many(ActiveMatch.by_id(item) for item in ids) if ids else []
        return [await self._build(*row) for row in zip(fixtures, cached, active, strict=True)]

    async def _build(
        self, fixture: Fixture, cached: CachedFixture | None, active: ActiveMatch | None
    ) -> Match:
        snapshot = None if cached is None else self.cache.parse(cached)
        league = await self.leagues.find(fixture.league_id or fixture.league_code)
        status = fixture.status or "NS"
        innings = snapshot.innings if snapshot else ()
        if active is not None and active.previous_status is not None:
            status, innings = active.previous_status, active.previous_score
        feed_name = snapshot.competition.name if snapshot else ""
        phase = active.match_phase if active and active.state else match_phase(status)
        return Match(
            match_id=fixture.match_id,
            league_id=fixture.league_id or "",
            league_code=fixture.league_code,
            league_name=league.name if league else feed_name,
            season_id=fixture.season_id or "",
            home=await self._side(fixture.home_team_id, snapshot.home if snapshot else None),
            away=await self._side(fixture.away_team_id, snapshot.away if snapshot else None),
            starts_at=fixture.start_time,
            ends_at=fixture.end_time,
            format=fixture.format or "",
            round=fixture.round or "",
            venue=snapshot.venue if snapshot else "",
            status=status,
            phase=phase,
            stage=_STAGES[phase],
            note=fixture.note or "",
            innings=innings,
            polled=active is not None and active.status == "active",
            updated_at=active.last_tick_at if active else (cached.fetched_at if cached else None),
            archived_at=fixture.archived_at,
        )

    async def _side(self, team_id: str | None, side: Side | None) -> Side:
        team = await self.teams.find(team_id)
        if team is None:
            return side or Side(team_id or "")
        return Side(team.team_id, team.name, team.code or "", team.image_path or "")

    async def snapshot(self, match_id: str) -> MatchSnapshot:
        """Return a match from the store, without figures and balls. Raises MatchNotFound."""
        cached = await self.cache.snapshot(match_id)
        match = await self.get(match_id)
        if cached is not None:
            return replace(cached, home=match.home, away=match.away)
        return MatchSnapshot(
            match_id=match_id,
            status=match.status,
            home=match.home,
            away=match.away,
            competition=Competition(match.league_id, match.season_id, "", match.league_name),
            format=match.format,
            starting_at=match.starts_at,
            note=match.note,
            innings=match.innings,
        )

    async def scorecard(self, match_id: str) -> Scorecard:
        """Return all figures of a match, at most a few seconds old while it is live.

        If the feed fails, an older scorecard is returned if there is one. Raises MatchNotFound,
        and what the feed raises.
        """
        cached = self._scorecards.get(match_id)
        if cached is not None and self.store.clock.monotonic() < cached[0]:
            return cached[1]
        fetch = partial(self._fetch_scorecard, match_id)
        try:
            scorecard, _ = await self._flights.fly(match_id, fetch, fetch, 60.0)
        except MatchNotFound:
            raise
        except GrandstandError:
            if cached is None:
                raise
            return cached[1]
        return scorecard

    async def _fetch_scorecard(self, match_id: str) -> Scorecard:
        snapshot = (await self.feed.fixture(match_id)).value.snapshot
        scorecard = Scorecard(snapshot, self.store.now())
        is_live = match_phase(snapshot.status) == "live"
        seconds = _LIVE_SCORECARD_SECONDS if is_live else _SCORECARD_SECONDS
        while len(self._scorecards) >= _MAX_SCORECARDS:
            self._scorecards.pop(next(iter(self._scorecards)))
        self._scorecards[match_id] = (self.store.clock.monotonic() + seconds, scorecard)
        return scorecard

    def clear_cache(self) -> None:
        """Drop the cached scorecards."""
        self._scorecards.clear()

    async def save_progress(
        self, snapshot: MatchSnapshot, before: ActiveMatch, now: datetime
    ) -> None:
        """Store a changed status or note; create the fixture if it is missing."""
        if (before.previous_status, before.memory.note) == (snapshot.status, snapshot.note[:80]):
            return
        match_id, status, note = snapshot.match_id, snapshot.status, snapshot.note or None
        if not await self.store.attempt(Fixture.update_progress(match_id, status, note, now)):
            await self.store(build_fixture(snapshot, now).replace(live_updated_at=now).put())

    async def archive(self, match_id: str, now: datetime) -> None:
        """Mark a match as gone from the livescores."""
        await self.store.attempt(Fixture.archive(match_id, now))

    async def search(self, query: str, caller: Caller) -> tuple[SearchHit, ...]:
        """Return matching teams, each with its nearest match, then matching matches."""
        del caller
        now, leagues = self.store.now(), await self.leagues.all()
        fixtures = await self.starting_between(
            leagues, now - self.sync_range, now + self.sync_range
        )
        fixtures.sort(key=lambda fixture: abs(fixture.start_time - now))
        teams = {team.team_id: team for team in await self.teams.all()}
        league_names = {league.league_id: league.name for league in leagues}
        team_hits = self._search_teams(query, fixtures, teams)

        def texts(fixture: Fixture) -> tuple[str, ...]:
            sides = (teams.get(item or "") for item in (fixture.home_team_id, fixture.away_team_id))
            names = [text for side in sides if side for text in (side.name, side.code or "")]
            return (*names, league_names.get(fixture.league_id or "", ""), fixture.round or "")

        best = best_matches(query, fixtures, texts, MAX_HITS - len(team_hits))
        hits = list(team_hits)
        for match in await self.with_scores(best):
            score = format_innings(match.innings) or f"{match.starts_at:%a %d %b %H:%M} UTC"
            detail = ", ".join(filter(None, (match.league_name, match.round, score)))
            href = f"/cricket/matches/{match.match_id}"
            hits.append(SearchHit("match", match.title, detail, href))
        return tuple(hits)

    def _search_teams(
        self, query: str, fixtures: Sequence[Fixture], teams: Mapping[str, TeamRecord]
    ) -> tuple[SearchHit, ...]:
        """Return matching teams, each with the first of the fixtures it plays."""
        first: dict[str, Fixture] = {}
        for fixture in fixtures:
            for team_id in (fixture.home_team_id, fixture.away_team_id):
                if team_id is not None and team_id in teams:
                    first.setdefault(team_id, fixture)
        best = best_matches(
            query,
            first,
            lambda team_id: (teams[team_id].name, teams[team_id].code or ""),
            3,
        )
        hits = []
        for team_id in best:
            fixture = first[team_id]
            home, away = fixture.home_team_id or "", fixture.away_team_id or ""
            other = teams.get(away if team_id == home else home)
            against = "" if other is None else f" against {other.name}"
            when = "next" if fixture.start_time > self.store.now() else "latest"
            detail = f"Cricket, {when}{against}, {fixture.start_time:%a %d %b}"
            href = f"/cricket/matches/{fixture.match_id}"
            hits.append(SearchHit("team", teams[team_id].name, detail, href))
        return tuple(hits)


@dataclass(kw_only=True, eq=False)
class DisplayStateCacheService:
    """Computed display states per match and team; expired ones count as missing."""

    store: Database

    async def find(self, match_id: str, team_id: str) -> DisplayView | None:
        state = await self.store(DisplayState.by_key(match_id, team_id))
        if state is None:
            return None
        return DisplayView(match_id, team_id, state.state, state.computed_at)

    async def save(self, state: DisplayState) -> DisplayView:
        await self.store(state.save())
        return DisplayView(state.match_id, state.team_id, state.state, state.computed_at)


@dataclass(kw_only=True, eq=False)
class DisplayStateBuilder:
    """Computes display states from fixtures, teams and leagues."""

    store: Database
    fixtures: FixtureService
    cache: DisplayStateCacheService

    async def get(self, match_id: str, team_id: str = NEUTRAL_TEAM) -> DisplayView:
        """Return a display state, computed if it is not cached.

        Raises MatchNotFound and TeamNotPlaying.
        """
        cached = await self.cache.find(match_id, team_id)
        if cached is not None:
            return cached
        match = await self.fixtures.get(match_id)
        if team_id not in (NEUTRAL_TEAM, match.home.team_id, match.away.team_id):
            raise TeamNotPlaying(f"Team {team_id[:40]!r} does not play in match {match_id}.")
        snapshot = await self.fixtures.snapshot(match_id)
        active = await self.store(ActiveMatch.by_id(match_id))
        moment = display.DisplayMoment(self.store.now(), active.seq if active else 0)
        return await self.cache.save(self.build(snapshot, team_id, moment, moment.at))

    @staticmethod
    def build(
        snapshot: MatchSnapshot, team_id: str, moment: display.DisplayMoment, now: datetime
    ) -> DisplayState:
        """Return the display state to store."""
        state = display.build_display_state(snapshot, moment, team_id)
        return DisplayState(
            match_id=snapshot.match_id,
            team_id=team_id,
            state=cast("dict[str, Any]", display.content_state(state)),
            computed_at=now,
            expires=now + _DISPLAY_TTL[state.phase],
        )

    def writes(
        self, snapshot: MatchSnapshot, moment: display.DisplayMoment, now: datetime
    ) -> list[Put[DisplayState]]:
        """Return the writes that cache the states for both teams and for neutrals."""
        teams = dict.fromkeys((NEUTRAL_TEAM, snapshot.home.team_id, snapshot.away.team_id))
        return [self.build(snapshot, team_id, moment, now).save() for team_id in teams if team_id]


def format_innings(innings: Iterable[InningsScore]) -> str:
    """Return scores such as 142-4 (17.3), 98-2 (12.0)."""
    return ", ".join(f"{score.score}-{score.wickets} ({score.overs})" for score in innings)


def _after(fixtures: list[Fixture], position: str | None) -> list[Fixture]:
    if position is None:
        return fixtures
    start, _, match_id = position.partition("|")
    try:
        after = (datetime.fromisoformat(start), match_id)
    except ValueError as error:
        raise InvalidInput("Invalid cursor. Use the cursor of the previous page.") from error
    return [fixture for fixture in fixtures if (fixture.start_time, fixture.match_id) > after]


def _decimals_to_text(value: object) -> object:
    """Return a stored value with text instead of decimals, as the parser expects it."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, Mapping):
        return {name: _decimals_to_text(item) for name, item in value.items()}
    return [_decimals_to_text(item) for item in value] if isinstance(value, list) else value
