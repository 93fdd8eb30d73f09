"""A game is shown with all that is known of it."""

from datetime import timedelta

import pytest

from tests.apps.bets.stage import NBA, Stage, game, h2h, score

pytestmark = pytest.mark.anyio
GAME = game(h2h("fanduel", -150, 130))


async def test_a_meeting_is_shown_by_its_last_correction(both: Stage) -> None:
    both.odds.games = [GAME]
    await both.bets.odds_collector.collect(NBA)
    both.to(GAME.commence_time + timedelta(hours=3))
    for home in (112, 110, 111):
        both.odds.scores = [score(GAME, home, 108)]
        await both.bets.outcome_collector.collect(NBA)
        both.clock.advance(3600)

    view = await both.bets.games.get("g1")

    assert [int(each.team_score) for each in view.meetings] == [111]
