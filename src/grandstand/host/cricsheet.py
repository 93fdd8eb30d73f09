"""Cricsheet matches as score feed responses, for the cricket app."""

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
    """Yield a match ball by ball as score feed responses. Raises TapeUnreadable."""
    from grandstand.core.clock import ManualClock
    from grandstand.simulators.scores.cricsheet import parse_cricsheet
    from grandstand.simulators.scores.serializers import FixtureSerializer
    from grandstand.simulators.scores.timeline import Replay, TimelineConfig, build_timeline

    tape = parse_cricsheet(1, content)
    written = build_timeline(tape, TimelineConfig())
    replay = Replay(tape, written, ManualClock(_START), starts_at=_START)
    words = FixtureSerializer(replay)
    for moment in written.moments:
        yield _START + timedelta(seconds=moment.at), words.row(moment, _INCLUDES)
