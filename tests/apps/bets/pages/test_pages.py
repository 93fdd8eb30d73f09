"""The pages of a served platform: what they say, what forms do, and whose things are whose."""

import re
from collections.abc import Iterator

import httpx2
import pytest

from tests.apps.bets.api.server import BetsServer, serve_bets

BET = {"game_id": "soon", "market": "h2h", "side": "home", "price": "+150", "stake": "10"}
MODEL = {
    "name": "Rest is best",
    "sport": "soccer_epl",
    "bet_type": "h2h",
    "min_confidence": "55",
    "weight.recent_form": "60",
    "weight.rest_schedule": "40",
    "start": "2025-10-20",
    "end": "2026-02-10",
    "train_days": "20",
    "test_days": "20",
}


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BetsServer]:
    with serve_bets(tmp_path_factory.mktemp("pages")) as opened:
        yield opened


def _built(client: httpx2.Client, name: str) -> str:
    """Return the address of the model that a form has just saved."""
    answer = client.post("/bets/models/new", data={**MODEL, "name": name, "action": "save"})
    assert answer.status_code == 303, answer.text
    return answer.headers["location"].partition("?")[0]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/bets", "Los Angeles Lakers"),
        ("/bets?sport=soccer_epl", "No Premier League games yet."),
        ("/bets?sport=chess&market=luck", "Los Angeles Lakers"),
        ("/bets?market=totals", "Over"),
        ("/bets/games/soon", "Model picks"),
        ("/bets/games/over", "Closing lines"),
        ("/bets/scoreboard", "All models"),
        ("/bets/scoreboard?sport=soccer_epl", "No decided predictions"),
        ("/bets/models", "No models yet."),
        ("/bets/models/new", "Data sources"),
        ("/bets/benny", "virtual money"),
        ("/bets/benny/bets", "Benny’s bets"),
        ("/bets/benny/shadow?rule=none", "Shadow bets"),
        ("/bets/mine", "No bets yet."),
        ("/bets/mine?game=soon", "Los Angeles Lakers v Boston Celtics"),
        ("/bets/mine/import", "Header columns"),
        ("/bets/calculators?prices=-110+-110", "Odds ratio"),
        ("/bets/tools", "Best prices"),
    ],
)
def test_a_page_says_what_it_is_for_and_asks_for_care(
    platform: BetsServer, path: str, expected: str
) -> None:
    answer = platform.bob.get(path)

    assert answer.status_code == 200
    assert expected in answer.text
    assert "Bet only what you can afford to lose." in answer.text


@pytest.mark.parametrize("path", ["/bets", "/bets/mine", "/bets/models", "/bets/benny"])
def test_nobody_sees_a_page_without_a_credential(platform: BetsServer, path: str) -> None:
    led = platform.nobody.get(path, headers={"accept": "text/html"})
    refused = platform.nobody.get(path)

    assert led.headers["location"].startswith("/login?next=")
    assert refused.status_code == 401


@pytest.mark.parametrize(
    "path", ["/bets/games/none", "/bets/models/none", "/bets/models/none/edit"]
)
def test_what_does_not_exist_is_not_found(platform: BetsServer, path: str) -> None:
    assert platform.ada.get(path).status_code == 404


def test_a_bet_is_recorded_once_shown_and_taken_back(platform: BetsServer) -> None:
    first = platform.ada.post("/bets/mine/record", data={**BET, "token": "form-1"})
    again = platform.ada.post("/bets/mine/record", data={**BET, "token": "form-1"})
    html = platform.ada.get("/bets/mine").text
    places = re.findall(r"/bets/mine/([^/\"]+)/remove", html)
    removed = platform.ada.post(f"/bets/mine/{places[0]}/remove")

    assert (first.status_code, again.status_code, removed.status_code) == (303, 303, 303)
    assert len(places) == 1
    assert "/remove" not in platform.ada.get("/bets/mine").text


def test_a_fault_of_a_form_stands_beside_its_field_and_what_was_written_stays(
    platform: BetsServer,
) -> None:
    answer = platform.ada.post("/bets/mine/record", data={**BET, "price": "-50", "note": "my note"})

    assert answer.status_code == 400
    assert 'id="about-price" class="field-error"' in answer.text
    assert "“-50” is not a price." in answer.text
    assert 'value="my note"' in answer.text


@pytest.mark.parametrize("name", ["record", "limits", "time-out", "like"])
def test_a_page_that_shows_a_refused_form_can_be_loaded_again(
    platform: BetsServer, name: str
) -> None:
    answer = platform.bob.get(f"/bets/mine/{name}")

    assert answer.status_code == 200
    assert "My bets" in answer.text


def test_a_table_that_is_none_is_refused_with_its_reason(platform: BetsServer) -> None:
    table = {"name": "Pace", "sport": "basketball_nba"}

    answer = platform.ada.post(
        "/bets/models/data", data=table, files={"file": ("a.csv", b"\xff\xfe")}
    )

    assert answer.status_code == 400
    assert "The dataset was not stored" in answer.text
    assert "No datasets yet." in platform.ada.get("/bets/models/new").text


def test_a_table_of_ones_own_is_brought_and_removed(platform: BetsServer) -> None:
    table = {"name": "Pace", "sport": "basketball_nba"}
    content = b"team,pace\nBoston Celtics,99.1\nLos Angeles Lakers,101.4\n"

    uploaded = platform.ada.post(
        "/bets/models/data", data=table, files={"file": ("a.csv", content)}
    )
    html = platform.ada.get("/bets/models").text
    place = re.findall(r"/bets/models/data/[^/\"]+/delete", html)[0]
    gone = platform.ada.post(place)

    assert (uploaded.status_code, gone.status_code) == (303, 303)
    assert "2 teams: pace" in html
    assert place not in platform.ada.get("/bets/models").text


def test_a_limit_stands_against_a_bet_with_a_message(platform: BetsServer) -> None:
    platform.bob.post("/bets/mine/limits", data={"stake_per_bet": "5"})

    answer = platform.bob.post("/bets/mine/record", data=BET)

    assert answer.status_code == 429
    assert "limit of $5.00 per bet" in answer.text
    assert 'value="5.00"' in answer.text


def test_a_file_is_looked_at_first_and_then_recorded_with_what_was_refused(
    platform: BetsServer,
) -> None:
    content = "game_id,market,side,price,stake\nlater,h2h,home,-200,7\nnowhere,h2h,home,-110,7\nx"

    looked = platform.ada.post("/bets/mine/import", files={"file": ("bets.csv", content.encode())})
    before = platform.ada.get("/bets/mine").text
    done = platform.ada.post("/bets/mine/import", data={"content": content, "action": "record"})

    assert "Record 2 bets" in looked.text
    assert "Rejected lines" in looked.text
    assert "Denver Nuggets" not in before.partition('id="record"')[0]
    assert "1 bet recorded, 2 lines rejected." in done.text
    assert "Game &#39;nowhere&#39; does not exist." in done.text


def test_weights_that_do_not_add_up_are_said_beside_them_and_can_be_scaled(
    platform: BetsServer,
) -> None:
    heavy = {**MODEL, "weight.recent_form": "80"}

    refused = platform.ada.post("/bets/models/new", data={**heavy, "action": "save"})
    scaled = platform.ada.post("/bets/models/new", data={**heavy, "action": "scale"})

    assert refused.status_code == 400
    assert "The weights add up to 120" in refused.text
    assert "Total <output>100</output>" in scaled.text


def test_a_model_is_tried_at_once_without_being_saved(platform: BetsServer) -> None:
    answer = platform.ada.post("/bets/models/new", data={**MODEL, "name": "", "action": "try"})

    assert answer.status_code == 200, answer.text
    assert "Backtest result" in answer.text
    assert "No models yet." in platform.ada.get("/bets/models").text


def test_a_model_is_saved_paused_back_tested_and_deleted_after_a_question(
    platform: BetsServer,
) -> None:
    place = _built(platform.ada, "To be deleted")

    paused = platform.ada.post(f"{place}/pause")
    walked = platform.ada.post(f"{place}/backtest", data=MODEL)
    question = platform.ada.get(f"{place}/delete")
    still = platform.ada.get(place)
    before = platform.ada.get(walked.headers["location"])
    deleted = platform.ada.post(f"{place}/delete")
    after = platform.ada.get(walked.headers["location"])

    assert paused.status_code == 303
    assert f'href="{place}"' in before.text
    assert after.status_code == 200
    assert place not in after.text
    assert "Delete To be deleted?" in question.text
    assert "Paused" in still.text
    assert deleted.headers["location"] == "/bets/models?notice=removed"
    assert platform.ada.get(place).status_code == 404


def test_a_team_is_liked_from_its_game_and_the_way_back_stays_in_the_house(
    platform: BetsServer,
) -> None:
    team = {"sport": "basketball_nba", "team": "Boston Celtics"}

    home = platform.ada.post("/bets/mine/like", data={**team, "back": "/bets/games/soon"})
    astray = platform.ada.post(
        "/bets/mine/like", data={**team, "back": "https://elsewhere.example"}
    )

    assert home.headers["location"] == "/bets/games/soon?notice=liked"
    assert astray.headers["location"].startswith("/?notice=")
    assert "★ Boston Celtics" in platform.ada.get("/bets/games/soon").text
    assert "☆ Boston Celtics" in platform.bob.get("/bets/games/soon").text


def test_defect_25_a_page_knows_its_caller_from_the_credential_alone(platform: BetsServer) -> None:
    place = _built(platform.ada, "Ada's secret")
    account = platform.served.do(platform.served.platform.people.find("ada"))
    assert account is not None
    pretended = {"user_id": account.user_id, "userId": account.user_id, "user": "ada"}

    seen = [
        platform.bob.get("/bets/models", params=pretended),
        platform.bob.get("/bets/mine", params=pretended),
    ]
    tried = [
        platform.bob.get(place, params=pretended).status_code,
        platform.bob.get(f"{place}/edit", params=pretended).status_code,
        platform.bob.post(
            f"{place}/edit", data={**MODEL, **pretended, "action": "save"}
        ).status_code,
        platform.bob.post(f"{place}/pause", data=pretended).status_code,
        platform.bob.post(f"{place}/delete", data=pretended).status_code,
        platform.bob.post(f"{place}/backtest", data={**MODEL, **pretended}).status_code,
    ]
    platform.bob.post("/bets/models/new", data={**MODEL, **pretended, "action": "save"})

    assert ["secret" in answer.text for answer in seen] == [False, False]
    assert tried == [404] * 6
    assert platform.ada.get("/bets/models").text.count('class="card"') == 1
    assert "Rest is best" in platform.bob.get("/bets/models").text
