"""Kept here: matches for those who ask: lists, one match, its scorecard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from grandstand.apps.cricket.model import Fixture as Scores
from grandstand.apps.cricket.model import Side
from grandstand.apps.cricket.model.errors import MatchUnknown
from grandstand.apps.cricket.model.scores import Competition
from grandstand.apps.cricket.service.kept import phase_seen, scores_of
from grandstand.apps.cricket.service.looking.reference import Reference
from grandstand.apps.cricket.service.means import Means
from grandstand.apps.cricket.service.values import MatchFilter, MatchPage, MatchView, Scorecard
from grandstand.apps.cricket.store import ActiveMatch, CachedFixture, Fixture, League
from grandstand.base.errors import GrandstandError, InvalidInput
from grandstand.storage.tables.cache.flight import AsyncFlights

_LIVE_SECONDS: Final = 5.0
_STILL_SECONDS: Final = 300.0
_MOST_SCORECARDS: Final = 100
_PATIENCE_SECONDS: Final = 60.0


class Matches:
    """Answers how matches stand from what is stored, and scorecards from the feed."""

    def __init__(self, means: Means, reference: Reference) -> None:
        self._means = means
        self._reference = reference
        self._scorecards: dict[str, tuple[float, Scorecard]] = {}
        self._flights = AsyncFlights()

    def clear(self) -> None:
        """Forget the scorecards."""
        self._scorecards.clear()

    async def page(
        self,
        *,
        league: str | None,
        start: datetime | None,
        end: datetime | None,
        status: MatchFilter | None,
        limit: int,
        position: str | None,
    ) -> MatchPage:
        """Answer matches by their start, a page of them; raise LeagueUnknown, InvalidInput."""
        now, around = self._means.now(), timedelta(days=self._means.settings.sync_days)
        named = None if league is None else (await self._reference.league(league),)
        leagues = named or await self._reference.leagues()
        span = (start or now - around, end or now + around)
        fixtures = await self.starting_within(leagues, *span)
        fixtures = _after(fixtures, position)
        found: list[MatchView] = []
        for at in range(0, len(fixtures), limit or 1):
            views = await self.shown(fixtures[at : at + limit])
            found += [each for each in views if status in (None, each.stage)]
            if len(found) > limit:
                break
        more = len(found) > limit
        shown = tuple(found[:limit])
        return MatchPage(shown, _place(shown[-1]) if more else None)

    async def starting_within(
        self, leagues: Sequence[League], start: datetime, end: datetime
    ) -> list[Fixture]:
        """Answer the fixtures of leagues that begin within a span of time, in order."""
        found: dict[str, Fixture] = {}
        for code in dict.fromkeys(each.code or each.league_id for each in leagues):
            for fixture in await self._means.store(Fixture.in_range(code, start, end)):
                found[fixture.match_id] = fixture
        return sorted(found.values(), key=lambda each: (each.start_time, each.match_id))

    async def read(self, match_id: str) -> MatchView:
        """Answer one match; raise MatchUnknown."""
        fixture = await self._means.store(Fixture.by_id(match_id)) if match_id else None
        if fixture is None:
            raise MatchUnknown(match_id)
        (view,) = await self.shown([fixture])
        return view

    async def shown(self, fixtures: Sequence[Fixture]) -> list[MatchView]:
        """Answer fixtures as matches, as they stand."""
        ids = tuple(each.match_id for each in fixtures)
        store = self._means.store
        cached = await store(CachedFixture.several(ids)) if ids else []
        active = await store.get_many(ActiveMatch.by_id(each) for each in ids) if ids else []
        return [await self._view(*each) for each in zip(fixtures, cached, active, strict=True)]

    async def _view(
        self, fixture: Fixture, cached: CachedFixture | None, active: ActiveMatch | None
    ) -> MatchView:
        told = None if cached is None else scores_of(cached)
        league = await self._reference.find_league(fixture.league_id or fixture.league_code)
        polled = active is not None and active.status == "active"
        status = fixture.status or "NS"
        innings = told.innings if told else ()
        if active is not None and active.previous_status is not None:
            status, innings = active.previous_status, active.previous_score
        return MatchView(
            match_id=fixture.match_id,
            league_id=fixture.league_id or "",
            league_code=fixture.league_code,
            league_name=league.name if league else (told.competition.name if told else ""),
            season_id=fixture.season_id or "",
            home=await self._side(fixture.home_team_id, told.home if told else None),
            away=await self._side(fixture.away_team_id, told.away if told else None),
            starts_at=fixture.start_time,
            ends_at=fixture.end_time,
            format=fixture.format or "",
            round=fixture.round or "",
            venue=told.venue if told else "",
            status=status,
            phase=active.match_phase if active and active.state else phase_seen(status),
            note=fixture.note or "",
            innings=innings,
            polled=polled,
            updated_at=active.last_tick_at if active else (cached.fetched_at if cached else None),
            archived_at=fixture.archived_at,
        )

    async def _side(self, team_id: str | None, told: Side | None) -> Side:
        known = await self._reference.find_team(team_id)
        if known is None:
            return told or Side(team_id or "")
        return Side(known.team_id, known.name, known.code or "", known.image_path or "")

    async def known_scores(self, match_id: str) -> Scores:
        """Answer how a match stands without asking the feed: without lines and balls."""
        cached = await self._means.store(CachedFixture.by_id(match_id))
        told = None if cached is None else scores_of(cached)
        view = await self.read(match_id)
        if told is not None:
            return replace(told, home=view.home, away=view.away)
        return Scores(
            match_id=match_id,
            status=view.status,
            home=view.home,
            away=view.away,
            competition=Competition(view.league_id, view.season_id, "", view.league_name),
            format=view.format,
            starting_at=view.starts_at,
            note=view.note,
            innings=view.innings,
        )

    async def scorecard(self, match_id: str) -> Scorecard:
        """Answer all figures of a match, fetched when those at hand are old.

        When the feed does not answer, old ones are better than none. Raises MatchUnknown, and
        what the feed raises.
        """
        known, now = self._scorecards.get(match_id), self._means.clock.monotonic()
        if known is not None and now < known[0]:
            return known[1]
        fetch = partial(self._fetched, match_id)
        try:
            made, _ = await self._flights.fly(match_id, fetch, fetch, _PATIENCE_SECONDS)
        except MatchUnknown:
            raise
        except GrandstandError:
            if known is None:
                raise
            return known[1]
        return made

    async def _fetched(self, match_id: str) -> Scorecard:
        heard = (await self._means.feed.fixture(match_id)).value.fixture
        made, now = Scorecard(heard, self._means.now()), self._means.clock.monotonic()
        live = phase_seen(heard.status) == "live"
        while len(self._scorecards) >= _MOST_SCORECARDS:
            self._scorecards.pop(next(iter(self._scorecards)))
        self._scorecards[match_id] = (now + (_LIVE_SECONDS if live else _STILL_SECONDS), made)
        return made


def _place(match: MatchView) -> str:
    return f"{match.starts_at.isoformat()}|{match.match_id}"


def _after(fixtures: list[Fixture], position: str | None) -> list[Fixture]:
    if position is None:
        return fixtures
    moment, _, match_id = position.partition("|")
    try:
        after = (datetime.fromisoformat(moment), match_id)
    except ValueError as fault:
        raise InvalidInput("This is no position in a list of matches") from fault
    return [each for each in fixtures if (each.start_time, each.match_id) > after]
