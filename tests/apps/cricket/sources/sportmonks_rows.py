"""A match in the feed's own words: a few rows of each kind, as it sends them."""

from __future__ import annotations

from typing import Any


def score(name: str, **given: Any) -> dict[str, Any]:
    """A score object, all zeros but what is given."""
    nothing = {
        "runs": 0,
        "four": False,
        "six": False,
        "bye": 0,
        "leg_bye": 0,
        "noball": 0,
        "noball_runs": 0,
        "is_wicket": False,
        "ball": True,
        "out": False,
    }
    return {"resource": "scores", "id": 1, "name": name, **nothing, **given}


def ball(ball_id: int, label: object, told: dict[str, Any], **given: Any) -> dict[str, Any]:
    """A ball row by batter 11, with 12 at the other end, bowled by 21."""
    row = {
        "resource": "balls",
        "id": ball_id,
        "fixture_id": 71344,
        "team_id": 1,
        "ball": label,
        "scoreboard": "S1",
        "batsman_one_on_creeze_id": 11,
        "batsman_two_on_creeze_id": 12,
        "batsman_id": 11,
        "bowler_id": 21,
        "batsmanout_id": None,
        "score_id": 1,
        "score": told,
        "batsman": {"id": 11, "firstname": "Ada", "lastname": "North", "fullname": "Ada North"},
        "bowler": {"id": 21, "fullname": "Grace South"},
    }
    return {**row, **given}


def fixture(**given: Any) -> dict[str, Any]:
    """A fixture in its first innings."""
    row = {
        "resource": "fixtures",
        "id": 71344,
        "league_id": 5,
        "season_id": 1700,
        "stage_id": 77,
        "round": "1st T20",
        "localteam_id": 1,
        "visitorteam_id": 2,
        "starting_at": "2026-11-16T08:40:00.000000Z",
        "type": "T20",
        "live": True,
        "status": "1st Innings",
        "note": "",
        "toss_won_team_id": 1,
        "winner_team_id": None,
        "draw_noresult": None,
        "elected": "batting",
        "super_over": False,
        "localteam_dl_data": {"score": None, "overs": None, "wickets_out": None},
        "visitorteam_dl_data": {"score": None, "overs": None, "wickets_out": None},
        "rpc_overs": None,
        "rpc_target": None,
        "weather_report": [],
        "localteam": {"id": 1, "name": "Harbour Town", "code": "HAR", "image_path": "h.png"},
        "visitorteam": {"data": {"id": 2, "name": "Hill City", "code": "HIL"}},
        "league": {"id": 5, "name": "City League", "code": "CL"},
        "venue": {"id": 9, "name": "The Green"},
        "runs": [
            {"team_id": 1, "inning": 1, "score": 11, "wickets": 1, "overs": 1.2, "pp1": "1-6"}
        ],
        "batting": [
            {
                "sort": 2,
                "player_id": 12,
                "scoreboard": "S1",
                "score": 3,
                "ball": 4,
                "active": False,
            },
            {
                "sort": 1,
                "player_id": 11,
                "scoreboard": "S1",
                "score": 8,
                "ball": 4,
                "four_x": 2,
                "six_x": 0,
                "fow_score": 11,
                "fow_balls": 1.2,
            },
        ],
        "bowling": {
            "data": [
                {
                    "sort": 1,
                    "player_id": 21,
                    "scoreboard": "S1",
                    "overs": 1.2,
                    "medians": 0,
                    "runs": 11,
                    "wickets": 1,
                }
            ]
        },
        "balls": [
            ball(102, 0.2, score("1 Run", runs=1)),
            ball(101, 0.1, score("FOUR", runs=4, four=True)),
        ],
        "lineup": [{"id": 12, "firstname": "Bea", "lastname": "West"}],
    }
    return {**row, **given}
