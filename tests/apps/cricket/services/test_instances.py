"""Several instances on one store, frozen and killed at random: nothing is lost or told twice."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

from grandstand.apps.cricket.domain.errors import MatchNotFound
from grandstand.apps.cricket.domain.live_activities import DeviceRegistration
from grandstand.apps.cricket.services.push.updates import MatchUpdate, parse_update
from grandstand.apps.cricket.store.matches import ActiveMatch, LoggedEvent
from grandstand.apps.cricket.store.users import LiveActivity
from grandstand.core.clock import SystemClock
from grandstand.kit.auth.caller import Caller
from grandstand.kit.jobs.tables import JOB_TABLES
from grandstand.kit.outbox import OutboxMessage
from grandstand.kit.shared_limits import LIMIT_TABLES
from grandstand.simulators.push.phones import Activity, Phone
from grandstand.simulators.push.service import PushService
from grandstand.simulators.push.validation import SigningKey
from grandstand.simulators.scores.feed import HourlyBudget, ScoreFeed
from grandstand.simulators.scores.matches import find_match
from grandstand.simulators.scores.serializers import FixtureSerializer
from grandstand.simulators.scores.timeline import Replay, TimelineMoment
from grandstand.simulators.serving import serve
from grandstand.storage.tables import AsyncStore
from tests.apps.cricket.services import worker_process
from tests.apps.cricket.services.stage import ALL_TABLES, BUNDLE, Stage, staged
from tests.apps.cricket.tapes.tape_reader import MILESTONES, ONCE, closely
from tests.kit.stores import open_at

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[4]
TABLES = (*ALL_TABLES, *JOB_TABLES, *LIMIT_TABLES)
TAPE = "generated:11:T10"
# With these, ball 9 is deleted, a wicket is at first none, and a ball at first a wicket.
CORRECTION_SEED = 2
PEOPLE = 6
SPEED = 420.0
SLOWLY = 10.0
PATIENCE_SECONDS = 240.0


@dataclass
class Crew:
    """Processes that are frozen and killed."""

    arguments: list[str]
    running: dict[str, subprocess.Popen[str]] = field(default_factory=dict)
    ended: list[subprocess.Popen[str]] = field(default_factory=list)
    count: int = 0

    def start(self) -> str:
        """Start another instance."""
        self.count += 1
        name = f"worker-{self.count}"
        place, prefix, *rest = self.arguments
        command = [sys.executable, "-m", worker_process.__name__, place, prefix, name, *rest]
        environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
        self.running[name] = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment
        )
        return name

    def kill(self, name: str) -> None:
        """Kill one without a word."""
        process = self.running.pop(name)
        process.send_signal(signal.SIGKILL)
        self.ended.append(process)

    async def freeze(self, name: str, seconds: float) -> None:
        """Let one sleep beyond its leases."""
        self.running[name].send_signal(signal.SIGSTOP)
        await asyncio.sleep(seconds)
        self.running[name].send_signal(signal.SIGCONT)

    def end(self) -> None:
        """End all."""
        for process in (*self.running.values(), *self.ended):
            process.kill()
            process.communicate()


@dataclass
class Scene:
    """A match on the air, phones that follow it, and the store all share."""

    stage: Stage
    store: AsyncStore
    feed: ScoreFeed
    replay: Replay
    pushes: PushService
    crew: Crew
    phones: list[Phone] = field(default_factory=list)

    @property
    def match_id(self) -> str:
        return str(self.replay.match_id)

    @property
    def wrong_balls(self) -> list[TimelineMoment]:
        """When a ball is posted that is deleted, and when something is wrong about a wicket."""
        balls = self.replay.record.deliveries
        slipped = [
            (each, each.correction) for each in self.replay.timeline.moments if each.correction
        ]
        deleted = next(each for each, correction in slipped if correction.deleted)
        wickets = [
            each
            for each, correction in slipped
            if correction.posted.wicket != balls[each.shown - 1].wicket
        ]
        return [deleted, *(each for each in wickets if each.at > deleted.at)]

    async def is_seen(self) -> bool:
        """Whether somebody has looked at the match."""
        match = await self.store(ActiveMatch.by_id_consistent(self.match_id))
        return match is not None and match.seq > 0

    async def everybody_has_it(self) -> bool:
        """Whether every phone has an activity whose token is known."""
        found = [each async for each in self.store.each(LiveActivity.of_match(self.match_id))]
        return sum(each.status == "active" for each in found) == PEOPLE

    async def is_over(self) -> bool:
        """Whether the match has ended and everything about it was told."""
        match = await self.store(ActiveMatch.by_id_consistent(self.match_id))
        if match is None or match.status != "ended" or match.closed_at is None:
            return False
        waiting = [await self.stage.outbox.waiting(topic) for topic in self._topics]
        return not any(waiting)

    @property
    def _topics(self) -> list[str]:
        return sorted(self.stage.cricket.outbox_handlers())

    async def updates(self) -> list[MatchUpdate]:
        """All bulletins of the match."""
        rows = [
            row async for row in self.store.each(OutboxMessage.row(topic="cricket.match_update"))
        ]
        return sorted((parse_update(row.body) for row in rows), key=lambda each: each.timestamp)

    async def keys(self) -> list[str]:
        """What is in the log."""
        found = [each async for each in self.store.each(LoggedEvent.of_match(self.match_id))]
        return [each.event_key for each in found]


async def until(happened: Callable[[], Awaitable[bool]], what: str) -> None:
    """Wait until something has happened, however slow the machine is."""
    clock = SystemClock()
    given_up_at = clock.monotonic() + PATIENCE_SECONDS
    while not await happened():
        assert clock.monotonic() < given_up_at, f"not within {PATIENCE_SECONDS:g} s: {what}"
        await asyncio.sleep(0.1)


@asynccontextmanager
async def scene_on(place: str, prefix: str, folder: Path, crew_size: int) -> AsyncIterator[Scene]:
    clock, store = SystemClock(), open_at(place, prefix)
    store.store.create(TABLES)
    feed, pushes, key = ScoreFeed(clock), PushService(clock, Random(7), {BUNDLE}), SigningKey.make()
    pushes.keys.add(key)
    key_file = folder / "key.p8"
    key_file.write_text(key.pem)
    soon = timedelta(minutes=1)
    replay = feed.play(
        find_match(TAPE), starts_in=soon, speed=SPEED, correction_seed=CORRECTION_SEED
    )
    replay.seek(-60)
    replay.pause()
    async with serve(feed.application) as address, pushes.serving() as addresses:
        crew = Crew([place, prefix, address, addresses.apns, str(key_file)])
        stage = staged(store, clock)
        scene = Scene(stage, store, feed, replay, pushes, crew)
        try:
            for _ in range(crew_size):
                crew.start()
            yield scene
        finally:
            crew.end()


async def people_join(scene: Scene) -> None:
    """People whose apps answer every start with the token of the activity."""
    waiting: set[asyncio.Task[Any]] = set()

    def answered(phone: Phone, activity: Activity) -> None:
        caller = Caller(f"user-{phone.name}", phone.name, frozenset({"user"}), "session")
        answer = scene.stage.cricket.live_activities.register(
            caller.user_id, scene.match_id, phone.name, activity.token
        )
        waiting.add(asyncio.create_task(answer))

    scene.pushes.wall.started.append(answered)
    for number in range(PEOPLE):
        phone = scene.pushes.wall.add(f"phone{number}", BUNDLE)
        caller = Caller(f"user-{phone.name}", phone.name, frozenset({"user"}), "session")
        given = DeviceRegistration(phone.device_token, phone.name, os_version="17.4")
        await scene.stage.cricket.devices.register(caller.user_id, given)
        await scene.stage.cricket.devices.set_push_to_start(
            caller.user_id, phone.device_token, phone.start_token
        )
        await until(partial(follows, scene, caller), f"the match is known and {phone.name} follows")
        scene.phones.append(phone)


async def follows(scene: Scene, caller: Caller) -> bool:
    """Follow the match, if a worker has brought its fixture over."""
    with suppress(MatchNotFound):
        await scene.stage.cricket.follows.follow(caller.user_id, scene.match_id)
        return True
    return False


async def play(scene: Scene) -> HourlyBudget:
    """Go through the match, and stay where something is to be seen until it is.

    Activities are started while a ball stands that is deleted later. Then hardly anything is left
    of the feed's budget for a while, which is answered. After that wickets come and go.
    """
    await until(scene.is_seen, "somebody looks at the match")
    deleted, *wickets = scene.wrong_balls
    await hold(scene, deleted)
    await until(scene.everybody_has_it, "every phone has an activity")
    scene.replay.play(SLOWLY)
    scarce = await spend_the_budget(scene)
    for moment in wickets:
        await hold(scene, moment)
    scene.replay.play(SPEED)
    await until(scene.is_over, "the match is over and all is told")
    return scarce


async def hold(scene: Scene, moment: TimelineMoment) -> None:
    """Go to a moment of the match and stay until a tick has written down what is posted then."""
    scene.replay.pause()
    scene.replay.seek(moment.at)
    posted = FixtureSerializer(scene.replay).row(moment, ("balls",))["balls"]
    assert isinstance(posted, list)
    last = int(posted[-1]["id"])

    async def is_written() -> bool:
        match = await scene.store.read(ActiveMatch.by_id_consistent(scene.match_id))
        return match.previous_ball_id == last

    await until(is_written, f"ball {moment.shown} is seen")


async def spend_the_budget(scene: Scene) -> HourlyBudget:
    """Leave hardly anything of the feed's budget until it was used up, renewed and used up."""
    scene.feed.budget = scarce = HourlyBudget(scene.feed.clock, hourly=2, window_seconds=4.0)

    async def is_used_up_again() -> bool:
        return scarce.exhausted["livescores"] > 1

    await until(is_used_up_again, "the budget is used up, and again after its renewal")
    scene.feed.budget = HourlyBudget(scene.feed.clock)
    return scarce


async def disturb(scene: Scene, random: Random) -> None:
    """Freeze and kill instances; there is always another."""
    for number in range(14):
        name = random.choice(sorted(scene.crew.running))
        if number in (1, 7):
            scene.crew.kill(name)
            scene.crew.start()
        else:
            await scene.crew.freeze(name, random.uniform(0.5, 2.5))
        await asyncio.sleep(random.uniform(0.2, 0.8))


@pytest.fixture
def places(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, str]]:
    if request.param == "sqlite":
        yield str(tmp_path / "tables.db"), "crew-"
    else:
        yield str(request.getfixturevalue("dynamodb_local")), f"crew{os.getpid()}-"


@pytest.mark.parametrize(
    ("places", "crew_size"),
    [("sqlite", 3), ("dynamodb-local", 2)],
    indirect=["places"],
    ids=["sqlite", "dynamodb-local"],
)
async def test_frozen_and_killed_instances_lose_nothing_and_tell_nothing_twice(
    places: tuple[str, str], crew_size: int, tmp_path: Path
) -> None:
    began, right = SystemClock().monotonic(), closely(TAPE)
    async with scene_on(*places, tmp_path, crew_size) as scene:
        await people_join(scene)
        disturbing = asyncio.create_task(disturb(scene, Random(5)))

        scarce = await play(scene)

        disturbing.cancel()
        match = await scene.store.read(ActiveMatch.by_id_consistent(scene.match_id))
        bulletins, keys = await scene.updates(), await scene.keys()
        elapsed = SystemClock().monotonic() - began
    activities = [each for phone in scene.phones for each in phone.activities]
    ids = Counter((each.apns_id, _shown(each.body)) for each in scene.pushes.arrivals)
    assert match.status == "ended"
    assert match.previous_score == right.state.score
    assert {each.seq for each in bulletins} == set(range(1, match.seq + 1))
    assert sorted(keys) == sorted(set(keys))
    assert set(right.named("wicket", *MILESTONES, *ONCE)) <= set(keys)
    assert all(each.seen == sorted(set(each.seen)) for each in activities)
    assert all(max(Counter(each.alerts).values()) == 1 for each in activities)
    assert [_last_phase(phone) for phone in scene.phones] == ["ended"] * PEOPLE
    assert len(ids) == len({apns_id for apns_id, _ in ids})
    assert scarce.refused == Counter()
    assert scene.feed.requests.count("/livescores") <= elapsed + 2 * scene.crew.count


def _last_phase(phone: Phone) -> str | None:
    """What a phone's newest activity showed when it was ended, None while it goes on."""
    newest = phone.activities[-1]
    return str(newest.state["phase"]) if newest.ended_at else None


def _shown(body: bytes) -> bytes:
    """What a push shows, without its alert."""
    aps = msgspec.json.decode(body)["aps"]
    return msgspec.json.encode([aps.get("timestamp"), aps.get("event"), aps.get("content-state")])
