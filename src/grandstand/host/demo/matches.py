"""Kept here: the simulated cricket: real matches replayed one after another, round the clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from grandstand.base.clock import Clock

if TYPE_CHECKING:
    from grandstand.simulators.asgi import Application, Message, Receive, Send
    from grandstand.simulators.scores.course import Course
    from grandstand.simulators.scores.feed import ScoreFeed

# A ball every ten seconds: a match of two times twenty overs is over in three quarters of an hour.
_SECONDS_A_BALL: Final = 10.0
_SLOT: Final = timedelta(minutes=48)
_EPOCH: Final = datetime(2026, 1, 1, tzinfo=UTC)
_TAPES: Final = (1001349, 1370353)
_FIRST_ID: Final = 5_000_000
_BEFORE: Final = 3
_AFTER: Final = 6


@dataclass
class Fixtures:
    """Which match is on at which time: the same in every process, for nothing but time decides."""

    feed: ScoreFeed
    clock: Clock

    @property
    def live_id(self) -> int:
        """The match that is on, or has its toss, or has just ended."""
        return _FIRST_ID + self._slot

    @property
    def past_ids(self) -> tuple[int, ...]:
        """The matches that ended before it and are still told of."""
        return tuple(_FIRST_ID + self._slot - back for back in range(1, _BEFORE + 1))

    @property
    def _slot(self) -> int:
        return (self.clock.now() - _EPOCH) // _SLOT

    @property
    def application(self) -> Application:
        """The feed as an ASGI application; what is on the air is seen to with each request."""
        feed = self.feed.application

        async def serve(scope: Message, receive: Receive, send: Send) -> None:
            self.refresh()
            await feed(scope, receive, send)

        return serve

    def refresh(self) -> None:
        """Put what is on, of late and to come on the air, and take the rest off."""
        wanted = range(self._slot - _BEFORE, self._slot + _AFTER + 1)
        for replay in self.feed.replays:
            if replay.match_id - _FIRST_ID not in wanted:
                self.feed.take_off(replay.match_id)
        for slot in wanted:
            if self.feed.find(_FIRST_ID + slot) is None:
                self._play(slot)

    def _play(self, slot: int) -> None:
        from grandstand.simulators.scores.library import read_tape

        number = _TAPES[slot % len(_TAPES)]
        self.feed.play(
            read_tape(number),
            starts_at=_EPOCH + slot * _SLOT + timedelta(minutes=1),
            match_id=_FIRST_ID + slot,
            course=_course(number),
        )


def _course(number: int) -> Course:
    from grandstand.simulators.scores.course import Course, Interruption

    rain = (Interruption(inning=2, balls=3, minutes=4, overs=15, target=171),)
    return Course(
        interruptions=rain if number == _TAPES[1] else (),
        seconds_per_ball=_SECONDS_A_BALL,
        toss_minutes_before=8,
        innings_break_minutes=2,
        fix_seconds=4,
    )
