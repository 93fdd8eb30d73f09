"""Kept here: which address of the feed has which rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from grandstand.simulators.scores.replay import Replay
from grandstand.simulators.scores.standings import standing_rows
from grandstand.simulators.scores.tape import Tape
from grandstand.simulators.scores.words.fixtures import FixtureWords
from grandstand.simulators.scores.words.people import (
    continent_row,
    country_row,
    league_row,
    official_row,
    player_row,
    positions,
    season_id,
    season_row,
    stage_id,
    stage_row,
    team_row,
    venue_row,
)
from grandstand.simulators.scores.words.scores import Row, score_of, way_of


@dataclass(frozen=True, slots=True)
class OnAir:
    """A match being played, and how it is told."""

    replay: Replay
    words: FixtureWords


Rows: TypeAlias = Callable[[Iterable[Tape]], Iterable[Row]]


def _scores(tapes: Iterable[Tape]) -> Iterable[Row]:
    yield way_of(None)
    for tape in tapes:
        for ball in tape.deliveries:
            yield score_of(ball)


_LISTS: Final[dict[str, Rows]] = {
    "leagues": lambda tapes: map(league_row, tapes),
    "seasons": lambda tapes: map(season_row, tapes),
    "stages": lambda tapes: map(stage_row, tapes),
    "venues": lambda tapes: map(venue_row, tapes),
    "teams": lambda tapes: (
        team_row(team, national=tape.setting.international) for tape in tapes for team in tape.teams
    ),
    "players": lambda tapes: (player_row(each) for tape in tapes for each in tape.players),
    "officials": lambda tapes: (
        official_row(name) for tape in tapes for name in tape.setting.officials
    ),
    "scores": _scores,
    "positions": lambda _: positions(),
    "countries": lambda _: [country_row()],
    "continents": lambda _: [continent_row()],
}
_ONE: Final = frozenset({"leagues", "stages", "teams", "players", "venues", "scores", "seasons"})


def rows_of(path: Sequence[str], on_air: Sequence[OnAir]) -> list[Row] | Row | None:
    """Answer the rows of an address that is not about fixtures, one row, or None if it has none."""
    tapes = [each.replay.tape for each in on_air]
    match path:
        case [name] if name in _LISTS:
            return _once(_LISTS[name](tapes))
        case [name, number] if name in _ONE:
            rows = _once(_LISTS[name](tapes))
            return next((row for row in rows if str(row["id"]) == number), None)
        case ["teams", team, "squad", season]:
            return _squad(tapes, team, season)
        case ["standings", "season", season]:
            return standing_rows([each for each in on_air if _of_season(each, season)])
        case ["standings", "stage", stage]:
            return standing_rows([each for each in on_air if _of_stage(each, stage)])
        case ["team-rankings"]:
            return _rankings(tapes)
    return None


def _of_season(each: OnAir, season: str) -> bool:
    return str(season_id(each.replay.tape)) == season


def _of_stage(each: OnAir, stage: str) -> bool:
    return str(stage_id(each.replay.tape)) == stage


def _once(rows: Iterable[Row]) -> list[Row]:
    found: dict[str, Row] = {}
    for row in rows:
        found.setdefault(str(row["id"]), row)
    return list(found.values())


def _squad(tapes: Iterable[Tape], team_id: str, season: str) -> Row | None:
    for tape in tapes:
        for team in tape.teams:
            if str(team.id) == team_id and str(season_id(tape)) == season:
                squad = [player_row(player) for player in team.players]
                return {**team_row(team, national=tape.setting.international), "squad": squad}
    return None


def _rankings(tapes: Iterable[Tape]) -> list[Row]:
    teams = _once(
        team_row(team, national=True)
        for tape in tapes
        if tape.setting.international
        for team in tape.teams
    )
    return [
        {
            "resource": "rankings",
            "type": form,
            "position": None,
            "points": None,
            "rating": None,
            "gender": "men",
            "team": [
                {**team, "ranking": {"position": place}} for place, team in enumerate(teams, 1)
            ],
        }
        for form in ("TEST", "ODI", "T20I")
    ]
