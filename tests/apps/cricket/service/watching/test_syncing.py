"""What the feed knows is brought over once, and what only we know is kept."""

from datetime import timedelta

import pytest

from grandstand.apps.cricket.service import LeagueUnknown, TeamUnknown
from grandstand.apps.cricket.store import CachedFixture, Fixture
from tests.apps.cricket.model.scorer import Scorer
from tests.apps.cricket.service.stage import MATCH, Stage, scores_of, started

pytestmark = pytest.mark.anyio


async def test_leagues_teams_and_standings_are_brought_over_once(stage: Stage) -> None:
    again = await stage.cricket.sync_reference()

    assert again.written == 0
    assert [each.code for each in await stage.cricket.leagues()] == ["BBL"]
    assert [each.name for each in await stage.cricket.teams()] == ["Harbour Town", "Hill City"]
    assert [each.won for each in await stage.cricket.season_teams("1700")] == [2]


async def test_what_administrators_changed_of_a_league_survives_a_sync(stage: Stage) -> None:
    await stage.cricket.amend_league("5", active=False)

    await stage.cricket.sync_reference()

    assert await stage.cricket.leagues(active=True) == ()
    with pytest.raises(LeagueUnknown):
        await stage.cricket.amend_league("77", active=True)
    with pytest.raises(TeamUnknown):
        await stage.cricket.amend_team("77", name="x")


async def test_fixtures_are_written_when_they_change_and_only_then(stage: Stage) -> None:
    await stage.upcoming(30)
    same = await stage.cricket.sync_fixtures()
    moved = stage.clock.now() + timedelta(hours=40)
    stage.feed.says(scores_of(Scorer(), stage.clock, match_id="100", starting_at=moved))

    changed = await stage.cricket.sync_fixtures()

    assert (same.found, same.written, changed.written) == (30, 0, 1)
    assert (await stage.cricket.match("100")).starts_at == moved


async def test_a_sync_keeps_what_only_we_know(stage: Stage) -> None:
    await stage.upcoming(1)
    await stage.store(Fixture.archive("100", stage.means.now()))
    stage.feed.says(scores_of(Scorer(), stage.clock, match_id="100", note="Moved"))

    await stage.cricket.sync_fixtures()

    match = await stage.cricket.match("100")
    assert (match.note, match.archived_at) == ("Moved", stage.means.now())


async def test_words_of_the_feed_expire_sooner_while_a_match_is_live(stage: Stage) -> None:
    await stage.upcoming(1)
    await stage.tick(started())
    await stage.cricket.sync_fixtures()

    stage.clock.advance(400)

    kept = await stage.store(CachedFixture.several(("100", MATCH)))
    assert [each is not None for each in kept] == [True, False]
