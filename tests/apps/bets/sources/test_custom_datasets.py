"""Custom datasets are read as a whole or rejected with line and reason."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import hypothesis
import pytest
from hypothesis import strategies as st

from grandstand.apps.bets.sources.data_files import MAX_ROWS, DatasetFile, parse_custom_data
from grandstand.core.errors import InvalidInput
from tests.apps.bets.sources.feeds import result_of


def test_a_csv_about_teams_has_its_columns_of_numbers() -> None:
    content = "team,date,net_rating,coach\nUtah Jazz,2026-01-31,-3.5,Hardy\nBoston Celtics,,9,\n"

    table = parse_custom_data(content.encode())

    assert (table.kind, table.columns) == ("team", ("net_rating",))
    assert table.rows[0].stats == {"net_rating": Decimal("-3.5")}
    assert (table.rows[0].day, table.rows[1].day) == (date(2026, 1, 31), None)
    assert table.rows[0].values["coach"] == "Hardy"


def test_a_json_about_players_says_the_same() -> None:
    content = b'[{"player": "Kofi Vance", "team": "Utah Jazz", "usage": 31.5}]'

    table = parse_custom_data(content)

    assert (table.kind, table.rows[0].subject) == ("player", "Kofi Vance")
    assert table.rows[0].stats == {"usage": Decimal("31.5")}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"name,rating\nUtah,1\n", "line 1: a team or player column"),
        (b"team,rating\n", "it has no rows"),
        (b"team,rating\nUtah,1\nBoston\n", "line 3: missing rating"),
        (b"team,rating\nUtah,1,2\n", "line 2: it has 3 values in 2 columns"),
        (b"team,rating\nUtah,high\n", "it has no numeric column"),
        (b"team,rating\n,1\n", "line 2: team is missing"),
        (b"team,date,rating\nUtah,31.1.26,1\n", "line 2: '31.1.26' is not a date"),
        (b'[{"team": "Utah", "r": 1}, {"team": "Boston"}]', "line 2: missing r"),
        (b'[{"team": "Utah", "r": [1]}]', "text or numbers"),
        (b'{"team": "Utah"}', "not a list of rows"),
        (b"[1]", "line 1: it is not an object"),
        (b"[{", "it is not JSON"),
        (b"[" * 100_000, "it is not JSON"),
        (b"", "the first line is not a header"),
    ],
)
def test_errors_name_the_line(content: bytes, why: str) -> None:
    with pytest.raises(InvalidInput, match=why.replace("(", r"\(")):
        parse_custom_data(content, "mine.csv")


def test_ten_thousand_rows_are_taken_and_one_more_is_not() -> None:
    rows = "Utah,1\n" * MAX_ROWS

    table = parse_custom_data(f"team,rating\n{rows}".encode())

    assert len(table.rows) == MAX_ROWS
    with pytest.raises(InvalidInput, match="it has 10001 rows, the limit is 10000"):
        parse_custom_data(f"team,rating\n{rows}Utah,1\n".encode())


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
    found = result_of(lambda: parse_custom_data(content))

    assert isinstance(found, DatasetFile | InvalidInput)
