"""Matches are brought over, listed, read and shown."""

from datetime import timedelta
from functools import partial

import pytest

from grandstand.apps.cricket.model.errors import MatchUnknown
from grandstand.apps.cricket.service import Lags, LeagueUnknown, TeamNotPlaying, TeamUnknown
from grandstand.apps.cricket.store import CachedFixture, Fixture
from grandstand.base.errors import InvalidInput, Unavailable
from tests.apps.cricket.model.scorer import Scorer
from tests.apps.cricket.service.stage import ADA, MATCH, Stage, scores_of, started

pytestmark = pytest.mark.anyio


async def several(stage: Stage, count: int) -> None:
    """Matches that begin one hour after another."""
    for number in range(count):
        starts = stage.clock.now() + timedelta(hours=number + 1)
        scores = scores_of(Scorer(), stage.clock, match_id=str(100 + number), starting_at=starts)
        stage.feed.says(scores, live=False)
    await stage.cricket.sync_fixtures()


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
    await several(stage, 30)
    same = await stage.cricket.sync_fixtures()
    moved = stage.clock.now() + timedelta(hours=40)
    stage.feed.says(scores_of(Scorer(), stage.clock, match_id="100", starting_at=moved))

    changed = await stage.cricket.sync_fixtures()

    assert (same.found, same.written, changed.written) == (30, 0, 1)
    assert (await stage.cricket.match("100")).starts_at == moved


async def test_a_sync_keeps_what_only_we_know(stage: Stage) -> None:
    await several(stage, 1)
    await stage.store(Fixture.archive("100", stage.means.now()))
    stage.feed.says(scores_of(Scorer(), stage.clock, match_id="100", note="Moved"))

    await stage.cricket.sync_fixtures()

    match = await stage.cricket.match("100")
    assert (match.note, match.archived_at) == ("Moved", stage.means.now())


async def test_matches_are_listed_page_by_page_in_order(stage: Stage) -> None:
    await several(stage, 7)

    first = await stage.cricket.matches(league="BBL", limit=3)
    second = await stage.cricket.matches(league="5", limit=3, position=first.position)
    last = await stage.cricket.matches(limit=3, position=second.position)

    listed = [each.match_id for page in (first, second, last) for each in page.matches]
    assert listed == [str(100 + number) for number in range(7)]
    assert last.position is None
    with pytest.raises(InvalidInput):
        await stage.cricket.matches(position="nonsense")
    with pytest.raises(LeagueUnknown):
        await stage.cricket.matches(league="nowhere")


async def test_matches_are_listed_by_where_they_stand(stage: Stage) -> None:
    await several(stage, 2)
    scorer = started()
    scorer.bowl(4)
    await stage.tick(scorer)
    await stage.cricket.sync_fixtures()
    await stage.tick(scorer)

    live = (await stage.cricket.matches(status="live")).matches
    upcoming = (await stage.cricket.matches(status="upcoming")).matches

    assert [(each.match_id, each.polled, each.innings[0].score) for each in live] == [
        (MATCH, True, 4)
    ]
    assert [each.match_id for each in upcoming] == ["100", "101"]
    assert (live[0].home.name, live[0].league_name) == ("Harbour Town", "Big Bash")


async def test_words_of_the_feed_expire_sooner_while_a_match_is_live(stage: Stage) -> None:
    await several(stage, 1)
    await stage.tick(started())
    await stage.cricket.sync_fixtures()

    stage.clock.advance(400)

    kept = await stage.store(CachedFixture.several(("100", MATCH)))
    assert [each is not None for each in kept] == [True, False]


async def test_a_scorecard_is_fetched_once_in_a_while_and_kept_when_the_feed_is_down(
    stage: Stage,
) -> None:
    scorer = started()
    scorer.bowl(4)
    stage.feed.says(scores_of(scorer, stage.clock))
    first = await stage.cricket.scorecard(MATCH)
    await stage.cricket.scorecard(MATCH)
    asked = stage.feed.asked.count(f"fixture {MATCH}")
    stage.clock.advance(60)
    stage.feed.fault = Unavailable("down")

    later = await stage.cricket.scorecard(MATCH)

    assert (asked, later) == (1, first)
    assert len(first.scores.balls) == 1


async def test_a_display_is_made_for_each_team_and_for_nobody_else(stage: Stage) -> None:
    await several(stage, 1)

    shown = await stage.cricket.display("100", "2")

    assert [team["code"] for team in shown.state["teams"]] == ["HIL", "HAR"]  # type: ignore[attr-defined]
    with pytest.raises(TeamNotPlaying):
        await stage.cricket.display("100", "9")
    with pytest.raises(MatchUnknown):
        await stage.cricket.display("999")


async def test_events_are_read_newest_first_page_by_page(stage: Stage) -> None:
    scorer = started()
    scorer.bowl(1)
    await stage.tick(scorer)
    await stage.cricket.sync_fixtures()
    await stage.tick(scorer)
    scorer.bowl(6)
    scorer.out(then=13)
    await stage.tick(scorer)

    first = await stage.cricket.events(MATCH, limit=2)
    rest = await stage.cricket.events(MATCH, limit=50, position=first.position)

    seqs = [each.seq for each in (*first.events, *rest.events)]
    told = {each.kind: each.filtered for each in (*first.events, *rest.events)}
    assert seqs == sorted(seqs, reverse=True)
    assert (told["wicket"], told["six"]) == (None, "outranked")


async def test_the_hub_shows_what_is_polled_and_pushed(stage: Stage) -> None:
    scorer = started()
    scorer.bowl(1)
    await stage.tick(scorer)
    await stage.cricket.sync_fixtures()
    await stage.tick(scorer)
    await stage.with_activity(ADA)
    scorer.bowl(4)
    stage.feed.while_asked = partial(stage.clock.advance, 0.4)
    stage.phones.while_told = partial(stage.clock.advance, 2)
    await stage.tick(scorer)

    hub = await stage.cricket.hub()

    (match,) = hub.matches
    assert (match.title, match.owner, match.seq) == ("Harbour Town v Hill City", "one", 2)
    assert (match.sessions, match.lag_seconds) == ({"active": 1}, 2.0)
    assert match.lags == Lags(0.4, 0.0, 0.0, 2.0)
    assert match.last_push is not None
    assert (match.last_push.pushed, hub.pushed, hub.pushing) == (1, 2, True)
