"""People's own tables are taken whole or refused with the line and the reason."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import hypothesis
import pytest
from hypothesis import strategies as st

from grandstand.apps.bets.sources.custom_files import MOST_ROWS, CustomTable, parse_custom
from grandstand.apps.bets.sources.errors import FileUnfit
from tests.apps.bets.sources.feeding import result_of


def test_a_csv_about_teams_has_its_columns_of_numbers() -> None:
    content = "team,date,net_rating,coach\nUtah Jazz,2026-01-31,-3.5,Hardy\nBoston Celtics,,9,\n"

    table = parse_custom(content.encode())

    assert (table.kind, table.columns) == ("team", ("net_rating",))
    assert table.rows[0].figures == {"net_rating": Decimal("-3.5")}
    assert (table.rows[0].on, table.rows[1].on) == (date(2026, 1, 31), None)
    assert table.rows[0].told["coach"] == "Hardy"


def test_a_json_about_players_says_the_same() -> None:
    content = b'[{"player": "Kofi Vance", "team": "Utah Jazz", "usage": 31.5}]'

    table = parse_custom(content)

    assert (table.kind, table.rows[0].subject) == ("player", "Kofi Vance")
    assert table.rows[0].figures == {"usage": Decimal("31.5")}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"name,rating\nUtah,1\n", "line 1, cannot be used: it needs a column named team or"),
        (b"team,rating\n", "it has no rows"),
        (b"team,rating\nUtah,1\nBoston\n", "line 3, cannot be used: it lacks rating"),
        (b"team,rating\nUtah,1,2\n", "line 2, cannot be used: it has 3 values under 2 columns"),
        (b"team,rating\nUtah,high\n", "it has no column of numbers"),
        (b"team,rating\n,1\n", "line 2, cannot be used: it names no team"),
        (b"team,date,rating\nUtah,31.1.26,1\n", "line 2, cannot be used: '31.1.26' is no date"),
        (b'[{"team": "Utah", "r": 1}, {"team": "Boston"}]', "line 2, cannot be used: it lacks r"),
        (b'[{"team": "Utah", "r": [1]}]', "texts or numbers"),
        (b'{"team": "Utah"}', "no list of rows"),
        (b"[1]", "line 1, cannot be used: it is no object"),
        (b"[{", "it is no JSON"),
        (b"[" * 100_000, "it is no JSON"),
        (b"", "its first line is no heading"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(content: bytes, why: str) -> None:
    with pytest.raises(FileUnfit, match=why.replace("(", r"\(")):
        parse_custom(content, "mine.csv")


def test_ten_thousand_rows_are_taken_and_one_more_is_not() -> None:
    rows = "Utah,1\n" * MOST_ROWS

    table = parse_custom(f"team,rating\n{rows}".encode())

    assert len(table.rows) == MOST_ROWS
    with pytest.raises(FileUnfit, match="it has 10001 rows; 10000 are allowed"):
        parse_custom(f"team,rating\n{rows}Utah,1\n".encode())


@hypothesis.settings(max_examples=80, deadline=None)
@hypothesis.given(
    content=st.binary(max_size=60)
    | st.lists(
        st.sampled_from(["team", "player", ",", "\n", '"', "1", "-2.5", "é", "date", "[", "{"])
    )
    .map("".join)
    .map(str.encode)
)
def test_whatever_a_file_holds_is_a_table_or_unfit(content: bytes) -> None:
    found = result_of(lambda: parse_custom(content))

    assert isinstance(found, CustomTable | FileUnfit)
