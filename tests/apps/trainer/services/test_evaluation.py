"""Evaluation: at once, later and again; a failing judge gives no score."""

import asyncio
from datetime import timedelta

import pytest

from grandstand.apps.trainer.domain.evaluation import DIMENSION_NAMES
from grandstand.apps.trainer.services.evaluation import InvalidAttemptState
from grandstand.apps.trainer.store import UserTotals
from grandstand.core.clock import ManualClock
from grandstand.core.errors import Conflict, SourceFailed, Unavailable
from grandstand.storage.tables import Store
from tests.apps.trainer.stage import (
    ADA,
    ALL_TABLES,
    SCENARIOS,
    ScriptedJudge,
    Stage,
    given,
    on_sqlite,
    saying,
    staged,
)

pytestmark = pytest.mark.anyio


async def test_a_submission_is_answered_with_its_scores(stage: Stage) -> None:
    done = await stage.trainer.attempts.submit_new(ADA.user_id, "two-hospitals", saying(3))

    assert done.evaluation is not None
    assert done.evaluation.overall_score == 75
    assert [each.name for each in done.evaluation.dimensions] == list(DIMENSION_NAMES)
    assert done == (await stage.trainer.attempts.get(ADA.user_id, done.attempt_id)).attempt


async def test_nothing_is_left_to_do_for_what_was_judged_at_once(stage: Stage) -> None:
    done = await stage.trainer.attempts.submit_new(ADA.user_id, "two-hospitals", saying(3))

    note = await stage.outbox.find("trainer.evaluate", done.attempt_id)
    assert note is not None
    assert note.stage == "delivered"
    assert await stage.outbox.waiting("trainer.evaluate") == ()


async def test_what_is_to_be_judged_is_noted_with_the_submission(stage: Stage) -> None:
    stage.judge.down = True

    kept = await stage.trainer.attempts.submit_new(ADA.user_id, "two-hospitals", saying(3))

    [note] = await stage.outbox.waiting("trainer.evaluate")
    assert note.idempotency_key == kept.attempt_id
    assert note.due_at == stage.clock.now() + timedelta(seconds=10)


async def test_a_judge_that_is_down_leaves_it_waiting_and_later_it_is_completed(
    stage: Stage,
) -> None:
    stage.judge.down = True
    kept = await stage.trainer.attempts.submit_new(ADA.user_id, "two-hospitals", saying(3))

    with pytest.raises(Unavailable):
        await stage.trainer.evaluations.evaluate(kept.attempt_id)
    totals = await stage.store(UserTotals.of_user("ada"))
    stage.judge.down = False
    done = await stage.trainer.evaluations.evaluate(kept.attempt_id)

    assert (kept.status, kept.evaluation, kept.evaluation_state) == ("in-progress", None, "failed")
    assert kept.evaluation_error == "Unavailable: The judge is at lunch"
    assert totals is None
    assert done is not None
    assert (done.status, done.evaluation_error, done.evaluation_state) == ("completed", None, None)


async def test_whoever_delivers_what_was_noted_completes_it_and_tells_the_owner(
    stage: Stage,
) -> None:
    stage.judge.down = True
    kept = await stage.trainer.attempts.submit_new(ADA.user_id, "two-hospitals", saying(3))
    stage.judge.down = False

    await stage.trainer.evaluations.evaluate(kept.attempt_id)
    await stage.trainer.evaluations.evaluate(kept.attempt_id)

    events = await stage.events.recent(10, ADA)
    assert [each.text for each in events] == ["Your attempt at Two hospitals was scored: 75 of 100"]
    assert (
        await stage.trainer.attempts.get(ADA.user_id, kept.attempt_id)
    ).attempt.status == "completed"


async def test_judging_twice_counts_once(stage: Stage) -> None:
    done = await stage.trainer.attempts.submit_new(ADA.user_id, "two-hospitals", saying(3))

    again = await stage.trainer.evaluations.evaluate(done.attempt_id)

    totals = await stage.store.read(UserTotals.of_user("ada"))
    assert again == done
    assert (totals.attempt_count, totals.score_sum) == (1, 75)


async def test_two_judgings_at_once_count_once(stage: Stage) -> None:
    stage.judge.down = True
    kept = await stage.trainer.attempts.submit_new(ADA.user_id, "two-hospitals", saying(3))
    quick_done = asyncio.Event()
    slow_judge = ScriptedJudge("slow/1", held_until=quick_done)
    slow = staged(stage.store, stage.clock, judge=slow_judge)
    quick = staged(stage.store, stage.clock, judge=ScriptedJudge("quick/1"))

    waiting = asyncio.create_task(slow.trainer.evaluations.evaluate(kept.attempt_id))
    while not slow_judge.asked:  # noqa: ASYNC110 - the judge has no event for this
        await asyncio.sleep(0.01)
    early = await quick.trainer.evaluations.evaluate(kept.attempt_id)
    quick_done.set()
    late = await waiting

    totals = await stage.store.read(UserTotals.of_user("ada"))
    assert totals.attempt_count == 1
    assert late == early
    assert late is not None
    assert late.evaluation is not None
    assert late.evaluation.model_id == "quick/1"


@on_sqlite
async def test_a_judge_that_is_slow_leaves_it_waiting(store: Store, clock: ManualClock) -> None:
    store.create(ALL_TABLES)
    slow = staged(store, clock, judge=ScriptedJudge(seconds=5), wait_seconds=0.05)
    await slow.trainer.scenarios.load(SCENARIOS)

    kept = await slow.trainer.attempts.submit_new(ADA.user_id, "two-hospitals", saying(3))

    assert (kept.status, kept.evaluation_state) == ("in-progress", "pending")


@on_sqlite
async def test_a_judging_that_takes_too_long_is_broken_off(
    store: Store, clock: ManualClock
) -> None:
    store.create(ALL_TABLES)
    slow = staged(
        store, clock, judge=ScriptedJudge(seconds=5), judge_timeout_seconds=0.05, wait_seconds=0
    )
    await slow.trainer.scenarios.load(SCENARIOS)
    kept = await slow.trainer.attempts.submit_new(ADA.user_id, "two-hospitals", saying(3))

    with pytest.raises(Unavailable, match="did not answer within"):
        await slow.trainer.evaluations.evaluate(kept.attempt_id)

    noted = (await slow.trainer.attempts.get(ADA.user_id, kept.attempt_id)).attempt
    assert noted.evaluation_state == "failed"


@pytest.mark.parametrize(
    "names", [DIMENSION_NAMES[:7], (*DIMENSION_NAMES, "clarity"), (*DIMENSION_NAMES[:7], "charm")]
)
@on_sqlite
async def test_a_judgement_without_all_eight_is_none(stage: Stage, names: tuple[str, ...]) -> None:
    stage.judge.names = names
    kept = await stage.trainer.attempts.submit_new(ADA.user_id, "two-hospitals", saying(3))

    with pytest.raises(SourceFailed):
        await stage.trainer.evaluations.evaluate(kept.attempt_id)

    assert (kept.evaluation, kept.evaluation_state) == (None, "failed")


@on_sqlite
async def test_scores_outside_the_scale_are_no_judgement(stage: Stage) -> None:
    kept = await stage.trainer.attempts.submit_new(ADA.user_id, "two-hospitals", saying(5))

    assert (kept.evaluation, kept.evaluation_state) == (None, "failed")


async def test_what_was_deleted_is_not_judged(stage: Stage) -> None:
    stage.judge.down = True
    kept = await stage.trainer.attempts.submit_new(ADA.user_id, "two-hospitals", saying(3))
    stage.judge.down = False

    await stage.trainer.attempts.delete(ADA.user_id, kept.attempt_id)

    assert await stage.trainer.evaluations.evaluate(kept.attempt_id) is None
    assert await stage.trainer.evaluations.evaluate("nowhere") is None
    assert await stage.store(UserTotals.of_user("ada")) is None


async def test_what_waits_can_be_listed(stage: Stage) -> None:
    await stage.trainer.attempts.submit_new(ADA.user_id, "a-poll", saying(3))
    await stage.trainer.attempts.start(ADA.user_id, "a-poll")
    stage.judge.down = True
    kept = await stage.trainer.attempts.submit_new(ADA.user_id, "two-hospitals", saying(3))

    waiting = [each.attempt_id async for each in stage.trainer.evaluations.pending()]

    assert waiting == [kept.attempt_id]


async def test_a_second_opinion_is_heard_once_and_changes_no_score(
    store: Store, clock: ManualClock
) -> None:
    store.create(ALL_TABLES)
    other = ScriptedJudge(model_id="other/1")
    stage = staged(store, clock, second=other)
    await stage.trainer.scenarios.load(SCENARIOS)
    done = await stage.trainer.attempts.submit_new(ADA.user_id, "two-hospitals", saying(3))

    heard = await stage.trainer.evaluations.request_second_opinion(ADA.user_id, done.attempt_id)
    again = await stage.trainer.evaluations.request_second_opinion(ADA.user_id, done.attempt_id)

    assert heard == again
    assert heard.second_opinion is not None
    assert heard.second_opinion.evaluation.model_id == "other/1"
    assert heard.evaluation == done.evaluation
    assert len(other.asked) == 1


@on_sqlite
async def test_of_two_second_opinions_at_once_the_first_stays(
    store: Store, clock: ManualClock
) -> None:
    store.create(ALL_TABLES)
    slow = staged(store, clock, second=ScriptedJudge("slow/1", seconds=0.1))
    quick = staged(store, clock, second=ScriptedJudge("quick/1"))
    await slow.trainer.scenarios.load(SCENARIOS)
    done = await slow.trainer.attempts.submit_new(ADA.user_id, "two-hospitals", saying(3))

    late, early = await asyncio.gather(
        slow.trainer.evaluations.request_second_opinion(ADA.user_id, done.attempt_id),
        quick.trainer.evaluations.request_second_opinion(ADA.user_id, done.attempt_id),
    )

    assert late == early
    assert late.second_opinion is not None
    assert late.second_opinion.evaluation.model_id == "quick/1"


@on_sqlite
async def test_a_second_opinion_needs_a_second_judge_and_a_first(stage: Stage) -> None:
    draft = await stage.trainer.attempts.start(ADA.user_id, "two-hospitals")
    done = await stage.trainer.attempts.submit_new(ADA.user_id, "two-hospitals", saying(3))

    with pytest.raises(InvalidAttemptState):
        await stage.trainer.evaluations.request_second_opinion(ADA.user_id, draft.attempt_id)
    with pytest.raises(Conflict, match="No second judge is configured"):
        await stage.trainer.evaluations.request_second_opinion(ADA.user_id, done.attempt_id)


@on_sqlite
async def test_answers_can_be_judged_without_being_kept(stage: Stage) -> None:
    judgement = await stage.trainer.evaluations.evaluate_answers(
        "two-hospitals", given("I say score 4, as I should")
    )

    assert judgement.evaluation.overall_score == 100
    assert (await stage.trainer.attempts.page(ADA.user_id)).attempts == ()
