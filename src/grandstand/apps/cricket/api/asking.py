"""Kept here: what cricket's routes are asked with, and how a value becomes an answer."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Path, Query

from grandstand.apps.cricket.api.models import (
    BallModel,
    BattingModel,
    BoardModel,
    BowlingModel,
    InningsModel,
    Moment,
    ScorecardModel,
)
from grandstand.apps.cricket.api.people_models import DeviceModel
from grandstand.apps.cricket.model import Ball, Board
from grandstand.apps.cricket.model import Fixture as Scores
from grandstand.apps.cricket.model.display import mark_of
from grandstand.apps.cricket.model.errors import FeedKeyMissing, FeedUnreadable
from grandstand.apps.cricket.service import Cricket, Device, Scorecard
from grandstand.base.errors import GrandstandError, LimitReached, SourceFailed, Unavailable
from grandstand.kit.routes import WRITTEN

MatchId = Annotated[str, Path(pattern=r"^[0-9]{1,20}$", examples=["69256"])]
TeamRef = Annotated[str, Path(pattern=r"^[A-Za-z0-9-]{1,24}$", examples=["37"])]
SeasonRef = Annotated[str, Path(pattern=r"^[0-9]{1,20}$", examples=["1689"])]
LeagueRef = Annotated[str, Path(pattern=r"^[A-Za-z0-9-]{1,24}$", examples=["3"])]
League = Annotated[
    str | None, Query(pattern=r"^[A-Za-z0-9-]{1,24}$", description="A league's id or its code.")
]
From = Annotated[Moment | None, Query(alias="from", examples=["2026-11-16T00:00:00Z"]), WRITTEN]
To = Annotated[Moment | None, Query(alias="to", examples=["2026-11-23T00:00:00Z"]), WRITTEN]
Limit = Annotated[int, Query(ge=1, le=200, examples=[50])]
Cursor = Annotated[str | None, Query(max_length=4000)]
Team = Annotated[
    str | None,
    Query(pattern=r"^[A-Za-z0-9-]{1,24}$", description="Whom the viewer is for.", alias="team"),
]
DeviceId = Annotated[str | None, Query(alias="deviceId", min_length=1, max_length=128)]
DeviceToken = Annotated[str, Query(alias="deviceToken", min_length=1, max_length=1024)]

FETCHED: Final[tuple[type[GrandstandError], ...]] = (
    FeedKeyMissing,
    FeedUnreadable,
    SourceFailed,
    Unavailable,
    LimitReached,
)
"""What may go wrong wherever the score feed may have to be asked."""


class RoutesPart:
    """Some routes: who asks and what for; the answers come from cricket."""

    def __init__(self, cricket: Cricket) -> None:
        self._cricket = cricket
        self._cursors = cricket.cursors


def device_model(device: Device) -> DeviceModel:
    """Answer a device as its owner sees it."""
    return DeviceModel(
        device_id=device.device_id,
        device_token=device.device_token,
        platform=device.platform,
        os_version=device.os_version,
        app_version=device.app_version,
        last_seen_at=device.last_seen_at,
        startable=device.push_to_start_token is not None,
    )


def scorecard_model(card: Scorecard) -> ScorecardModel:
    """Answer a scorecard with the players' names beside their figures."""
    scores = card.scores
    return ScorecardModel(
        match_id=scores.match_id,
        status=scores.status,
        note=scores.note,
        as_of=card.as_of,
        toss_team_id=scores.toss_team_id,
        elected=scores.elected,
        winner_team_id=scores.winner_team_id,
        innings=tuple(InningsModel.model_validate(each) for each in scores.innings),
        boards=tuple(_board(each, scores) for each in scores.boards),
        balls=tuple(_ball(each) for each in scores.balls),
        players=dict(scores.players),
    )


def _board(board: Board, scores: Scores) -> BoardModel:
    batting = tuple(
        BattingModel(
            player_id=line.player_id,
            name=scores.player(line.player_id),
            score=line.score,
            balls=line.balls,
            fours=line.fours,
            sixes=line.sixes,
            out=line.out,
            fall_score=line.fall_score,
            fall_overs=None if line.fall_overs is None else str(line.fall_overs),
        )
        for line in board.batting
    )
    bowling = tuple(
        BowlingModel(
            player_id=line.player_id,
            name=scores.player(line.player_id),
            overs=str(line.overs),
            maidens=line.maidens,
            runs=line.runs,
            wickets=line.wickets,
        )
        for line in board.bowling
    )
    return BoardModel(inning=board.inning, batting=batting, bowling=bowling)


def _ball(ball: Ball) -> BallModel:
    return BallModel(
        id=ball.id,
        inning=ball.inning,
        over=ball.over,
        number=ball.number,
        label=ball.label,
        mark=mark_of(ball),
        batter_id=ball.batter_id,
        bowler_id=ball.bowler_id,
        runs=ball.runs,
        extras=ball.extras,
        extra=ball.extra,
        wicket=ball.wicket,
        how=ball.how,
    )
