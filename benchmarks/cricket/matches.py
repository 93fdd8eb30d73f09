"""Real matches as our side reads the feed's answers, one ball after the other."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from grandstand.apps.cricket.domain.event_detection import Detection, detect_events
from grandstand.apps.cricket.domain.match_state import MatchState
from grandstand.apps.cricket.domain.matches import MatchSnapshot
from grandstand.apps.cricket.sources.sportmonks import FeedReader, parse_fixture
from grandstand.core.clock import ManualClock
from grandstand.simulators.scores.matches import (
    RECORDED_MATCHES,
    find_match,
    find_timeline_config,
)
from grandstand.simulators.scores.serializers import FixtureSerializer
from grandstand.simulators.scores.timeline import Replay, TimelineConfig, build_timeline

TEST_MATCH = 1000853

_START = datetime(2026, 11, 16, 9, tzinfo=UTC)
_INCLUDES = (
    *("localteam", "visitorteam", "league", "venue", "runs", "balls", "lineup"),
    *("batting.batsman", "batting.result", "bowling.bowler"),
)


@dataclass(frozen=True, slots=True)
class Look:
    """What the feed says of a match at one moment, read anew: nothing is shared with the last."""

    fixture: MatchSnapshot
    at: datetime


def looks_at(number: int) -> list[Look]:
    """A match looked at in every moment of it; balls as far back as a poller reads them."""
    record = find_match(str(number))
    written = build_timeline(record, find_timeline_config(record.id) or TimelineConfig(), {})
    serializer = FixtureSerializer(Replay(record, written, ManualClock(_START), starts_at=_START))
    looks: list[Look] = []
    state: MatchState | None = None
    for moment in written.moments:
        known = state.ball_id if state else None
        fixture = parse_fixture(FeedReader(), serializer.row(moment, _INCLUDES), known)
        assert fixture is not None
        looks.append(Look(fixture, _START + timedelta(seconds=moment.at)))
        state = detect_events(state, fixture, looks[-1].at).state
    return looks


def real_matches() -> list[list[Look]]:
    """All four."""
    return [looks_at(number) for number in RECORDED_MATCHES]


def ticks_of(looks: list[Look]) -> Iterator[Detection]:
    """What each look comes to."""
    state: MatchState | None = None
    for look in looks:
        tick = detect_events(state, look.fixture, look.at)
        yield tick
        state = tick.state


def wickets_of(looks: list[Look]) -> list[tuple[Look, Look]]:
    """The looks at which a wicket is the news, each with the one before it."""
    found = []
    for at, tick in enumerate(ticks_of(looks)):
        if tick.key_event is not None and tick.key_event.kind == "wicket":
            found.append((looks[at - 1], looks[at]))
    return found
