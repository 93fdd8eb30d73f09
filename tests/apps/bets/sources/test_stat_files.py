"""Files of figures say what was known when; lines that are wrong are refused with their number."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as st

from grandstand.apps.bets.service.ports import StatsFeed
from grandstand.apps.bets.sources.errors import FeedNameUnfit, FileUnfit
from grandstand.apps.bets.sources.stat_files import (
    StatFolder,
    parse_injuries,
    parse_player_stats,
    parse_results,
    parse_schedule,
    parse_team_stats,
)
from tests.apps.bets.sources.feeding import result_of

pytestmark = pytest.mark.anyio

NBA = "basketball_nba"
DAY = date(2026, 1, 31)


def put(folder: Path, name: str, content: str) -> StatFolder:
    """A folder with one file about the NBA."""
    path = folder / NBA / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return StatFolder(folder)


async def test_figures_are_known_when_their_day_is_over_or_as_they_say(tmp_path: Path) -> None:
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

    told = await folder.fetch_stats(NBA, DAY)

    assert [(each.player, each.game_id, each.stats["PTS"]) for each in told.players] == [
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
    assert hurt.refused[0].what == "injuries.csv, line 4"
    assert [(each.team, each.is_home) for each in games.meetings] == [
        ("Utah Jazz", True),
        ("Boston Celtics", False),
    ]


async def test_results_are_those_of_the_days_asked_for(tmp_path: Path) -> None:
    folder = put(
        tmp_path,
        "results.csv",
        "home_team,away_team,starts_at,home_score,away_score\n"
        "Utah Jazz,Boston Celtics,2026-01-30T01:00:00Z,99,101\n"
        "Utah Jazz,Miami Heat,2026-02-02T01:00:00Z,99,101\n",
    )

    told = await folder.fetch_results(NBA, DAY.replace(day=29), DAY)

    (score,) = told.scores
    assert (score.game_id, score.away_score) == (
        "file-20260130-utah_jazz-boston_celtics",
        Decimal(101),
    )


async def test_a_folder_without_files_tells_nothing_and_strange_names_reach_no_file(
    tmp_path: Path,
) -> None:
    folder = StatFolder(tmp_path)

    told = await folder.fetch_stats(NBA, DAY)

    assert (told.teams, told.players, told.refused) == ((), (), ())
    with pytest.raises(FeedNameUnfit):
        await folder.fetch_stats("../secrets", DAY)


async def test_a_folder_in_place_of_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / NBA / "injuries.csv").mkdir(parents=True)

    with pytest.raises(FileUnfit, match="cannot be opened"):
        await StatFolder(tmp_path).fetch_injuries(NBA, DAY)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("Utah Jazz,2026-02-31,1", "no date like 2026-01-31"),
        ("Utah Jazz,9999-12-31,1", "date is out of bounds"),
        (",2026-01-30,1", "team is missing"),
        ("Utah Jazz,2026-01-30,many", "rebounds is no number: 'many'"),
        ("Utah Jazz,2026-01-30,inf", "rebounds is out of bounds"),
        ("Utah Jazz,2026-01-30,", "it has no figures"),
    ],
)
def test_a_line_that_is_wrong_is_refused_and_the_next_is_taken(line: str, why: str) -> None:
    content = f"team,date,rebounds\n{line}\nUtah Jazz,2026-01-30,44\n"

    taken, refused = parse_team_stats(content.encode(), NBA, "team_stats.csv")

    assert len(taken) == 1
    assert refused[0].what == "team_stats.csv, line 2"
    assert why in refused[0].why


@pytest.mark.parametrize(
    "parse", [parse_team_stats, parse_player_stats, parse_injuries, parse_schedule, parse_results]
)
def test_a_file_without_its_columns_is_unfit(
    parse: Callable[[bytes, str], tuple[object, object]],
) -> None:
    with pytest.raises(FileUnfit, match="it needs the columns"):
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

    assert isinstance(found, tuple | FileUnfit)


def as_port(folder: StatFolder) -> StatsFeed:
    """The folder is what the service asks for; checked by types alone."""
    return folder
