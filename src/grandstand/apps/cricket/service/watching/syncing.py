"""Kept here: bringing leagues, teams, standings and fixtures over from the feed."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from grandstand.apps.cricket.model import LeagueFacts
from grandstand.apps.cricket.service.kept import cached_of, fixture_of
from grandstand.apps.cricket.service.looking.reference import Reference
from grandstand.apps.cricket.service.means import Means
from grandstand.apps.cricket.service.values import Synced
from grandstand.apps.cricket.sources.sportmonks import HeardFixture
from grandstand.apps.cricket.store import CachedFixture, Fixture, League, Team, TeamSeason

BATCH: Final = 25
_READ: Final = 100


class Syncing:
    """Writes what is new or changed; the same again writes nothing."""

    def __init__(self, means: Means, reference: Reference) -> None:
        self._means = means
        self._reference = reference

    async def reference(self) -> Synced:
        """Bring leagues, teams and the standings of current seasons over."""
        store, feed = self._means.store, self._means.feed
        leagues, teams = await feed.leagues(), await feed.teams()
        warnings = [*leagues.warnings, *teams.warnings]
        known = {each.league_id: each for each in await store(League.everyone())}
        written = 0
        for facts in leagues.value:
            league = _league(facts, known.get(facts.league_id))
            if league != known.get(facts.league_id):
                await store(league.keep())
                written += 1
        there = {each.team_id: each for each in await store(Team.everyone())}
        found = tuple(
            Team(
                team_id=each.team_id,
                name=each.name,
                code=each.code or None,
                image_path=each.image or None,
                national_team=each.national,
            )
            for each in teams.value
        )
        changed = tuple(each for each in found if there.get(each.team_id) != each)
        for at in range(0, len(changed), BATCH):
            await store(Team.sync(changed[at : at + BATCH]))
        self._reference.clear()
        seasons = [
            each.season_id for each in await self._reference.leagues(active=True) if each.season_id
        ]
        standings = sum([await self._standings(season) for season in seasons])
        total = len(leagues.value) + len(teams.value) + standings
        return Synced(total, written + len(changed) + standings, tuple(warnings))

    async def _standings(self, season_id: str) -> int:
        parsed = await self._means.feed.standings(season_id)
        rows = tuple(
            TeamSeason(
                season_id=each.season_id,
                team_id=each.team_id,
                league_id=each.league_id,
                position=each.place,
                played=each.played,
                won=each.won,
                lost=each.lost,
                drawn=each.drawn,
                no_result=each.no_result,
                points=each.points,
            )
            for each in parsed.value
        )
        known = {
            each.team_id: each for each in await self._means.store(TeamSeason.of_season(season_id))
        }
        changed = tuple(each for each in rows if known.get(each.team_id) != each)
        for at in range(0, len(changed), BATCH):
            await self._means.store(TeamSeason.sync(changed[at : at + BATCH]))
        return len(changed)

    async def fixtures(self) -> Synced:
        """Bring the matches of the days around now over, in batches of 25."""
        now, around = self._means.now(), timedelta(days=self._means.settings.sync_days)
        parsed = await self._means.feed.fixtures((now - around).date(), (now + around).date())
        heard = [
            each
            for each in parsed.value
            if await self._reference.is_followed(each.fixture.competition.league_id)
        ]
        written = 0
        for at in range(0, len(heard), _READ):
            written += await self._write(heard[at : at + _READ], now)
        return Synced(len(heard), written, parsed.warnings)

    async def _write(self, heard: list[HeardFixture], now: datetime) -> int:
        store = self._means.store
        ids = tuple(each.fixture.match_id for each in heard)
        known = dict(zip(ids, await store(Fixture.several(ids)), strict=True))
        fresh = dict(zip(ids, await store(CachedFixture.several(ids)), strict=True))
        fixtures: list[Fixture] = []
        cached: list[CachedFixture] = []
        for each in heard:
            match_id = each.fixture.match_id
            made = await self._merged(each, known[match_id], now)
            if made != known[match_id]:
                fixtures.append(made)
            if fresh[match_id] is None or made != known[match_id]:
                cached.append(cached_of(each, now))
        for at in range(0, len(fixtures), BATCH):
            await store(Fixture.sync(tuple(fixtures[at : at + BATCH])))
        for at in range(0, len(cached), BATCH):
            await store(CachedFixture.keep_all(tuple(cached[at : at + BATCH])))
        return len(fixtures)

    async def _merged(self, heard: HeardFixture, known: Fixture | None, now: datetime) -> Fixture:
        """What the feed says now, with what only we know of a match."""
        made = fixture_of(heard.fixture, now)
        league = await self._reference.find_league(made.league_id or "")
        if league is not None:
            made = made.replace(league_code=league.code or league.league_id)
        if known is None:
            return made
        return made.replace(
            live_updated_at=known.live_updated_at,
            archived_at=known.archived_at,
            start_time=known.start_time if heard.fixture.starting_at is None else made.start_time,
        )


def _league(facts: LeagueFacts, known: League | None) -> League:
    """A league as the feed has it; whether it is followed is ours to say, and yes at first."""
    return League(
        league_id=facts.league_id,
        name=facts.name,
        code=facts.code or facts.league_id,
        active=True if known is None else known.active,
        season_id=facts.season_id or None,
        image_path=facts.image or None,
    )
