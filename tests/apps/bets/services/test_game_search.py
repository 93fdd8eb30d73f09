"""A team or a game is found by a part of its name, among what is kept."""

from datetime import timedelta

import pytest

from grandstand.kit.app import SearchHit
from tests.apps.bets.stage import ADA, CELTICS, LAKERS, NBA, Stage, game, h2h, score

pytestmark = pytest.mark.anyio

OVER = game(h2h("fanduel", -150, 130), game_id="over")
SOON = game(
    h2h("fanduel", -200, 170, "Denver Nuggets", LAKERS),
    game_id="soon",
    starts=OVER.commence_time + timedelta(days=2),
    home="Denver Nuggets",
    away=LAKERS,
)


@pytest.fixture
async def after(stage: Stage) -> Stage:
    """The Lakers beat the Celtics yesterday and are in Denver tomorrow."""
    stage.odds.games = [OVER, SOON]
    await stage.bets.odds_collector.collect(NBA)
    stage.to(OVER.commence_time + timedelta(days=1))
    stage.odds.scores = [score(OVER, 112, 108)]
    await stage.bets.outcome_collector.collect(NBA)
    return stage


async def test_a_team_leads_to_its_next_game_and_its_games_follow(after: Stage) -> None:
    found = await after.bets.search.search("lakers", ADA)

    assert [(one.kind, one.title, one.href) for one in found] == [
        ("team", LAKERS, "/bets/games/soon"),
        ("game", f"Denver Nuggets v {LAKERS}", "/bets/games/soon"),
        ("game", f"{LAKERS} v {CELTICS}", "/bets/games/over"),
    ]
    assert found[0].detail == "NBA, next against Denver Nuggets: Sat 14 Feb 00:00 UTC"
    assert found[2].detail == "NBA, 112\u2013108, Thu 12 Feb"


async def test_a_team_without_a_game_to_come_leads_to_its_last(after: Stage) -> None:
    [team, _] = await after.bets.search.search("celtics", ADA)

    assert team == SearchHit(
        "team",
        CELTICS,
        f"NBA, last against {LAKERS}: 112\u2013108, Thu 12 Feb",
        "/bets/games/over",
    )


async def test_a_league_finds_its_games_and_other_words_nothing(after: Stage) -> None:
    assert {one.kind for one in await after.bets.search.search("nba", ADA)} == {"game"}
    assert await after.bets.search.search("zebra", ADA) == ()


async def test_today_are_the_games_of_the_next_day(after: Stage) -> None:
    card = await after.bets.search.home_card(ADA)

    assert card.headline == "1 game today"
    assert card.href == "/bets/games/soon"
