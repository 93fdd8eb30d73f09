"""Kept here: steering a feed that replays recorded matches, over its own addresses."""

from __future__ import annotations

from datetime import datetime
from typing import Final

import msgspec

from grandstand.apps.cricket.model.errors import ReplayRefused
from grandstand.apps.cricket.model.replays import PlayState, Replayed, ReplayOrder, ReplayWish
from grandstand.wire.web import Answer, Rate, Source, Web

_REFUSED: Final = frozenset({400, 404, 409, 422})


class _State(msgspec.Struct, frozen=True):
    match_id: int
    tape: int
    title: str
    format: str
    status: PlayState
    speed: float
    starts_at: datetime
    ball: int
    balls: int
    match_status: str


class _Refusal(msgspec.Struct, frozen=True):
    message: str = ""


class ReplayedFeed:
    """A replayed feed; raises ReplayRefused, and what `wire.errors` lists."""

    def __init__(self, web: Web, url: str) -> None:
        self._source: Source = web.source(
            "cricket-replays", base_url=url, rate=Rate(per_second=20, burst=20)
        )

    async def tapes(self) -> tuple[str, ...]:
        """Fetch the names of the tapes there are."""
        return tuple((await self._asked("GET", "/tapes")).json(list[str]))

    async def replays(self) -> tuple[Replayed, ...]:
        """Fetch the matches that are replayed."""
        states = (await self._asked("GET", "/replays")).json(list[_State])
        return tuple(_replayed(state) for state in states)

    async def play(self, wish: ReplayWish) -> Replayed:
        """Have a match played."""
        told = {
            "tape": wish.tape,
            "speed": wish.speed,
            "starts_in_seconds": wish.starts_in_seconds,
        }
        return _replayed((await self._asked("POST", "/replays", told)).json(_State))

    async def control(self, match_id: str, order: ReplayOrder) -> Replayed | None:
        """Have a replay do something; None once it was stopped."""
        told = {"action": order.action, "speed": order.speed, "ball": order.ball}
        answer = await self._asked("PUT", f"/replays/{match_id}", told)
        return None if order.action == "stop" else _replayed(answer.json(_State))

    async def _asked(self, method: str, path: str, told: object = None) -> Answer:
        body = None if told is None else msgspec.json.encode(told)
        headers = {"content-type": "application/json"}
        answer = await self._source.ask(method, path, headers=headers, body=body, accept=_REFUSED)
        if answer.status in _REFUSED:
            raise ReplayRefused(answer.json(_Refusal).message or f"It answered {answer.status}")
        return answer


def _replayed(state: _State) -> Replayed:
    return Replayed(
        match_id=str(state.match_id),
        tape=str(state.tape),
        title=state.title,
        format=state.format,
        state=state.status,
        speed=state.speed,
        starts_at=state.starts_at,
        ball=state.ball,
        balls=state.balls,
        match_status=state.match_status,
    )
