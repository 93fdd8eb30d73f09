"""Defects that come in with the feeds, kept out at the door."""

from __future__ import annotations

from datetime import timedelta

import pytest

from grandstand.apps.bets.domain.records import slug
from tests.apps.bets.sources.feeds import day_of, espn_client, feed_at, odds_client, played

pytestmark = pytest.mark.anyio

NBA = "basketball_nba"


async def test_defect_10_a_price_belongs_to_the_side_it_names_not_to_its_place() -> None:
    made = played()
    feed, clock = feed_at(made, 30, timedelta(hours=-1))
    async with odds_client(feed, clock) as site:
        received = await site.fetch_odds(NBA, ("h2h",))

    later_in_the_alphabet = [game for game in received.games if game.home_team > game.away_team]
    firsts = {
        price.outcomes[0].name == game.home_team
        for game in later_in_the_alphabet
        for price in game.prices
    }
    assert firsts == {True}


async def test_defect_12_prices_in_play_do_not_pass_for_prices_before_the_start() -> None:
    made = played()
    feed, clock = feed_at(made, 30, timedelta(hours=1))
    async with odds_client(feed, clock) as site:
        received = await site.fetch_odds(NBA)

    assert received.games
    assert all(game.commence_time > clock.now() for game in received.games)
    assert any("too late for pregame prices" in each.reason for each in received.rejected)


async def test_defect_21_figures_injuries_and_odds_call_a_team_by_one_name() -> None:
    made = played()
    feed, clock = feed_at(made, 60, timedelta(hours=-1))
    async with odds_client(feed, clock) as site:
        odds = await site.fetch_odds(NBA)
    async with espn_client(feed, clock) as site_of_figures:
        received = await site_of_figures.fetch_stats(NBA, clock.now().date())
        hurt = await site_of_figures.fetch_injuries(NBA, clock.now().date())

    teams = {slug(team) for team in made.teams}
    playing = {slug(name) for game in odds.games for name in (game.home_team, game.away_team)}
    assert playing <= teams
    assert {slug(each.team) for each in received.teams} <= teams
    assert {slug(each.team) for each in hurt.injuries} <= teams
    assert playing & {slug(each.team) for each in hurt.injuries}


async def test_defect_27_results_are_found_after_an_outage_longer_than_three_days() -> None:
    made = played()
    feed, clock = feed_at(made, 30, timedelta(days=20))
    day = day_of(made, 30).date()
    async with odds_client(feed, clock) as site:
        short = await site.fetch_scores(NBA, 3)
    async with espn_client(feed, clock) as site_of_figures:
        long = await site_of_figures.fetch_results(NBA, day - timedelta(days=2), day)

    teams = {made.teams[made.games.home[30]], made.teams[made.games.away[30]]}
    ended = [
        each
        for each in long.scores
        if {each.home_team, each.away_team} == teams and each.commence_time == day_of(made, 30)
    ]
    assert made.games.ids[30] not in {score.game_id for score in short.scores}
    assert [each.completed for each in ended] == [True]
