"""Kept here: teams, players, leagues, seasons, stages, venues and officials in the feed's words."""

from __future__ import annotations

from typing import Final

from grandstand.simulators.scores.tape import Player, Tape, Team, stable_id
from grandstand.simulators.scores.words.scores import Row

UPDATED: Final = "2026-01-01T00:00:00.000000Z"
IMAGES: Final = "https://images.example"
# The feed's own numbers for the leagues of internationals.
_PHASES: Final = {"Twenty20 International": 3, "One Day International": 2, "Test": 1}
_POSITIONS: Final = ("Batsman", "Bowler", "Allrounder", "Wicketkeeper")
_COUNTRY: Final = 1


def team_row(team: Team, *, national: bool = False) -> Row:
    """Answer a team."""
    return {
        "resource": "teams",
        "id": team.id,
        "name": team.name,
        "code": team.code,
        "image_path": f"{IMAGES}/teams/{team.id}.png",
        "country_id": _COUNTRY,
        "national_team": national,
        "updated_at": UPDATED,
    }


def position_row(number: int) -> Row:
    """Answer what somebody does in a team, by a number from 1 to 4."""
    return {"resource": "positions", "id": number, "name": _POSITIONS[number - 1]}


def positions() -> list[Row]:
    """Answer all of them."""
    return [position_row(number) for number in range(1, len(_POSITIONS) + 1)]


def player_row(player: Player) -> Row:
    """Answer somebody who plays."""
    return {
        "resource": "players",
        "id": player.id,
        "country_id": _COUNTRY,
        "firstname": player.first,
        "lastname": player.last,
        "fullname": player.name,
        "image_path": f"{IMAGES}/players/{player.id}.png",
        "dateofbirth": None,
        "gender": "m",
        "battingstyle": "right-hand-bat" if player.id % 3 else "left-hand-bat",
        "bowlingstyle": "right-arm-medium" if player.id % 2 else "right-arm-offbreak",
        "position": position_row(1 + player.id % len(_POSITIONS)),
        "updated_at": UPDATED,
    }


def lineup_rows(tape: Tape) -> list[Row]:
    """Answer everybody of a match, each with their place in the side."""
    eleven = 11
    return [
        {
            **player_row(player),
            "lineup": {
                "team_id": team.id,
                "captain": place == 0,
                "wicketkeeper": place == 1,
                "substitution": place >= eleven,
            },
        }
        for team in tape.teams
        for place, player in enumerate(team.players)
    ]


def league_id(tape: Tape) -> int:
    """Answer the number of the league a match belongs to."""
    name = tape.setting.league
    return _PHASES.get(name) or stable_id("league", name)


def season_id(tape: Tape) -> int:
    """Answer the number of its season."""
    return stable_id("season", tape.setting.league, tape.setting.season)


def stage_id(tape: Tape) -> int:
    """Answer the number of its stage."""
    return stable_id("stage", tape.setting.stage, tape.setting.season)


def venue_id(tape: Tape) -> int:
    """Answer the number of its ground."""
    return stable_id("venue", tape.setting.venue)


def league_row(tape: Tape) -> Row:
    """Answer the league of a match, with its current season."""
    name = tape.setting.league
    return {
        "resource": "leagues",
        "id": league_id(tape),
        "season_id": season_id(tape),
        "country_id": _COUNTRY,
        "name": name,
        "code": tape.format if name in _PHASES else "".join(w[0] for w in name.split()).upper(),
        "image_path": f"{IMAGES}/leagues/{league_id(tape)}.png",
        "type": "phase" if tape.setting.international else "league",
        "updated_at": UPDATED,
    }


def season_row(tape: Tape) -> Row:
    """Answer the season of a match."""
    season = tape.setting.season
    return {
        "resource": "seasons",
        "id": season_id(tape),
        "league_id": league_id(tape),
        "name": season,
        "code": season,
        "updated_at": UPDATED,
    }


def stage_row(tape: Tape) -> Row:
    """Answer the stage of a match."""
    return {
        "resource": "stages",
        "id": stage_id(tape),
        "league_id": league_id(tape),
        "season_id": season_id(tape),
        "name": tape.setting.stage,
        "code": str(stage_id(tape)),
        "type": "Series" if tape.setting.international else "Regular",
        "standings": not tape.setting.international,
        "updated_at": UPDATED,
    }


def venue_row(tape: Tape) -> Row:
    """Answer the ground of a match."""
    return {
        "resource": "venues",
        "id": venue_id(tape),
        "country_id": _COUNTRY,
        "name": tape.setting.venue,
        "city": tape.setting.city or tape.setting.venue,
        "image_path": f"{IMAGES}/venues/{venue_id(tape)}.png",
        "capacity": 20_000 + venue_id(tape) % 80_000,
        "floodlight": True,
        "updated_at": UPDATED,
    }


def official_row(name: str) -> Row:
    """Answer an umpire or a referee."""
    first, _, last = name.partition(" ")
    return {
        "resource": "officials",
        "id": stable_id("official", name),
        "country_id": _COUNTRY,
        "firstname": first if last else "",
        "lastname": last or first,
        "fullname": name,
        "dateofbirth": None,
        "gender": "m",
        "updated_at": UPDATED,
    }


def country_row() -> Row:
    """Answer the one country everybody comes from."""
    return {
        "resource": "countries",
        "id": _COUNTRY,
        "continent_id": 1,
        "name": "Grandstand",
        "image_path": f"{IMAGES}/countries/1.png",
        "updated_at": UPDATED,
    }


def continent_row() -> Row:
    """Answer the continent it lies on."""
    return {"resource": "continents", "id": 1, "name": "The Field", "updated_at": UPDATED}
