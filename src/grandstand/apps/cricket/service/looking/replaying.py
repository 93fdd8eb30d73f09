"""Kept here: having recorded matches played again: by a feed that does so, or from a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from grandstand.apps.cricket.model import Detected, MatchState, Thresholds, advance
from grandstand.apps.cricket.model.errors import RecordingUnreadable, ReplayingOff
from grandstand.apps.cricket.model.replays import Look, Replayed, ReplayOrder, ReplayWish
from grandstand.apps.cricket.service.ports import Cricsheet, Replays
from grandstand.apps.cricket.sources.sportmonks.fixtures import parse_fixture
from grandstand.apps.cricket.sources.sportmonks.reading import Reading
from grandstand.apps.cricket.sources.sportmonks.recording import is_cricsheet, parse_recording

_EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)
_BALL: Final = timedelta(seconds=40)


class Replaying:
    """Recorded matches, for administrators; steering raises ReplayingOff where there is no feed."""

    def __init__(
        self, feed: Replays | None, cricsheet: Cricsheet | None, thresholds: Thresholds
    ) -> None:
        self._feed = feed
        self._cricsheet = cricsheet
        self._thresholds = thresholds

    @property
    def on(self) -> bool:
        """Whether there is a feed to steer."""
        return self._feed is not None

    async def tapes(self) -> tuple[str, ...]:
        """Answer the names of the tapes there are."""
        return await self._steered().tapes()

    async def replays(self) -> tuple[Replayed, ...]:
        """Answer the matches that are replayed."""
        return await self._steered().replays()

    async def play(self, wish: ReplayWish) -> Replayed:
        """Have a match played; raise ReplayRefused."""
        return await self._steered().play(wish)

    async def control(self, match_id: str, order: ReplayOrder) -> Replayed | None:
        """Have a replay do something; None once it was stopped. Raises ReplayRefused."""
        return await self._steered().control(match_id, order)

    def look_through(self, content: bytes, every: int = 1) -> Iterator[Look]:
        """Answer what is detected in a recording, looking at every so many answers.

        Nothing is kept and nobody is told. Raises RecordingUnreadable.
        """
        states: dict[str, MatchState] = {}
        for at, row in _thinned(self._answers(content), every):
            known = states.get(str(row.get("id")))
            fixture = parse_fixture(Reading(), row, known.ball_id if known else None)
            if fixture is None:
                continue
            tick = advance(known, fixture, at, self._thresholds)
            states[fixture.match_id] = tick.state
            score = fixture.score_of(tick.state.memory.inning)
            yield Look(at, fixture.match_id, fixture.status, score, _in_order(tick.events))

    def _answers(self, content: bytes) -> Iterable[tuple[datetime, dict[str, object]]]:
        if is_cricsheet(content):
            if self._cricsheet is None:
                raise RecordingUnreadable("Files of cricsheet cannot be read here")
            return self._cricsheet(content)
        found = parse_recording(content)
        return ((at or _EPOCH + _BALL * place, row) for place, (at, row) in enumerate(found))

    def _steered(self) -> Replays:
        if self._feed is None:
            raise ReplayingOff(
                "No feed is replayed here: set GRANDSTAND_CRICKET_REPLAY_URL to steer one"
            )
        return self._feed


def _thinned(
    answers: Iterable[tuple[datetime, dict[str, object]]], every: int
) -> Iterator[tuple[datetime, dict[str, object]]]:
    """Every so many answers, and the last one whatever its place."""
    last: tuple[datetime, dict[str, object]] | None = None
    for place, answer in enumerate(answers):
        last = None
        if place % every == 0:
            yield answer
        else:
            last = answer
    if last is not None:
        yield last


def _in_order(events: Iterable[Detected]) -> tuple[Detected, ...]:
    return tuple(sorted(events, key=lambda event: (event.inning, event.position)))
