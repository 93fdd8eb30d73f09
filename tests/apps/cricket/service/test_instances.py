"""Several instances on one store, frozen and killed at random: nothing is lost or told twice."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

from grandstand.apps.cricket.model.errors import MatchUnknown
from grandstand.apps.cricket.service import DeviceGiven
from grandstand.apps.cricket.service.bulletins import Bulletin, parse_bulletin
from grandstand.apps.cricket.store import ActiveMatch, LoggedEvent
from grandstand.base.clock import SystemClock
from grandstand.kit.allowances import ALLOWANCE_TABLES
from grandstand.kit.jobs.tables import JOB_TABLES
from grandstand.kit.outbox import Consequence
from grandstand.kit.who.caller import Caller
from grandstand.simulators.push import PushService, SigningKey
from grandstand.simulators.push.activities import Activity
from grandstand.simulators.push.phones import Phone
from grandstand.simulators.scores.feed import ScoreFeed
from grandstand.simulators.scores.library import find_tape
from grandstand.simulators.scores.replay import Replay
from grandstand.simulators.serving import served
from grandstand.storage.tables import AsyncStore
from tests.apps.cricket.service import working
from tests.apps.cricket.service.stage import ALL_TABLES, BUNDLE, Stage, staged
from tests.kit.stores import open_at

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[4]
TABLES = (*ALL_TABLES, *JOB_TABLES, *ALLOWANCE_TABLES)
PEOPLE = 6
SPEED = 420.0


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
        command = [sys.executable, "-m", working.__name__, place, prefix, name, *rest]
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

    @property
    def match_id(self) -> str:
        return str(self.replay.match_id)

    async def is_over(self) -> bool:
        """Whether the match has ended and everything about it was told."""
        match = await self.store(ActiveMatch.as_it_is(self.match_id))
        if match is None or match.status != "ended":
            return False
        return match.closed_at is not None

    async def bulletins(self) -> list[Bulletin]:
        """All bulletins of the match."""
        rows = [row async for row in self.store.each(Consequence.row(topic="cricket.bulletin"))]
        return sorted((parse_bulletin(row.body) for row in rows), key=lambda each: each.at)

    async def keys(self) -> list[str]:
        """What is in the log."""
        found = [each async for each in self.store.each(LoggedEvent.of_match(self.match_id))]
        return [each.event_key for each in found]


@asynccontextmanager
async def scene_on(place: str, prefix: str, folder: Path, crew_size: int) -> AsyncIterator[Scene]:
    clock, store = SystemClock(), open_at(place, prefix)
    store.store.create(TABLES)
    feed, pushes, key = ScoreFeed(clock), PushService(clock, Random(7), {BUNDLE}), SigningKey.make()
    pushes.keys.add(key)
    key_file = folder / "key.p8"
    key_file.write_text(key.pem)
    soon = timedelta(minutes=1)
    replay = feed.play(find_tape("generated:11:T10"), starts_in=soon, speed=SPEED)
    replay.seek(-60)
    replay.pause()
    async with served(feed.application) as address, pushes.serving() as addresses:
        crew = Crew([place, prefix, address, addresses.apns, str(key_file)])
        stage = staged(store, clock)
        scene = Scene(stage, store, feed, replay, pushes, crew)
        try:
            for _ in range(crew_size):
                crew.start()
            yield scene
        finally:
            crew.end()


async def people_join(scene: Scene) -> list[Phone]:
    """People whose apps answer every start with the token of the activity."""
    phones: list[Phone] = []
    waiting: set[asyncio.Task[Any]] = set()

    def answered(phone: Phone, activity: Activity) -> None:
        caller = Caller(f"user-{phone.name}", phone.name, frozenset({"user"}), "session")
        answer = scene.stage.cricket.register_activity(
            caller, scene.match_id, phone.name, activity.token
        )
        waiting.add(asyncio.create_task(answer))

    scene.pushes.wall.started.append(answered)
    for number in range(PEOPLE):
        phone = scene.pushes.wall.add(f"phone{number}", BUNDLE)
        caller = Caller(f"user-{phone.name}", phone.name, frozenset({"user"}), "session")
        given = DeviceGiven(phone.device_token, phone.name, os_version="17.4")
        await scene.stage.cricket.register_device(caller, given)
        await scene.stage.cricket.set_push_to_start(caller, phone.device_token, phone.start_token)
        await follow_when_known(scene, caller)
        phones.append(phone)
    return phones


async def begin_when_seen(scene: Scene) -> None:
    """Let play begin once somebody looks at the match."""
    for _ in range(300):
        match = await scene.store(ActiveMatch.as_it_is(scene.match_id))
        if match is not None and match.seq:
            break
        await asyncio.sleep(0.1)
    scene.replay.play()


async def follow_when_known(scene: Scene, caller: Caller) -> None:
    """Follow the match once a worker has brought its fixture over."""
    for _ in range(200):
        with suppress(MatchUnknown):
            await scene.stage.cricket.follow(caller, scene.match_id)
            return
        await asyncio.sleep(0.1)


async def disturb(scene: Scene, random: Random) -> None:
    """Freeze and kill instances until the match is over; there is always another."""
    for number in range(80):
        if await scene.is_over():
            return
        name = random.choice(sorted(scene.crew.running))
        if number in (2, 7):
            scene.crew.kill(name)
            scene.crew.start()
        elif number < 12:
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
    began = SystemClock().monotonic()
    async with scene_on(*places, tmp_path, crew_size) as scene:
        phones = await people_join(scene)
        await begin_when_seen(scene)

        await disturb(scene, Random(5))

        match = await scene.store.read(ActiveMatch.as_it_is(scene.match_id))
        bulletins, keys = await scene.bulletins(), await scene.keys()
        activities = [each for phone in phones for each in phone.activities]
        elapsed = SystemClock().monotonic() - began
    ids = Counter((each.apns_id, _shown(each.body)) for each in scene.pushes.arrivals)
    assert match.status == "ended"
    assert {each.seq for each in bulletins} == set(range(1, match.seq + 1))
    assert sorted(keys) == sorted(set(keys))
    assert _fallen(keys) == sum(each.wickets for each in match.previous_score)
    assert all(each.seen == sorted(set(each.seen)) for each in activities)
    assert all(max(Counter(each.alerts).values()) == 1 for each in activities)
    assert {each.state["phase"] for each in activities if each.ended_at} == {"ended"}
    assert len(ids) == len({apns_id for apns_id, _ in ids})
    assert len(activities) >= PEOPLE
    assert scene.feed.asked.count("/livescores") <= elapsed + 2 * scene.crew.count


def _fallen(keys: list[str]) -> int:
    return sum(key.startswith("wicket") for key in keys)


def _shown(body: bytes) -> bytes:
    """What a push shows, without its alert."""
    aps = msgspec.json.decode(body)["aps"]
    return msgspec.json.encode([aps.get("timestamp"), aps.get("event"), aps.get("content-state")])
