"""Kept here: matches as cricsheet writes them, as answers of the score feed, lent to cricket."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

_INCLUDES: Final = (
    *("localteam", "visitorteam", "league", "venue", "runs", "balls", "lineup"),
    *("batting.batsman", "batting.result", "bowling.bowler"),
)
_START: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""Cricsheet tells the day of a match and no hour; where it begins on the clock does not matter."""


def cricsheet_answers(content: bytes) -> Iterator[tuple[datetime, dict[str, object]]]:
    """Answer a match ball by ball as the feed would have told it; raise TapeUnreadable."""
    from grandstand.base.clock import ManualClock
    from grandstand.simulators.scores.course import Course, timeline
    from grandstand.simulators.scores.cricsheet import parse_tape
    from grandstand.simulators.scores.replay import Replay
    from grandstand.simulators.scores.words.fixtures import FixtureWords

    tape = parse_tape(1, content)
    written = timeline(tape, Course())
    replay = Replay(tape, written, ManualClock(_START), starts_at=_START)
    words = FixtureWords(replay)
    for moment in written.moments:
        yield _START + timedelta(seconds=moment.at), words.row(moment, _INCLUDES)
