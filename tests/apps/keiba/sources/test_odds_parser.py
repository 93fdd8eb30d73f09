"""Odds: JSON on national tracks, tables on local ones, and what there is before them."""

import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from grandstand.apps.keiba.domain.errors import NotPublished, PageUnreadable
from grandstand.apps.keiba.domain.races import Odds, PlaceOdds, WinOdds
from grandstand.apps.keiba.sources.race_parser import parse_local_odds, parse_odds
from tests.apps.keiba.sources.race_pages import LOCAL, LOCAL_ODDS, RACE, document, page

WIN = {"02": ["14.3", "0.0", "3"], "01": ["1,002.4", "0.0", "9"], "03": ["---.-", "", ""]}
PLACE = {"01": ["1.2", "1.8", "1"]}


def odds_json(status: str, odds: object, at: str = "2026-11-15 15:40:00") -> str:
    return json.dumps({"status": status, "data": {"official_datetime": at, "odds": odds}})


@pytest.mark.parametrize(
    ("word", "status"), [("result", "final"), ("middle", "live"), ("yoso", "forecast")]
)
def test_odds_are_by_number_with_their_moment(word: str, status: str) -> None:
    parsed = parse_odds(page(odds_json(word, {"1": WIN, "2": PLACE})), RACE)

    assert parsed.value.status == status
    assert parsed.value.win == (
        WinOdds(1, Decimal("1002.4"), 9),
        WinOdds(2, Decimal("14.3"), 3),
        WinOdds(3, None),
    )
    assert parsed.value.place == (PlaceOdds(1, Decimal("1.2"), Decimal("1.8"), 1),)
    assert parsed.value.official_at == datetime(2026, 11, 15, 6, 40, tzinfo=UTC)


def test_a_forecast_has_no_odds_for_places() -> None:
    assert parse_odds(page(odds_json("yoso", {"1": WIN}, "")), RACE).value.place == ()


def test_what_cannot_be_made_out_is_told() -> None:
    parsed = parse_odds(page(odds_json("middle", {"1": WIN | {"x": 5, "04": ["1"]}})), RACE)

    assert len(parsed.value.win) == 3
    assert len(parsed.warnings) == 2


@pytest.mark.parametrize(
    "text",
    [odds_json("yoso", {"1": {}}), '{"status":"NG","data":""}', '{"status":"middle","data":[]}'],
)
def test_odds_that_are_not_out_yet_are_not_published(text: str) -> None:
    with pytest.raises(NotPublished, match=r"race\.example/page"):
        parse_odds(page(text), RACE)


@pytest.mark.parametrize("text", ["<html></html>", "[]", '{"data":{}}', '{"status":"mid', "7"])
def test_what_is_no_odds_at_all_is_an_error(text: str) -> None:
    with pytest.raises(PageUnreadable, match=r"race\.example/page"):
        parse_odds(page(text), RACE)


def test_local_odds_are_read_from_their_tables() -> None:
    parsed = parse_local_odds(page(LOCAL_ODDS), LOCAL)

    assert parsed.value == Odds(
        LOCAL,
        "live",
        (WinOdds(1, Decimal("2.4")), WinOdds(2, None)),
        (PlaceOdds(1, Decimal("1.2"), Decimal("1.7")),),
    )


def test_local_odds_that_are_not_out_yet_are_not_published() -> None:
    with pytest.raises(NotPublished):
        parse_local_odds(page(LOCAL_ODDS.replace("2.4", "---.-")), LOCAL)


def test_a_page_without_local_odds_is_an_error() -> None:
    with pytest.raises(PageUnreadable, match="no table of odds"):
        parse_local_odds(page(document("<p>?</p>")), LOCAL)
