"""The routes of bets: responses and errors."""

from __future__ import annotations

from typing import Any

import pytest

from tests.apps.bets.api.server import BetsServer

A = "/api/bets"
NBA, EPL = "basketball_nba", "soccer_epl"
SEASON = {"start_date": "2025-10-21", "end_date": "2025-12-31"}
FORM: dict[str, Any] = {
    "name": "Form and rest",
    "sport": EPL,
    "bet_types": ["h2h"],
    "data_sources": {
        "recent_form": {"weight": 0.6},
        "rest_schedule": {"weight": 0.4},
        "injuries": {"enabled": False, "weight": 0.5},
    },
    "min_confidence": 0.5,
}


def get_json(platform: BetsServer, path: str, **query: Any) -> Any:
    """Return the JSON of a successful request of Bob's."""
    reply = platform.bob.get(f"{A}{path}", params=query)
    assert reply.status_code == 200, reply.text
    return reply.json()


def test_games_are_told_with_the_prices_of_every_book(platform: BetsServer) -> None:
    result = get_json(platform, "/games", sport=NBA)
    one_book = get_json(platform, "/games", sport=NBA, bookmaker="betmgm")

    soon = result["games"][0]
    prices = {each["name"]: each["price"] for each in soon["odds"]["draftkings"]["h2h"]}
    assert [each["game_id"] for each in result["games"]] == ["soon", "later"]
    assert (result["count"], result["cursor"]) == (2, None)
    assert prices == {"Los Angeles Lakers": -120, "Boston Celtics": 105}
    assert soon["odds"]["fanduel"]["totals"][0]["point"] == 218.5
    assert soon["captured_at"]["fanduel"]["h2h"] < soon["updated_at"]
    assert [list(each["odds"]) for each in one_book["games"]] == [["betmgm"]]


def test_a_list_goes_on_where_its_cursor_says_and_for_nobody_else(platform: BetsServer) -> None:
    query: dict[str, str | int] = {"sport": NBA, "limit": 1}
    first = get_json(platform, "/games", **query)
    rest = get_json(platform, "/games", **query, cursor=first["cursor"])
    stolen = platform.ada.get(f"{A}/games", params={**query, "cursor": first["cursor"]})
    elsewhere = platform.bob.get(
        f"{A}/games", params={**query, "sport": EPL, "cursor": first["cursor"]}
    )

    assert [each["game_id"] for each in rest["games"]] == ["later"]
    assert rest["cursor"] is None
    assert (stolen.status_code, elsewhere.status_code) == (400, 400)


def test_a_game_is_told_with_lines_views_form_and_props(platform: BetsServer) -> None:
    soon, over = get_json(platform, "/games/soon"), get_json(platform, "/games/over")

    moved = next(
        each
        for each in soon["lines"]
        if (each["bookmaker"], each["market_key"]) == ("draftkings", "h2h")
    )
    views = {each["model"]: each for each in soon["analyses"] if each["market_key"] == "h2h"}
    assert len(moved["points"]) == 2
    assert {"consensus", "value", "ensemble"} <= set(views)
    assert views["ensemble"]["reasons"]
    assert [each["player"] for each in soon["props"]] == ["Jayson Tatum"]
    assert (over["score"]["home_score"], over["score"]["away_score"]) == (110, 100)
    assert over["closing"]
    assert soon["home_form"][0]["opponent"] == "Boston Celtics"


def test_sports_bookmakers_and_props_are_told(platform: BetsServer) -> None:
    props = get_json(platform, "/player-props", sport=NBA, prop_type="player_points")
    none = get_json(platform, "/player-props", sport=NBA, prop_type="player_assists")

    assert get_json(platform, "/sports")["sports"] == [NBA, EPL]
    assert {"betmgm", "caesars", "draftkings", "fanduel"} <= set(
        get_json(platform, "/bookmakers")["bookmakers"]
    )
    assert props["props"][0]["player"] == "Jayson Tatum"
    assert props["filters"] == {
        "sport": NBA,
        "bookmaker": None,
        "prop_type": "player_points",
    }
    assert none["count"] == 0


def test_predictions_are_told_by_the_names_of_the_reference(platform: BetsServer) -> None:
    result = get_json(platform, "/analyses", bookmaker="fanduel", model="ensemble")
    top = get_json(platform, "/top-analysis")["top_analysis"]
    no_book = get_json(platform, "/top-analysis", bookmaker="nobody")

    first = result["analyses"][0]
    assert result["count"] == len(result["analyses"]) == 4
    assert {"prediction", "confidence", "reasoning", "roi", "risk_level"} <= set(first)
    assert 0 < first["confidence"] < 1
    assert top["prediction"] == "Los Angeles Lakers"
    assert top["roi"] == pytest.approx((top["confidence"] * 2.5 - 1) * 100, abs=0.02)
    assert no_book == {"top_analysis": None}


def test_how_good_models_are_is_told_with_bounds_and_evidence(platform: BetsServer) -> None:
    one = get_json(platform, "/model-performance", model="consensus", sport=NBA)
    nothing = get_json(platform, "/model-performance", model="elo")
    compared = get_json(platform, "/model-comparison")
    everywhere = get_json(platform, "/model-comparison", sport="all")
    advised = get_json(platform, "/model-adjustments")["adjustments"]

    own = next(each for each in compared["models"] if each["model"] == "consensus")
    assert (one["decided"], one["correct"]) == (3, 2)
    assert one["accuracy_interval"]["low"] < one["accuracy"] < one["accuracy_interval"]["high"]
    assert (nothing["accuracy"], nothing["roi"]) == (None, None)
    assert own["original_accuracy"] + own["inverse_accuracy"] == pytest.approx(1)
    assert own["accuracy_diff"] == pytest.approx(1 / 3)
    assert (own["recommendation"], own["evidence"]) == ("AVOID", "INSUFFICIENT_DATA")
    assert compared["summary"]["avoid"] == compared["summary"]["total_models"]
    assert len(everywhere["models"]) == 2 * len(compared["models"])
    assert {each["confidence_multiplier"] for each in advised} == {1.0}


def test_rankings_are_by_return_and_may_turn_models_round(platform: BetsServer) -> None:
    both = get_json(platform, "/model-rankings", mode="both")
    plain = get_json(platform, "/model-rankings")

    bets = [each for each in both["rankings"] if each["total_bets"]]
    assert {each["mode"] for each in bets} == {"original", "inverse"}
    assert [each["roi"] for each in bets] == sorted((e["roi"] for e in bets), reverse=True)
    assert {each["mode"] for each in plain["rankings"]} == {"original"}
    best = next(each for each in bets if (each["model"], each["mode"]) == ("value", "original"))
    assert (best["profit"], best["wins"], best["losses"]) == ("80.00", 1, 0)


def test_a_model_is_made_changed_paused_tested_and_removed(platform: BetsServer) -> None:
    made = platform.bob.post(f"{A}/user-models", json=FORM)
    place = f"{A}/user-models/{made.json()['model_id']}"
    changed = platform.bob.put(place, json=FORM | {"name": "Rest and form", "status": "paused"})
    back = platform.bob.patch(place, json={"status": "active"})
    tested = platform.bob.post(f"{place}/backtests", json=SEASON)
    listed = platform.bob.get(f"{place}/backtests").json()
    whole = platform.bob.get(f"{A}/backtests/{tested.json()['backtest_id']}").json()
    performance = platform.bob.get(f"{place}/performance").json()
    predictions = platform.bob.get(f"{A}/user-models/predictions").json()
    removed = platform.bob.delete(place)

    assert made.status_code == 201
    assert made.json()["data_sources"] == {
        "recent_form": {"enabled": True, "weight": 0.6},
        "rest_schedule": {"enabled": True, "weight": 0.4},
    }
    assert (changed.json()["name"], changed.json()["status"]) == ("Rest and form", "paused")
    assert back.json()["status"] == "active"
    assert (tested.status_code, tested.json()["games"]) == (201, 58)
    assert tested.json()["trials"] >= 1
    assert whole == tested.json()
    assert [each["predictions"] for each in listed["backtests"]] == [[]]
    assert (performance["total"], performance["accuracy"]) == (0, None)
    assert (predictions["predictions"], predictions["cursor"]) == ([], None)
    assert (removed.status_code, platform.bob.get(place).status_code) == (204, 404)


def test_a_person_has_five_models_and_no_more(platform: BetsServer) -> None:
    made = [
        platform.bob.post(f"{A}/user-models", json=FORM | {"name": f"Model {n}"}) for n in range(6)
    ]
    kept = platform.bob.get(f"{A}/user-models").json()
    for each in kept["models"]:
        platform.bob.delete(f"{A}/user-models/{each['model_id']}")

    assert [each.status_code for each in made] == [201] * 5 + [429]
    assert kept["count"] == 5


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"data_sources": {"recent_form": {"weight": 0.6}}}, 400),
        ({"data_sources": {"stars": {"weight": 1}}}, 400),
        ({"data_sources": {"recent_form": {"weight": 1.5}}}, 422),
        ({"sport": "curling"}, 400),
        ({"bet_types": []}, 422),
        ({"bet_types": ["outright"]}, 422),
        ({"min_confidence": 0.2}, 422),
        ({"custom_datasets": [{"id": "nowhere", "weight": 0.2}]}, 400),
        ({"name": "x"}, 422),
    ],
)
def test_a_model_that_cannot_be_is_refused_and_not_stored(
    platform: BetsServer, change: dict[str, Any], status: int
) -> None:
    refused = platform.bob.post(f"{A}/user-models", json=FORM | change)

    assert refused.status_code == status
    assert refused.json()["detail"]
    assert platform.bob.get(f"{A}/user-models").json()["models"] == []


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"end_date": "2025-10-01"}, 400),
        ({"start_date": "0001-01-01"}, 422),
        ({"start_date": "2024-01-01", "end_date": "2024-02-01"}, 400),
        ({"model": "oracle"}, 404),
        ({"sport": "curling"}, 404),
        ({"train_days": 0}, 422),
    ],
)
def test_what_cannot_be_walked_is_refused(
    platform: BetsServer, change: dict[str, Any], status: int
) -> None:
    asked = {"model": "elo", "sport": EPL} | SEASON | change

    refused = platform.bob.post(f"{A}/backtests", json=asked)

    assert refused.status_code == status
    assert platform.bob.get(f"{A}/backtests", params={"limit": 1}).status_code == 200


def test_a_table_of_figures_is_brought_whole_or_not_at_all(platform: BetsServer) -> None:
    table = {"name": "Miles", "sport": NBA, "data": "team,date,miles\nLakers,2026-01-31,812\n"}
    made = platform.bob.post(f"{A}/custom-data/upload", json=table)
    torn = platform.bob.post(f"{A}/custom-data/upload", json=table | {"data": "team,miles\n,1\n"})
    nameless = platform.bob.post(f"{A}/custom-data/upload", json=table | {"data": "miles\n1\n"})
    listed = platform.bob.get(f"{A}/custom-data").json()
    removed = platform.bob.delete(f"{A}/custom-data/{made.json()['dataset_id']}")

    assert made.status_code == 201
    assert (made.json()["data_type"], made.json()["row_count"]) == ("team", 1)
    assert (torn.status_code, nameless.status_code) == (400, 400)
    assert "line 2" in torn.json()["detail"]
    assert listed["count"] == 1
    assert removed.status_code == 204


def test_benny_is_told_by_the_names_of_the_reference_with_money_as_text(
    platform: BetsServer,
) -> None:
    result = get_json(platform, "/benny/dashboard")
    bets = get_json(platform, "/benny/bets")["bets"]
    shadow = get_json(platform, "/benny/shadow")
    no_rule = get_json(platform, "/benny/shadow", rule="nobody_has_it")

    won = result["recent_bets"][0]
    assert (result["weekly_budget"], result["total_bets"], result["pending_bets"]) == (
        "100.00",
        1,
        0,
    )
    assert float(result["current_bankroll"]) == pytest.approx(100 + float(won["profit"]))
    assert result["sports_performance"][0]["record"] == "1-0"
    assert result["bankroll_history"][-1]["bankroll"] == result["current_bankroll"]
    assert bets == [won]
    assert shadow["count"] == sum(each["rejected"] for each in result["rules"])
    assert all(each["rejected_by"] for each in shadow["bets"])
    assert no_rule["bets"] == []


def test_a_bet_is_recorded_once_for_its_token_and_taken_back(platform: BetsServer) -> None:
    bet = {
        "game_id": "soon",
        "market_key": "spreads",
        "side": "home",
        "point": -3.5,
        "price": -110,
        "stake": "15.50",
        "token": "one form",
    }
    first = platform.bob.post(f"{A}/wagers", json=bet)
    again = platform.bob.post(f"{A}/wagers", json=bet)
    summary = platform.bob.get(f"{A}/wagers/summary").json()
    listed = platform.bob.get(f"{A}/wagers").json()
    back = platform.bob.delete(f"{A}/wagers/{first.json()['wager_id']}")

    assert (first.status_code, first.json()["stake"]) == (201, "15.50")
    assert again.json() == first.json()
    assert (summary["bets"], summary["open_stakes"]) == (1, "15.50")
    assert listed["wagers"] == [first.json()]
    assert back.status_code == 204
    assert platform.bob.get(f"{A}/wagers").json()["wagers"] == []


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"price": 50}, 400),
        ({"stake": "0"}, 400),
        ({"stake": "1.005"}, 422),
        ({"stake": 5}, 422),
        ({"side": "over"}, 400),
        ({"market_key": "moon"}, 400),
        ({"game_id": "nowhere"}, 404),
        ({"game_id": "over"}, 400),
        ({"placed_at": "2026-02-11T13:00:00"}, 422),
    ],
)
def test_a_bet_that_cannot_be_is_refused_and_not_stored(
    platform: BetsServer, change: dict[str, Any], status: int
) -> None:
    bet = {"game_id": "soon", "market_key": "h2h", "side": "home", "price": 150, "stake": "5.00"}

    refused = platform.bob.post(f"{A}/wagers", json=bet | change)

    assert refused.status_code == status, refused.text
    assert platform.bob.get(f"{A}/wagers").json()["wagers"] == []


def test_bets_of_a_file_are_taken_and_bad_lines_named(platform: BetsServer) -> None:
    text = "game_id,market,side,price,stake\nsoon,h2h,home,150,5\nsoon,h2h,home,50,5\n"
    taken = platform.ada.post(f"{A}/wagers/import", json={"data": text}).json()
    again = platform.ada.post(f"{A}/wagers/import", json={"data": text}).json()
    nonsense = platform.ada.post(f"{A}/wagers/import", json={"data": "a,b\n1,2\n"})
    for each in platform.ada.get(f"{A}/wagers").json()["wagers"]:
        platform.ada.delete(f"{A}/wagers/{each['wager_id']}")

    assert (taken["recorded"], taken["already_recorded"], taken["rejected"][0]["line"]) == (1, 0, 3)
    assert (again["recorded"], again["already_recorded"]) == (0, 1)
    assert nonsense.status_code == 400


def test_limits_stand_against_bets_and_time_out_cannot_be_shortened(platform: BetsServer) -> None:
    bet = {"game_id": "soon", "market_key": "h2h", "side": "home", "price": 150, "stake": "5.00"}
    with platform.client("cleo") as cleo:
        tight = cleo.put(f"{A}/limits", json={"stake_per_bet": "4.00"}).json()
        over = cleo.post(f"{A}/wagers", json=bet)
        out = cleo.put(f"{A}/limits/time-out", json={"until": "2026-03-01T00:00:00Z"}).json()
        shorter = cleo.put(f"{A}/limits/time-out", json={"until": "2026-02-20T00:00:00Z"}).json()
        past = cleo.put(f"{A}/limits/time-out", json={"until": "2020-01-01T00:00:00Z"})
        timed = cleo.post(f"{A}/wagers", json=bet | {"stake": "1.00"})
        kept = cleo.get(f"{A}/wagers").json()["wagers"]

    assert tight["stake_per_bet"] == "4.00"
    assert (over.status_code, timed.status_code) == (429, 429)
    assert out["time_out_until"] == shorter["time_out_until"] == "2026-03-01T00:00:00Z"
    assert past.status_code == 400
    assert kept == []


def test_teams_are_liked_and_liked_no_longer(platform: BetsServer) -> None:
    liked = platform.bob.put(f"{A}/favorites/{NBA}/Boston Celtics")
    unknown = platform.bob.put(f"{A}/favorites/curling/Boston Celtics")
    listed = platform.bob.get(f"{A}/favorites").json()["favorites"]
    left = platform.bob.delete(f"{A}/favorites/{NBA}/Boston Celtics")
    again = platform.bob.delete(f"{A}/favorites/{NBA}/Boston Celtics")

    assert liked.json()["team"] == "Boston Celtics"
    assert unknown.status_code == 404
    assert [each["team"] for each in listed] == ["Boston Celtics"]
    assert (left.status_code, again.status_code) == (204, 204)
    assert platform.bob.get(f"{A}/favorites").json()["favorites"] == []


def test_the_tools_find_what_lies_between_the_books(platform: BetsServer) -> None:
    arbitrage = get_json(platform, "/tools/arbitrages")["arbitrages"]
    middles = get_json(platform, "/tools/middles")["middles"]
    stale = get_json(platform, "/tools/stale-lines")["lines"]
    best = get_json(platform, "/tools/best-prices", game_id="soon")["prices"]

    assert sum(leg["share"] for leg in arbitrage[0]["legs"]) == pytest.approx(1)
    assert arbitrage[0]["profit_share"] == pytest.approx(0.1294, abs=1e-4)
    assert (middles[0]["low"], middles[0]["high"]) == (218.5, 223.5)
    assert (stale[0]["bookmaker"], stale[0]["outcome"]["price"]) == ("fanduel", 150)
    assert {each["game_id"] for each in best} == {"soon"}


def test_the_margin_is_taken_out_by_any_method(platform: BetsServer) -> None:
    power = get_json(platform, "/tools/fair-odds", prices=[-150, 130])
    plain = get_json(platform, "/tools/fair-odds", prices=[-150, 130], method="multiplicative")
    impossible = platform.bob.get(f"{A}/tools/fair-odds", params={"prices": [50, 130]})
    alone = platform.bob.get(f"{A}/tools/fair-odds", params={"prices": [150]})

    assert power["probabilities"] == pytest.approx([0.583983, 0.416017], abs=1e-6)
    assert plain["probabilities"] == pytest.approx([0.579832, 0.420168], abs=1e-6)
    assert (impossible.status_code, alone.status_code) == (400, 422)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/games", 422),
        ("/games?sport=curling", 404),
        ("/games?sport=basketball_nba&limit=0", 422),
        ("/games?sport=basketball_nba&cursor=made-up", 400),
        ("/games/nowhere", 404),
        ("/analyses?bookmaker=fanduel&model=oracle", 404),
        ("/analyses?model=elo", 422),
        ("/model-performance?model=oracle", 404),
        ("/model-performance?days=0", 422),
        ("/model-rankings?mode=sideways", 422),
        ("/backtests/nowhere", 404),
        ("/tools/middles?sport=curling", 404),
    ],
)
def test_a_question_that_cannot_be_answered_is_a_problem_with_its_reason(
    platform: BetsServer, path: str, status: int
) -> None:
    reply = platform.bob.get(f"{A}{path}")

    assert reply.status_code == status
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json()["detail"]
