"""Seasons as football-data.co.uk files."""

from __future__ import annotations

import csv
import io

import pytest

from grandstand.simulators.odds.season import SimulatedSeason
from tests.simulators.odds.football_data_csv import Years, football_data_csv


def columns(content: bytes, encoding: str = "utf-8-sig") -> list[str]:
    """The heading of a file."""
    return next(csv.reader(io.StringIO(content.decode(encoding))))


@pytest.mark.parametrize(
    ("years", "has", "lacks"),
    [
        ("2004", {"Div", "Date", "HomeTeam", "FTR", "B365H", "WHA"}, {"Time", "AvgH", "B365CH"}),
        ("2013", {"PSCH", "PSCD", "PSCA", "MaxH", "AvgA"}, {"Time", "B365CH", "AHh"}),
        (
            "2019",
            {"Time", "B365CA", "Avg>2.5", "AvgC<2.5", "AHh", "AHCh", "PAHH", "PCAHA", "MaxCAHH"},
            {"PSAHH", "WH>2.5"},
        ),
    ],
)
def test_each_time_has_its_columns(
    soccer: SimulatedSeason, years: Years, has: set[str], lacks: set[str]
) -> None:
    heading = set(columns(football_data_csv(soccer, years)))

    assert has <= heading
    assert not lacks & heading


def test_csv_line_has_the_game_and_its_prices(soccer: SimulatedSeason) -> None:
    text = football_data_csv(soccer, "2019", blank_columns=3).decode("utf-8-sig")

    lines = list(csv.reader(io.StringIO(text)))
    row = dict(zip(lines[0], lines[1], strict=True))

    assert len(lines) == 1 + int((~soccer.games.postponed).sum())
    assert lines[0][-3:] == lines[1][-3:] == ["", "", ""]
    assert int(row["FTHG"]) == soccer.games.home_score[0]
    assert 1 / float(row["PSH"]) + 1 / float(row["PSD"]) + 1 / float(row["PSA"]) > 1
    assert float(row["MaxH"]) >= float(row["AvgH"])
