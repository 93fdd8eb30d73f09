"""The Odds API client: credits, key and failures."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

from grandstand.apps.bets.domain.records import QuotaUsage
from grandstand.apps.bets.services.ingest.odds_collector import OddsFeed as OddsPort
from grandstand.apps.bets.sources.odds_api import OddsApiClient, read_credits
from grandstand.apps.bets.sources.validation import (
    CreditsExhausted,
)
from grandstand.core.errors import InvalidInput, NotAllowed
from grandstand.net.errors import (
    InvalidResponse,
    SourceRefused,
    SourceServerError,
    SourceUnreachable,
)
from grandstand.simulators.faults import Fault
from grandstand.simulators.odds.server import MalformedKind, MalformedReply
from tests.apps.bets.sources.feeds import day_of, feed_at, odds_client, played

pytestmark = pytest.mark.anyio

HOUR = timedelta(hours=1)
NBA = "basketball_nba"


async def test_games_to_come_are_taken_with_the_prices_of_every_book() -> None:
    simulated = played()
    feed, clock = feed_at(simulated, 30, -HOUR)
    async with odds_client(feed, clock) as site:
        result = await site.fetch_odds(NBA)

    game = next(each for each in result.games if each.game_id == simulated.games.ids[30])
    assert game.home_team == simulated.teams[simulated.games.home[30]]
    assert len(game.prices) == 7 * 3
    assert {price.bookmaker for price in game.prices} >= {"fanduel", "draftkings"}
    assert result.usage == site.quota == QuotaUsage(3, 3, 19_997)


async def test_prices_belong_to_the_side_they_name() -> None:
    simulated = played()
    feed, clock = feed_at(simulated, 30, -HOUR)
    quotes = simulated.quotes
    async with odds_client(feed, clock) as site:
        result = await site.fetch_odds(NBA, ("h2h",), bookmakers=("fanduel",))

    last = (quotes.book == 1) & (quotes.market == 0) & (quotes.captured_us <= clock.epoch() * 1e6)
    rows = {
        int(game): row for row, game in zip(np.flatnonzero(last), quotes.game[last], strict=True)
    }
    expected = {simulated.games.ids[game]: int(quotes.first[row]) for game, row in rows.items()}
    prices = {each.game_id: each.prices[0].outcomes[0] for each in result.games if each.prices}
    homes = {each.game_id: each.home_team for each in result.games}
    assert len(prices) > 5
    assert all(side.name == homes[game] for game, side in prices.items())
    assert all(side.price == expected[game] for game, side in prices.items())


async def test_a_game_in_play_is_refused_because_it_comes_too_late() -> None:
    simulated = played()
    feed, clock = feed_at(simulated, 30, HOUR)
    async with odds_client(feed, clock) as site:
        result = await site.fetch_odds(NBA)

    late = [each for each in result.rejected if simulated.games.ids[30] in each.row]
    assert simulated.games.ids[30] not in {game.game_id for game in result.games}
    assert "too late for pregame prices" in late[0].reason


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("short price", "-50 is not an American price"),
        ("text price", "a price is not a number"),
        ("missing side", "a side is missing"),
        ("unknown team", "'Harlem Globetrotters' is not a side"),
        ("duplicated game", "duplicate"),
        ("no start", "commence_time is not a time"),
        ("no teams", "home_team is missing"),
    ],
)
async def test_what_is_wrong_with_one_game_costs_no_other(kind: MalformedKind, why: str) -> None:
    simulated = played()
    feed, clock = feed_at(simulated, 30, -HOUR)
    async with odds_client(feed, clock) as site:
        complete = await site.fetch_odds(NBA)
        feed.malformed.request(MalformedReply(kind))
        result = await site.fetch_odds(NBA)

    (rejected,) = [each for each in result.rejected if each not in complete.rejected]
    assert why in rejected.reason
    assert len(result.games) >= len(complete.games) - 1


async def test_scores_come_matched_to_their_teams_and_wrong_ones_are_refused() -> None:
    simulated = played()
    feed, clock = feed_at(simulated, 30, 8 * HOUR)
    async with odds_client(feed, clock) as site:
        result = await site.fetch_scores(NBA)
        feed.malformed.request(MalformedReply("text score"), MalformedReply("one score"))
        worse = await site.fetch_scores(NBA)

    ended = {
        each.game_id: (each.home_score, each.away_score) for each in result.scores if each.completed
    }
    first = zip(
        simulated.games.first_home_score.tolist(),
        simulated.games.first_away_score.tolist(),
        strict=True,
    )
    expected = dict(zip(simulated.games.ids, first, strict=True))
    assert len(ended) > 5
    assert ended == {game: expected[game] for game in ended}
    assert len(worse.scores) == len(result.scores) - 1
    assert len(worse.rejected) == 1


async def test_props_name_their_players_and_a_game_that_is_gone_has_none() -> None:
    simulated = played()
    feed, clock = feed_at(simulated, 30, -HOUR / 2)
    async with odds_client(feed, clock) as site:
        result = await site.fetch_props(NBA, simulated.games.ids[30], ("player_points",))
        gone = await site.fetch_props(NBA, "0" * 32, ("player_points",))

    names = {player.name for player in simulated.players}
    assert {price.player for price in result.games[0].prices} <= names
    assert all(len(price.outcomes) == 2 for price in result.games[0].prices)
    assert gone.games == ()


async def test_no_request_is_sent_below_the_reserve() -> None:
    feed, clock = feed_at(played(), 30, -HOUR)
    feed.account.credits = 10
    async with odds_client(feed, clock, reserve=5) as site:
        await site.fetch_odds(NBA)
        asked_before = len(feed.requests)
        with pytest.raises(CreditsExhausted, match="costs 3 credits, 7 are left"):
            await site.fetch_odds(NBA)
        scores = await site.fetch_scores(NBA)

    assert scores.usage.left == 5
    assert len(feed.requests) == asked_before + 1


async def test_an_account_that_is_empty_is_named() -> None:
    feed, clock = feed_at(played(), 30, -HOUR)
    feed.account.credits = 0
    async with odds_client(feed, clock) as site:
        with pytest.raises(CreditsExhausted, match="used up"):
            await site.fetch_odds(NBA)


async def test_missing_and_wrong_keys_are_reported() -> None:
    feed, clock = feed_at(played(), 30, -HOUR)
    async with odds_client(feed, clock, key=None) as site:
        with pytest.raises(NotAllowed, match="requires an API key"):
            await site.fetch_odds(NBA)
    async with odds_client(feed, clock, key="s3cr3t-of-nobody") as site:
        with pytest.raises(NotAllowed, match="rejected the API key") as rejected:
            await site.fetch_odds(NBA)

    assert len(feed.requests) == 1
    assert "s3cr3t" not in str(rejected.value)


async def test_invalid_names_are_not_requested() -> None:
    feed, clock = feed_at(played(), 30, -HOUR)
    async with odds_client(feed, clock) as site:
        with pytest.raises(InvalidInput):
            await site.fetch_scores("../sports")
        with pytest.raises(SourceRefused):
            await site.fetch_scores("quidditch")

    assert list(feed.requests) == ["/v4/sports/quidditch/scores"]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault("failing"), SourceServerError),
        (Fault("garbage"), InvalidResponse),
        (Fault("disconnect"), SourceUnreachable),
    ],
)
async def test_failures_are_named_and_show_no_key(fault: Fault, error: type[Exception]) -> None:
    feed, clock = feed_at(played(), 30, -HOUR)
    feed.key = "s3cr3t-of-the-feed"
    feed.faults.ask_for(fault)
    async with odds_client(feed, clock, key=feed.key) as site:
        with pytest.raises(error) as raised:
            await site.fetch_odds(NBA)

    assert feed.key not in str(raised.value)


async def test_a_busy_feed_is_retried() -> None:
    feed, clock = feed_at(played(), 30, -HOUR)
    feed.faults.ask_for(Fault("too many", times=1))
    async with odds_client(feed, clock) as site:
        result = await site.fetch_odds(NBA)

    assert result.games


def test_headers_that_say_nothing_of_credits_are_no_reading() -> None:
    now = day_of(played(), 0)

    assert read_credits({}, now) is None
    assert read_credits({"x-requests-remaining": "-1"}, now) is None
    reading = read_credits({"x-requests-remaining": "498.0", "x-requests-used": "2"}, now)
    assert reading is not None
    assert (reading.left, reading.used) == (498, 2)


def as_port(site: OddsApiClient) -> OddsPort:
    """The client is what the service asks for; checked by types alone."""
    return site
