"""ESPN's scoreboards, box scores, schedules and injuries for a simulated season.

Unverified: ESPN does not document this format.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Final
from urllib.parse import parse_qs
from zoneinfo import ZoneInfo

import numpy as np

from grandstand.simulators.odds.box_scores import ACTIVE, STATUSES
from grandstand.simulators.odds.serializers import Row, SeasonFeed, from_epoch_us, to_epoch_us

BASE: Final = "/apis/site/v2/sports"
FIRST_EVENT: Final = 401_000_000
_EASTERN: Final = ZoneInfo("America/New_York")
_DATE_DIGITS: Final = 8
_TEAM_STAT_NAMES: Final[dict[str, dict[str, str]]] = {
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
_STAT_GROUPS: Final[dict[str, tuple[tuple[str, tuple[tuple[str, str], ...]], ...]]] = {
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
_SOCCER_STAT_NAMES: Final = {"SHOTS": "totalShots", "SOT": "shotsOnTarget"}


def espn_response(
    path: str, query: str, feeds: Mapping[str, SeasonFeed], now: datetime
) -> Row | None:
    """Return the reply for a path at a time, None if there is no such resource."""
    sport, league, *rest = [*path.strip("/").split("/"), "", ""]
    feed = next(
        (
            candidate
            for candidate in feeds.values()
            if candidate.season.league.path == f"{sport}/{league}"
        ),
        None,
    )
    params = {name: values[0] for name, values in parse_qs(query).items()}
    match [part for part in rest if part]:
        case _ if feed is None:
            return None
        case ["scoreboard"]:
            return _scoreboard(feed, params.get("dates", ""), now)
        case ["summary"]:
            return _summary(feed, params.get("event", ""), now)
        case ["teams"]:
            teams = [{"team": _team(feed, at)} for at in range(len(feed.season.teams))]
            return {"sports": [{"leagues": [{"teams": teams}]}]}
        case ["teams", number, "schedule"] if number.isdecimal():
            return _schedule(feed, int(number) - 1, now)
        case ["injuries"]:
            return _injuries(feed, now)
    return None


def _team(feed: SeasonFeed, team: int) -> Row:
    name = feed.season.teams[team]
    place, _, short = name.rpartition(" ")
    return {
        "id": str(team + 1),
        "displayName": name,
        "location": place or name,
        "name": short,
        "abbreviation": "".join(word[0] for word in name.split())[:3].upper() + str(team + 1),
    }


def _status(feed: SeasonFeed, game: int, now: datetime) -> Row:
    games, at = feed.season.games, to_epoch_us(now)
    if games.postponed[game] and games.commence_us[game] <= at:
        name, state, done = "STATUS_POSTPONED", "post", False
    elif games.commence_us[game] > at:
        name, state, done = "STATUS_SCHEDULED", "pre", False
    elif games.known_us[game] > at:
        name, state, done = "STATUS_IN_PROGRESS", "in", False
    else:
        final = "STATUS_FULL_TIME" if feed.season.league.has_draws else "STATUS_FINAL"
        name, state, done = final, "post", True
    return {
        "type": {"name": name, "state": state, "completed": done, "description": name[7:].title()}
    }


def _competition(feed: SeasonFeed, game: int, now: datetime) -> Row:
    games = feed.season.games
    begun = games.commence_us[game] <= to_epoch_us(now) and not games.postponed[game]
    points = feed.points(game, to_epoch_us(now)) if begun else (0, 0)
    sides = []
    for team, place, rows_of_team, other in (
        (int(games.home[game]), "home", *points),
        (int(games.away[game]), "away", *points[::-1]),
    ):
        row: Row = {"id": str(team + 1), "homeAway": place, "team": _team(feed, team)}
        row["score"] = str(rows_of_team)
        row["winner"] = bool(
            begun and games.known_us[game] <= to_epoch_us(now) and rows_of_team > other
        )
        sides.append(row)
    return {
        "id": str(FIRST_EVENT + game),
        "date": f"{from_epoch_us(int(games.commence_us[game])):%Y-%m-%dT%H:%MZ}",
        "neutralSite": False,
        "competitors": sides,
        "status": _status(feed, game, now),
    }


def _event(feed: SeasonFeed, game: int, now: datetime) -> Row:
    games, teams = feed.season.games, feed.season.teams
    played = _competition(feed, game, now)
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


def _scoreboard(feed: SeasonFeed, dates: str, now: datetime) -> Row:
    """Return the games of a day or a range of days, in US Eastern time."""
    first, _, last = dates.partition("-")
    today = f"{now.astimezone(_EASTERN):%Y%m%d}"
    low, high = first or today, last or first or today
    days = [
        f"{from_epoch_us(start_us).astimezone(_EASTERN):%Y%m%d}"
        for start_us in feed.season.games.commence_us.tolist()
    ]
    games = [index for index, day in enumerate(days) if low <= day <= high]
    league = feed.season.league
    return {
        "leagues": [{"id": "1", "name": league.title, "abbreviation": league.title}],
        "day": {"date": str(_day(low))},
        "events": [_event(feed, game, now) for game in games],
    }


def _day(text: str) -> date | None:
    valid = text.isdecimal() and len(text) == _DATE_DIGITS
    try:
        return date.fromisoformat(text) if valid else None
    except ValueError:
        return None


def _summary(feed: SeasonFeed, event: str, now: datetime) -> Row | None:
    game = int(event) - FIRST_EVENT if event.isdecimal() else -1
    if not 0 <= game < len(feed.season.games):
        return None
    header = {"id": event, "competitions": [_competition(feed, game, now)]}
    box_scores, at = feed.season.team_stats, to_epoch_us(now)
    rows = np.flatnonzero((box_scores.game == game) & (box_scores.known_us <= at)).tolist()
    stat_names = _TEAM_STAT_NAMES[feed.season.league.key]
    teams = [
        {
            "team": _team(feed, int(box_scores.team[row])),
            "statistics": [
                {"name": stat_names[name], "displayValue": f"{box_scores.stats[name][row]:g}"}
                for name in stat_names
            ],
        }
        for row in rows
    ]
    result: Row = {"header": header, "boxscore": {"teams": teams}}
    people = _player_stats(feed, game, at)
    if feed.season.league.has_draws:
        result["rosters"] = people
    else:
        result["boxscore"] = {"teams": teams, "players": people}
    return result


def _player_stats(feed: SeasonFeed, game: int, at: int) -> list[Row]:
    """Return player stats by team; soccer uses another format."""
    box_scores, season = feed.season.player_stats, feed.season
    rows = np.flatnonzero((box_scores.game == game) & (box_scores.known_us <= at))
    result: list[Row] = []
    for team in dict.fromkeys(box_scores.team[rows].tolist()):
        rows_of_team: list[tuple[int, Row]] = [
            (row, {"id": str(player + 1), "displayName": season.players[player].name})
            for row in rows[box_scores.team[rows] == team].tolist()
            for player in (int(box_scores.player[row]),)
        ]
        if season.league.has_draws:
            result.append({"team": _team(feed, team), "roster": _roster(feed, rows_of_team)})
        else:
            result.append({"team": _team(feed, team), "statistics": _groups(feed, rows_of_team)})
    return result


def _roster(feed: SeasonFeed, rows_of_team: list[tuple[int, Row]]) -> list[Row]:
    stats = feed.season.player_stats.stats
    return [
        {
            "athlete": athlete,
            "stats": [
                {"name": word, "value": float(stats[name][row])}
                for name, word in _SOCCER_STAT_NAMES.items()
            ],
        }
        for row, athlete in rows_of_team
    ]


def _groups(feed: SeasonFeed, rows_of_team: list[tuple[int, Row]]) -> list[Row]:
    stats = feed.season.player_stats.stats
    result: list[Row] = []
    for group, labels in _STAT_GROUPS[feed.season.league.key]:
        lines = [
            {
                "athlete": athlete,
                "didNotPlay": False,
                "stats": [_format_stat(label, float(stats[name][row])) for label, name in labels],
            }
            for row, athlete in rows_of_team
        ]
        result.append({"name": group, "labels": [label for label, _ in labels], "athletes": lines})
    return result


def _format_stat(label: str, value: float) -> str:
    """Threes are reported as made-attempted."""
    return f"{value:g}-{value * 2 + 3:g}" if label == "3PT" else f"{value:g}"


def _schedule(feed: SeasonFeed, team: int, now: datetime) -> Row | None:
    games = feed.season.games
    if not 0 <= team < len(feed.season.teams):
        return None
    rows_of_team = np.flatnonzero((games.home == team) | (games.away == team)).tolist()
    return {"team": _team(feed, team), "events": [_event(feed, game, now) for game in rows_of_team]}


def _injuries(feed: SeasonFeed, now: datetime) -> Row:
    """Return the last report of each player who is not fit."""
    reports = feed.season.injuries
    known = int(np.searchsorted(reports.known_us, to_epoch_us(now), side="right"))
    last = {int(reports.player[row]): row for row in range(known)}
    teams: dict[int, list[Row]] = {}
    for player, row in sorted(last.items()):
        if reports.status[row] == ACTIVE:
            continue
        name = feed.season.players[player].name
        teams.setdefault(int(reports.team[row]), []).append(
            {
                "id": str(row),
                "status": STATUSES[reports.status[row]].title(),
                "date": f"{from_epoch_us(int(reports.known_us[row])):%Y-%m-%dT%H:%MZ}",
                "athlete": {"id": str(player + 1), "displayName": name},
                "details": {"type": "Knee"},
                "shortComment": f"{name} is hurt.",
            }
        )
    injured_teams = [
        {"id": str(team + 1), "displayName": feed.season.teams[team], "injuries": rows}
        for team, rows in sorted(teams.items())
    ]
    return {
        "timestamp": f"{now:%Y-%m-%dT%H:%M:%SZ}",
        "status": "success",
        "injuries": injured_teams,
    }
