"""Cricket on a real store, with a feed that says what a scorer wrote and a wall of phones."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from random import Random
from typing import Any

import msgspec
import pytest

from grandstand.apps.cricket.app import APP
from grandstand.apps.cricket.domain.errors import MatchNotFound
from grandstand.apps.cricket.domain.live_activities import (
    DeviceRegistration,
    PushResult,
    PushTarget,
)
from grandstand.apps.cricket.domain.matches import (
    Competition,
    LeagueRecord,
    MatchSnapshot,
    StandingRecord,
    TeamRecord,
)
from grandstand.apps.cricket.services import Cricket, Gateways, create_services
from grandstand.apps.cricket.services.interfaces import Database
from grandstand.apps.cricket.services.polling.match_ticks import TickResult
from grandstand.apps.cricket.settings import CricketSettings
from grandstand.apps.cricket.sources.apns import ApnsPayload
from grandstand.apps.cricket.sources.sportmonks import FeedMatch, Parsed
from grandstand.core.clock import Clock, ManualClock
from grandstand.core.errors import GrandstandError
from grandstand.kit.auth.caller import Caller
from grandstand.kit.cursors import Cursors
from grandstand.kit.events import EVENT_TABLES, Events
from grandstand.kit.outbox import OUTBOX_TABLES, Outbox, OutboxMessage
from grandstand.net.client import SourceStatus
from grandstand.simulators.push.phones import Activity, Phone, PhoneWall
from grandstand.storage.tables import AsyncStore, Store
from grandstand.storage.tables.platform_tables import PLATFORM_TABLES
from tests.apps.cricket.domain.scorer import AWAY, HOME, Scorer

ALL_TABLES = (*APP.tables, *OUTBOX_TABLES, *EVENT_TABLES, *PLATFORM_TABLES)
MATCH = "71344"
BUNDLE = "org.example.cricket"
ADA = Caller("ada", "Ada", frozenset({"user"}), "session")
on_both = pytest.mark.parametrize("store", ["sqlite", "dynamodb-local"], indirect=True)
BOB = Caller("bob", "Bob", frozenset({"user"}), "session")


@dataclass
class ScriptedFeed:
    """Says of each match what was last put into it; down when told to."""

    found: dict[str, MatchSnapshot] = field(default_factory=dict)
    listed: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)
    fault: GrandstandError | None = None
    while_asked: Callable[[], None] = lambda: None
    leagues_known: tuple[LeagueRecord, ...] = (
        LeagueRecord("5", "Big Bash", "BBL", season_id="1700"),
    )

    def says(self, scores: MatchSnapshot, *, live: bool = True) -> None:
        """Let the feed know how a match stands."""
        self.found[scores.match_id] = scores
        (self.listed.add if live else self.listed.discard)(scores.match_id)

    async def livescores(
        self, *, balls: bool = False, since: Mapping[str, int] | None = None
    ) -> Parsed[tuple[FeedMatch, ...]]:
        del since
        self._ask(f"livescores balls={balls}")
        return Parsed(tuple(_heard(self.found[each]) for each in sorted(self.listed)))

    async def fixture(self, match_id: str, *, since: int | None = None) -> Parsed[FeedMatch]:
        del since
        self._ask(f"fixture {match_id}")
        if match_id not in self.found:
            raise MatchNotFound(match_id)
        return Parsed(_heard(self.found[match_id]))

    async def fixtures(
        self, first: date, last: date, *, league_id: str | None = None
    ) -> Parsed[tuple[FeedMatch, ...]]:
        del first, last, league_id
        self._ask("fixtures")
        return Parsed(tuple(_heard(each) for each in self.found.values()))

    async def leagues(self) -> Parsed[tuple[LeagueRecord, ...]]:
        self._ask("leagues")
        return Parsed(self.leagues_known)

    async def teams(self) -> Parsed[tuple[TeamRecord, ...]]:
        self._ask("teams")
        return Parsed(
            tuple(TeamRecord(each.team_id, each.name, each.code) for each in (HOME, AWAY))
        )

    async def standings(self, season_id: str) -> Parsed[tuple[StandingRecord, ...]]:
        self._ask("standings")
        return Parsed((StandingRecord(season_id, "1", "5", played=3, won=2, position=1),))

    async def status(self) -> tuple[SourceStatus, ...]:
        return ()

    async def next_poll_seconds(self, interval_seconds: float) -> float:
        return interval_seconds

    def _ask(self, what: str) -> None:
        self.asked.append(what)
        self.while_asked()
        if self.fault is not None:
            raise self.fault


class Killed(BaseException):
    """The instance is gone in the middle of a push, without a word."""


@dataclass
class Push:
    """One push that was delivered: its payload and its target."""

    payload: ApnsPayload
    target: PushTarget

    @property
    def aps(self) -> dict[str, Any]:
        return dict(msgspec.json.decode(self.payload.body)["aps"])


@dataclass
class WallPhones:
    """Delivers pushes to a wall of phones; a token may have other results in store, in order."""

    wall: PhoneWall
    results: dict[str, list[PushResult]] = field(default_factory=dict)
    sent: list[Push] = field(default_factory=list)
    channels: list[str] = field(default_factory=list)
    dies_after: int | None = None
    hangs: bool = False
    closed: bool = False
    while_pushed: Callable[[], None] = lambda: None

    async def push(
        self, payload: ApnsPayload, targets: Sequence[PushTarget]
    ) -> Sequence[PushResult]:
        if self.hangs:
            await asyncio.Event().wait()
        self.while_pushed()
        return [self._push(payload, target) for target in targets]

    def _push(self, payload: ApnsPayload, target: PushTarget) -> PushResult:
        if self.dies_after is not None:
            if self.dies_after == 0:
                raise Killed
            self.dies_after -= 1
        results = self.results.get(target.token)
        result = results.pop(0) if results else PushResult("delivered")
        if result.outcome == "delivered":
            if payload.push_type == "liveactivity":
                self.sent.append(Push(payload, target))
            self.wall.push(target.token, payload.push_type, msgspec.json.decode(payload.body))
        return result

    async def broadcast(self, payload: ApnsPayload, channel_id: str, request_id: str) -> PushResult:
        self.sent.append(Push(payload, PushTarget(channel_id, request_id)))
        self.wall.broadcast(channel_id, msgspec.json.decode(payload.body))
        return PushResult("delivered")

    async def create_channel(self) -> str:
        self.channels.append(f"channel-{len(self.channels) + 1}")
        return self.channels[-1]

    async def delete_channel(self, channel_id: str) -> None:
        self.channels.remove(channel_id)

    async def close(self) -> None:
        self.closed = True


@dataclass
class Hook:
    """A webhook that remembers what was posted."""

    posted: list[tuple[str, bytes]] = field(default_factory=list)

    async def post(self, body: bytes, idempotency_key: str) -> None:
        self.posted.append((idempotency_key, body))


class Listener:
    """Whoever is told the news, and remembers it."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, dict[str, Any]]] = []

    def publish(self, topic: str, news: dict[str, Any]) -> None:
        self.heard.append((topic, news))


@dataclass
class Stage:
    """Cricket, all it stands on, and the outsiders."""

    cricket: Cricket
    parts: dict[str, Any]
    feed: ScriptedFeed
    phones: WallPhones
    hook: Hook
    clock: ManualClock

    @property
    def store(self) -> AsyncStore:
        return self.cricket.store

    @property
    def outbox(self) -> Outbox:
        outbox: Outbox = self.parts["outbox"]
        return outbox

    @property
    def activity_log(self) -> Events:
        log: Events = self.parts["activity_log"]
        return log

    def rebuilt(self, *, gateways: dict[str, Any] | None = None, **parts: Any) -> Cricket:
        """Return the services with some parts or gateways replaced."""
        changed = {**self.parts, **parts}
        changed["gateways"] = replace(changed["gateways"], **(gateways or {}))
        return create_services(**changed)

    @property
    def wall(self) -> PhoneWall:
        return self.phones.wall

    async def tick(self, scorer: Scorer | None = None, seconds: float = 5) -> TickResult:
        """Let time pass, let the feed say what was scored, look once, and tell phones."""
        self.clock.advance(seconds)
        if scorer is not None:
            self.feed.says(scores_of(scorer, self.clock))
        polled = await self.cricket.poller.poll()
        await self.cricket.coordinator.drain()
        return polled.ticks[0]

    async def known(self, status: str = "NS") -> None:
        """Let a match be known that is not polled."""
        self.feed.says(scores_of(started(), self.clock, status=status), live=False)
        await self.cricket.fixture_sync.run()

    async def upcoming(self, count: int) -> None:
        """Let matches be known that begin one hour after another: 100, 101 and so on."""
        for number in range(count):
            starts = self.clock.now() + timedelta(hours=number + 1)
            scores = scores_of(Scorer(), self.clock, match_id=str(100 + number), starting_at=starts)
            self.feed.says(scores, live=False)
        await self.cricket.fixture_sync.run()

    async def on_air(self) -> Scorer:
        """Let a match go live, with its fixture, and be looked at once."""
        scorer = started()
        scorer.bowl(1)
        await self.tick(scorer)
        await self.cricket.fixture_sync.run()
        await self.tick(scorer)
        return scorer

    async def deliver(self, seconds: float = 0) -> int:
        """Carry out what is due in the outbox, as a deliverer does; answer how much that was."""
        self.clock.advance(seconds)
        carried = 0
        for topic, way in self.cricket.outbox_handlers().items():
            for waiting in await self.outbox.waiting(topic):
                if waiting.due_at <= self.clock.now():
                    carried += await self._carry(way, waiting)
        return carried

    async def _carry(self, way: Any, waiting: OutboxMessage) -> int:
        claimed = await self.store(waiting.claim(self.clock.now() + timedelta(seconds=60)))
        try:
            await way(claimed)
        except GrandstandError as fault:
            later = self.clock.now() + timedelta(seconds=2)
            await self.store(claimed.postpone(later, str(fault)))
            return 0
        await self.store(claimed.delivered(self.clock.now()))
        return 1

    async def joined(self, caller: Caller, name: str = "phone", match_id: str = MATCH) -> Phone:
        """Follow a match on a phone whose app answers starts with its token."""
        phone = self.wall.add(name, BUNDLE)
        given = DeviceRegistration(phone.device_token, name, os_version="18.2")
        await self.cricket.devices.register(caller.user_id, given)
        await self.cricket.devices.set_push_to_start(
            caller.user_id, phone.device_token, phone.start_token
        )
        await self.cricket.follows.follow(caller.user_id, match_id)
        return phone

    async def with_activity(self, caller: Caller, name: str = "phone") -> tuple[Phone, Activity]:
        """Follow a match that is on, and have an activity whose token is known."""
        phone = await self.joined(caller, name)
        await self.deliver()
        activity = phone.activities[-1]
        await self.cricket.live_activities.register(caller.user_id, MATCH, name, activity.token)
        await self.deliver()
        return phone, activity


def scores_of(scorer: Scorer, clock: Clock, **given: Any) -> MatchSnapshot:
    """What the feed says of a scorer's match, in a league."""
    told = {"competition": Competition("5", "1700", "", "Big Bash", "BBL"), **given}
    told.setdefault("starting_at", clock.now() - timedelta(minutes=5))
    return scorer.fixture(**{**told, **scorer.facts})


def _heard(scores: MatchSnapshot) -> FeedMatch:
    words = {
        "id": int(scores.match_id),
        "status": scores.status,
        "note": scores.note,
        "league_id": 5,
        "localteam_id": 1,
        "visitorteam_id": 2,
        "starting_at": scores.starting_at.isoformat() if scores.starting_at else None,
    }
    return FeedMatch(scores, dict(words))


def staged(
    store: Store | AsyncStore,
    clock: Any,
    *,
    beside: Stage | None = None,
    instance: str = "one",
    hooked: bool = False,
    **settings: Any,
) -> Stage:
    """Set cricket up, or a further instance beside another on the same outsiders."""
    kept = store if isinstance(store, AsyncStore) else AsyncStore(store)
    listener, random = Listener(), Random(instance)
    feed = beside.feed if beside else ScriptedFeed()
    phones = beside.phones if beside else WallPhones(PhoneWall(clock, Random(7)))
    hook = beside.hook if beside else Hook()

    async def sleep(_seconds: float) -> None:
        await asyncio.sleep(0)

    parts: dict[str, Any] = {
        "store": Database(kept, clock=clock, random=random, sleep=sleep),
        "settings": CricketSettings.model_validate({"feed_token": "k", **settings}),
        "gateways": Gateways(feed=feed, push=phones, webhook=hook if hooked else None),
        "outbox": Outbox(kept, clock),
        "publisher": listener,
        "activity_log": Events(kept, clock=clock, random=random, publisher=listener),
        "cursors": Cursors(b"secret"),
        "instance": instance,
    }
    return Stage(create_services(**parts), parts, feed, phones, hook, clock)


def started(**facts: Any) -> Scorer:
    """A match whose first innings has begun."""
    return Scorer(status="1st Innings", facts=facts)
