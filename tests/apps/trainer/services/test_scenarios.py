"""Scenarios: loading at the tables' capacity, listing with progress, hidden solutions."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from grandstand.apps.trainer.sources.scenario_files import load_library
from grandstand.apps.trainer.store import Scenario
from grandstand.core.clock import ManualClock, SystemClock
from grandstand.storage.tables import AsyncStore, Naming, Store
from grandstand.storage.tables.attribute_values import item_size
from grandstand.storage.tables.engines.dynamodb.client import Credentials
from grandstand.storage.tables.engines.dynamodb.engine import DynamoEngine
from tests.apps.trainer.stage import (
    ADA,
    ALL_TABLES,
    BOB,
    HOSPITALS,
    POLL,
    SCENARIOS,
    Stage,
    given,
    on_sqlite,
    saying,
    staged,
)

pytestmark = pytest.mark.anyio


async def test_loading_again_writes_nothing(stage: Stage) -> None:
    before = await stage.store.read(Scenario.by_id("a-poll"))
    stage.clock.sleep(60)

    loaded = await stage.trainer.scenarios.load(SCENARIOS)

    assert (loaded.written, len(loaded.unchanged)) == ((), 3)
    assert await stage.store.read(Scenario.by_id("a-poll")) == before


async def test_what_has_changed_is_written_and_keeps_its_beginning(stage: Stage) -> None:
    before = await stage.store.read(Scenario.by_id("a-poll"))
    stage.clock.sleep(60)
    await stage.store(Scenario.update(scenario_id="a-poll").set(active=False))

    loaded = await stage.trainer.scenarios.load((HOSPITALS, replace(POLL, title="Another poll")))

    after = await stage.store.read(Scenario.by_id("a-poll"))
    assert loaded.written == ("a-poll",)
    assert (after.title, after.created_at) == ("Another poll", before.created_at)
    assert not after.active


async def test_our_own_scenarios_can_be_loaded(stage: Stage) -> None:
    ours = load_library()

    loaded = await stage.trainer.scenarios.load(ours)
    again = await stage.trainer.scenarios.load(ours)

    assert len(ours) >= 18
    assert len(loaded.written) + len(loaded.unchanged) == len(ours)
    assert again.written == ()


async def test_they_are_listed_easiest_first_with_the_callers_own_progress(stage: Stage) -> None:
    await stage.trainer.attempts.submit_new(ADA.user_id, "two-hospitals", saying(1))
    await stage.trainer.attempts.submit_new(ADA.user_id, "two-hospitals", saying(3))
    draft = await stage.trainer.attempts.start(ADA.user_id, "a-poll")

    adas = await stage.trainer.scenarios.list(ADA.user_id)
    bobs = await stage.trainer.scenarios.list(BOB.user_id)
    advanced = await stage.trainer.scenarios.list(ADA.user_id, "advanced")

    assert [each.scenario.scenario_id for each in adas] == [
        "two-hospitals",
        "a-poll",
        "battery-plant",
    ]
    first, second, third = (each.progress for each in adas)
    assert (first.state, first.completed, first.best_score) == ("done", 2, 75)
    assert (second.state, second.draft_id) == ("draft", draft.attempt_id)
    assert third.state == "new"
    assert {each.progress.state for each in bobs} == {"new"}
    assert [each.scenario.scenario_id for each in advanced] == ["battery-plant"]


@on_sqlite
async def test_notes_and_outcomes_are_told_after_submission_only(stage: Stage) -> None:
    work = given("It will be late, as before", percent=20)
    listed = await stage.trainer.scenarios.list(ADA.user_id)
    one = await stage.trainer.scenarios.get(ADA.user_id, "battery-plant")
    suggestion = await stage.trainer.scenarios.suggest(ADA.user_id)
    draft = await stage.trainer.attempts.start(ADA.user_id, "battery-plant", work)
    begun = await stage.trainer.attempts.get(ADA.user_id, draft.attempt_id)
    await stage.trainer.attempts.submit(ADA.user_id, draft.attempt_id)
    after = await stage.trainer.attempts.get(ADA.user_id, draft.attempt_id)

    assert "secret" not in repr((listed, one, suggestion, begun))
    assert "happened=False" not in repr((listed, one, suggestion, begun))
    assert "secret model answer" in repr(after)
    assert "happened=False" in repr(after)


@on_sqlite
async def test_they_are_remembered_for_a_while(stage: Stage) -> None:
    kept = staged(stage.store, stage.clock, scenario_seconds=60)
    await kept.trainer.scenarios.list(ADA.user_id)
    await stage.store(Scenario.update(scenario_id="a-poll").set(active=False))

    soon = await kept.trainer.scenarios.list(ADA.user_id)
    stage.clock.sleep(61)
    later = await kept.trainer.scenarios.list(ADA.user_id)

    assert (len(soon), len(later)) == (3, 2)


@on_sqlite
async def test_the_next_scenario_is_one_not_tried_that_exercises_what_is_weak(stage: Stage) -> None:
    first = await stage.trainer.scenarios.suggest(ADA.user_id)
    done = await stage.trainer.attempts.submit_new(ADA.user_id, "two-hospitals", saying(3))
    await stage.trainer.instructor.override(
        BOB.user_id, done.attempt_id, {"humility-uncertainty": 0}, "Too sure"
    )
    await stage.follow()

    then = await stage.trainer.scenarios.suggest(ADA.user_id)

    assert first is not None
    assert first.scenario.scenario_id == "two-hospitals"
    assert then is not None
    assert then.scenario.scenario_id == "battery-plant"
    assert then.reason == "it exercises humility and uncertainty"


@pytest.fixture
def cloud(dynamodb_local: str) -> Iterator[Store]:
    clock = SystemClock()
    engine = DynamoEngine.open(
        region="eu-west-1",
        endpoint=dynamodb_local,
        credentials=Credentials("testing", "testing"),
        clock=clock,
        random=Random(1),
    )
    with Store(engine, naming=Naming(prefix="paced-"), clock=clock) as store:
        store.create(ALL_TABLES)
        yield store


@pytest.mark.parametrize(("rate", "share"), [(1, 1.0), (4, 0.25), (0, 0.0)])
async def test_loading_into_the_cloud_keeps_to_the_tables_write_units(
    cloud: Store, rate: float, share: float
) -> None:
    stage = staged(AsyncStore(cloud), ManualClock(), scenario_write_units=rate)
    marked = tuple(replace(each, title=f"{each.title} at {rate}") for each in SCENARIOS)

    await stage.trainer.scenarios.load(marked)
    await stage.trainer.scenarios.load(marked)

    kept = cloud(Scenario.all_active())
    units = sum(-(-item_size(Scenario.__plan__.encode(each)) // 1024) for each in kept)
    assert sum(stage.slept) == units * share
