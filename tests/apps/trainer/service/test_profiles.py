"""A profile follows the attempts: completed, deleted, overridden, heard of twice or late."""

from decimal import Decimal

import pytest

from grandstand.apps.trainer.service import AttemptNotFound, Profile
from grandstand.apps.trainer.service.profiles import Profiles
from grandstand.apps.trainer.service.scenarios import Scenarios
from grandstand.apps.trainer.store import Attempt, UserTotals
from tests.apps.trainer.stage import ADA, BOB, ROOT, Stage, saying, staged

pytestmark = pytest.mark.anyio


async def _complete(stage: Stage, *scores: int, scenario_id: str = "a-poll") -> list[str]:
    made = []
    for score in scores:
        stage.means.clock.sleep(60)
        done = await stage.trainer.post(ADA, scenario_id, saying(score))
        made.append(done.attempt_id)
    return made


async def _history(stage: Stage) -> tuple[Profile, ...]:
    return (await stage.trainer.profile_history(ADA)).profiles


async def test_a_profile_follows_each_judged_attempt(stage: Stage) -> None:
    counts = []
    for score in (1, 3, 4):
        await _complete(stage, score)
        await stage.follow()
        counts.append(len(await _history(stage)))

    latest = await stage.trainer.profile(ADA)
    assert counts == [1, 2, 3]
    assert latest is not None
    assert (latest.attempt_count, latest.overall_average) == (3, Decimal("66.7"))
    assert {each.recent_scores for each in latest.dimensions} == {(1, 3, 4)}
    assert latest.recommendations == ("Try “Two hospitals”: a case you have not tried, beginner",)


async def test_a_draft_and_a_waiting_attempt_make_no_profile(stage: Stage) -> None:
    await stage.trainer.begin(ADA, "a-poll")
    stage.judge.down = True
    await stage.trainer.post(ADA, "a-poll", saying(3))

    await stage.follow()

    assert await stage.trainer.profile(ADA) is None


async def test_only_the_window_counts_but_all_are_counted(stage: Stage) -> None:
    narrow = staged(stage.store, stage.means.clock, window=2)
    await _complete(stage, 0, 0, 4, 2)

    await narrow.follow()

    latest = await stage.trainer.profile(ADA)
    assert latest is not None
    assert latest.dimensions[0].recent_scores == (4, 2)
    assert (latest.attempt_count, latest.overall_average) == (4, Decimal("37.5"))
    assert latest.improvements[0].before == Decimal(0)


async def test_the_profile_follows_a_deletion_and_nothing_is_left_of_it(stage: Stage) -> None:
    first, second = await _complete(stage, 1, 3)
    await stage.follow()

    await stage.trainer.delete(ADA, second)
    listed = await stage.trainer.attempts(ADA)
    await stage.follow()

    latest = await stage.trainer.profile(ADA)
    assert [each.attempt_id for each in listed.attempts] == [first]
    assert latest is not None
    assert (latest.attempt_count, latest.source_attempt_id) == (1, first)
    assert len(await _history(stage)) == 1
    assert await stage.store(Attempt.by_id(second)) is None
    with pytest.raises(AttemptNotFound):
        await stage.trainer.delete(ADA, second)


async def test_without_attempts_there_is_no_profile(stage: Stage) -> None:
    [only] = await _complete(stage, 1)
    await stage.follow()

    await stage.trainer.delete(ADA, only)
    await stage.follow()

    assert await _history(stage) == ()


async def test_the_profile_follows_an_override(stage: Stage) -> None:
    [only] = await _complete(stage, 1)
    await stage.follow()

    await stage.trainer.override(ROOT, only, {"logic": 4}, "The proof is right")
    await stage.follow()

    [latest] = await _history(stage)
    assert {each.name: each.recent_scores for each in latest.dimensions}["logic"] == (4,)
    assert latest.overall_average == Decimal(37)


async def test_hearing_of_the_same_again_writes_nothing(stage: Stage) -> None:
    await _complete(stage, 1, 3)
    await stage.follow()
    before = await _history(stage)
    profiles = Profiles(stage.means, Scenarios(stage.means))
    told = [each async for each in stage.store.each(Attempt.all_there_are())]

    await profiles.heed(told + told[::-1])

    assert await _history(stage) == before


async def test_rebuilding_agrees_with_what_followed(stage: Stage) -> None:
    made = await _complete(stage, 1, 3, 2)
    await stage.trainer.delete(ADA, made[1])
    await stage.follow()
    before = await _history(stage)

    [rebuilt] = await stage.trainer.rebuild_all()

    assert (rebuilt.user_id, rebuilt.attempt_count, rebuilt.differences) == ("ada", 2, ())
    assert await _history(stage) == before


async def test_rebuilding_mends_totals_and_says_so(stage: Stage) -> None:
    await _complete(stage, 1, 3)
    await stage.follow()
    await stage.store(UserTotals.count("ada", 50))

    first = await stage.trainer.rebuild("ada")
    again = await stage.trainer.rebuild("ada")

    totals = await stage.store.read(UserTotals.of_user("ada"))
    assert first.differences == (
        "the totals said 3 attempts and 150 points, the attempts say 2 attempts and 100 points",
        "the profile had not followed yet",
    )
    assert again.differences == ()
    assert (totals.attempt_count, totals.score_sum) == (2, 100)


async def test_rebuilding_mends_a_profile_that_is_wrong(stage: Stage) -> None:
    await _complete(stage, 1, 3)
    await stage.follow()
    latest = await stage.trainer.profile(ADA)
    assert latest is not None
    await stage.store(latest.replace(digest="wrong", attempt_count=7).put())

    rebuilt = await stage.trainer.rebuild("ada")

    mended = await stage.trainer.profile(ADA)
    assert rebuilt.differences == ("the profile was not that of the attempts",)
    assert mended == latest


async def test_totals_that_are_off_do_not_stop_the_others(stage: Stage) -> None:
    await _complete(stage, 1)
    await stage.store(UserTotals.count("ada", 50))
    await stage.trainer.post(BOB, "a-poll", saying(3))

    await stage.follow()

    adas, bobs = await stage.trainer.profile(ADA), await stage.trainer.profile(BOB)
    assert adas is not None
    assert adas.attempt_count == 1
    assert bobs is not None


async def test_a_profile_is_for_its_owner_and_administrators(stage: Stage) -> None:
    await _complete(stage, 3)
    await stage.follow()

    mine = await stage.trainer.profile(ADA, "ada")
    instructors = await stage.trainer.profile(ROOT, "ada")

    assert mine == instructors == await stage.trainer.profile(ADA, "me")
    with pytest.raises(AttemptNotFound):
        await stage.trainer.profile(BOB, "ada")
    with pytest.raises(AttemptNotFound):
        await stage.trainer.profile_history(BOB, "ada")
