"""Looking at a match again and again, and what was seen of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from grandstand.apps.cricket.domain.event_detection import Detection, detect_events
from grandstand.apps.cricket.domain.match_events import MatchEvent
from grandstand.apps.cricket.domain.match_state import MatchState
from grandstand.apps.cricket.domain.matches import MatchSnapshot

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


@dataclass
class Watch:
    """What was seen of a match, looked at every so many seconds from noon on."""

    every_seconds: float = 700
    state: MatchState | None = None
    seen: list[Detection] = field(default_factory=list)

    def look(self, fixture: MatchSnapshot) -> Detection:
        """Look once."""
        at = NOON + timedelta(seconds=self.every_seconds * len(self.seen))
        self.seen.append(detect_events(self.state, fixture, at))
        self.state = self.seen[-1].state
        return self.seen[-1]

    @property
    def events(self) -> list[MatchEvent]:
        """All that was found, in its order."""
        return [event for tick in self.seen for event in tick.events]

    @property
    def keys(self) -> list[str]:
        """The names of all that was found."""
        return [event.key for event in self.events]


def watched(fixtures: Iterable[MatchSnapshot], every_seconds: float = 700) -> Watch:
    """Look at each of some fixtures once."""
    watch = Watch(every_seconds)
    for fixture in fixtures:
        watch.look(fixture)
    return watch


def kinds(tick: Detection) -> list[str]:
    """The kinds of what a look found, sorted."""
    return sorted(event.kind for event in tick.events)
