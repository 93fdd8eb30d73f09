"""Kept here: runs, batting, bowling and scoreboard rows of a match in the feed's words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from grandstand.simulators.scores.scorecard import BattingFigures, BowlingFigures, Sheet
from grandstand.simulators.scores.tape import BALLS_PER_OVER, Delivery, Tape
from grandstand.simulators.scores.words.people import player_row, team_row
from grandstand.simulators.scores.words.scores import Row, way_of

_ROWS_A_MATCH: Final = 1000
_ROWS_AN_INNINGS: Final = 100
_BOWLERS_FROM: Final = 50


def written_ball(ball: Delivery) -> float:
    """Answer over and ball as the feed writes them, 17.3; an over ends with .6."""
    return round(ball.over + ball.number / 10, 1)


def runs_rows(tape: Tape, match_id: int, sheets: Sequence[Sheet], at: str) -> list[Row]:
    """Answer where every innings begun stands."""
    rows: list[Row] = []
    for sheet in sheets:
        innings = tape.innings[sheet.inning - 1]
        powers: list[str | None] = [*innings.powerplays, None, None, None]
        rows.append(
            {
                "resource": "runs",
                "id": match_id * 10 + sheet.inning,
                "fixture_id": match_id,
                "team_id": innings.team.id,
                "inning": sheet.inning,
                "score": sheet.runs,
                "wickets": sheet.wickets,
                "overs": sheet.overs,
                "pp1": powers[0],
                "pp2": powers[1],
                "pp3": powers[2],
                "updated_at": at,
            }
        )
    return rows


def batting_rows(tape: Tape, match_id: int, sheets: Sequence[Sheet], at: str) -> list[Row]:
    """Answer everybody who came in, in the order they did."""
    return [
        _batting(tape, match_id, sheet, (sort, line), at)
        for sheet in sheets
        for sort, line in enumerate(sheet.batting.values(), start=1)
    ]


def _batting(
    tape: Tape, match_id: int, sheet: Sheet, placed: tuple[int, BattingFigures], at: str
) -> Row:
    """A live reply was seen with `active` false for both batters, so it is false for everybody."""
    sort, line = placed
    way, left = way_of(line.left), line.left
    fielder = left.fielder.id if left and left.fielder else None
    bowled = left is not None and left.credited and line.bowler is not None
    kind = left.kind if left else ""
    return {
        "resource": "battings",
        "id": match_id * _ROWS_A_MATCH + sheet.inning * _ROWS_AN_INNINGS + sort,
        "sort": sort,
        "fixture_id": match_id,
        "team_id": tape.innings[sheet.inning - 1].team.id,
        "active": False,
        "scoreboard": f"S{sheet.inning}",
        "player_id": line.player.id,
        "ball": line.balls,
        "score_id": way["id"],
        "wicket_id": way["id"] if line.out else None,
        "score": line.runs,
        "four_x": line.fours,
        "six_x": line.sixes,
        "catch_stump_player_id": _catcher(line) if kind != "run out" else None,
        "runout_by_id": fielder if kind == "run out" else None,
        "batsmanout_id": line.player.id if line.out else None,
        "bowling_player_id": line.bowler.id if bowled and line.bowler else None,
        "fow_score": line.fall_score if line.out else 0,
        "fow_balls": written_ball(line.delivery) if line.out and line.delivery else 0,
        "rate": round(100 * line.runs / line.balls) if line.balls else 0,
        "updated_at": at,
        "batsman": player_row(line.player),
        "bowler": player_row(line.bowler) if bowled and line.bowler else None,
        "result": way,
    }


def _catcher(line: BattingFigures) -> int | None:
    if line.left is None:
        return None
    if line.left.kind == "caught and bowled":
        return line.bowler.id if line.bowler else None
    return line.left.fielder.id if line.left.fielder else None


def bowling_rows(tape: Tape, match_id: int, sheets: Sequence[Sheet], at: str) -> list[Row]:
    """Answer everybody who bowled, in the order they did."""
    return [
        _bowling(tape, match_id, sheet, (sort, line), at)
        for sheet in sheets
        for sort, line in enumerate(sheet.bowling.values(), start=1)
    ]


def _bowling(
    tape: Tape, match_id: int, sheet: Sheet, placed: tuple[int, BowlingFigures], at: str
) -> Row:
    sort, line = placed
    home, away = tape.teams
    batting = tape.innings[sheet.inning - 1].team
    overs, balls = divmod(line.balls, BALLS_PER_OVER)
    number = match_id * _ROWS_A_MATCH + sheet.inning * _ROWS_AN_INNINGS + _BOWLERS_FROM + sort
    return {
        "resource": "bowlings",
        "id": number,
        "sort": sort,
        "fixture_id": match_id,
        "team_id": (away if batting == home else home).id,
        "active": False,
        "scoreboard": f"S{sheet.inning}",
        "player_id": line.player.id,
        "overs": round(overs + balls / 10, 1) if balls else overs,
        "medians": line.maidens,
        "runs": line.runs,
        "wickets": line.wickets,
        "wide": line.wides,
        "noball": line.noballs,
        "rate": round(line.runs * BALLS_PER_OVER / line.balls, 2) if line.balls else 0,
        "updated_at": at,
        "bowler": player_row(line.player),
    }


def scoreboard_rows(tape: Tape, match_id: int, sheets: Sequence[Sheet], at: str) -> list[Row]:
    """Answer two rows an innings: its extras and its total."""
    rows: list[Row] = []
    for sheet in sheets:
        extras, team = sheet.extras, tape.innings[sheet.inning - 1].team
        told = {
            "wide": extras.wides,
            "noball_runs": extras.noballs,
            "noball_balls": extras.noball_balls,
            "bye": extras.byes,
            "leg_bye": extras.legbyes,
            "penalty": extras.penalty,
        }
        both: tuple[tuple[str, Row], ...] = (
            ("extra", {**told, "total": _sum(sheet), "overs": 0, "wickets": 0}),
            ("total", {**dict.fromkeys(told, 0), "total": sheet.runs, "overs": sheet.overs}),
        )
        for place, (kind, row) in enumerate(both):
            rows.append(
                {
                    "resource": "scoreboards",
                    "id": match_id * 100 + sheet.inning * 10 + place,
                    "fixture_id": match_id,
                    "team_id": team.id,
                    "type": kind,
                    "scoreboard": f"S{sheet.inning}",
                    "wickets": sheet.wickets,
                    **row,
                    "updated_at": at,
                    "team": team_row(team, national=tape.setting.international),
                }
            )
    return rows


def _sum(sheet: Sheet) -> int:
    extras = sheet.extras
    return extras.wides + extras.noballs + extras.byes + extras.legbyes + extras.penalty
