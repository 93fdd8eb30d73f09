"""Seasons of football-data.co.uk with the columns of their year."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import hypothesis
import pytest
from hypothesis import strategies as st

from grandstand.apps.bets.domain.records import ArchivedSeason, PricedOutcome
from grandstand.apps.bets.sources.football_data import (
    division_sport,
    parse_decimal_price,
    parse_season,
)
from grandstand.core.errors import InvalidInput
from tests.apps.bets.sources.feeds import day_of, played, result_of
from tests.simulators.odds.football_data_csv import Years, football_data_csv

HEADING = "Div,Date,Time,HomeTeam,AwayTeam,FTHG,FTAG,FTR,B365H,B365D,B365A,B365CH,B365CD,B365CA"
LINE = "E0,16/08/2024,20:00,Man United,Fulham,1,0,H,1.6,4.2,5.25,1.65,4.1,5.0"


def lines(*rows: str, heading: str = HEADING) -> bytes:
    """A file."""
    return "\r\n".join([heading, *rows, ""]).encode("utf-8-sig")


@pytest.mark.parametrize("years", ["2004", "2013", "2019"])
def test_every_game_of_a_season_is_read(years: Years) -> None:
    simulated = played("soccer_epl")

    season = parse_season(football_data_csv(simulated, years, blank_columns=4))

    on = ~simulated.games.postponed
    goals = [(each.score.home_score, each.score.away_score) for each in season.games]
    assert season.rejected == ()
    assert goals == list(
        zip(
            simulated.games.home_score[on].tolist(),
            simulated.games.away_score[on].tolist(),
            strict=True,
        )
    )
    assert {each.game.sport for each in season.games} == {"soccer_epl"}
    assert season.games[0].game.commence_time.date() == day_of(simulated, 0).date()


def test_a_modern_season_has_opening_and_closing_prices_of_three_markets() -> None:
    season = parse_season(football_data_csv(played("soccer_epl"), "2019"))

    game = season.games[5]
    totals = [p for each in season.games for p in each.closing if p.market_key == "totals"]
    opening = {(price.bookmaker, price.market_key) for price in game.opening}
    closing = {(price.bookmaker, price.market_key) for price in game.closing}
    assert {("bet365", "h2h"), ("pinnacle", "h2h"), ("market_average", "spreads")} <= opening
    assert {("pinnacle", "h2h"), ("market_max", "h2h"), ("market_average", "spreads")} <= closing
    assert totals
    handicap = next(price for price in game.closing if price.market_key == "spreads")
    assert handicap.outcomes[0].point == -(handicap.outcomes[1].point or Decimal(99))


def test_a_line_is_read_in_london_time_and_american_prices() -> None:
    season = parse_season(lines(LINE))

    (game,) = season.games
    assert game.game.game_id == "fd-e0-20240816-man_united-fulham"
    assert game.game.commence_time == datetime(2024, 8, 16, 19, tzinfo=UTC)
    assert (game.score.completed, game.score.home_score) == (True, Decimal(1))
    assert game.opening[0].outcomes == (
        PricedOutcome("Man United", -167),
        PricedOutcome("Fulham", 425),
        PricedOutcome("Draw", 320),
    )
    assert game.closing[0].outcomes[0] == PricedOutcome("Man United", -154)


def test_old_files_have_two_digits_of_year_other_letters_and_no_time() -> None:
    heading = "Div,Date,HomeTeam,AwayTeam,FTHG,FTAG,FTR,GBH,GBD,GBA,BbAHh,BbAvAHH,BbAvAHA,,"
    row = "D1,14/08/99,Köln,Bayern Munich,2,2,D,3.0,3.2,2.1,0.25,1.95,1.9,,"

    season = parse_season(f"{heading}\n{row}\n".encode("cp1252"))

    (game,) = season.games
    assert game.game.home_team == "Köln"
    assert game.game.sport == "soccer_germany_bundesliga"
    assert game.game.commence_time == datetime(1999, 8, 14, 14, tzinfo=UTC)
    assert [price.bookmaker for price in game.opening] == ["gamebookers", "market_average"]
    assert game.opening[1].outcomes[0] == PricedOutcome("Köln", -105, Decimal("0.25"))


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (LINE.replace("1,0,H", "1,0,A"), "'A' does not match the goals"),
        (LINE.replace("1,0,H", ",,"), "a score is not a number"),
        (LINE.replace("1,0,H", "x,0,H"), "a score is not a number: 'x'"),
        (LINE.replace("16/08/2024", "2024-08-16"), "not a date and time"),
        (LINE.replace("16/08/2024", "31/02/2024"), "not a date and time"),
        (LINE.replace("Fulham", "Man United"), "teams are missing"),
        (LINE, "duplicate game"),
    ],
)
def test_a_line_that_is_wrong_is_refused_with_its_number(row: str, why: str) -> None:
    season = parse_season(lines(LINE, ",,,", row))

    (rejected,) = season.rejected
    assert len(season.games) == 1
    assert rejected.row == "line 4"
    assert why in rejected.reason


@pytest.mark.parametrize(
    ("prices", "why"),
    [
        ("1.6,,5.25", "a side has no price"),
        ("0.5,4.2,5.25", "'0.5' is not a decimal price"),
        ("1.6,4.2,many", "a price is not a number: 'many'"),
    ],
)
def test_prices_that_are_none_leave_out_their_book_alone(prices: str, why: str) -> None:
    season = parse_season(lines(LINE.replace("1.6,4.2,5.25", prices)))

    assert season.games[0].opening == ()
    assert len(season.games[0].closing) == 1
    assert season.rejected[0].row == "line 2, B365H"
    assert why in season.rejected[0].reason


def test_missing_prices_are_no_complaint() -> None:
    season = parse_season(lines(LINE.replace("1.6,4.2,5.25,1.65,4.1,5.0", ",,,,,")))

    assert season.rejected == ()
    assert season.games[0].opening == season.games[0].closing == ()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "the first line is not a header"),
        (b"a,b,c\n1,2,3\n", "missing columns Div, Date"),
        (b"\x81\x8d\x8f", "neither UTF-8 nor Windows-1252"),
        (lines(LINE + ",7"), "it has 15 values in 14 columns"),
    ],
)
def test_a_file_that_is_none_of_theirs_is_refused(content: bytes, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        parse_season(content, "E0.csv")


@pytest.mark.parametrize(
    ("decimal", "american"),
    [
        ("1.91", -110),
        ("2", 100),
        ("1.999", -100),
        ("2.5", 150),
        ("1.01", -10_000),
        ("1001", 100_000),
    ],
)
def test_decimal_prices_become_american(decimal: str, american: int) -> None:
    assert parse_decimal_price(decimal) == american


def test_a_division_without_a_key_gets_one_of_its_own() -> None:
    assert division_sport("EC") == "soccer_ec"


_cell = st.sampled_from(
    [
        "",
        "E0",
        "16/08/24",
        "16/08/2024",
        "20:00",
        "A",
        "B",
        "1",
        "0",
        "H",
        "D",
        "1.5",
        "9e99",
        "NaN",
    ]
) | st.text(max_size=6)


@hypothesis.settings(max_examples=80, deadline=None)
@hypothesis.given(
    rows=st.lists(st.lists(_cell, max_size=15), max_size=4), junk=st.binary(max_size=20)
)
def test_whatever_a_file_holds_is_read_or_unfit(rows: list[list[str]], junk: bytes) -> None:
    content = lines(*(",".join(row) for row in rows)) + junk

    found = result_of(lambda: parse_season(content))

    assert isinstance(found, ArchivedSeason | InvalidInput)
