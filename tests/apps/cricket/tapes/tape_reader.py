"""Matches from tapes as the feed tells them, looked at moment by moment or now and then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from grandstand.apps.cricket.domain.event_detection import Detection, detect_events
from grandstand.apps.cricket.domain.match_events import MatchEvent
from grandstand.apps.cricket.domain.match_state import MatchState
from grandstand.apps.cricket.domain.matches import Ball, MatchSnapshot
from grandstand.apps.cricket.sources.sportmonks import FeedReader, parse_balls, parse_fixture
from grandstand.core.clock import ManualClock
from grandstand.simulators.scores.match_record import MatchRecord
from grandstand.simulators.scores.matches import find_match, find_timeline_config
from grandstand.simulators.scores.serializers import FixtureSerializer, Row
from grandstand.simulators.scores.timeline import (
    Correction,
    Replay,
    Timeline,
    TimelineConfig,
    TimelineMoment,
    build_timeline,
    random_corrections,
)

START = datetime(2026, 11, 16, 9, tzinfo=UTC)
MILESTONES = ("fifty", "hundred", "batsman_on_90s", "over_end", "innings_end", "match_end")
ONCE = ("toss", "match_start", "target_revised", "super_over_start")
INCLUDES = (
    *("localteam", "visitorteam", "league", "venue", "runs"),
    *("batting.batsman", "batting.result", "bowling.bowler"),
)


@dataclass
class Telling:
    """One match as the feed tells it; what was read once is not read again."""

    record: MatchRecord
    timeline: Timeline
    serializer: FixtureSerializer
    warnings: list[str] = field(default_factory=list)
    _read: dict[TimelineMoment, MatchSnapshot] = field(default_factory=dict)
    _balls: dict[int, tuple[Row, Ball]] = field(default_factory=dict)

    def heard(self, moment: TimelineMoment, since: int | None) -> MatchSnapshot:
        """What our side makes of an answer at a moment, having heard of a ball before."""
        return self._parsed(self.serializer.row(moment, (*INCLUDES, "balls", "lineup")), since)

    def fixture(self, moment: TimelineMoment) -> MatchSnapshot:
        """The same with all balls of the match."""
        if moment not in self._read:
            known = self._parsed(self.serializer.row(moment, INCLUDES), None)
            rows = self.serializer.row(moment, ("balls",))["balls"]
            assert isinstance(rows, list)
            self._read[moment] = replace(known, balls=tuple(map(self._ball, rows)))
        return self._read[moment]

    def _parsed(self, row: Row, since: int | None) -> MatchSnapshot:
        reading = FeedReader()
        found = parse_fixture(reading, row, since)
        self.warnings += reading.warnings
        assert found is not None
        return found

    def _ball(self, row: Row) -> Ball:
        number = int(str(row["id"]))
        kept = self._balls.get(number)
        if kept is None or kept[0] is not row:
            reading = FeedReader()
            (ball,) = parse_balls(reading, [row])
            self.warnings += reading.warnings
            kept = self._balls[number] = row, ball
        return kept[1]

    def every(self, balls: int) -> Iterator[TimelineMoment]:
        """The moments seen by somebody who looks each time so many balls could be bowled."""
        seconds, end = 40.0 * balls, self.timeline.ends_at
        looks = [-3600.0 + seconds * n for n in range(int((end + 3600.0) / seconds) + 2)]
        last = None
        for moment in map(self.timeline.at, looks):
            if moment is not last:
                yield moment
            last = moment


@dataclass
class Log:
    """What was found in a match, in its order, and what is kept at the end."""

    telling: Telling
    ticks: list[tuple[TimelineMoment, Detection]] = field(default_factory=list)

    @property
    def events(self) -> list[MatchEvent]:
        """Everything found."""
        return [event for _, tick in self.ticks for event in tick.events]

    @property
    def state(self) -> MatchState:
        """What is kept."""
        return self.ticks[-1][1].state

    def named(self, *kinds: str) -> list[str]:
        """The sorted names of what was found, of some kinds or all."""
        return sorted(event.key for event in self.events if not kinds or event.kind in kinds)


@lru_cache(maxsize=16)
def telling(
    name: str, correction_seed: int | None = None, config: TimelineConfig | None = None
) -> Telling:
    """A match by its name, as it is told by the feed; made once for all tests."""
    record = find_match(name)
    return told_with(
        record,
        {} if correction_seed is None else random_corrections(record, correction_seed),
        config,
    )


def told_with(
    record: MatchRecord, slipped: Mapping[int, Correction], config: TimelineConfig | None = None
) -> Telling:
    """A match in which some balls are first posted otherwise."""
    written = build_timeline(
        record, config or find_timeline_config(record.id) or TimelineConfig(), slipped
    )
    replay = Replay(record, written, ManualClock(START), starts_at=START)
    return Telling(record, written, FixtureSerializer(replay))


@lru_cache(maxsize=8)
def closely(name: str) -> Log:
    """A match without corrections, looked at in every moment of it."""
    told = telling(name)
    return watched(told, told.timeline.moments)


def watched(
    told: Telling,
    moments: Iterable[TimelineMoment],
    *,
    answers: bool = False,
    with_balls: bool = True,
) -> Log:
    """Look at a match at some moments; with `answers` each is read anew, as a poller does."""
    log = Log(told)
    state: MatchState | None = None
    for moment in moments:
        known = state.ball_id if state else None
        fixture = told.heard(moment, known) if answers else told.fixture(moment)
        heard = fixture if with_balls else replace(fixture, balls=())
        tick = detect_events(state, heard, START + timedelta(seconds=moment.at))
        log.ticks.append((moment, tick))
        state = tick.state
    return log


def lines(log: Log) -> list[str]:
    """One line for each event: where, what, its key, who, whether it was told, and its words."""
    names = {player.id: player.name for player in log.telling.record.players}
    found = []
    for event in log.events:
        over, ball = divmod(max(0, event.position - 1), 6) if event.position else (0, -1)
        place = f"{event.inning}/{over}.{ball + 1}"
        who = names.get(event.player_id, "?") if event.player_id is not None else "-"
        fate = event.filtered or "told"
        columns = (place, event.kind, event.key, who, fate, event.text)
        found.append(" | ".join(columns))
    return found
