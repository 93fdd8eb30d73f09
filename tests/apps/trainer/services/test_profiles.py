"""Profiles after attempts are completed, deleted or overridden, and delivered late or twice."""

from decimal import Decimal

import pytest

from grandstand.apps.trainer.services.evaluation import AttemptNotFound
from grandstand.apps.trainer.services.profiles import resolve_user
from grandstand.apps.trainer.store import Attempt, Profile, UserTotals
from grandstand.core.errors import NotFound
from tests.apps.trainer.stage import ADA, BOB, ROOT, Stage, saying, staged

pytestmark = pytest.mark.anyio


async def _complete(stage: Stage, *scores: int, scenario_id: str = "a-poll") -> list[str]:
    made = []
    for score in scores:
        stage.clock.sleep(60)
        done = await stage.trainer.attempts.submit_new(ADA.user_id, scenario_id, saying(score))
        made.append(done.attempt_id)
    return made


async def _history(stage: Stage) -> tuple[Profile, ...]:
    return tuple(await stage.store(Profile.history(ADA.user_id)))


async def test_a_profile_follows_each_judged_attempt(stage: Stage) -> None:
    counts = []
    for score in (1, 3, 4):
        await _complete(stage, score)
        await stage.follow()
        counts.append(len(await _history(stage)))

    latest = await stage.trainer.profiles.latest(ADA.user_id)
    assert counts == [1, 2, 3]
    assert latest is not None
    assert (latest.attempt_count, latest.overall_average) == (3, Decimal("66.7"))
    assert {each.recent_scores for each in latest.dimensions} == {(1, 3, 4)}
    assert latest.recommendations == ("Try “Two hospitals”: a case you have not tried, beginner",)


async def test_a_draft_and_a_waiting_attempt_make_no_profile(stage: Stage) -> None:
    await stage.trainer.attempts.start(ADA.user_id, "a-poll")
    stage.judge.down = True
    await stage.trainer.attempts.submit_new(ADA.user_id, "a-poll", saying(3))

    await stage.follow()

    assert await stage.trainer.profiles.latest(ADA.user_id) is None


async def test_only_the_window_counts_but_all_are_counted(stage: Stage) -> None:
    narrow = staged(stage.store, stage.clock, window=2)
    await _complete(stage, 0, 0, 4, 2)

    await narrow.follow()

    latest = await stage.trainer.profiles.latest(ADA.user_id)
    assert latest is not None
    assert latest.dimensions[0].recent_scores == (4, 2)
    assert (latest.attempt_count, latest.overall_average) == (4, Decimal("37.5"))
    assert latest.improvements[0].before == Decimal(0)


async def test_the_profile_follows_a_deletion_and_nothing_is_left_of_it(stage: Stage) -> None:
    first, second = await _complete(stage, 1, 3)
    await stage.follow()

    await stage.trainer.attempts.delete(ADA.user_id, second)
    listed = await stage.trainer.attempts.page(ADA.user_id)
    await stage.follow()

    latest = await stage.trainer.profiles.latest(ADA.user_id)
    assert [each.attempt_id for each in listed.attempts] == [first]
    assert latest is not None
    [stored] = await _history(stage)
    assert (latest.attempt_count, stored.source_attempt_id) == (1, first)
    assert await stage.store(Attempt.by_id(second)) is None
    with pytest.raises(AttemptNotFound):
        await stage.trainer.attempts.delete(ADA.user_id, second)


async def test_without_attempts_there_is_no_profile(stage: Stage) -> None:
    [only] = await _complete(stage, 1)
    await stage.follow()

    await stage.trainer.attempts.delete(ADA.user_id, only)
    await stage.follow()

    assert await _history(stage) == ()


async def test_the_profile_follows_an_override(stage: Stage) -> None:
    [only] = await _complete(stage, 1)
    await stage.follow()

    await stage.trainer.instructor.override(ROOT.user_id, only, {"logic": 4}, "The proof is right")
    await stage.follow()

    [latest] = await _history(stage)
    assert {each.name: each.recent_scores for each in latest.dimensions}["logic"] == (4,)
    assert latest.overall_average == Decimal(37)


async def test_hearing_of_the_same_again_writes_nothing(stage: Stage) -> None:
    await _complete(stage, 1, 3)
    await stage.follow()
    before = await _history(stage)
    told = [each async for each in stage.store.each(Attempt.all_attempts())]

    await stage.trainer.profiles.apply(told + told[::-1])

    assert await _history(stage) == before


async def test_rebuilding_agrees_with_what_followed(stage: Stage) -> None:
    made = await _complete(stage, 1, 3, 2)
    await stage.trainer.attempts.delete(ADA.user_id, made[1])
    await stage.follow()
    before = await _history(stage)

    [rebuilt] = await stage.trainer.profiles.rebuild_all()

    assert (rebuilt.user_id, rebuilt.attempt_count, rebuilt.differences) == ("ada", 2, ())
    assert await _history(stage) == before


async def test_rebuilding_mends_totals_and_says_so(stage: Stage) -> None:
    await _complete(stage, 1, 3)
    await stage.follow()
    await stage.store(UserTotals.count("ada", 50))

    first = await stage.trainer.profiles.rebuild("ada")
    again = await stage.trainer.profiles.rebuild("ada")

    totals = await stage.store.read(UserTotals.of_user("ada"))
    assert first.differences == (
        "the totals were 3 attempts and 150 points, now 2 attempts and 100 points",
        "the profile was out of date",
    )
    assert again.differences == ()
    assert (totals.attempt_count, totals.score_sum) == (2, 100)


async def test_rebuilding_mends_a_profile_that_is_wrong(stage: Stage) -> None:
    await _complete(stage, 1, 3)
    await stage.follow()
    [latest] = await stage.store(Profile.latest(ADA.user_id))
    await stage.store(latest.replace(digest="wrong", attempt_count=7).put())

    rebuilt = await stage.trainer.profiles.rebuild("ada")

    [mended] = await stage.store(Profile.latest(ADA.user_id))
    assert rebuilt.differences == ("the profile did not match the attempts",)
    assert mended == latest


async def test_totals_that_are_off_do_not_stop_the_others(stage: Stage) -> None:
    await _complete(stage, 1)
    await stage.store(UserTotals.count("ada", 50))
    await stage.trainer.attempts.submit_new(BOB.user_id, "a-poll", saying(3))

    await stage.follow()

    adas, bobs = (
        await stage.trainer.profiles.latest(ADA.user_id),
        await stage.trainer.profiles.latest(BOB.user_id),
    )
    assert adas is not None
    assert adas.attempt_count == 1
    assert bobs is not None


async def test_a_profile_is_for_its_owner_and_administrators(stage: Stage) -> None:
    await _complete(stage, 3)
    await stage.follow()

    asked = ((ADA, "ada"), (ROOT, "ada"), (ADA, "me"))
    profiles = [await stage.trainer.profiles.latest(resolve_user(*each)) for each in asked]

    assert profiles[0] is not None
    assert profiles[0] == profiles[1] == profiles[2]
    with pytest.raises(NotFound):
        resolve_user(BOB, "ada")
