"""Stats files: known times, and invalid lines with their number."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as st

from grandstand.apps.bets.services.ingest.stats_collector import StatsFeed
from grandstand.apps.bets.sources.data_files import (
    StatsFolder,
    parse_injuries,
    parse_player_stats,
    parse_results,
    parse_schedule,
    parse_team_stats,
)
from grandstand.core.errors import InvalidInput
from tests.apps.bets.sources.feeds import result_of

pytestmark = pytest.mark.anyio

NBA = "basketball_nba"
DAY = date(2026, 1, 31)


def put(folder: Path, name: str, content: str) -> StatsFolder:
    """A folder with one file about the NBA."""
    path = folder / NBA / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return StatsFolder(folder)


async def test_stats_count_from_the_end_of_their_day_or_from_known_at(tmp_path: Path) -> None:
    folder = put(
        tmp_path,
        "team_stats.csv",
        "team,date,rebounds,known_at\nUtah Jazz,2026-01-30,44.5,\n"
        "Boston Celtics,2026-01-31,41,2026-02-01T05:00:00Z\n",
    )

    early = await folder.fetch_stats(NBA, DAY)
    late = await folder.fetch_stats(NBA, date(2026, 2, 1))

    (utah,) = early.teams
    assert utah.stats == {"rebounds": Decimal("44.5")}
    assert utah.known_at == datetime(2026, 1, 31, tzinfo=UTC)
    assert utah.season == "2026"
    assert len(late.teams) == 2


async def test_players_come_from_json_too(tmp_path: Path) -> None:
    row = {"player": "Kofi Vance", "team": "Utah Jazz", "game_id": "g1", "date": "2026-01-30"}
    folder = put(tmp_path, "player_stats.json", json.dumps([{**row, "PTS": 31}]))

    result = await folder.fetch_stats(NBA, DAY)

    assert [(each.player, each.game_id, each.stats["PTS"]) for each in result.players] == [
        ("Kofi Vance", "g1", Decimal(31))
    ]


async def test_injuries_and_schedules_hold_for_their_day(tmp_path: Path) -> None:
    put(
        tmp_path,
        "injuries.csv",
        "team,player,status,date,impact\nUtah Jazz,Kofi Vance,Out,2026-01-30,0.8\n"
        "Utah Jazz,Leon Xu,active,2026-01-31,\nUtah Jazz,Uri Yates,fine,2026-01-31,\n",
    )
    folder = put(
        tmp_path,
        "schedule.csv",
        "home_team,away_team,starts_at\nUtah Jazz,Boston Celtics,2026-02-03T01:00:00Z\n",
    )

    hurt = await folder.fetch_injuries(NBA, DAY)
    games = await folder.fetch_schedules(NBA, DAY)

    assert [(each.status, each.impact) for each in hurt.injuries] == [
        ("out", Decimal("0.8")),
        ("active", Decimal("0.5")),
    ]
    assert hurt.rejected[0].row == "injuries.csv, line 4"
    assert [(each.team, each.is_home) for each in games.fixtures] == [
        ("Utah Jazz", True),
        ("Boston Celtics", False),
    ]


async def test_results_are_limited_to_the_requested_days(tmp_path: Path) -> None:
    folder = put(
        tmp_path,
        "results.csv",
        "home_team,away_team,starts_at,home_score,away_score\n"
        "Utah Jazz,Boston Celtics,2026-01-30T01:00:00Z,99,101\n"
        "Utah Jazz,Miami Heat,2026-02-02T01:00:00Z,99,101\n",
    )

    result = await folder.fetch_results(NBA, DAY.replace(day=29), DAY)

    (score,) = result.scores
    assert (score.game_id, score.away_score) == (
        "file-20260130-utah_jazz-boston_celtics",
        Decimal(101),
    )


async def test_missing_files_are_empty_and_invalid_names_are_rejected(
    tmp_path: Path,
) -> None:
    folder = StatsFolder(tmp_path)

    result = await folder.fetch_stats(NBA, DAY)

    assert (result.teams, result.players, result.rejected) == ((), (), ())
    with pytest.raises(InvalidInput):
        await folder.fetch_stats("../secrets", DAY)


async def test_a_folder_in_place_of_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / NBA / "injuries.csv").mkdir(parents=True)

    with pytest.raises(InvalidInput, match="cannot be opened"):
        await StatsFolder(tmp_path).fetch_injuries(NBA, DAY)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("Utah Jazz,2026-02-31,1", "not a date like 2026-01-31"),
        ("Utah Jazz,9999-12-31,1", "date is out of range"),
        (",2026-01-30,1", "team is missing"),
        ("Utah Jazz,2026-01-30,many", "rebounds is not a number: 'many'"),
        ("Utah Jazz,2026-01-30,inf", "rebounds is out of range"),
        ("Utah Jazz,2026-01-30,", "it has no stats"),
    ],
)
def test_a_line_that_is_wrong_is_refused_and_the_next_is_taken(line: str, why: str) -> None:
    content = f"team,date,rebounds\n{line}\nUtah Jazz,2026-01-30,44\n"

    taken, rejected = parse_team_stats(content.encode(), NBA, "team_stats.csv")

    assert len(taken) == 1
    assert rejected[0].row == "team_stats.csv, line 2"
    assert why in rejected[0].reason


@pytest.mark.parametrize(
    "parse", [parse_team_stats, parse_player_stats, parse_injuries, parse_schedule, parse_results]
)
def test_a_file_without_its_columns_is_unfit(
    parse: Callable[[bytes, str], tuple[object, object]],
) -> None:
    with pytest.raises(InvalidInput, match="missing columns"):
        parse(b"a,b\n1,2\n", NBA)


_cell = st.sampled_from(["", "Utah Jazz", "2026-01-30", "2026-01-30T01:00:00Z", "out", "1", "NaN"])


@pytest.mark.parametrize(
    "parse", [parse_team_stats, parse_player_stats, parse_injuries, parse_results]
)
@hypothesis.settings(max_examples=25, deadline=None)
@hypothesis.given(
    rows=st.lists(st.lists(_cell | st.text(max_size=5), max_size=9), max_size=3),
    junk=st.binary(max_size=12),
)
def test_whatever_a_file_holds_is_taken_refused_or_unfit(
    parse: Callable[[bytes, str], tuple[object, object]], rows: list[list[str]], junk: bytes
) -> None:
    heading = "team,player,status,date,home_team,away_team,starts_at,home_score,away_score,game_id"
    content = "\n".join([heading, *(",".join(row) for row in rows)]).encode() + junk

    found = result_of(lambda: parse(content, NBA))

    assert isinstance(found, tuple | InvalidInput)


def as_port(folder: StatsFolder) -> StatsFeed:
    """The folder is what the service asks for; checked by types alone."""
    return folder
