"""The simulated feeds have exactly the known fields, with their types."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from grandstand.core.clock import ManualClock
from grandstand.simulators.odds.season import SimulatedSeason
from grandstand.simulators.odds.server import OddsApiSimulator
from tests.simulators.odds.requests import connect, feed_before, start_of

pytestmark = pytest.mark.anyio

SPORT = "/v4/sports/basketball_nba"
EVENT = {
    "id": str,
    "sport_key": str,
    "sport_title": str,
    "commence_time": str,
    "home_team": str,
    "away_team": str,
}


def kinds(row: dict[str, Any]) -> dict[str, type]:
    """The fields of an object and what each is."""
    return {name: type(value) for name, value in row.items()}


async def test_a_sport_says_whether_it_is_in_season(basketball: SimulatedSeason) -> None:
    feed = feed_before(basketball)
    async with connect(feed) as client:
        (row,) = await client.get_json("/v4/sports")
        feed.clock.sleep(400 * 86_400)
        active = await client.get_json("/v4/sports")
        (over,) = await client.get_json("/v4/sports", all="true")

    assert kinds(row) == {
        "key": str,
        "group": str,
        "title": str,
        "description": str,
        "active": bool,
        "has_outrights": bool,
    }
    assert (row["active"], active, over["active"]) == (True, [], False)


async def test_an_event_is_a_game_without_prices(basketball: SimulatedSeason) -> None:
    async with connect(feed_before(basketball)) as client:
        row = (await client.get_json(f"{SPORT}/events"))[0]
        person = (await client.get_json(f"{SPORT}/participants"))[0]

    assert kinds(row) == EVENT
    assert kinds(person) == {"id": str, "full_name": str}


async def test_odds_have_books_markets_and_outcomes(basketball: SimulatedSeason) -> None:
    async with connect(feed_before(basketball)) as client:
        row = (await client.get_json(f"{SPORT}/odds", regions="us", markets="h2h,spreads,totals"))[
            0
        ]
        more = (
            await client.get_json(
                f"{SPORT}/odds", regions="us", includeBetLimits="true", includeLinks="true"
            )
        )[0]

    book = row["bookmakers"][0]
    winner, spread, total = book["markets"]
    assert kinds(row) == {**EVENT, "bookmakers": list}
    assert kinds(book) == {"key": str, "title": str, "last_update": str, "markets": list}
    assert kinds(winner) == {"key": str, "last_update": str, "outcomes": list}
    assert kinds(winner["outcomes"][0]) == {"name": str, "price": float}
    assert kinds(spread["outcomes"][0]) == {"name": str, "price": float, "point": float}
    assert [each["name"] for each in total["outcomes"]] == ["Over", "Under"]
    assert more["bookmakers"][0]["link"] is None
    assert more["bookmakers"][0]["markets"][0]["outcomes"][0]["bet_limit"] > 0


async def test_a_prop_names_its_player_and_its_book_has_no_update(
    basketball: SimulatedSeason,
) -> None:
    game = basketball.games.ids[40]
    async with connect(feed_before(basketball, hours=0.5)) as client:
        row = await client.get_json(
            f"{SPORT}/events/{game}/odds",
            regions="us",
            markets="player_points",
            oddsFormat="american",
        )

    book = row["bookmakers"][0]
    assert kinds(row) == {**EVENT, "bookmakers": list}
    assert kinds(book) == {"key": str, "title": str, "markets": list}
    assert kinds(book["markets"][0]) == {"key": str, "last_update": str, "outcomes": list}
    assert kinds(book["markets"][0]["outcomes"][0]) == {
        "name": str,
        "description": str,
        "price": int,
        "point": float,
    }


async def test_scores_are_null_before_and_texts_after(basketball: SimulatedSeason) -> None:
    feed = OddsApiSimulator(
        (basketball,), ManualClock(start_of(basketball, 40) + timedelta(hours=6))
    )
    async with connect(feed) as client:
        rows = await client.get_json(f"{SPORT}/scores", daysFrom="1")
        live = await client.get_json(f"{SPORT}/scores")

    over = next(row for row in rows if row["completed"])
    ahead = next(row for row in rows if row["scores"] is None)
    assert kinds(over) == {**EVENT, "completed": bool, "scores": list, "last_update": str}
    assert kinds(over["scores"][0]) == {"name": str, "score": str}
    assert (ahead["completed"], ahead["last_update"]) == (False, None)
    assert not [row for row in live if row["completed"]]


async def test_the_past_is_wrapped_with_its_neighbours(basketball: SimulatedSeason) -> None:
    feed = feed_before(basketball, 60)
    date = f"{start_of(basketball, 40) - timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}"
    past, game = "/v4/historical/sports/basketball_nba", basketball.games.ids[40]
    async with connect(feed) as client:
        odds = await client.get_json(f"{past}/odds", regions="us", date=date)
        events = await client.get_json(f"{past}/events", date=date)
        one = await client.get_json(
            f"{past}/events/{game}/odds", regions="us", markets="player_points", date=date
        )

    wrapped = {"timestamp": str, "previous_timestamp": str, "next_timestamp": str}
    assert kinds(odds) == kinds(events) == {**wrapped, "data": list}
    assert kinds(one) == {**wrapped, "data": dict}
    assert kinds(events["data"][0]) == EVENT


async def test_espn_has_games_box_scores_and_injuries(
    basketball: SimulatedSeason,
) -> None:
    clock = ManualClock(start_of(basketball, 40) + timedelta(hours=12))
    day = f"{start_of(basketball, 40) - timedelta(hours=5):%Y%m%d}"
    site = "/apis/site/v2/sports/basketball/nba"
    async with connect(OddsApiSimulator((basketball,), clock)) as client:
        board = await client.get_json(f"{site}/scoreboard", dates=day)
        event = board["events"][0]
        summary = await client.get_json(f"{site}/summary", event=event["id"])
        schedule = await client.get_json(f"{site}/teams/1/schedule")
        injuries = await client.get_json(f"{site}/injuries")
        missing = await client.get(f"{site}/summary", event="1")

    sides = event["competitions"][0]["competitors"]
    people = summary["boxscore"]["players"][0]["statistics"][0]
    assert {side["homeAway"] for side in sides} == {"home", "away"}
    assert {"id", "score", "team", "winner"} <= sides[0].keys()
    assert event["status"]["type"]["completed"] is True
    assert {"name", "displayValue"} == summary["boxscore"]["teams"][0]["statistics"][0].keys()
    assert len(people["labels"]) == len(people["athletes"][0]["stats"])
    assert {"displayName", "injuries"} <= injuries["injuries"][0].keys()
    assert schedule["team"]["id"] == "1"
    assert missing.status_code == 404


async def test_soccer_players_are_in_rosters(soccer: SimulatedSeason) -> None:
    clock = ManualClock(start_of(soccer, 40) + timedelta(hours=12))
    async with connect(OddsApiSimulator((soccer,), clock)) as client:
        data = await client.get_json("/apis/site/v2/sports/soccer/eng.1/summary", event="401000040")

    first = data["rosters"][0]["roster"][0]
    assert {each["name"] for each in first["stats"]} == {"totalShots", "shotsOnTarget"}
    assert "players" not in data["boxscore"]
