"""Cricket on a real store, with a feed that says what a scorer wrote and a wall of phones."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from random import Random
from typing import Any

import pytest

from grandstand.apps.cricket.model import Fixture as Scores
from grandstand.apps.cricket.model import LeagueFacts, StandingFacts, TeamFacts
from grandstand.apps.cricket.model.alerts import Alert
from grandstand.apps.cricket.model.display import content
from grandstand.apps.cricket.model.errors import MatchUnknown
from grandstand.apps.cricket.model.scores import Competition
from grandstand.apps.cricket.service import (
    Cricket,
    DeviceGiven,
    Means,
    Notice,
    Target,
    Ticked,
    Verdict,
)
from grandstand.apps.cricket.settings import CricketSettings
from grandstand.apps.cricket.sources.sportmonks import HeardFixture, Parsed
from grandstand.apps.cricket.store import TABLES
from grandstand.base.clock import Clock, ManualClock
from grandstand.base.errors import GrandstandError
from grandstand.base.metrics import Metrics
from grandstand.kit.cursors import Cursors
from grandstand.kit.events import EVENT_TABLES, Events
from grandstand.kit.outbox import OUTBOX_TABLES, Consequence, Outbox
from grandstand.kit.who.caller import Caller
from grandstand.simulators.push.activities import Activity
from grandstand.simulators.push.phones import Phone, Wall
from grandstand.storage.tables import AsyncStore, Store
from grandstand.storage.tables.house import HOUSE_TABLES
from grandstand.wire.web import SourceStatus
from tests.apps.cricket.model.scorer import AWAY, HOME, Scorer

ALL_TABLES = (*TABLES, *OUTBOX_TABLES, *EVENT_TABLES, *HOUSE_TABLES)
MATCH = "71344"
BUNDLE = "org.example.cricket"
ADA = Caller("ada", "Ada", frozenset({"user"}), "session")
on_both = pytest.mark.parametrize("store", ["sqlite", "dynamodb-local"], indirect=True)
BOB = Caller("bob", "Bob", frozenset({"user"}), "session")


@dataclass
class ScriptedFeed:
    """Says of each match what was last put into it; down when told to."""

    found: dict[str, Scores] = field(default_factory=dict)
    listed: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)
    fault: GrandstandError | None = None
    while_asked: Callable[[], None] = lambda: None
    leagues_known: tuple[LeagueFacts, ...] = (LeagueFacts("5", "Big Bash", "BBL", "", "1700"),)

    def says(self, scores: Scores, *, live: bool = True) -> None:
        """Let the feed know how a match stands."""
        self.found[scores.match_id] = scores
        (self.listed.add if live else self.listed.discard)(scores.match_id)

    async def livescores(
        self, *, balls: bool = False, since: Mapping[str, int] | None = None
    ) -> Parsed[tuple[HeardFixture, ...]]:
        del since
        self._ask(f"livescores balls={balls}")
        return Parsed(tuple(_heard(self.found[each]) for each in sorted(self.listed)))

    async def fixture(self, match_id: str, *, since: int | None = None) -> Parsed[HeardFixture]:
        del since
        self._ask(f"fixture {match_id}")
        if match_id not in self.found:
            raise MatchUnknown(match_id)
        return Parsed(_heard(self.found[match_id]))

    async def fixtures(
        self, first: date, last: date, *, league_id: str | None = None
    ) -> Parsed[tuple[HeardFixture, ...]]:
        del first, last, league_id
        self._ask("fixtures")
        return Parsed(tuple(_heard(each) for each in self.found.values()))

    async def leagues(self) -> Parsed[tuple[LeagueFacts, ...]]:
        self._ask("leagues")
        return Parsed(self.leagues_known)

    async def teams(self) -> Parsed[tuple[TeamFacts, ...]]:
        self._ask("teams")
        return Parsed(tuple(TeamFacts(each.team_id, each.name, each.code) for each in (HOME, AWAY)))

    async def standings(self, season_id: str) -> Parsed[tuple[StandingFacts, ...]]:
        self._ask("standings")
        return Parsed((StandingFacts(season_id, "1", "5", played=3, won=2, place=1),))

    async def status(self) -> tuple[SourceStatus, ...]:
        return ()

    async def pace(self, every_seconds: float) -> float:
        return every_seconds

    def _ask(self, what: str) -> None:
        self.asked.append(what)
        self.while_asked()
        if self.fault is not None:
            raise self.fault


class Killed(BaseException):
    """The instance is gone in the middle of a push, without a word."""


@dataclass
class WallPhones:
    """Brings notices to a wall of phones; a token may have other fates in store, in order."""

    wall: Wall
    fates: dict[str, list[Verdict]] = field(default_factory=dict)
    sent: list[tuple[Notice, Target]] = field(default_factory=list)
    channels: list[str] = field(default_factory=list)
    dies_after: int | None = None
    hangs: bool = False
    closed: bool = False
    while_told: Callable[[], None] = lambda: None

    async def tell(self, notice: Notice, targets: Sequence[Target]) -> Sequence[Verdict]:
        if self.hangs:
            await asyncio.Event().wait()
        self.while_told()
        return [self._tell(notice, target) for target in targets]

    def _tell(self, notice: Notice, target: Target) -> Verdict:
        if self.dies_after is not None:
            if self.dies_after == 0:
                raise Killed
            self.dies_after -= 1
        fates = self.fates.get(target.token)
        verdict = fates.pop(0) if fates else Verdict("delivered")
        if verdict.fate == "delivered":
            self.sent.append((notice, target))
            self.wall.push(target.token, "liveactivity", payload(notice))
        return verdict

    async def alert(
        self, alert: Alert, targets: Sequence[Target], *, match_id: str, expires_at: datetime
    ) -> Sequence[Verdict]:
        del match_id, expires_at
        for target in targets:
            told = {"aps": {"alert": {"title": alert.title, "body": alert.body}}}
            self.wall.push(target.token, "alert", told)
        return [Verdict("delivered") for _ in targets]

    async def broadcast(self, notice: Notice, channel_id: str, request_id: str) -> Verdict:
        self.sent.append((notice, Target(channel_id, request_id)))
        self.wall.broadcast(channel_id, payload(notice))
        return Verdict("delivered")

    async def open_channel(self) -> str:
        self.channels.append(f"channel-{len(self.channels) + 1}")
        return self.channels[-1]

    async def close_channel(self, channel_id: str) -> None:
        self.channels.remove(channel_id)

    async def close(self) -> None:
        self.closed = True


def payload(notice: Notice) -> dict[str, Any]:
    """What a notice is on the wire, as far as phones look at it."""
    aps: dict[str, Any] = {
        "timestamp": int(notice.at.timestamp()),
        "event": notice.event,
        "content-state": content(notice.content),
    }
    if notice.alert is not None:
        aps["alert"] = {"title": notice.alert.title, "body": notice.alert.body}
    if notice.dismiss_at is not None:
        aps["dismissal-date"] = int(notice.dismiss_at.timestamp())
    if notice.stale_at is not None:
        aps["stale-date"] = int(notice.stale_at.timestamp())
    if notice.event == "start":
        aps |= {"attributes-type": "CricketMatchAttributes", "attributes": {"matchId": MATCH}}
        aps["input-push-channel"] = notice.channel_id
    return {"aps": aps}


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

    def tell(self, topic: str, news: dict[str, Any]) -> None:
        self.heard.append((topic, news))


@dataclass
class Stage:
    """Cricket, all it stands on, and the outsiders."""

    cricket: Cricket
    means: Means
    feed: ScriptedFeed
    phones: WallPhones
    hook: Hook
    clock: ManualClock

    @property
    def store(self) -> AsyncStore:
        return self.means.store

    @property
    def wall(self) -> Wall:
        return self.phones.wall

    async def tick(self, scorer: Scorer | None = None, seconds: float = 5) -> Ticked:
        """Let time pass, let the feed say what was scored, look once, and tell phones."""
        self.clock.advance(seconds)
        if scorer is not None:
            self.feed.says(scores_of(scorer, self.clock))
        polled = await self.cricket.poll()
        await self.cricket.settle()
        return polled.ticks[0]

    async def known(self, status: str = "NS") -> None:
        """Let a match be known that is not polled."""
        self.feed.says(scores_of(started(), self.clock, status=status), live=False)
        await self.cricket.sync_fixtures()

    async def upcoming(self, count: int) -> None:
        """Let matches be known that begin one hour after another: 100, 101 and so on."""
        for number in range(count):
            starts = self.clock.now() + timedelta(hours=number + 1)
            scores = scores_of(Scorer(), self.clock, match_id=str(100 + number), starting_at=starts)
            self.feed.says(scores, live=False)
        await self.cricket.sync_fixtures()

    async def on_air(self) -> Scorer:
        """Let a match go live, with its fixture, and be looked at once."""
        scorer = started()
        scorer.bowl(1)
        await self.tick(scorer)
        await self.cricket.sync_fixtures()
        await self.tick(scorer)
        return scorer

    async def deliver(self, seconds: float = 0) -> int:
        """Carry out what is due in the outbox, as a deliverer does; answer how much that was."""
        self.clock.advance(seconds)
        carried = 0
        for topic, way in self.cricket.ways().items():
            for waiting in await self.means.outbox.waiting(topic):
                if waiting.due_at <= self.clock.now():
                    carried += await self._carry(way, waiting)
        return carried

    async def _carry(self, way: Any, waiting: Consequence) -> int:
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
        given = DeviceGiven(phone.device_token, name, os_version="18.2")
        await self.cricket.register_device(caller, given)
        await self.cricket.set_push_to_start(caller, phone.device_token, phone.start_token)
        await self.cricket.follow(caller, match_id)
        return phone

    async def with_activity(self, caller: Caller, name: str = "phone") -> tuple[Phone, Activity]:
        """Follow a match that is on, and have an activity whose token is known."""
        phone = await self.joined(caller, name)
        await self.deliver()
        activity = phone.activities[-1]
        await self.cricket.register_activity(caller, MATCH, name, activity.token)
        await self.deliver()
        return phone, activity


def scores_of(scorer: Scorer, clock: Clock, **given: Any) -> Scores:
    """What the feed says of a scorer's match, in a league."""
    told = {"competition": Competition("5", "1700", "", "Big Bash", "BBL"), **given}
    told.setdefault("starting_at", clock.now() - timedelta(minutes=5))
    return scorer.fixture(**{**told, **scorer.facts})


def _heard(scores: Scores) -> HeardFixture:
    words = {
        "id": int(scores.match_id),
        "status": scores.status,
        "note": scores.note,
        "league_id": 5,
        "localteam_id": 1,
        "visitorteam_id": 2,
        "starting_at": scores.starting_at.isoformat() if scores.starting_at else None,
    }
    return HeardFixture(scores, dict(words))


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
    phones = beside.phones if beside else WallPhones(Wall(clock, Random(7)))
    hook = beside.hook if beside else Hook()

    async def sleep(_seconds: float) -> None:
        await asyncio.sleep(0)

    means = Means(
        store=kept,
        outbox=Outbox(kept, clock),
        clock=clock,
        random=random,
        teller=listener,
        events=Events(kept, clock=clock, random=random, teller=listener),
        cursors=Cursors(b"secret"),
        metrics=Metrics(),
        feed=feed,
        instance=instance,
        phones=phones,
        hooks=hook if hooked else None,
        settings=CricketSettings.model_validate({"feed_token": "k", **settings}),
        sleep=sleep,
    )
    return Stage(Cricket(means), means, feed, phones, hook, clock)


def started(**facts: Any) -> Scorer:
    """A match whose first innings has begun."""
    return Scorer(status="1st Innings", facts=facts)
