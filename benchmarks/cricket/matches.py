"""Real matches as our side reads the feed's answers, one ball after the other."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from grandstand.apps.cricket.model import Advance, Fixture, MatchState, advance
from grandstand.apps.cricket.sources.sportmonks.fixtures import parse_fixture
from grandstand.apps.cricket.sources.sportmonks.reading import Reading
from grandstand.base.clock import ManualClock
from grandstand.simulators.scores.course import Course, timeline
from grandstand.simulators.scores.library import REAL, find_course, find_tape
from grandstand.simulators.scores.replay import Replay
from grandstand.simulators.scores.words.fixtures import FixtureWords

TEST_MATCH = 1000853

_START = datetime(2026, 11, 16, 9, tzinfo=UTC)
_INCLUDES = (
    *("localteam", "visitorteam", "league", "venue", "runs", "balls", "lineup"),
    *("batting.batsman", "batting.result", "bowling.bowler"),
)


@dataclass(frozen=True, slots=True)
class Look:
    """What the feed says of a match at one moment, read anew: nothing is shared with the last."""

    fixture: Fixture
    at: datetime


def looks_at(number: int) -> list[Look]:
    """A match looked at in every moment of it; balls as far back as a poller reads them."""
    tape = find_tape(str(number))
    written = timeline(tape, find_course(tape.id) or Course(), {})
    words = FixtureWords(Replay(tape, written, ManualClock(_START), starts_at=_START))
    looks: list[Look] = []
    state: MatchState | None = None
    for moment in written.moments:
        known = state.ball_id if state else None
        fixture = parse_fixture(Reading(), words.row(moment, _INCLUDES), known)
        assert fixture is not None
        looks.append(Look(fixture, _START + timedelta(seconds=moment.at)))
        state = advance(state, fixture, looks[-1].at).state
    return looks


def real_matches() -> list[list[Look]]:
    """All four."""
    return [looks_at(number) for number in REAL]


def ticks_of(looks: list[Look]) -> Iterator[Advance]:
    """What each look comes to."""
    state: MatchState | None = None
    for look in looks:
        tick = advance(state, look.fixture, look.at)
        yield tick
        state = tick.state


def wickets_of(looks: list[Look]) -> list[tuple[Look, Look]]:
    """The looks at which a wicket is the news, each with the one before it."""
    found = []
    for at, tick in enumerate(ticks_of(looks)):
        if tick.key_event is not None and tick.key_event.kind == "wicket":
            found.append((looks[at - 1], looks[at]))
    return found
