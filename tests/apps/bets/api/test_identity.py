"""The caller is identified by the credential alone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.apps.bets.api.server import BetsServer

A = "/api/bets"
MODEL: dict[str, Any] = {
    "name": "Form alone",
    "sport": "basketball_nba",
    "bet_types": ["h2h"],
    "data_sources": {"recent_form": {"enabled": True, "weight": 1}},
    "min_confidence": 0.55,
}
WAGER = {"game_id": "soon", "market_key": "h2h", "side": "home", "price": 150, "stake": "5.00"}


@pytest.fixture(scope="module")
def model_id(platform: BetsServer) -> str:
    """A model of Ada's."""
    made = platform.ada.post(f"{A}/user-models", json=MODEL)
    assert made.status_code == 201, made.text
    return str(made.json()["model_id"])


@pytest.mark.parametrize(
    "path",
    [
        "/user-models",
        "/user-models/predictions",
        "/backtests",
        "/custom-data",
        "/wagers",
        "/wagers/summary",
        "/limits",
        "/favorites",
        "/model-comparison",
        "/model-rankings",
    ],
)
def test_defect_25_a_user_id_in_the_query_is_refused(platform: BetsServer, path: str) -> None:
    reply = platform.bob.get(f"{A}{path}", params={"user_id": "ada"})

    assert reply.status_code == 422
    assert "user_id" in reply.text


@pytest.mark.parametrize(
    ("path", "body"), [("/user-models", MODEL), ("/wagers", WAGER), ("/custom-data/upload", {})]
)
def test_defect_25_a_user_id_in_the_body_is_refused_and_nothing_is_stored(
    platform: BetsServer, path: str, body: dict[str, Any]
) -> None:
    reply = platform.bob.post(f"{A}{path}", json={**body, "user_id": "ada"})

    assert reply.status_code == 422
    assert "user_id" in reply.text
    assert platform.bob.get(f"{A}/user-models").json()["models"] == []
    assert platform.bob.get(f"{A}/wagers").json()["wagers"] == []
    assert platform.ada.get(f"{A}/wagers").json()["wagers"] == []


def test_defect_25_anothers_model_is_not_found_whatever_one_does(
    platform: BetsServer, model_id: str
) -> None:
    place = f"{A}/user-models/{model_id}"
    days = {"start_date": "2025-10-21", "end_date": "2025-12-31"}

    replies = [
        platform.bob.get(place),
        platform.bob.put(place, json=MODEL | {"name": "Stolen"}),
        platform.bob.patch(place, json={"status": "paused"}),
        platform.bob.delete(place),
        platform.bob.get(f"{place}/predictions"),
        platform.bob.get(f"{place}/performance"),
        platform.bob.get(f"{place}/backtests"),
        platform.bob.post(f"{place}/backtests", json=days),
    ]
    kept = platform.ada.get(place).json()

    assert [each.status_code for each in replies] == [404] * 8
    assert (kept["name"], kept["status"]) == ("Form alone", "active")
    assert platform.bob.get(f"{A}/user-models").json()["models"] == []


def test_defect_25_anothers_bets_tables_and_back_tests_are_not_found(platform: BetsServer) -> None:
    wager = platform.ada.post(f"{A}/wagers", json=WAGER | {"token": "only once"}).json()
    table = {"name": "Miles", "sport": "basketball_nba", "data": "team,miles\nLakers,812\n"}
    dataset = platform.ada.post(f"{A}/custom-data/upload", json=table).json()
    walk = {"model": "elo", "sport": "soccer_epl"}
    days = {"start_date": "2025-11-10", "end_date": "2025-12-31"}
    tested = platform.ada.post(f"{A}/backtests", json=walk | days).json()

    replies = [
        platform.bob.delete(f"{A}/wagers/{wager['wager_id']}"),
        platform.bob.delete(f"{A}/custom-data/{dataset['dataset_id']}"),
        platform.bob.get(f"{A}/backtests/{tested['backtest_id']}"),
    ]

    assert [each.status_code for each in replies] == [404, 404, 404]
    assert platform.ada.get(f"{A}/backtests/{tested['backtest_id']}").json() == tested
    assert [each["name"] for each in platform.ada.get(f"{A}/custom-data").json()["datasets"]] == [
        "Miles"
    ]
    assert len(platform.ada.get(f"{A}/wagers").json()["wagers"]) == 1


def test_defect_25_nobody_gets_in_without_a_credential_but_to_benny(platform: BetsServer) -> None:
    paths = [
        "/games?sport=basketball_nba",
        "/user-models",
        "/wagers",
        "/limits",
        "/benny/bets",
        "/model-rankings",
        "/tools/best-prices",
    ]

    refused = [platform.nobody.get(f"{A}{path}").status_code for path in paths]
    benny = platform.nobody.get(f"{A}/benny/dashboard")

    assert refused == [401] * 7
    assert benny.status_code == 200
    assert "user_id" not in benny.text
