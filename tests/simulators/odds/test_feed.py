"""The odds feed on a real socket: its addresses, its key, its credits, and what goes wrong."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx2
import numpy as np
import pytest

from grandstand.base.clock import ManualClock
from grandstand.simulators.faults import Fault
from grandstand.simulators.odds.blemishes import Blemish
from grandstand.simulators.odds.board import moment
from grandstand.simulators.odds.feed import OddsFeed
from grandstand.simulators.odds.world.season import Season
from tests.simulators.odds.asking import feed_before, start_of, visited

pytestmark = pytest.mark.anyio

SPORT = "/v4/sports/basketball_nba"
SOCCER = "/v4/sports/soccer_epl"


def credits_of(answer: httpx2.Response) -> tuple[int, int, int]:
    """What the headers say: used, left, and the cost of this answer."""
    told = answer.headers
    return (
        int(told["x-requests-used"]),
        int(told["x-requests-remaining"]),
        int(told["x-requests-last"]),
    )


async def test_games_are_told_from_their_announcement_to_their_end(basketball: Season) -> None:
    clock = ManualClock(start_of(basketball, 40) - timedelta(hours=1))
    feed = OddsFeed((basketball,), clock)

    async with visited(feed) as visitor:
        before = await visitor.told(f"{SPORT}/odds", regions="us")
        clock.advance(2 * 3600)
        during = await visitor.told(f"{SPORT}/odds", regions="us")
        clock.advance(24 * 3600)
        after = await visitor.told(f"{SPORT}/odds", regions="us")

    game = basketball.games.ids[40]
    assert game in {row["id"] for row in before}
    assert game in {row["id"] for row in during}
    assert game not in {row["id"] for row in after}


async def test_the_price_told_is_the_last_one_before_now(basketball: Season) -> None:
    feed = feed_before(basketball, 40, hours=5)
    quotes = basketball.quotes
    shown = (quotes.game == 40) & (quotes.book == 1) & (quotes.market == 0)
    last = np.flatnonzero(shown & (quotes.captured_us <= feed.clock.epoch() * 1e6))[-1]

    async with visited(feed) as visitor:
        (row,) = await visitor.told(
            f"{SPORT}/odds",
            bookmakers="fanduel",
            oddsFormat="american",
            eventIds=basketball.games.ids[40],
        )

    prices = {
        each["name"]: each["price"] for each in row["bookmakers"][0]["markets"][0]["outcomes"]
    }
    assert prices[row["home_team"]] == quotes.first[last]
    assert prices[row["away_team"]] == quotes.second[last]
    assert (
        row["bookmakers"][0]["last_update"]
        == f"{moment(quotes.captured_us[last]):%Y-%m-%dT%H:%M:%SZ}"
    )


async def test_outcomes_come_in_the_order_of_the_alphabet_not_home_first(
    basketball: Season,
) -> None:
    async with visited(feed_before(basketball)) as visitor:
        rows = await visitor.told(f"{SPORT}/odds", regions="us")

    names = [
        (row["home_team"], [each["name"] for each in market["outcomes"]])
        for row in rows
        for book in row["bookmakers"]
        for market in book["markets"]
    ]
    assert all(told == sorted(told) for _, told in names)
    assert {home == told[0] for home, told in names} == {True, False}


async def test_spreads_are_opposite_and_soccer_has_a_draw(soccer: Season) -> None:
    async with visited(feed_before(soccer)) as visitor:
        rows = await visitor.told(f"{SOCCER}/odds", regions="uk,eu", markets="h2h,spreads")

    markets = [market for row in rows for book in row["bookmakers"] for market in book["markets"]]
    lines = [
        [each["point"] for each in market["outcomes"]]
        for market in markets
        if market["key"] == "spreads"
    ]
    draws = [market["outcomes"][2]["name"] for market in markets if market["key"] == "h2h"]
    assert lines
    assert all(one == -other for one, other in lines)
    assert set(draws) == {"Draw"}


async def test_decimal_and_american_prices_are_the_same_prices(basketball: Season) -> None:
    asked = {"bookmakers": "pinnacle", "eventIds": basketball.games.ids[40]}
    async with visited(feed_before(basketball)) as visitor:
        (plain,) = await visitor.told(f"{SPORT}/odds", **asked)
        (american,) = await visitor.told(f"{SPORT}/odds", oddsFormat="american", **asked)

    def prices(row: dict[str, Any]) -> list[float]:
        return [each["price"] for each in row["bookmakers"][0]["markets"][0]["outcomes"]]

    told = [1 + (each / 100 if each > 0 else -100 / each) for each in prices(american)]
    assert prices(plain) == pytest.approx(told, abs=0.005)


async def test_filters_choose_games_by_their_start(basketball: Season) -> None:
    begins = start_of(basketball, 40)
    day = {
        "commenceTimeFrom": f"{begins:%Y-%m-%dT%H:%M:%SZ}",
        "commenceTimeTo": f"{begins:%Y-%m-%dT%H:%M:%SZ}",
    }
    async with visited(feed_before(basketball)) as visitor:
        rows = await visitor.told(f"{SPORT}/events", **day)
        unix = await visitor.told(f"{SPORT}/events", dateFormat="unix", **day)

    assert {row["commence_time"] for row in rows} == {f"{begins:%Y-%m-%dT%H:%M:%SZ}"}
    assert {row["commence_time"] for row in unix} == {int(begins.timestamp())}


@pytest.mark.parametrize(
    ("path", "params", "cost"),
    [
        ("/v4/sports", {}, 0),
        (f"{SPORT}/events", {}, 0),
        (f"{SPORT}/participants", {}, 1),
        (f"{SPORT}/odds", {"regions": "us"}, 1),
        (f"{SPORT}/odds", {"regions": "us,eu", "markets": "h2h,spreads,totals"}, 6),
        (f"{SPORT}/odds", {"bookmakers": "fanduel,betmgm", "markets": "h2h,totals"}, 2),
        (f"{SPORT}/scores", {}, 1),
        (f"{SPORT}/scores", {"daysFrom": "3"}, 2),
    ],
)
async def test_questions_cost_what_the_feed_says(
    basketball: Season, path: str, params: dict[str, str], cost: int
) -> None:
    async with visited(feed_before(basketball)) as visitor:
        answer = await visitor.ask(path, **params)

    assert answer.status_code == 200
    assert credits_of(answer) == (cost, 20_000 - cost, cost)


async def test_the_past_is_ten_times_as_dear_and_is_told_as_it_was(basketball: Season) -> None:
    feed = feed_before(basketball, 60)
    at = start_of(basketball, 40) - timedelta(minutes=62)
    asked = {"regions": "eu", "markets": "h2h,totals", "eventIds": basketball.games.ids[40]}

    async with visited(feed) as visitor:
        answer = await visitor.ask(
            "/v4/historical/sports/basketball_nba/odds", date=f"{at:%Y-%m-%dT%H:%M:%SZ}", **asked
        )

    told = answer.json()
    assert credits_of(answer)[2] == 20
    assert told["timestamp"] <= f"{at:%Y-%m-%dT%H:%M:%SZ}" < told["next_timestamp"]
    assert told["previous_timestamp"] < told["timestamp"]
    updates = [market["last_update"] for market in told["data"][0]["bookmakers"][0]["markets"]]
    assert max(updates) <= told["timestamp"]


async def test_props_cost_by_the_markets_that_are_there(basketball: Season) -> None:
    game = basketball.games.ids[40]
    async with visited(feed_before(basketball, 40, hours=0.5)) as visitor:
        answer = await visitor.ask(
            f"{SPORT}/events/{game}/odds",
            regions="us",
            markets="player_points,player_threes,h2h",
        )
        gone = await visitor.ask(f"{SPORT}/events/{'0' * 32}/odds", regions="us")

    row = answer.json()
    keys = {market["key"] for book in row["bookmakers"] for market in book["markets"]}
    assert keys == {"player_points", "player_threes", "h2h"}
    assert credits_of(answer)[2] == len(keys)
    assert (gone.status_code, gone.json()["error_code"]) == (404, "EVENT_NOT_FOUND")


@pytest.mark.parametrize(
    ("path", "params", "status", "code"),
    [
        (f"{SPORT}/odds", {}, 422, "MISSING_REGION"),
        (f"{SPORT}/odds", {"regions": "mars"}, 422, "INVALID_REGION"),
        (f"{SPORT}/odds", {"regions": "us", "markets": "guesses"}, 422, "INVALID_MARKET"),
        (f"{SPORT}/odds", {"regions": "us", "markets": "player_points"}, 422, "INVALID_MARKET"),
        (f"{SPORT}/odds", {"regions": "us", "oddsFormat": "roman"}, 422, "INVALID_ODDS_FORMAT"),
        (f"{SPORT}/odds", {"regions": "us", "dateFormat": "roman"}, 422, "INVALID_DATE_FORMAT"),
        (f"{SPORT}/events", {"commenceTimeTo": "now"}, 422, "INVALID_COMMENCE_TIME_TO"),
        (f"{SPORT}/scores", {"daysFrom": "4"}, 422, "INVALID_SCORES_DAYS_FROM"),
        ("/v4/sports/quidditch/odds", {"regions": "us"}, 404, "UNKNOWN_SPORT"),
        ("/v4/historical/sports/basketball_nba/odds", {}, 422, "MISSING_HISTORICAL_TIMESTAMP"),
        ("/v4/sports", {"apiKey": "guessed"}, 401, "INVALID_KEY"),
        ("/v5/sports", {}, 404, "NOT_FOUND"),
    ],
)
async def test_what_is_asked_wrongly_is_refused_and_costs_nothing(
    basketball: Season, path: str, params: dict[str, str], status: int, code: str
) -> None:
    feed = feed_before(basketball)
    async with visited(feed) as visitor:
        answer = await visitor.ask(path, **params)

    assert (answer.status_code, answer.json()["error_code"]) == (status, code)
    assert feed.account.used == 0


async def test_an_empty_account_is_refused_and_too_many_a_second_too(basketball: Season) -> None:
    feed = feed_before(basketball)
    feed.account.credits, feed.account.per_second = 1, 3

    async with visited(feed) as visitor:
        answers = [await visitor.ask(f"{SPORT}/odds", regions="us") for _ in range(2)]
        often = [await visitor.ask("/v4/sports") for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 401]
    assert answers[1].json()["error_code"] == "OUT_OF_USAGE_CREDITS"
    assert [answer.status_code for answer in often] == [200, 429]


async def test_scores_are_texts_and_a_correction_comes_later(basketball: Season) -> None:
    games = basketball.games
    wrong = int(np.flatnonzero(games.corrected)[0])
    clock = ManualClock(moment(games.known_us[wrong]) + timedelta(minutes=5))
    feed = OddsFeed((basketball,), clock)

    async with visited(feed) as visitor:
        first = await visitor.told(f"{SPORT}/scores", daysFrom="3")
        clock.advance(24 * 3600)
        later = await visitor.told(f"{SPORT}/scores", daysFrom="3")

    def scores(rows: list[dict[str, Any]]) -> set[str]:
        (row,) = [row for row in rows if row["id"] == games.ids[wrong]]
        return {each["score"] for each in row["scores"]}

    told = {str(games.first_home_score[wrong]), str(games.first_away_score[wrong])}
    right = {str(games.home_score[wrong]), str(games.away_score[wrong])}
    assert (scores(first), scores(later)) == (told, right)
    assert told != right


async def test_a_postponed_game_is_never_completed(basketball: Season) -> None:
    games = basketball.games
    put_off = int(np.flatnonzero(games.postponed)[0])
    feed = OddsFeed((basketball,), ManualClock(start_of(basketball, put_off) + timedelta(days=2)))

    async with visited(feed) as visitor:
        rows = await visitor.told(f"{SPORT}/scores", daysFrom="3")

    (row,) = [row for row in rows if row["id"] == games.ids[put_off]]
    assert (row["completed"], row["scores"], row["last_update"]) == (False, None, None)


async def test_faults_and_blemishes_strike_as_asked(basketball: Season) -> None:
    feed = feed_before(basketball)
    feed.blemishes.ask_for(Blemish("duplicated game"))
    async with visited(feed) as visitor:
        twice = await visitor.told(f"{SPORT}/odds", regions="us", oddsFormat="american")
        feed.faults.ask_for(Fault("too many", times=1), Fault("failing", times=1), Fault("garbage"))
        statuses = [(await visitor.ask("/v4/sports")).status_code for _ in range(3)]

    assert twice[0]["id"] == twice[1]["id"]
    assert statuses == [429, 503, 200]
