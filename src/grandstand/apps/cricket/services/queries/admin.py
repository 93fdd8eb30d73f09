"""What administrators see and control: the hub and replays of recorded matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar

from grandstand.apps.cricket.domain.errors import MatchNotFound
from grandstand.apps.cricket.domain.event_detection import detect_events
from grandstand.apps.cricket.domain.match_events import MatchEvent, Thresholds
from grandstand.apps.cricket.domain.match_state import MatchState
from grandstand.apps.cricket.domain.matches import InningsScore, MatchPhase, MatchSnapshot
from grandstand.apps.cricket.services.interfaces import Database, ScoreFeed, copy_fields
from grandstand.apps.cricket.services.push.apns_delivery import ApnsDeliveryService
from grandstand.apps.cricket.services.push.updates import (
    TOPICS,
    MatchUpdateRepository,
    parse_update,
)
from grandstand.apps.cricket.services.queries.fixtures import FixtureService
from grandstand.apps.cricket.sources.cricsheet import is_cricsheet, play_cricsheet
from grandstand.apps.cricket.sources.recordings import ReplayFeedClient, parse_recording
from grandstand.apps.cricket.sources.sportmonks import FeedReader, parse_fixture
from grandstand.apps.cricket.store.matches import ActiveMatch, Delivery
from grandstand.apps.cricket.store.users import LiveActivity
from grandstand.core.errors import Conflict
from grandstand.kit.outbox import Outbox

_MAX_COUNTED_MESSAGES: Final = 1000
_CACHE_SECONDS: Final = 3.0
_RECORDING_START: Final = datetime(2000, 1, 1, tzinfo=UTC)
_SECONDS_PER_BALL: Final = timedelta(seconds=40)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PipelineLags:
    """The latency of the newest update by stage; None for stages not reached yet.

    `feed` is the request to the feed, `tick` the detection until the update was written, `outbox`
    the wait until delivery began, and `push` the delivery to all phones.
    """

    feed_seconds: float | None = None
    tick_seconds: float | None = None
    outbox_seconds: float | None = None
    push_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class LastPush:
    """The counts of the newest push of a match."""

    at: datetime
    pushed: int
    rejected: int
    alerted: int


@dataclass(frozen=True, slots=True)
class HubMatch:
    """An active match."""

    match_id: str
    title: str
    status: str
    phase: MatchPhase
    owner: str
    epoch: int
    seq: int
    last_tick_at: datetime | None
    lag_seconds: float | None
    sessions: Mapping[str, int]
    lags: PipelineLags = PipelineLags()
    last_push: LastPush | None = None
    channel_id: str | None = None


@dataclass(frozen=True, slots=True)
class FeedStatus:
    """The status of an endpoint group of the score feed."""

    name: str
    host: str
    used_today: int
    quota_left: int | None
    breaker: str
    last_error: str | None
    last_success_at: datetime | None


@dataclass(frozen=True, slots=True)
class HubData:
    """Active matches, the feed, waiting messages by topic, and the pushes of this process."""

    at: datetime
    matches: tuple[HubMatch, ...]
    feed: tuple[FeedStatus, ...]
    pushing: bool
    waiting: Mapping[str, int]
    pushes_per_second: float
    pushed: int
    rejected: int


@dataclass(kw_only=True, eq=False)
class HubDataService:
    """Collects the hub data; a result is cached for a few seconds."""

    store: Database
    outbox: Outbox
    feed: ScoreFeed
    fixtures: FixtureService
    updates: MatchUpdateRepository
    delivery: ApnsDeliveryService
    _cached: HubData | None = None
    _expires_at: float = float("-inf")

    async def get(self) -> HubData:
        """Return the hub data, at most a few seconds old."""
        clock = self.store.clock
        if self._cached is None or clock.monotonic() >= self._expires_at:
            self._cached = await self._collect()
            self._expires_at = clock.monotonic() + _CACHE_SECONDS
        return self._cached

    async def _collect(self) -> HubData:
        now, stats = self.store.now(), self.delivery.stats
        matches = sorted(
            await self.store(ActiveMatch.all_items()),
            key=lambda match: (match.status != "active", match.match_id),
        )
        waiting = {
            topic: len(await self.outbox.waiting(topic, _MAX_COUNTED_MESSAGES)) for topic in TOPICS
        }
        return HubData(
            at=now,
            matches=tuple([await self._match(match, now) for match in matches]),
            feed=tuple(copy_fields(FeedStatus, status) for status in await self.feed.status()),
            pushing=self.delivery.gateway is not None,
            waiting=waiting,
            pushes_per_second=stats.per_second,
            pushed=stats.delivered,
            rejected=stats.rejected,
        )

    async def _match(self, match: ActiveMatch, now: datetime) -> HubMatch:
        try:
            title = (await self.fixtures.get(match.match_id)).title
        except MatchNotFound:
            title = match.match_id
        sessions: Counter[str] = Counter()
        async for session in self.store.each(LiveActivity.of_match(match.match_id)):
            sessions[session.status] += 1
        ticked_at, key = match.last_tick_at, match.latest_update_key
        delivery = await self.store(Delivery.by_key(match.match_id, key)) if key else None
        return HubMatch(
            match_id=match.match_id,
            title=title,
            status=match.status,
            phase=match.match_phase,
            owner=match.instance_id or "",
            epoch=match.epoch,
            seq=match.seq,
            last_tick_at=ticked_at,
            lag_seconds=_seconds_between(ticked_at, now),
            sessions=dict(sessions),
            lags=await self._lags(match, delivery),
            last_push=LastPush(
                delivery.started_at, delivery.pushed, delivery.rejected, delivery.alerted
            )
            if delivery
            else None,
            channel_id=match.channel_id,
        )

    async def _lags(self, match: ActiveMatch, delivery: Delivery | None) -> PipelineLags:
        message = await self.updates.latest_message(match)
        if message is None:
            return PipelineLags()
        update = parse_update(message.body)
        started_at = delivery.started_at if delivery else None
        return PipelineLags(
            _seconds_between(update.requested_at, update.created_at),
            _seconds_between(update.created_at, message.created_at),
            _seconds_between(message.created_at, started_at),
            _seconds_between(started_at, delivery.finished_at if delivery else None),
        )


def _seconds_between(start: datetime | None, end: datetime | None) -> float | None:
    """Return the seconds between two times, which are stored in milliseconds."""
    if start is None or end is None:
        return None
    return max(0.0, (end - start).total_seconds())


@dataclass(frozen=True, slots=True)
class ReplayStep:
    """The events detected in one response of a recording."""

    at: datetime
    match_id: str
    status: str
    score: InningsScore | None
    events: tuple[MatchEvent, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayService:
    """Recorded matches: a feed that replays them, if configured, and the events of a file."""

    client: ReplayFeedClient | None
    thresholds: Thresholds

    @property
    def feed(self) -> ReplayFeedClient:
        """The replay feed. Raises Conflict if none is configured."""
        if self.client is None:
            raise Conflict("No replay feed is configured. Set GRANDSTAND_CRICKET_REPLAY_URL.")
        return self.client

    def detect(self, content: bytes, every: int = 1) -> Iterator[ReplayStep]:
        """Yield the events of a recording, processing every n-th response and the last.

        The file has responses of the score feed or is a Cricsheet match. Nothing is stored or
        pushed. Raises InvalidInput if it cannot be read.
        """
        states: dict[str, MatchState] = {}
        for at, snapshot in _every_nth(_read_snapshots(content, states), every):
            state = states.get(snapshot.match_id)
            detection = detect_events(state, snapshot, at, self.thresholds)
            states[snapshot.match_id] = detection.state
            score = snapshot.score_of(detection.state.memory.inning)
            events = sorted(detection.events, key=lambda event: (event.inning, event.position))
            yield ReplayStep(at, snapshot.match_id, snapshot.status, score, tuple(events))


def _read_snapshots(
    content: bytes, states: Mapping[str, MatchState]
) -> Iterator[tuple[datetime, MatchSnapshot]]:
    """Yield the snapshots of a file; balls that the states already have are not parsed again."""
    if is_cricsheet(content):
        yield from play_cricsheet(content)
        return
    for place, (at, row) in enumerate(parse_recording(content)):
        state = states.get(str(row.get("id")))
        snapshot = parse_fixture(FeedReader(), row, state.ball_id if state else None)
        if snapshot is not None:
            yield at or _RECORDING_START + _SECONDS_PER_BALL * place, snapshot


def _every_nth(items: Iterable[T], every: int) -> Iterator[T]:
    """Yield every n-th item, and the last."""
    skipped: list[T] = []
    for place, item in enumerate(items):
        skipped = [item] if place % every else []
        if not skipped:
            yield item
    yield from skipped
