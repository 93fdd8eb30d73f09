"""Kept here: steering the simulator over its own addresses: tapes, replays and blemishes."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Final, Literal, Protocol, TypeAlias

import msgspec

from grandstand.base.errors import GrandstandError
from grandstand.simulators.blemishes import Blemish, Blemishes
from grandstand.simulators.scores.blemishes import Wrong
from grandstand.simulators.scores.course import Course
from grandstand.simulators.scores.errors import ReplayUnknown
from grandstand.simulators.scores.library import REAL, find_tape
from grandstand.simulators.scores.replay import PlayStatus, Replay
from grandstand.simulators.scores.tape import Tape

BASE: Final = "/simulator"

Speed: TypeAlias = Annotated[float, msgspec.Meta(gt=0, le=100_000)]


class Wanted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A match to put on the air: a real one by its number, or `generated:SEED` with its wishes."""

    tape: str
    speed: Speed = 1.0
    starts_in_seconds: float = 0.0
    match_id: int | None = None
    slip_seed: int | None = None
    course: Course | None = None


class Order(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a match on the air is to do; seek takes a ball or a second of the match."""

    action: Literal["play", "pause", "seek", "stop"]
    speed: Speed | None = None
    ball: Annotated[int, msgspec.Meta(ge=0)] | None = None
    seconds: float | None = None


class ReplayState(msgspec.Struct, frozen=True):
    """Where a match on the air stands."""

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


class Player(Protocol):
    """What can be steered."""

    blemishes: Blemishes[Wrong]

    def play(
        self,
        tape: Tape,
        *,
        starts_in: timedelta = ...,
        speed: float = ...,
        match_id: int | None = ...,
        slip_seed: int | None = ...,
        course: Course | None = ...,
    ) -> Replay:
        """Put a match on the air."""
        ...

    def find(self, match_id: int) -> Replay | None:
        """Answer a match on the air."""
        ...

    def take_off(self, match_id: int) -> None:
        """Take a match off the air."""
        ...

    @property
    def replays(self) -> tuple[Replay, ...]:
        """All matches on the air."""
        ...


def steered(feed: Player, method: str, path: str, body: bytes) -> tuple[int, object]:
    """Answer the status and the words for an order at one of the simulator's own addresses."""
    try:
        return _done(feed, method, path.removeprefix(BASE).strip("/").split("/"), body)
    except msgspec.MsgspecError as fault:
        return 400, {"message": str(fault)}
    except GrandstandError as fault:
        return fault.status, {"message": str(fault)}


def state_of(replay: Replay) -> ReplayState:
    """Answer where a match stands."""
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


def _done(feed: Player, method: str, parts: list[str], body: bytes) -> tuple[int, object]:
    match method, parts:
        case "GET", ["tapes"]:
            return 200, [str(number) for number in REAL]
        case "GET", ["replays"]:
            return 200, [state_of(each) for each in feed.replays]
        case "POST", ["replays"]:
            return 201, state_of(_play(feed, msgspec.json.decode(body, type=Wanted)))
        case "GET", ["replays", number]:
            return 200, state_of(_read(feed, number))
        case "PUT", ["replays", number]:
            return _ordered(feed, _read(feed, number), msgspec.json.decode(body, type=Order))
        case "DELETE", ["replays", number]:
            feed.take_off(_read(feed, number).match_id)
            return 200, {}
        case "GET" | "PUT", ["blemishes"]:
            if method == "PUT":
                feed.blemishes.ask_for(*msgspec.json.decode(body, type=list[Blemish[Wrong]]))
            return 200, feed.blemishes.asked
    return 404, {"message": "no such address"}


def _play(feed: Player, wanted: Wanted) -> Replay:
    return feed.play(
        find_tape(wanted.tape),
        starts_in=timedelta(seconds=wanted.starts_in_seconds),
        speed=wanted.speed,
        match_id=wanted.match_id,
        slip_seed=wanted.slip_seed,
        course=wanted.course,
    )


def _read(feed: Player, number: str) -> Replay:
    found = feed.find(int(number)) if number.isdecimal() else None
    if found is None:
        raise ReplayUnknown(number)
    return found


def _ordered(feed: Player, replay: Replay, order: Order) -> tuple[int, object]:
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
    return 200, state_of(replay)
