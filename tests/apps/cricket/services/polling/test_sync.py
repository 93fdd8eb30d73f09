"""What the feed knows is brought over once, and what only we know is kept."""

from datetime import timedelta

import pytest

from grandstand.apps.cricket.domain.errors import LeagueNotFound
from grandstand.apps.cricket.store.fixtures import CachedFixture, Fixture
from grandstand.core.errors import NotFound
from tests.apps.cricket.domain.scorer import Scorer
from tests.apps.cricket.services.stage import MATCH, Stage, scores_of, started

pytestmark = pytest.mark.anyio


async def test_leagues_teams_and_standings_are_brought_over_once(stage: Stage) -> None:
    leagues = await stage.cricket.league_sync.run()
    teams = await stage.cricket.team_sync.run()

    assert (leagues + teams).written == 0
    assert [each.code for each in await stage.cricket.leagues.all()] == ["BBL"]
    assert [each.name for each in await stage.cricket.teams.all()] == ["Harbour Town", "Hill City"]
    assert [each.won for each in await stage.cricket.team_seasons.of_season("1700")] == [2]


async def test_what_administrators_changed_of_a_league_survives_a_sync(stage: Stage) -> None:
    await stage.cricket.leagues.update("5", active=False)

    await stage.cricket.league_sync.run()
    await stage.cricket.team_sync.run()

    assert await stage.cricket.leagues.all(active=True) == ()
    with pytest.raises(LeagueNotFound):
        await stage.cricket.leagues.update("77", active=True)
    with pytest.raises(NotFound):
        await stage.cricket.teams.update("77", name="x")


async def test_fixtures_are_written_when_they_change_and_only_then(stage: Stage) -> None:
    await stage.upcoming(30)
    same = await stage.cricket.fixture_sync.run()
    moved = stage.clock.now() + timedelta(hours=40)
    stage.feed.says(scores_of(Scorer(), stage.clock, match_id="100", starting_at=moved))

    changed = await stage.cricket.fixture_sync.run()

    assert (same.found, same.written, changed.written) == (30, 0, 1)
    assert (await stage.cricket.fixtures.get("100")).starts_at == moved


async def test_a_sync_keeps_what_only_we_know(stage: Stage) -> None:
    await stage.upcoming(1)
    await stage.store(Fixture.archive("100", stage.cricket.store.now()))
    stage.feed.says(scores_of(Scorer(), stage.clock, match_id="100", note="Moved"))

    await stage.cricket.fixture_sync.run()

    match = await stage.cricket.fixtures.get("100")
    assert (match.note, match.archived_at) == ("Moved", stage.cricket.store.now())


async def test_words_of_the_feed_expire_sooner_while_a_match_is_live(stage: Stage) -> None:
    await stage.upcoming(1)
    await stage.tick(started())
    await stage.cricket.fixture_sync.run()

    stage.clock.advance(400)

    kept = await stage.store(CachedFixture.by_ids(("100", MATCH)))
    assert [each is not None for each in kept] == [True, False]
