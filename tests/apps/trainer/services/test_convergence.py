"""Profiles converge whatever the order, repetition or crash of change delivery."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grandstand.apps.trainer.services.profiles import ProfileRecord, ProfileService
from grandstand.apps.trainer.store import Attempt, attempts
from grandstand.core.clock import ManualClock
from grandstand.storage.tables import AsyncStore, Naming, Operation, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.maintenance import sweep
from tests.apps.trainer.stage import (
    ADA,
    ALL_TABLES,
    BOB,
    ROOT,
    SCENARIOS,
    Stage,
    saying,
    staged,
)

R = TypeVar("R")
PEOPLE = (ADA, BOB)


class Killed(BaseException):
    """The simulated process was killed."""


class Mortal(AsyncStore):
    """A store that raises before the n-th operation."""

    def __init__(self, store: Store, left: int) -> None:
        super().__init__(store)
        self.left = left

    async def __call__(self, operation: Operation[R]) -> R:
        self.left -= 1
        if self.left < 0:
            raise Killed
        return await super().__call__(operation)


@dataclass(frozen=True)
class Step:
    """A change of attempts, and whether it is delivered before the next one."""

    kind: str
    who: int
    which: int
    score: int


STEPS = st.lists(
    st.builds(
        Step,
        kind=st.sampled_from(["complete", "complete", "complete", "delete", "override"]),
        who=st.integers(0, 1),
        which=st.integers(0, 9),
        score=st.integers(0, 4),
    ),
    min_size=1,
    max_size=14,
)
DEATHS = st.lists(st.integers(0, 12), max_size=4)


async def _do(stage: Stage, step: Step, living: dict[str, list[str]]) -> None:
    caller = PEOPLE[step.who]
    mine = living.setdefault(caller.user_id, [])
    stage.clock.sleep(step.which)
    if step.kind == "complete" or not mine:
        done = await stage.trainer.attempts.submit_new(caller.user_id, "a-poll", saying(step.score))
        mine.append(done.attempt_id)
    elif step.kind == "delete":
        await stage.trainer.attempts.delete(caller.user_id, mine.pop(step.which % len(mine)))
    else:
        scores = {"logic": step.score, "clarity": step.which % 5}
        await _overridden(stage, mine[step.which % len(mine)], scores)


async def _overridden(stage: Stage, attempt_id: str, scores: dict[str, int]) -> None:
    found = await stage.store.read(Attempt.by_id(attempt_id))
    assert found.evaluation is not None
    now = {each.name: each.score for each in found.evaluation.dimensions}
    changes = {name: score for name, score in scores.items() if now[name] != score}
    for name, score in [*changes.items()][:1]:
        await stage.trainer.instructor.override(
            ROOT.user_id, attempt_id, {name: score}, "I know better"
        )


def _stage() -> Stage:
    clock = ManualClock()
    store = Store(SqliteEngine.open(None, clock=clock), naming=Naming(), clock=clock)
    store.create(ALL_TABLES)
    return staged(store, clock, window=3)


async def _images(stage: Stage) -> list[Attempt]:
    """Return every image of every attempt, as the stream delivers them."""
    feed = stage.trainer.profiles.follow()
    images = []
    async for batch in feed.batches():
        images += [change.new for change in batch.changes if change.new is not None]
    return images


def _follower(stage: Stage, store: AsyncStore) -> ProfileService:
    return staged(store, stage.clock, window=3).trainer.profiles


async def _latest(stage: Stage) -> list[ProfileRecord | None]:
    return [await stage.trainer.profiles.latest(person.user_id) for person in PEOPLE]


async def _mangled(stage: Stage, random: Random, deaths: list[int]) -> None:
    """Deliver some images in any order and repeatedly, with crashes, then the rest."""
    images = await _images(stage)
    told = [*random.choices(images, k=len(images)), *images]
    random.shuffle(told)
    for left in deaths:
        cut = random.randrange(len(told) + 1)
        try:
            await _follower(stage, Mortal(stage.store.store, left)).apply(told[:cut])
        except Killed:
            continue
    for image in told:
        await _follower(stage, stage.store).apply([image])


@given(steps=STEPS, deaths=DEATHS, seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_any_order_repetition_and_crash_comes_to_the_same_profile(
    steps: list[Step], deaths: list[int], seed: int
) -> None:
    async def both() -> tuple[Any, Any, Any]:
        plain, mangled = _stage(), _stage()
        living: dict[str, list[str]] = {}
        others: dict[str, list[str]] = {}
        for stage in (plain, mangled):
            await stage.trainer.scenarios.load(SCENARIOS)
        for step in steps:
            await _do(plain, step, living)
            await plain.follow()
            await _do(mangled, step, others)
        await _mangled(mangled, Random(seed), deaths)
        came = await _latest(mangled)
        rebuilt = await mangled.trainer.profiles.rebuild_all()
        found = (await _latest(plain), came, [each.differences for each in rebuilt])
        plain.store.store.close()
        mangled.store.store.close()
        return found

    followed, came, differences = asyncio.run(both())

    assert came == followed
    assert all(each == () for each in differences)


@pytest.mark.parametrize("left", range(16))
@pytest.mark.anyio
async def test_whoever_dies_while_following_a_deletion_is_made_up_for(left: int) -> None:
    stage = _stage()
    await stage.trainer.scenarios.load(SCENARIOS)
    for step in (Step("complete", 0, 1, 1), Step("complete", 0, 1, 3), Step("complete", 0, 1, 4)):
        await _do(stage, step, {})
        await stage.follow()
    [newest, *_] = (await stage.trainer.attempts.page(ADA.user_id)).attempts
    await stage.trainer.attempts.delete(ADA.user_id, newest.attempt_id)
    gone = [await stage.store.read(Attempt.by_id(newest.attempt_id))]

    with suppress(Killed):
        await _follower(stage, Mortal(stage.store.store, left)).apply(gone)
    await stage.follow()

    latest = await stage.trainer.profiles.latest(ADA.user_id)
    assert latest is not None
    assert (latest.attempt_count, latest.dimensions[0].recent_scores) == (2, (1, 3))
    assert await stage.store(Attempt.by_id(newest.attempt_id)) is None
    stage.store.store.close()


@pytest.mark.anyio
async def test_when_changes_were_lost_every_profile_is_made_anew() -> None:
    stage = _stage()
    await stage.trainer.scenarios.load(SCENARIOS)
    feed = stage.trainer.profiles.follow()
    await stage.trainer.profiles.catch_up(feed)
    for caller in PEOPLE:
        await stage.trainer.attempts.submit_new(caller.user_id, "a-poll", saying(3))
    gone = await stage.trainer.attempts.submit_new(ADA.user_id, "a-poll", saying(1))
    await stage.trainer.attempts.delete(ADA.user_id, gone.attempt_id)
    stage.clock.sleep(31 * 24 * 3600)
    sweep(stage.store.store, (attempts,), 100)

    await stage.trainer.profiles.catch_up(feed)
    await stage.trainer.attempts.submit_new(BOB.user_id, "a-poll", saying(4))
    followed = await stage.trainer.profiles.catch_up(feed)

    adas, bobs = await _latest(stage)
    assert adas is not None
    assert bobs is not None
    assert (adas.attempt_count, bobs.attempt_count) == (1, 2)
    # What rebuilding cleared away, the submission, and its completion.
    assert followed == 3
    assert await stage.store(Attempt.by_id(gone.attempt_id)) is None
    stage.store.store.close()
