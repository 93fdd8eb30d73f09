"""What an instructor sees of everybody, and what changing a score leaves behind."""

import pytest

from grandstand.apps.trainer.services.evaluation import AttemptNotFound, InvalidAttemptState
from grandstand.apps.trainer.services.validation import InvalidAnswer
from grandstand.apps.trainer.store import UserTotals
from tests.apps.trainer.stage import ADA, BOB, ROOT, Stage, given, on_sqlite, saying

pytestmark = pytest.mark.anyio


async def test_everybodys_scores_are_seen_together(stage: Stage) -> None:
    await stage.trainer.attempts.submit_new(
        ADA.user_id, "two-hospitals", given("I say score 1, as I should", "And that as well")
    )
    await stage.trainer.attempts.submit_new(ADA.user_id, "a-poll", saying(3))
    await stage.trainer.attempts.submit_new(BOB.user_id, "a-poll", saying(4))
    await stage.trainer.attempts.start(BOB.user_id, "a-poll")
    deleted = await stage.trainer.attempts.submit_new(BOB.user_id, "a-poll", saying(0))
    await stage.trainer.attempts.delete(BOB.user_id, deleted.attempt_id)
    stage.judge.down = True
    await stage.trainer.attempts.submit_new(BOB.user_id, "a-poll", saying(0))

    group = await stage.trainer.instructor.summary()

    assert (group.people, group.completed, group.waiting) == (2, 3, 1)
    assert len(group.distributions) == 8
    assert group.distributions[0].counts == (0, 1, 0, 1, 1)
    assert group.distributions[0].mean == 8 / 3
    assert [(each.scenario_id, each.question_id, each.mean) for each in group.hardest] == [
        ("two-hospitals", "q1", 1),
        ("two-hospitals", "q2", 1),
        ("a-poll", "q1", 7 / 2),
    ]


async def test_what_should_be_looked_at_is_listed_with_reasons(stage: Stage) -> None:
    await stage.trainer.attempts.submit_new(ADA.user_id, "a-poll", saying(3))
    stage.judge.flags = ("addresses the judge",)
    flagged = await stage.trainer.attempts.submit_new(ADA.user_id, "a-poll", saying(4))
    stage.clock.sleep(60)
    stage.judge.down = True
    failed = await stage.trainer.attempts.submit_new(BOB.user_id, "a-poll", saying(4))

    group = await stage.trainer.instructor.summary()

    assert [(each.attempt_id, each.reasons) for each in group.flagged] == [
        (failed.attempt_id, ("Unavailable: The judge is at lunch",)),
        (flagged.attempt_id, ("addresses the judge",)),
    ]


async def test_an_override_changes_the_scores_and_keeps_who_when_why_and_both(
    stage: Stage,
) -> None:
    done = await stage.trainer.attempts.submit_new(ADA.user_id, "a-poll", saying(2))

    changed = await stage.trainer.instructor.override(
        ROOT.user_id, done.attempt_id, {"logic": 4}, " A good proof "
    )
    again = await stage.trainer.instructor.override(
        ROOT.user_id, done.attempt_id, {"logic": 3}, "Not that good"
    )

    seen = (await stage.trainer.attempts.get(ADA.user_id, done.attempt_id)).attempt
    totals = await stage.store.read(UserTotals.of_user("ada"))
    assert changed.evaluation is not None
    assert again.evaluation is not None
    assert (changed.evaluation.overall_score, again.evaluation.overall_score) == (58, 54)
    assert seen == again
    assert [(each.by, each.reason) for each in seen.overrides or ()] == [
        ("root", "A good proof"),
        ("root", "Not that good"),
    ]
    assert (seen.overrides or ())[0].before == (2,) * 8
    assert (seen.overrides or ())[0].after == (2, 2, 4, 2, 2, 2, 2, 2)
    assert totals.score_sum == 54
    told = await stage.events.recent(10, ADA)
    assert sorted(each.kind for each in told) == ["overridden", "overridden", "scored"]


@pytest.mark.parametrize(
    ("scores", "reason", "field"),
    [
        ({"charm": 3}, "Why not", "scores.charm"),
        ({"logic": 5}, "Why not", "scores.logic"),
        ({"logic": 2}, "Why not", "scores"),
        ({"logic": 3}, " ", "reason"),
    ],
)
@on_sqlite
async def test_an_override_that_cannot_be_is_refused(
    stage: Stage, scores: dict[str, int], reason: str, field: str
) -> None:
    done = await stage.trainer.attempts.submit_new(ADA.user_id, "a-poll", saying(2))

    with pytest.raises(InvalidAnswer) as refused:
        await stage.trainer.instructor.override(ROOT.user_id, done.attempt_id, scores, reason)

    assert refused.value.field == field
    assert (await stage.trainer.instructor.get(done.attempt_id)).attempt == done


@on_sqlite
async def test_only_what_was_judged_can_be_overridden_and_only_what_was_submitted_seen(
    stage: Stage,
) -> None:
    draft = await stage.trainer.attempts.start(ADA.user_id, "a-poll")
    stage.judge.down = True
    waiting = await stage.trainer.attempts.submit_new(ADA.user_id, "a-poll", saying(2))

    with pytest.raises(AttemptNotFound):
        await stage.trainer.instructor.get(draft.attempt_id)
    with pytest.raises(InvalidAttemptState):
        await stage.trainer.instructor.override(
            ROOT.user_id, waiting.attempt_id, {"logic": 3}, "Why not"
        )
