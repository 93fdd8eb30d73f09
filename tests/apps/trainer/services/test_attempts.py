"""What a person may do with attempts, and what is refused with nothing stored."""

from collections.abc import Awaitable, Callable

import pytest

from grandstand.apps.trainer.services import Trainer
from grandstand.apps.trainer.services.attempts import ClientTokenReused
from grandstand.apps.trainer.services.evaluation import (
    AttemptNotFound,
    AttemptRecord,
    InvalidAttemptState,
)
from grandstand.apps.trainer.services.scenarios import ScenarioNotFound
from grandstand.apps.trainer.services.validation import AnswerInput, AttemptInput, InvalidAnswer
from grandstand.apps.trainer.store import Attempt, to_record
from tests.apps.trainer.stage import ADA, BOB, Stage, given, on_sqlite, saying, staged

pytestmark = pytest.mark.anyio

TEXT = "It depends on who is taken in"


async def _kept(stage: Stage) -> list[AttemptRecord]:
    return [
        to_record(AttemptRecord, each) async for each in stage.store.each(Attempt.all_attempts())
    ]


async def test_a_draft_is_gone_on_with_elsewhere_and_handed_in(stage: Stage) -> None:
    begun = await stage.trainer.attempts.start(ADA.user_id, "two-hospitals")
    await stage.trainer.attempts.save(
        ADA.user_id, begun.attempt_id, given("It", "Neither", seconds=30)
    )

    elsewhere = (await stage.trainer.scenarios.get(ADA.user_id, "two-hospitals")).progress
    found = await stage.trainer.attempts.get(ADA.user_id, str(elsewhere.draft_id))
    done = await stage.trainer.attempts.submit(
        ADA.user_id, begun.attempt_id, given(TEXT, "Neither of the two of them", seconds=90)
    )

    assert elsewhere.state == "draft"
    assert [each.answer for each in found.attempt.answers] == ["It", "Neither"]
    assert (done.status, done.duration_seconds) == ("completed", 90)
    assert [each.word_count for each in done.answers] == [7, 6]
    assert done.answers[0].question_text == "What would you want to know?"


async def test_a_draft_is_handed_in_as_it_was_saved(stage: Stage) -> None:
    begun = await stage.trainer.attempts.start(
        ADA.user_id, "two-hospitals", given(TEXT, seconds=45)
    )

    done = await stage.trainer.attempts.submit(ADA.user_id, begun.attempt_id)

    kept = (await stage.trainer.attempts.get(ADA.user_id, begun.attempt_id)).attempt
    assert kept == done
    assert (kept.duration_seconds, kept.submitted_at) == (45, kept.timestamp)


async def test_the_same_token_hands_in_once(stage: Stage) -> None:
    first = await stage.trainer.attempts.submit_new(ADA.user_id, "two-hospitals", given(TEXT), "t1")
    again = await stage.trainer.attempts.submit_new(ADA.user_id, "two-hospitals", given(TEXT), "t1")
    bobs = await stage.trainer.attempts.submit_new(BOB.user_id, "two-hospitals", given(TEXT), "t1")

    assert again == first
    assert bobs.attempt_id != first.attempt_id
    assert len(await _kept(stage)) == 2
    assert len(stage.judge.asked) == 2


@pytest.mark.parametrize(
    ("scenario_id", "work"),
    [("two-hospitals", given("Something else entirely")), ("a-poll", given(TEXT))],
)
async def test_a_token_is_not_good_for_something_else(
    stage: Stage, scenario_id: str, work: AttemptInput
) -> None:
    await stage.trainer.attempts.submit_new(ADA.user_id, "two-hospitals", given(TEXT), "t1")

    with pytest.raises(ClientTokenReused):
        await stage.trainer.attempts.submit_new(ADA.user_id, scenario_id, work, "t1")

    assert len(await _kept(stage)) == 1


async def test_the_token_of_a_deleted_attempt_is_used_up(stage: Stage) -> None:
    attempt = await stage.trainer.attempts.submit_new(
        ADA.user_id, "two-hospitals", given(TEXT), "t1"
    )
    await stage.trainer.attempts.delete(ADA.user_id, attempt.attempt_id)
    await stage.follow()

    with pytest.raises(ClientTokenReused):
        await stage.trainer.attempts.submit_new(ADA.user_id, "two-hospitals", given(TEXT), "t1")

    assert await _kept(stage) == []


async def test_handing_in_twice_is_handing_in_once(stage: Stage) -> None:
    begun = await stage.trainer.attempts.start(ADA.user_id, "two-hospitals", given(TEXT))

    first = await stage.trainer.attempts.submit(ADA.user_id, begun.attempt_id)
    again = await stage.trainer.attempts.submit(
        ADA.user_id, begun.attempt_id, given("Something better than it was")
    )

    assert again == first
    assert len(stage.judge.asked) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda trainer, at: trainer.attempts.save(ADA.user_id, at, given(TEXT)),
        lambda trainer, at: trainer.attempts.abandon(ADA.user_id, at),
        lambda trainer, at: trainer.attempts.compare(ADA.user_id, at),
    ],
)
async def test_what_was_handed_in_stays_as_it_was(
    stage: Stage, change: Callable[[Trainer, str], Awaitable[object]]
) -> None:
    done = await stage.trainer.attempts.submit_new(ADA.user_id, "two-hospitals", given(TEXT))

    with pytest.raises(InvalidAttemptState):
        await change(stage.trainer, done.attempt_id)

    assert (await stage.trainer.attempts.get(ADA.user_id, done.attempt_id)).attempt == done


async def test_a_draft_given_up_stays_given_up(stage: Stage) -> None:
    begun = await stage.trainer.attempts.start(ADA.user_id, "two-hospitals", given(TEXT))

    given_up = await stage.trainer.attempts.abandon(ADA.user_id, begun.attempt_id)
    again = await stage.trainer.attempts.abandon(ADA.user_id, begun.attempt_id)

    assert given_up == again
    assert given_up.status == "abandoned"
    for change in (
        stage.trainer.attempts.submit(ADA.user_id, begun.attempt_id),
        stage.trainer.attempts.save(ADA.user_id, begun.attempt_id, given(TEXT)),
        stage.trainer.attempts.revise(ADA.user_id, begun.attempt_id),
    ):
        with pytest.raises(InvalidAttemptState):
            await change
    progress = (await stage.trainer.scenarios.get(ADA.user_id, "two-hospitals")).progress
    assert progress.state == "new"


async def test_another_persons_attempt_is_not_there(stage: Stage) -> None:
    draft = await stage.trainer.attempts.start(ADA.user_id, "two-hospitals", given(TEXT))
    done = await stage.trainer.attempts.submit_new(ADA.user_id, "a-poll", given(TEXT))
    before = await _kept(stage)

    for at in (draft.attempt_id, done.attempt_id, "nowhere"):
        for act in (
            stage.trainer.attempts.get(BOB.user_id, at),
            stage.trainer.attempts.save(BOB.user_id, at, given(TEXT)),
            stage.trainer.attempts.submit(BOB.user_id, at),
            stage.trainer.attempts.abandon(BOB.user_id, at),
            stage.trainer.attempts.delete(BOB.user_id, at),
            stage.trainer.attempts.revise(BOB.user_id, at),
            stage.trainer.attempts.compare(BOB.user_id, at),
            stage.trainer.evaluations.request_second_opinion(BOB.user_id, at),
        ):
            with pytest.raises(AttemptNotFound):
                await act

    assert await _kept(stage) == before
    assert (await stage.trainer.attempts.page(BOB.user_id)).attempts == ()


@pytest.mark.parametrize(
    ("scenario_id", "work", "field"),
    [
        ("two-hospitals", AttemptInput(), "answers"),
        ("two-hospitals", given("   "), "answers"),
        ("two-hospitals", given("Too short"), "answers.0.answer"),
        ("two-hospitals", given("", "Too short"), "answers.1.answer"),
        ("two-hospitals", given("x" * 20_001), "answers.0.answer"),
        ("two-hospitals", given("x" * 200_000), "answers.0.answer"),
        ("two-hospitals", given(TEXT + "\ud800"), "answers.0.answer"),
        ("two-hospitals", AttemptInput((AnswerInput("q9", TEXT),)), "answers.0.questionId"),
        (
            "two-hospitals",
            AttemptInput((AnswerInput("q1", TEXT), AnswerInput("q1", TEXT))),
            "answers.1.questionId",
        ),
        (
            "two-hospitals",
            AttemptInput((AnswerInput("q2", "Short"), AnswerInput("q1", TEXT))),
            "answers.0.answer",
        ),
        ("two-hospitals", given(TEXT, percent=5), "answers.0.probabilityPercent"),
        ("battery-plant", given(TEXT), "answers.0.probabilityPercent"),
        ("battery-plant", given(TEXT, percent=101), "answers.0.probabilityPercent"),
        ("two-hospitals", given(TEXT, seconds=-1), "durationSeconds"),
    ],
)
@on_sqlite
async def test_what_cannot_be_taken_is_refused_with_its_field(
    stage: Stage, scenario_id: str, work: AttemptInput, field: str
) -> None:
    with pytest.raises(InvalidAnswer) as refused:
        await stage.trainer.attempts.submit_new(ADA.user_id, scenario_id, work)

    assert refused.value.field == field
    assert await _kept(stage) == []
    assert await stage.outbox.waiting("trainer.evaluate") == ()


async def test_all_answers_together_fit_an_item(stage: Stage) -> None:
    generous = staged(stage.store, stage.clock, answer_chars=50_000)

    with pytest.raises(InvalidAnswer) as refused:
        await generous.trainer.attempts.submit_new(
            ADA.user_id, "two-hospitals", given("語" * 40_000, "語" * 40_000)
        )
    kept = await generous.trainer.attempts.submit_new(
        ADA.user_id, "two-hospitals", given("語" * 40_000, "語" * 20_000)
    )

    assert refused.value.field == "answers"
    assert kept.status == "completed"
    assert await _kept(stage) == [kept]


@on_sqlite
async def test_a_scenario_that_is_not_on_offer_cannot_be_begun(stage: Stage) -> None:
    for act in (
        stage.trainer.attempts.start(ADA.user_id, "nowhere"),
        stage.trainer.attempts.submit_new(ADA.user_id, "nowhere", given(TEXT)),
        stage.trainer.scenarios.get(ADA.user_id, "nowhere"),
    ):
        with pytest.raises(ScenarioNotFound):
            await act


@on_sqlite
async def test_a_question_left_blank_is_left_out(stage: Stage) -> None:
    done = await stage.trainer.attempts.submit_new(
        ADA.user_id, "two-hospitals", given("", "Neither of the two of them")
    )

    assert [each.question_id for each in done.answers] == ["q2"]
    assert len(stage.judge.asked[0].questions) == 2


async def test_a_revision_starts_from_the_answers_and_is_shown_beside_them(stage: Stage) -> None:
    before = await stage.trainer.attempts.submit_new(ADA.user_id, "two-hospitals", saying(1))

    draft = await stage.trainer.attempts.revise(ADA.user_id, before.attempt_id, "again")
    same = await stage.trainer.attempts.revise(ADA.user_id, before.attempt_id, "again")
    after = await stage.trainer.attempts.submit(ADA.user_id, draft.attempt_id, saying(3))
    shown = await stage.trainer.attempts.compare(ADA.user_id, after.attempt_id)

    assert draft == same
    assert (draft.answers, draft.revision_of) == (before.answers, before.attempt_id)
    assert (shown.before, shown.after, shown.overall_change) == (before, after, 50)
    assert {(each.before, each.after) for each in shown.dimensions} == {(1, 3)}
    assert len(shown.dimensions) == 8


async def test_history_comes_newest_first_and_page_by_page(stage: Stage) -> None:
    made = []
    for number in range(5):
        stage.clock.sleep(60)
        made.append(
            (
                await stage.trainer.attempts.submit_new(ADA.user_id, "a-poll", saying(number % 4))
            ).attempt_id
        )

    first = await stage.trainer.attempts.page(ADA.user_id, 2)
    second = await stage.trainer.attempts.page(ADA.user_id, 2, first.cursor)
    third = await stage.trainer.attempts.page(ADA.user_id, 2, second.cursor)

    seen = [each.attempt_id for page in (first, second, third) for each in page.attempts]
    assert seen == made[::-1]
    assert third.cursor is None
