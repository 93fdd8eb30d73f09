"""The odds feed is asked within its credits, with its key kept secret; its failures are named."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

from grandstand.apps.bets.model.feeds import Spent
from grandstand.apps.bets.service.ports import OddsFeed as OddsPort
from grandstand.apps.bets.sources.errors import (
    CreditsShort,
    FeedNameUnfit,
    OddsKeyMissing,
    OddsKeyRefused,
)
from grandstand.apps.bets.sources.odds_api import OddsApi, read_credits
from grandstand.simulators.faults import Fault
from grandstand.simulators.odds.blemishes import Blemish, Wrong
from grandstand.wire.errors import AnswerGarbled, SourceFaulted, SourceRefused, SourceUnreachable
from tests.apps.bets.sources.feeding import asked, day_of, feed_at, played

pytestmark = pytest.mark.anyio

HOUR = timedelta(hours=1)
NBA = "basketball_nba"


async def test_games_to_come_are_taken_with_the_prices_of_every_book() -> None:
    made = played()
    feed, clock = feed_at(made, 30, -HOUR)
    async with asked(feed, clock) as site:
        told = await site.fetch_odds(NBA)

    game = next(each for each in told.games if each.game_id == made.games.ids[30])
    assert game.home_team == made.teams[made.games.home[30]]
    assert len(game.prices) == 7 * 3
    assert {price.bookmaker for price in game.prices} >= {"fanduel", "draftkings"}
    assert told.spent == site.quota == Spent(3, 3, 19_997)


async def test_prices_belong_to_the_side_they_name() -> None:
    made = played()
    feed, clock = feed_at(made, 30, -HOUR)
    quotes = made.quotes
    async with asked(feed, clock) as site:
        told = await site.fetch_odds(NBA, ("h2h",), bookmakers=("fanduel",))

    last = (quotes.book == 1) & (quotes.market == 0) & (quotes.captured_us <= clock.epoch() * 1e6)
    rows = {
        int(game): row for row, game in zip(np.flatnonzero(last), quotes.game[last], strict=True)
    }
    expected = {made.games.ids[game]: int(quotes.first[row]) for game, row in rows.items()}
    prices = {each.game_id: each.prices[0].outcomes[0] for each in told.games if each.prices}
    homes = {each.game_id: each.home_team for each in told.games}
    assert len(prices) > 5
    assert all(side.name == homes[game] for game, side in prices.items())
    assert all(side.price == expected[game] for game, side in prices.items())


async def test_a_game_in_play_is_refused_because_it_comes_too_late() -> None:
    made = played()
    feed, clock = feed_at(made, 30, HOUR)
    async with asked(feed, clock) as site:
        told = await site.fetch_odds(NBA)

    late = [each for each in told.refused if made.games.ids[30] in each.what]
    assert made.games.ids[30] not in {game.game_id for game in told.games}
    assert "it comes too late" in late[0].why


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("short price", "-50 is no American price"),
        ("text price", "a price is no number"),
        ("missing side", "a side is missing"),
        ("unknown team", "'Harlem Globetrotters' is no side"),
        ("duplicated game", "told twice"),
        ("no start", "commence_time is no moment"),
        ("no teams", "home_team is missing"),
    ],
)
async def test_what_is_wrong_with_one_game_costs_no_other(kind: Wrong, why: str) -> None:
    made = played()
    feed, clock = feed_at(made, 30, -HOUR)
    async with asked(feed, clock) as site:
        whole = await site.fetch_odds(NBA)
        feed.blemishes.ask_for(Blemish(kind))
        told = await site.fetch_odds(NBA)

    (refused,) = [each for each in told.refused if each not in whole.refused]
    assert why in refused.why
    assert len(told.games) >= len(whole.games) - 1


async def test_scores_come_matched_to_their_teams_and_wrong_ones_are_refused() -> None:
    made = played()
    feed, clock = feed_at(made, 30, 8 * HOUR)
    async with asked(feed, clock) as site:
        told = await site.fetch_scores(NBA)
        feed.blemishes.ask_for(Blemish("text score"), Blemish("one score"))
        worse = await site.fetch_scores(NBA)

    ended = {
        each.game_id: (each.home_score, each.away_score) for each in told.scores if each.completed
    }
    first = zip(
        made.games.first_home_score.tolist(), made.games.first_away_score.tolist(), strict=True
    )
    expected = dict(zip(made.games.ids, first, strict=True))
    assert len(ended) > 5
    assert ended == {game: expected[game] for game in ended}
    assert len(worse.scores) == len(told.scores) - 1
    assert len(worse.refused) == 1


async def test_props_name_their_players_and_a_game_that_is_gone_has_none() -> None:
    made = played()
    feed, clock = feed_at(made, 30, -HOUR / 2)
    async with asked(feed, clock) as site:
        told = await site.fetch_props(NBA, made.games.ids[30], ("player_points",))
        gone = await site.fetch_props(NBA, "0" * 32, ("player_points",))

    names = {player.name for player in made.players}
    assert {price.player for price in told.games[0].prices} <= names
    assert all(len(price.outcomes) == 2 for price in told.games[0].prices)
    assert gone.games == ()


async def test_the_reserve_is_not_touched_and_nothing_is_asked() -> None:
    feed, clock = feed_at(played(), 30, -HOUR)
    feed.account.credits = 10
    async with asked(feed, clock, reserve=5) as site:
        await site.fetch_odds(NBA)
        asked_before = len(feed.asked)
        with pytest.raises(CreditsShort, match="takes 3 credits of the 7 left"):
            await site.fetch_odds(NBA)
        scores = await site.fetch_scores(NBA)

    assert scores.spent.left == 5
    assert len(feed.asked) == asked_before + 1


async def test_an_account_that_is_empty_is_named() -> None:
    feed, clock = feed_at(played(), 30, -HOUR)
    feed.account.credits = 0
    async with asked(feed, clock) as site:
        with pytest.raises(CreditsShort, match="used up"):
            await site.fetch_odds(NBA)


async def test_without_a_key_nobody_is_asked_and_a_wrong_one_is_named() -> None:
    feed, clock = feed_at(played(), 30, -HOUR)
    async with asked(feed, clock, key=None) as site:
        with pytest.raises(OddsKeyMissing):
            await site.fetch_odds(NBA)
    async with asked(feed, clock, key="s3cr3t-of-nobody") as site:
        with pytest.raises(OddsKeyRefused) as refused:
            await site.fetch_odds(NBA)

    assert len(feed.asked) == 1
    assert "s3cr3t" not in str(refused.value)


async def test_a_name_that_is_none_reaches_nobody() -> None:
    feed, clock = feed_at(played(), 30, -HOUR)
    async with asked(feed, clock) as site:
        with pytest.raises(FeedNameUnfit):
            await site.fetch_scores("../sports")
        with pytest.raises(SourceRefused):
            await site.fetch_scores("quidditch")

    assert list(feed.asked) == ["/v4/sports/quidditch/scores"]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault("failing"), SourceFaulted),
        (Fault("garbage"), AnswerGarbled),
        (Fault("disconnect"), SourceUnreachable),
    ],
)
async def test_failures_are_named_and_show_no_key(fault: Fault, error: type[Exception]) -> None:
    feed, clock = feed_at(played(), 30, -HOUR)
    feed.key = "s3cr3t-of-the-feed"
    feed.faults.ask_for(fault)
    async with asked(feed, clock, key=feed.key) as site:
        with pytest.raises(error) as raised:
            await site.fetch_odds(NBA)

    assert feed.key not in str(raised.value)


async def test_a_feed_that_is_busy_once_is_asked_again() -> None:
    feed, clock = feed_at(played(), 30, -HOUR)
    feed.faults.ask_for(Fault("too many", times=1))
    async with asked(feed, clock) as site:
        told = await site.fetch_odds(NBA)

    assert told.games


def test_headers_that_say_nothing_of_credits_are_no_reading() -> None:
    now = day_of(played(), 0)

    assert read_credits({}, now) is None
    assert read_credits({"x-requests-remaining": "-1"}, now) is None
    reading = read_credits({"x-requests-remaining": "498.0", "x-requests-used": "2"}, now)
    assert reading is not None
    assert (reading.left, reading.used) == (498, 2)


def as_port(site: OddsApi) -> OddsPort:
    """The client is what the service asks for; checked by types alone."""
    return site
