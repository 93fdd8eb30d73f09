"""The control API of the simulator: tapes, replays and malformed replies."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Annotated, Final, Literal, Protocol, TypeAlias

import msgspec

from grandstand.core.errors import GrandstandError
from grandstand.simulators.malformed import MalformedReplies, MalformedReply
from grandstand.simulators.scores.cricsheet import RECORDED_MATCHES, find_match
from grandstand.simulators.scores.match_record import MatchRecord, ReplayNotFound
from grandstand.simulators.scores.serializers import Row
from grandstand.simulators.scores.timeline import PlayStatus, Replay, TimelineConfig

Malformation: TypeAlias = Literal[
    "unknown status", "no includes", "wrong types", "no rows", "no data", "huge", "no ids"
]

_HUGE: Final = 5 * 1024 * 1024
_INCLUDED: Final = frozenset(
    {"runs", "batting", "bowling", "balls", "lineup", "localteam", "visitorteam", "venue", "league"}
)


def malform(wrong: Malformation, told: object) -> object:
    """Return a malformed version of a response."""
    if not isinstance(told, dict) or wrong == "no data":
        return {"oops": True}
    if wrong == "huge":
        return {**told, "padding": "x" * _HUGE}
    data = told.get("data")
    spoil = _SPOILT[wrong]
    rows = [spoil(row) for row in data] if isinstance(data, list) else spoil(data)
    return {**told, "data": rows}


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


_SPOILT: Final[dict[Malformation, Callable[[object], object]]] = {
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
    """A match to replay: a tape by number, or `generated:SEED`."""

    tape: str
    speed: Speed = 1.0
    starts_in_seconds: float = 0.0
    match_id: int | None = None
    slip_seed: int | None = None
    course: TimelineConfig | None = None


class ReplayCommand(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A command to a replay; seek takes a ball or a second of the match."""

    action: Literal["play", "pause", "seek", "stop"]
    speed: Speed | None = None
    ball: Annotated[int, msgspec.Meta(ge=0)] | None = None
    seconds: float | None = None


class ReplayState(msgspec.Struct, frozen=True):
    """The state of a replay."""

    match_id: int
    tape: int
    title: str
    format: str
    status: PlayStatus
    speed: float
    starts_at: datetime
    seconds: float
    ends_at_seconds: float
    ball: int
    balls: int
    match_status: str


class ReplayableFeed(Protocol):
    """What the control API controls."""

    blemishes: MalformedReplies[Malformation]

    def play(
        self,
        tape: MatchRecord,
        *,
        starts_in: timedelta = ...,
        speed: float = ...,
        match_id: int | None = ...,
        slip_seed: int | None = ...,
        course: TimelineConfig | None = ...,
    ) -> Replay:
        """Put a match on the air."""
        ...

    def find(self, match_id: int) -> Replay | None:
        """Return a match on the air."""
        ...

    def take_off(self, match_id: int) -> None:
        """Take a match off the air."""
        ...

    @property
    def replays(self) -> tuple[Replay, ...]:
        """All matches on the air."""
        ...


def handle_control_request(
    feed: ReplayableFeed, method: str, path: str, body: bytes
) -> tuple[int, object]:
    """Return the status and the body for a request of the control API."""
    try:
        return _done(feed, method, path.removeprefix(BASE).strip("/").split("/"), body)
    except msgspec.MsgspecError as fault:
        return 400, {"message": str(fault)}
    except GrandstandError as fault:
        return fault.status, {"message": str(fault)}


def describe_replay(replay: Replay) -> ReplayState:
    moment, tape = replay.moment, replay.tape
    home, away = tape.teams
    return ReplayState(
        match_id=replay.match_id,
        tape=tape.id,
        title=f"{home.name} v {away.name}",
        format=tape.format,
        status=replay.status,
        speed=replay.speed,
        starts_at=replay.starts_at,
        seconds=round(replay.position, 3),
        ends_at_seconds=replay.timeline.ends_at,
        ball=moment.shown,
        balls=len(tape.deliveries),
        match_status=moment.status,
    )


def _done(feed: ReplayableFeed, method: str, parts: list[str], body: bytes) -> tuple[int, object]:
    match method, parts:
        case "GET", ["tapes"]:
            return 200, [str(number) for number in RECORDED_MATCHES]
        case "GET", ["replays"]:
            return 200, [describe_replay(each) for each in feed.replays]
        case "POST", ["replays"]:
            return 201, describe_replay(_play(feed, msgspec.json.decode(body, type=ReplayRequest)))
        case "GET", ["replays", number]:
            return 200, describe_replay(_read(feed, number))
        case "PUT", ["replays", number]:
            return _ordered(
                feed, _read(feed, number), msgspec.json.decode(body, type=ReplayCommand)
            )
        case "DELETE", ["replays", number]:
            feed.take_off(_read(feed, number).match_id)
            return 200, {}
        case "GET" | "PUT", ["blemishes"]:
            if method == "PUT":
                feed.blemishes.ask_for(
                    *msgspec.json.decode(body, type=list[MalformedReply[Malformation]])
                )
            return 200, feed.blemishes.asked
    return 404, {"message": "no such address"}


def _play(feed: ReplayableFeed, wanted: ReplayRequest) -> Replay:
    return feed.play(
        find_match(wanted.tape),
        starts_in=timedelta(seconds=wanted.starts_in_seconds),
        speed=wanted.speed,
        match_id=wanted.match_id,
        slip_seed=wanted.slip_seed,
        course=wanted.course,
    )


def _read(feed: ReplayableFeed, number: str) -> Replay:
    found = feed.find(int(number)) if number.isdecimal() else None
    if found is None:
        raise ReplayNotFound(number)
    return found


def _ordered(feed: ReplayableFeed, replay: Replay, order: ReplayCommand) -> tuple[int, object]:
    if order.action == "stop":
        feed.take_off(replay.match_id)
        return 200, {}
    if order.action == "seek":
        if order.ball is None and order.seconds is None:
            return 400, {"message": "seek takes a ball or seconds"}
        if order.ball is not None:
            replay.seek_ball(order.ball)
        else:
            replay.seek(order.seconds or 0.0)
    elif order.action == "pause":
        replay.pause()
    else:
        replay.play(order.speed)
    return 200, describe_replay(replay)
