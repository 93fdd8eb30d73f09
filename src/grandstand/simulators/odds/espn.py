"""Kept here: scoreboards, box scores, schedules and injuries in the words of ESPN's public site.

These words are nowhere documented by ESPN: they are what others have seen, unverified.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Final
from urllib.parse import parse_qs
from zoneinfo import ZoneInfo

import numpy as np

from grandstand.simulators.odds.board import moment, stamp
from grandstand.simulators.odds.words import Row, Told
from grandstand.simulators.odds.world.people import ACTIVE, STATUSES

BASE: Final = "/apis/site/v2/sports"
FIRST_EVENT: Final = 401_000_000
_EASTERN: Final = ZoneInfo("America/New_York")
_ALL_DIGITS: Final = 8
_TEAM_WORDS: Final[dict[str, dict[str, str]]] = {
    "basketball_nba": {
        "field_goal_pct": "fieldGoalPct",
        "three_point_pct": "threePointFieldGoalPct",
        "rebounds": "totalRebounds",
        "assists": "assists",
        "turnovers": "turnovers",
        "pace": "pace",
    },
    "americanfootball_nfl": {
        "total_yards": "totalYards",
        "passing_yards": "netPassingYards",
        "rushing_yards": "rushingYards",
        "turnovers": "turnovers",
        "third_down_pct": "thirdDownPct",
    },
    "soccer_epl": {
        "shots": "totalShots",
        "shots_on_target": "shotsOnTarget",
        "possession_pct": "possessionPct",
        "corners": "wonCorners",
        "tackles": "totalTackles",
    },
}
_GROUPS: Final[dict[str, tuple[tuple[str, tuple[tuple[str, str], ...]], ...]]] = {
    "basketball_nba": (
        (
            "",
            (("MIN", "MIN"), ("PTS", "PTS"), ("3PT", "3PM"), ("REB", "REB"), ("AST", "AST")),
        ),
    ),
    "americanfootball_nfl": (
        ("passing", (("YDS", "PASS_YDS"),)),
        ("rushing", (("YDS", "RUSH_YDS"),)),
        ("receiving", (("YDS", "REC_YDS"),)),
    ),
}
_SOCCER: Final = {"SHOTS": "totalShots", "SOT": "shotsOnTarget"}


def figures_told(path: str, query: str, all_told: Mapping[str, Told], now: datetime) -> Row | None:
    """Answer what an address tells at a moment, None when there is no such thing."""
    sport, league, *rest = [*path.strip("/").split("/"), "", ""]
    told = next(
        (each for each in all_told.values() if each.season.league.path == f"{sport}/{league}"), None
    )
    asked = {name: values[0] for name, values in parse_qs(query).items()}
    match [part for part in rest if part]:
        case _ if told is None:
            return None
        case ["scoreboard"]:
            return _scoreboard(told, asked.get("dates", ""), now)
        case ["summary"]:
            return _summary(told, asked.get("event", ""), now)
        case ["teams"]:
            teams = [{"team": _team(told, at)} for at in range(len(told.season.teams))]
            return {"sports": [{"leagues": [{"teams": teams}]}]}
        case ["teams", number, "schedule"] if number.isdecimal():
            return _schedule(told, int(number) - 1, now)
        case ["injuries"]:
            return _injuries(told, now)
    return None


def _team(told: Told, team: int) -> Row:
    name = told.season.teams[team]
    place, _, short = name.rpartition(" ")
    return {
        "id": str(team + 1),
        "displayName": name,
        "location": place or name,
        "name": short,
        "abbreviation": "".join(word[0] for word in name.split())[:3].upper() + str(team + 1),
    }


def _status(told: Told, game: int, now: datetime) -> Row:
    games, at = told.season.games, stamp(now)
    if games.postponed[game] and games.commence_us[game] <= at:
        name, state, done = "STATUS_POSTPONED", "post", False
    elif games.commence_us[game] > at:
        name, state, done = "STATUS_SCHEDULED", "pre", False
    elif games.known_us[game] > at:
        name, state, done = "STATUS_IN_PROGRESS", "in", False
    else:
        final = "STATUS_FULL_TIME" if told.season.league.has_draws else "STATUS_FINAL"
        name, state, done = final, "post", True
    return {
        "type": {"name": name, "state": state, "completed": done, "description": name[7:].title()}
    }


def _competition(told: Told, game: int, now: datetime) -> Row:
    games = told.season.games
    begun = games.commence_us[game] <= stamp(now) and not games.postponed[game]
    points = told.points(game, stamp(now)) if begun else (0, 0)
    sides = []
    for team, place, mine, other in (
        (int(games.home[game]), "home", *points),
        (int(games.away[game]), "away", *points[::-1]),
    ):
        row: Row = {"id": str(team + 1), "homeAway": place, "team": _team(told, team)}
        row["score"] = str(mine)
        row["winner"] = bool(begun and games.known_us[game] <= stamp(now) and mine > other)
        sides.append(row)
    return {
        "id": str(FIRST_EVENT + game),
        "date": f"{moment(int(games.commence_us[game])):%Y-%m-%dT%H:%MZ}",
        "neutralSite": False,
        "competitors": sides,
        "status": _status(told, game, now),
    }


def _event(told: Told, game: int, now: datetime) -> Row:
    games, teams = told.season.games, told.season.teams
    played = _competition(told, game, now)
    home, away = teams[games.home[game]], teams[games.away[game]]
    return {
        "id": played["id"],
        "date": played["date"],
        "name": f"{away} at {home}",
        "shortName": f"{away[:3].upper()} @ {home[:3].upper()}",
        "season": {"year": 2026 + int(games.season[game]), "type": 2},
        "status": played["status"],
        "competitions": [played],
    }


def _scoreboard(told: Told, dates: str, now: datetime) -> Row:
    """Answer the games of a day, or of days joined by a dash, as America's east counts days."""
    first, _, last = dates.partition("-")
    today = f"{now.astimezone(_EASTERN):%Y%m%d}"
    low, high = first or today, last or first or today
    days = [
        f"{moment(each).astimezone(_EASTERN):%Y%m%d}"
        for each in told.season.games.commence_us.tolist()
    ]
    chosen = [at for at, day in enumerate(days) if low <= day <= high]
    league = told.season.league
    return {
        "leagues": [{"id": "1", "name": league.title, "abbreviation": league.title}],
        "day": {"date": str(_day(low))},
        "events": [_event(told, game, now) for game in chosen],
    }


def _day(told: str) -> date | None:
    plain = told.isdecimal() and len(told) == _ALL_DIGITS
    try:
        return date.fromisoformat(told) if plain else None
    except ValueError:
        return None


def _summary(told: Told, event: str, now: datetime) -> Row | None:
    game = int(event) - FIRST_EVENT if event.isdecimal() else -1
    if not 0 <= game < len(told.season.games):
        return None
    header = {"id": event, "competitions": [_competition(told, game, now)]}
    counted, at = told.season.team_figures, stamp(now)
    rows = np.flatnonzero((counted.game == game) & (counted.known_us <= at)).tolist()
    words = _TEAM_WORDS[told.season.league.key]
    teams = [
        {
            "team": _team(told, int(counted.team[row])),
            "statistics": [
                {"name": words[name], "displayValue": f"{counted.stats[name][row]:g}"}
                for name in words
            ],
        }
        for row in rows
    ]
    found: Row = {"header": header, "boxscore": {"teams": teams}}
    people = _people(told, game, at)
    if told.season.league.has_draws:
        found["rosters"] = people
    else:
        found["boxscore"] = {"teams": teams, "players": people}
    return found


def _people(told: Told, game: int, at: int) -> list[Row]:
    """Answer what players did, each team's together; soccer tells it in another shape."""
    counted, season = told.season.player_figures, told.season
    rows = np.flatnonzero((counted.game == game) & (counted.known_us <= at))
    found: list[Row] = []
    for team in dict.fromkeys(counted.team[rows].tolist()):
        mine: list[tuple[int, Row]] = [
            (row, {"id": str(player + 1), "displayName": season.players[player].name})
            for row in rows[counted.team[rows] == team].tolist()
            for player in (int(counted.player[row]),)
        ]
        if season.league.has_draws:
            found.append({"team": _team(told, team), "roster": _roster(told, mine)})
        else:
            found.append({"team": _team(told, team), "statistics": _groups(told, mine)})
    return found


def _roster(told: Told, mine: list[tuple[int, Row]]) -> list[Row]:
    stats = told.season.player_figures.stats
    return [
        {
            "athlete": athlete,
            "stats": [
                {"name": word, "value": float(stats[name][row])} for name, word in _SOCCER.items()
            ],
        }
        for row, athlete in mine
    ]


def _groups(told: Told, mine: list[tuple[int, Row]]) -> list[Row]:
    stats = told.season.player_figures.stats
    found: list[Row] = []
    for group, labels in _GROUPS[told.season.league.key]:
        lines = [
            {
                "athlete": athlete,
                "didNotPlay": False,
                "stats": [_shown(label, float(stats[name][row])) for label, name in labels],
            }
            for row, athlete in mine
        ]
        found.append({"name": group, "labels": [label for label, _ in labels], "athletes": lines})
    return found


def _shown(label: str, value: float) -> str:
    """Threes are told as made and tried."""
    return f"{value:g}-{value * 2 + 3:g}" if label == "3PT" else f"{value:g}"


def _schedule(told: Told, team: int, now: datetime) -> Row | None:
    games = told.season.games
    if not 0 <= team < len(told.season.teams):
        return None
    mine = np.flatnonzero((games.home == team) | (games.away == team)).tolist()
    return {"team": _team(told, team), "events": [_event(told, game, now) for game in mine]}


def _injuries(told: Told, now: datetime) -> Row:
    """Answer the last report of each player who is not fit."""
    reports = told.season.injuries
    shown = int(np.searchsorted(reports.known_us, stamp(now), side="right"))
    last = {int(reports.player[row]): row for row in range(shown)}
    teams: dict[int, list[Row]] = {}
    for player, row in sorted(last.items()):
        if reports.status[row] == ACTIVE:
            continue
        name = told.season.players[player].name
        teams.setdefault(int(reports.team[row]), []).append(
            {
                "id": str(row),
                "status": STATUSES[reports.status[row]].title(),
                "date": f"{moment(int(reports.known_us[row])):%Y-%m-%dT%H:%MZ}",
                "athlete": {"id": str(player + 1), "displayName": name},
                "details": {"type": "Knee"},
                "shortComment": f"{name} is hurt.",
            }
        )
    told_of = [
        {"id": str(team + 1), "displayName": told.season.teams[team], "injuries": rows}
        for team, rows in sorted(teams.items())
    ]
    return {"timestamp": f"{now:%Y-%m-%dT%H:%M:%SZ}", "status": "success", "injuries": told_of}
