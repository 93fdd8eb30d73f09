"""The pages of a served house: what they say, what forms do, and whose things are whose."""

import re
from collections.abc import Iterator

import httpx2
import pytest

from tests.apps.bets.api.housed import Housed, housed

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
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Housed]:
    with housed(tmp_path_factory.mktemp("pages")) as opened:
        yield opened


def _built(client: httpx2.Client, name: str) -> str:
    """The address of a model that a form has just kept."""
    answer = client.post("/bets/models/new", data={**MODEL, "name": name, "action": "keep"})
    assert answer.status_code == 303, answer.text
    return answer.headers["location"].partition("?")[0]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/bets", "Los Angeles Lakers"),
        ("/bets?sport=soccer_epl", "No games of the Premier League are priced yet."),
        ("/bets?sport=chess&market=luck", "Los Angeles Lakers"),
        ("/bets?market=totals", "Over"),
        ("/bets/games/soon", "What the models make of it"),
        ("/bets/games/over", "Closing lines"),
        ("/bets/scoreboard", "All models"),
        ("/bets/scoreboard?sport=soccer_epl", "Nothing is decided yet"),
        ("/bets/models", "You have no model yet."),
        ("/bets/models/new", "What counts, and how much"),
        ("/bets/benny", "virtual money"),
        ("/bets/benny/bets", "All of Benny’s bets"),
        ("/bets/benny/shadow?rule=none", "Shadow book"),
        ("/bets/mine", "You have recorded no bet yet."),
        ("/bets/mine?game=soon", "Los Angeles Lakers v Boston Celtics"),
        ("/bets/mine/import", "The first line names the columns"),
        ("/bets/calculators?prices=-110+-110", "Odds ratio"),
        ("/bets/tools", "Best prices"),
    ],
)
def test_a_page_says_what_it_is_for_and_asks_for_care(house: Housed, path: str, said: str) -> None:
    answer = house.bob.get(path)

    assert answer.status_code == 200
    assert said in answer.text
    assert "Bet only what you can afford to lose." in answer.text


@pytest.mark.parametrize("path", ["/bets", "/bets/mine", "/bets/models", "/bets/benny"])
def test_nobody_sees_a_page_without_a_credential(house: Housed, path: str) -> None:
    led = house.nobody.get(path, headers={"accept": "text/html"})
    refused = house.nobody.get(path)

    assert led.headers["location"].startswith("/login?next=")
    assert refused.status_code == 401


@pytest.mark.parametrize(
    "path", ["/bets/games/none", "/bets/models/none", "/bets/models/none/edit"]
)
def test_what_does_not_exist_is_not_found(house: Housed, path: str) -> None:
    assert house.ada.get(path).status_code == 404


def test_a_bet_is_recorded_once_shown_and_taken_back(house: Housed) -> None:
    first = house.ada.post("/bets/mine/record", data={**BET, "token": "form-1"})
    again = house.ada.post("/bets/mine/record", data={**BET, "token": "form-1"})
    shown = house.ada.get("/bets/mine").text
    places = re.findall(r"/bets/mine/([^/\"]+)/remove", shown)
    removed = house.ada.post(f"/bets/mine/{places[0]}/remove")

    assert (first.status_code, again.status_code, removed.status_code) == (303, 303, 303)
    assert len(places) == 1
    assert "/remove" not in house.ada.get("/bets/mine").text


def test_a_fault_of_a_form_stands_beside_its_field_and_what_was_written_stays(
    house: Housed,
) -> None:
    answer = house.ada.post("/bets/mine/record", data={**BET, "price": "-50", "note": "my note"})

    assert answer.status_code == 400
    assert 'id="about-price" class="field-error"' in answer.text
    assert "“-50” is no price." in answer.text
    assert 'value="my note"' in answer.text


@pytest.mark.parametrize("name", ["record", "limits", "time-out", "like"])
def test_a_page_that_shows_a_refused_form_can_be_loaded_again(house: Housed, name: str) -> None:
    answer = house.bob.get(f"/bets/mine/{name}")

    assert answer.status_code == 200
    assert "My bets" in answer.text


def test_a_table_that_is_none_is_refused_with_its_reason(house: Housed) -> None:
    table = {"name": "Pace", "sport": "basketball_nba"}

    answer = house.ada.post("/bets/models/data", data=table, files={"file": ("a.csv", b"\xff\xfe")})

    assert answer.status_code == 400
    assert "The table was not taken" in answer.text
    assert "You have no tables yet." in house.ada.get("/bets/models/new").text


def test_a_table_of_ones_own_is_brought_and_removed(house: Housed) -> None:
    table = {"name": "Pace", "sport": "basketball_nba"}
    content = b"team,pace\nBoston Celtics,99.1\nLos Angeles Lakers,101.4\n"

    kept = house.ada.post("/bets/models/data", data=table, files={"file": ("a.csv", content)})
    shown = house.ada.get("/bets/models").text
    place = re.findall(r"/bets/models/data/[^/\"]+/delete", shown)[0]
    gone = house.ada.post(place)

    assert (kept.status_code, gone.status_code) == (303, 303)
    assert "2 teams: pace" in shown
    assert place not in house.ada.get("/bets/models").text


def test_a_limit_stands_against_a_bet_in_words(house: Housed) -> None:
    house.bob.post("/bets/mine/limits", data={"stake_per_bet": "5"})

    answer = house.bob.post("/bets/mine/record", data=BET)

    assert answer.status_code == 429
    assert "You allow yourself $5.00 a bet" in answer.text
    assert 'value="5.00"' in answer.text


def test_a_file_is_looked_at_first_and_then_recorded_with_what_was_refused(house: Housed) -> None:
    content = "game_id,market,side,price,stake\nlater,h2h,home,-200,7\nnowhere,h2h,home,-110,7\nx"

    looked = house.ada.post("/bets/mine/import", files={"file": ("bets.csv", content.encode())})
    before = house.ada.get("/bets/mine").text
    done = house.ada.post("/bets/mine/import", data={"content": content, "action": "record"})

    assert "Record 2 bets" in looked.text
    assert "Refused lines" in looked.text
    assert "Denver Nuggets" not in before.partition('id="record"')[0]
    assert "1 bet is recorded, 2 lines were refused." in done.text
    assert "There is no game nowhere" in done.text


def test_weights_that_do_not_add_up_are_said_beside_them_and_can_be_scaled(house: Housed) -> None:
    heavy = {**MODEL, "weight.recent_form": "80"}

    refused = house.ada.post("/bets/models/new", data={**heavy, "action": "keep"})
    scaled = house.ada.post("/bets/models/new", data={**heavy, "action": "scale"})

    assert refused.status_code == 400
    assert "The weights add up to 120" in refused.text
    assert "Together <output>100</output>" in scaled.text


def test_a_model_is_tried_at_once_without_being_kept(house: Housed) -> None:
    answer = house.ada.post("/bets/models/new", data={**MODEL, "name": "", "action": "try"})

    assert answer.status_code == 200, answer.text
    assert "What would have come of it" in answer.text
    assert "You have no model yet." in house.ada.get("/bets/models").text


def test_a_model_is_kept_paused_back_tested_and_deleted_after_a_question(house: Housed) -> None:
    place = _built(house.ada, "To be deleted")

    paused = house.ada.post(f"{place}/pause")
    walked = house.ada.post(f"{place}/backtest", data=MODEL)
    asked = house.ada.get(f"{place}/delete")
    still = house.ada.get(place)
    before = house.ada.get(walked.headers["location"])
    deleted = house.ada.post(f"{place}/delete")
    after = house.ada.get(walked.headers["location"])

    assert paused.status_code == 303
    assert f'href="{place}"' in before.text
    assert after.status_code == 200
    assert place not in after.text
    assert "Delete To be deleted?" in asked.text
    assert "Paused" in still.text
    assert deleted.headers["location"] == "/bets/models?said=removed"
    assert house.ada.get(place).status_code == 404


def test_a_team_is_liked_from_its_game_and_the_way_back_stays_in_the_house(house: Housed) -> None:
    team = {"sport": "basketball_nba", "team": "Boston Celtics"}

    home = house.ada.post("/bets/mine/like", data={**team, "back": "/bets/games/soon"})
    astray = house.ada.post("/bets/mine/like", data={**team, "back": "https://elsewhere.example"})

    assert home.headers["location"] == "/bets/games/soon?said=liked"
    assert astray.headers["location"].startswith("/?said=")
    assert "★ Boston Celtics" in house.ada.get("/bets/games/soon").text
    assert "☆ Boston Celtics" in house.bob.get("/bets/games/soon").text


def test_defect_25_a_page_knows_its_caller_from_the_credential_alone(house: Housed) -> None:
    place = _built(house.ada, "Ada's secret")
    account = house.served.do(house.served.house.people.find("ada"))
    assert account is not None
    pretended = {"user_id": account.user_id, "userId": account.user_id, "user": "ada"}

    seen = [
        house.bob.get("/bets/models", params=pretended),
        house.bob.get("/bets/mine", params=pretended),
    ]
    tried = [
        house.bob.get(place, params=pretended).status_code,
        house.bob.get(f"{place}/edit", params=pretended).status_code,
        house.bob.post(f"{place}/edit", data={**MODEL, **pretended, "action": "keep"}).status_code,
        house.bob.post(f"{place}/pause", data=pretended).status_code,
        house.bob.post(f"{place}/delete", data=pretended).status_code,
        house.bob.post(f"{place}/backtest", data={**MODEL, **pretended}).status_code,
    ]
    house.bob.post("/bets/models/new", data={**MODEL, **pretended, "action": "keep"})

    assert ["secret" in answer.text for answer in seen] == [False, False]
    assert tried == [404] * 6
    assert house.ada.get("/bets/models").text.count('class="card"') == 1
    assert "Rest is best" in house.bob.get("/bets/models").text
