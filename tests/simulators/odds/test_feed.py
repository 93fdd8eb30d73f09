"""The simulated odds feed on a real socket: routes, key, credits and faults."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx2
import numpy as np
import pytest

from grandstand.core.clock import ManualClock
from grandstand.simulators.faults import Fault
from grandstand.simulators.odds.season import SimulatedSeason
from grandstand.simulators.odds.serializers import from_epoch_us
from grandstand.simulators.odds.server import MalformedReply, OddsApiSimulator
from tests.simulators.odds.requests import connect, feed_before, start_of

pytestmark = pytest.mark.anyio

SPORT = "/v4/sports/basketball_nba"
SOCCER = "/v4/sports/soccer_epl"


def credits_of(answer: httpx2.Response) -> tuple[int, int, int]:
    """What the headers say: used, left, and the cost of this answer."""
    data = answer.headers
    return (
        int(data["x-requests-used"]),
        int(data["x-requests-remaining"]),
        int(data["x-requests-last"]),
    )


async def test_games_are_listed_from_announcement_to_end(
    basketball: SimulatedSeason,
) -> None:
    clock = ManualClock(start_of(basketball, 40) - timedelta(hours=1))
    feed = OddsApiSimulator((basketball,), clock)

    async with connect(feed) as client:
        before = await client.get_json(f"{SPORT}/odds", regions="us")
        clock.advance(2 * 3600)
        during = await client.get_json(f"{SPORT}/odds", regions="us")
        clock.advance(24 * 3600)
        after = await client.get_json(f"{SPORT}/odds", regions="us")

    game = basketball.games.ids[40]
    assert game in {row["id"] for row in before}
    assert game in {row["id"] for row in during}
    assert game not in {row["id"] for row in after}


async def test_price_is_the_last_one_before_now(basketball: SimulatedSeason) -> None:
    feed = feed_before(basketball, 40, hours=5)
    quotes = basketball.quotes
    shown = (quotes.game == 40) & (quotes.book == 1) & (quotes.market == 0)
    last = np.flatnonzero(shown & (quotes.captured_us <= feed.clock.epoch() * 1e6))[-1]

    async with connect(feed) as client:
        (row,) = await client.get_json(
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
        == f"{from_epoch_us(quotes.captured_us[last]):%Y-%m-%dT%H:%M:%SZ}"
    )


async def test_outcomes_come_in_the_order_of_the_alphabet_not_home_first(
    basketball: SimulatedSeason,
) -> None:
    async with connect(feed_before(basketball)) as client:
        rows = await client.get_json(f"{SPORT}/odds", regions="us")

    names = [
        (row["home_team"], [each["name"] for each in market["outcomes"]])
        for row in rows
        for book in row["bookmakers"]
        for market in book["markets"]
    ]
    assert all(data == sorted(data) for _, data in names)
    assert {home == data[0] for home, data in names} == {True, False}


async def test_spreads_are_opposite_and_soccer_has_a_draw(soccer: SimulatedSeason) -> None:
    async with connect(feed_before(soccer)) as client:
        rows = await client.get_json(f"{SOCCER}/odds", regions="uk,eu", markets="h2h,spreads")

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


async def test_decimal_and_american_prices_are_the_same_prices(basketball: SimulatedSeason) -> None:
    query = {"bookmakers": "pinnacle", "eventIds": basketball.games.ids[40]}
    async with connect(feed_before(basketball)) as client:
        (plain,) = await client.get_json(f"{SPORT}/odds", **query)
        (american,) = await client.get_json(f"{SPORT}/odds", oddsFormat="american", **query)

    def prices(row: dict[str, Any]) -> list[float]:
        return [each["price"] for each in row["bookmakers"][0]["markets"][0]["outcomes"]]

    data = [1 + (each / 100 if each > 0 else -100 / each) for each in prices(american)]
    assert prices(plain) == pytest.approx(data, abs=0.005)


async def test_filters_choose_games_by_their_start(basketball: SimulatedSeason) -> None:
    begins = start_of(basketball, 40)
    day = {
        "commenceTimeFrom": f"{begins:%Y-%m-%dT%H:%M:%SZ}",
        "commenceTimeTo": f"{begins:%Y-%m-%dT%H:%M:%SZ}",
    }
    async with connect(feed_before(basketball)) as client:
        rows = await client.get_json(f"{SPORT}/events", **day)
        unix = await client.get_json(f"{SPORT}/events", dateFormat="unix", **day)

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
    basketball: SimulatedSeason, path: str, params: dict[str, str], cost: int
) -> None:
    async with connect(feed_before(basketball)) as client:
        answer = await client.get(path, **params)

    assert answer.status_code == 200
    assert credits_of(answer) == (cost, 20_000 - cost, cost)


async def test_historical_odds_cost_ten_times_as_much(
    basketball: SimulatedSeason,
) -> None:
    feed = feed_before(basketball, 60)
    at = start_of(basketball, 40) - timedelta(minutes=62)
    query = {"regions": "eu", "markets": "h2h,totals", "eventIds": basketball.games.ids[40]}

    async with connect(feed) as client:
        answer = await client.get(
            "/v4/historical/sports/basketball_nba/odds", date=f"{at:%Y-%m-%dT%H:%M:%SZ}", **query
        )

    data = answer.json()
    assert credits_of(answer)[2] == 20
    assert data["timestamp"] <= f"{at:%Y-%m-%dT%H:%M:%SZ}" < data["next_timestamp"]
    assert data["previous_timestamp"] < data["timestamp"]
    updates = [market["last_update"] for market in data["data"][0]["bookmakers"][0]["markets"]]
    assert max(updates) <= data["timestamp"]


async def test_props_cost_by_the_markets_that_are_there(basketball: SimulatedSeason) -> None:
    game = basketball.games.ids[40]
    async with connect(feed_before(basketball, 40, hours=0.5)) as client:
        answer = await client.get(
            f"{SPORT}/events/{game}/odds",
            regions="us",
            markets="player_points,player_threes,h2h",
        )
        gone = await client.get(f"{SPORT}/events/{'0' * 32}/odds", regions="us")

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
async def test_invalid_queries_are_rejected_free_of_charge(
    basketball: SimulatedSeason, path: str, params: dict[str, str], status: int, code: str
) -> None:
    feed = feed_before(basketball)
    async with connect(feed) as client:
        answer = await client.get(path, **params)

    assert (answer.status_code, answer.json()["error_code"]) == (status, code)
    assert feed.account.used == 0


async def test_an_empty_account_is_refused_and_too_many_a_second_too(
    basketball: SimulatedSeason,
) -> None:
    feed = feed_before(basketball)
    feed.account.credits, feed.account.per_second = 1, 3

    async with connect(feed) as client:
        answers = [await client.get(f"{SPORT}/odds", regions="us") for _ in range(2)]
        often = [await client.get("/v4/sports") for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 401]
    assert answers[1].json()["error_code"] == "OUT_OF_USAGE_CREDITS"
    assert [answer.status_code for answer in often] == [200, 429]


async def test_scores_are_texts_and_a_correction_comes_later(basketball: SimulatedSeason) -> None:
    games = basketball.games
    wrong = int(np.flatnonzero(games.corrected)[0])
    clock = ManualClock(from_epoch_us(games.known_us[wrong]) + timedelta(minutes=5))
    feed = OddsApiSimulator((basketball,), clock)

    async with connect(feed) as client:
        first = await client.get_json(f"{SPORT}/scores", daysFrom="3")
        clock.advance(24 * 3600)
        later = await client.get_json(f"{SPORT}/scores", daysFrom="3")

    def scores(rows: list[dict[str, Any]]) -> set[str]:
        (row,) = [row for row in rows if row["id"] == games.ids[wrong]]
        return {each["score"] for each in row["scores"]}

    data = {str(games.first_home_score[wrong]), str(games.first_away_score[wrong])}
    right = {str(games.home_score[wrong]), str(games.away_score[wrong])}
    assert (scores(first), scores(later)) == (data, right)
    assert data != right


async def test_a_postponed_game_is_never_completed(basketball: SimulatedSeason) -> None:
    games = basketball.games
    put_off = int(np.flatnonzero(games.postponed)[0])
    feed = OddsApiSimulator(
        (basketball,), ManualClock(start_of(basketball, put_off) + timedelta(days=2))
    )

    async with connect(feed) as client:
        rows = await client.get_json(f"{SPORT}/scores", daysFrom="3")

    (row,) = [row for row in rows if row["id"] == games.ids[put_off]]
    assert (row["completed"], row["scores"], row["last_update"]) == (False, None, None)


async def test_faults_and_malformed_replies_occur_as_requested(basketball: SimulatedSeason) -> None:
    feed = feed_before(basketball)
    feed.malformed.request(MalformedReply("duplicated game"))
    async with connect(feed) as client:
        twice = await client.get_json(f"{SPORT}/odds", regions="us", oddsFormat="american")
        feed.faults.ask_for(Fault("too many", times=1), Fault("failing", times=1), Fault("garbage"))
        statuses = [(await client.get("/v4/sports")).status_code for _ in range(3)]

    assert twice[0]["id"] == twice[1]["id"]
    assert statuses == [429, 503, 200]
