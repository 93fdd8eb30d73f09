"""The control API of the simulator: recordings, replays and malformed replies."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

import msgspec

from grandstand.core.errors import GrandstandError, NotFound
from grandstand.simulators.malformed import MalformedReply
from grandstand.simulators.scores.matches import RECORDED_MATCHES, find_match
from grandstand.simulators.scores.serializers import Row
from grandstand.simulators.scores.timeline import PlayStatus, Replay, TimelineConfig

if TYPE_CHECKING:
    from grandstand.simulators.scores.feed import ScoreFeed

Malformation: TypeAlias = Literal[
    "unknown status", "no includes", "wrong types", "no rows", "no data", "huge", "no ids"
]

_INCLUDED: Final = frozenset(
    {"runs", "batting", "bowling", "balls", "lineup", "localteam", "visitorteam", "venue", "league"}
)


def malform(wrong: Malformation, body: object) -> object:
    """Return a malformed version of a response."""
    if not isinstance(body, dict) or wrong == "no data":
        return {"oops": True}
    if wrong == "huge":
        return {**body, "padding": "x" * 5 * 1024 * 1024}
    data = body.get("data")
    change = _MALFORMATIONS[wrong]
    rows = [change(row) for row in data] if isinstance(data, list) else change(data)
    return {**body, "data": rows}


def _each(row: object, change: Callable[[Row], Row]) -> object:
    return change(row) if isinstance(row, dict) else row


def _wrong_types(row: Row) -> Row:
    return {
        **row,
        "note": {"text": 5},
        "super_over": "perhaps",
        "starting_at": "the day after tomorrow",
        "rpc_target": "many",
        "runs": [{"inning": "one"}, 7],
        "batting": "nobody",
        "bowling": [{"player_id": [], "scoreboard": 1}],
        "balls": [{"id": None}, None, {"id": "x", "ball": "y", "score": []}],
        "localteam": "somebody",
    }


_MALFORMATIONS: Final[dict[Malformation, Callable[[object], object]]] = {
    "unknown status": lambda row: _each(row, lambda each: {**each, "status": "Dew Inspection"}),
    "no includes": lambda row: _each(
        row, lambda each: {name: each[name] for name in each if name not in _INCLUDED}
    ),
    "wrong types": lambda row: _each(row, _wrong_types),
    "no rows": lambda _: 7,
    "no ids": lambda row: _each(row, lambda each: {**each, "id": None}),
}


BASE: Final = "/simulator"

Speed: TypeAlias = Annotated[float, msgspec.Meta(gt=0, le=100_000)]


class ReplayRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A match to replay: the number of a recording, or `generated:SEED`."""

    recording: str
    speed: Speed = 1.0
    starts_in_seconds: float = 0.0
    match_id: int | None = None
    correction_seed: int | None = None
    config: TimelineConfig | None = None


class ReplayCommand(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A command to a replay; seek takes a ball or a second of the match."""

    action: Literal["play", "pause", "seek", "stop"]
    speed: Speed | None = None
    ball: Annotated[int, msgspec.Meta(ge=0)] | None = None
    seconds: float | None = None


class ReplayState(msgspec.Struct, frozen=True):
    """The state of a replay."""

    match_id: str
    recording: str
    title: str
    format: str
    state: PlayStatus
    speed: float
    starts_at: datetime
    seconds: float
    ends_at_seconds: float
    ball: int
    balls: int
    match_status: str


def handle_control_request(
    feed: ScoreFeed, method: str, path: str, body: bytes
) -> tuple[int, object]:
    """Return the status and the body for a request of the control API."""
    try:
        return _handle(feed, method, path.removeprefix(BASE).strip("/").split("/"), body)
    except msgspec.MsgspecError as error:
        return 400, {"message": str(error)}
    except GrandstandError as error:
        return error.status, {"message": str(error)}


def describe_replay(replay: Replay) -> ReplayState:
    moment, record = replay.moment, replay.record
    home, away = record.teams
    return ReplayState(
        match_id=str(replay.match_id),
        recording=str(record.id),
        title=f"{home.name} v {away.name}",
        format=record.format,
        state=replay.state,
        speed=replay.speed,
        starts_at=replay.starts_at,
        seconds=round(replay.position, 3),
        ends_at_seconds=replay.timeline.ends_at,
        ball=moment.shown,
        balls=len(record.deliveries),
        match_status=moment.status,
    )


def _handle(feed: ScoreFeed, method: str, parts: list[str], body: bytes) -> tuple[int, object]:
    match method, parts:
        case "GET", ["recordings"]:
            return 200, [str(number) for number in RECORDED_MATCHES]
        case "GET", ["replays"]:
            return 200, [describe_replay(each) for each in feed.replays]
        case "POST", ["replays"]:
            return 201, describe_replay(_play(feed, msgspec.json.decode(body, type=ReplayRequest)))
        case "GET", ["replays", number]:
            return 200, describe_replay(_read(feed, number))
        case "PUT", ["replays", number]:
            return _control(
                feed, _read(feed, number), msgspec.json.decode(body, type=ReplayCommand)
            )
        case "DELETE", ["replays", number]:
            feed.take_off(_read(feed, number).match_id)
            return 200, {}
        case "GET" | "PUT", ["malformed"]:
            if method == "PUT":
                feed.malformed.ask_for(
                    *msgspec.json.decode(body, type=list[MalformedReply[Malformation]])
                )
            return 200, feed.malformed.requested
    return 404, {"message": "Not found."}


def _play(feed: ScoreFeed, request: ReplayRequest) -> Replay:
    return feed.play(
        find_match(request.recording),
        starts_in=timedelta(seconds=request.starts_in_seconds),
        speed=request.speed,
        match_id=request.match_id,
        correction_seed=request.correction_seed,
        config=request.config,
    )


def _read(feed: ScoreFeed, number: str) -> Replay:
    found = feed.find(int(number)) if number.isdecimal() else None
    if found is None:
        raise NotFound(f"No match {number} is being replayed.")
    return found


def _control(feed: ScoreFeed, replay: Replay, command: ReplayCommand) -> tuple[int, object]:
    if command.action == "stop":
        feed.take_off(replay.match_id)
        return 200, {}
    if command.action == "seek":
        if command.ball is None and command.seconds is None:
            return 400, {"message": "Seek needs a ball or seconds."}
        if command.ball is not None:
            replay.seek_ball(command.ball)
        else:
            replay.seek(command.seconds or 0.0)
    elif command.action == "pause":
        replay.pause()
    else:
        replay.play(command.speed)
    return 200, describe_replay(replay)
