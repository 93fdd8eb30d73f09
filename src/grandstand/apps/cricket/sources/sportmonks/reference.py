"""Kept here: the feed's leagues, teams and tables of seasons as the values of the model."""

from __future__ import annotations

from grandstand.apps.cricket.model.scores import LeagueFacts, StandingFacts, TeamFacts
from grandstand.apps.cricket.sources.sportmonks.reading import Reading, Row


def parse_league(reading: Reading, row: Row) -> LeagueFacts | None:
    """Answer a league; None, with a warning, without an id or a name."""
    league_id, name = reading.key(row, "id"), reading.text(row, "name")
    if not league_id or not name:
        reading.warn("a league without an id or a name")
        return None
    return LeagueFacts(
        league_id,
        name,
        reading.text(row, "code"),
        reading.text(row, "image_path"),
        reading.key(row, "season_id"),
    )


def parse_team(reading: Reading, row: Row) -> TeamFacts | None:
    """Answer a team; None, with a warning, without an id or a name."""
    team_id, name = reading.key(row, "id"), reading.text(row, "name")
    if not team_id or not name:
        reading.warn("a team without an id or a name")
        return None
    return TeamFacts(
        team_id,
        name,
        reading.text(row, "code"),
        reading.text(row, "image_path"),
        reading.flag(row, "national_team"),
    )


def parse_standing(reading: Reading, row: Row) -> StandingFacts | None:
    """Answer a team's row in the table of a season; None, with a warning, without its ids."""
    season_id, team_id = reading.key(row, "season_id"), reading.key(row, "team_id")
    if not season_id or not team_id:
        reading.warn("a standing without a season or a team")
        return None
    return StandingFacts(
        season_id,
        team_id,
        league_id=reading.key(row, "league_id"),
        played=reading.number(row, "played"),
        won=reading.number(row, "won"),
        lost=reading.number(row, "lost"),
        drawn=reading.number(row, "draw"),
        no_result=reading.number(row, "noresult"),
        points=reading.number(row, "points"),
        place=reading.find_number(row, "position"),
    )
