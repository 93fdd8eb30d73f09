"""The round starts, heals, restarts, refreshes and ends what is due, and nothing else."""

from datetime import timedelta
from typing import TypeVar

import pytest

from grandstand.apps.cricket.domain.live_activities import ActivityKey, PushResult
from grandstand.apps.cricket.store.fixtures import Fixture
from grandstand.apps.cricket.store.matches import ActiveMatch
from grandstand.apps.cricket.store.users import LiveActivity, MatchFollow
from grandstand.core.clock import ManualClock
from grandstand.core.errors import Unavailable
from grandstand.storage.tables import AsyncStore, Store
from grandstand.storage.tables.operations.item_ops import Operation, TransactWrite
from tests.apps.cricket.domain.scorer import Scorer
from tests.apps.cricket.services.stage import (
    ADA,
    ALL_TABLES,
    BOB,
    MATCH,
    Killed,
    Stage,
    scores_of,
    staged,
    started,
)

pytestmark = pytest.mark.anyio
R = TypeVar("R")


class ShakyStore(AsyncStore):
    """Refuses transactions while `refuses` is set."""

    refuses = False

    async def __call__(self, operation: Operation[R]) -> R:
        write: object = operation
        if self.refuses and isinstance(write, TransactWrite):
            raise Unavailable("The store does not respond.")
        return await super().__call__(operation)


async def soon(stage: Stage, minutes: float = 25) -> None:
    """A match that begins in a while."""
    starts = stage.clock.now() + timedelta(minutes=minutes)
    scores = scores_of(Scorer(), stage.clock, starting_at=starts)
    stage.feed.says(scores, live=False)
    await stage.cricket.fixture_sync.run()


async def test_each_follower_is_told_once_that_a_match_begins_soon(
    stage: Stage, store: Store, clock: ManualClock
) -> None:
    await soon(stage)
    early = await stage.joined(ADA, "early")
    await stage.cricket.orchestrator.run()
    late = await stage.joined(BOB, "late")

    await staged(store, clock, beside=stage, instance="two").cricket.orchestrator.run()
    await stage.cricket.orchestrator.run()
    await stage.deliver()

    assert (len(early.notifications), len(late.notifications)) == (1, 1)
    assert early.notifications[0]["aps"]["alert"]["body"] == "Starts in 25 minutes"


@pytest.mark.parametrize(("moved_minutes", "told"), [(20, 1), (45, 2)])
async def test_a_start_that_moved_far_is_announced_again(
    stage: Stage, moved_minutes: int, told: int
) -> None:
    await soon(stage)
    phone = await stage.joined(ADA)
    await stage.cricket.orchestrator.run()
    await stage.deliver()
    await soon(stage, 25 + moved_minutes)
    stage.clock.advance(60 * moved_minutes)

    await stage.cricket.orchestrator.run()
    await stage.deliver()

    assert len(phone.notifications) == told


async def test_a_start_far_away_or_past_is_not_announced(stage: Stage) -> None:
    await soon(stage, 45)
    phone = await stage.joined(ADA)

    await stage.cricket.orchestrator.run()
    stage.clock.advance(46 * 60)
    await stage.cricket.orchestrator.run()
    await stage.deliver()

    assert phone.notifications == []


async def test_a_match_that_went_live_unnoticed_is_registered_by_one(
    stage: Stage, store: Store, clock: ManualClock
) -> None:
    stage.feed.says(scores_of(started(), stage.clock), live=False)
    await stage.cricket.fixture_sync.run()
    other = staged(store, clock, beside=stage, instance="two")

    rounds = [await stage.cricket.orchestrator.run(), await other.cricket.orchestrator.run()]

    assert [each.registered for each in rounds] == [[MATCH], []]


async def test_followers_get_an_activity_when_the_match_goes_live(stage: Stage) -> None:
    await soon(stage)
    phone = await stage.joined(ADA)
    await stage.on_air()

    done = await stage.cricket.orchestrator.run()
    await stage.deliver()

    assert (done.starts, len(phone.activities)) == (1, 1)
    assert phone.activities[0].alerts == ["Harbour Town v Hill City: The match is on."]


async def test_a_start_without_an_answer_is_sent_again_later_and_not_for_ever(
    stage: Stage,
) -> None:
    await stage.on_air()
    phone = await stage.joined(ADA)
    await stage.deliver()

    early = await stage.cricket.orchestrator.run()
    starts = []
    for _ in range(40):
        stage.clock.advance(60)
        starts.append((await stage.cricket.orchestrator.run()).starts)

    assert early.starts == 0
    assert sum(starts) == 3
    assert len(phone.activities) == 1


async def test_a_suspended_session_heals_with_a_new_activity(stage: Stage) -> None:
    scorer = await stage.on_air()
    phone, activity = await stage.with_activity(ADA)
    stage.phones.results[activity.token] = [PushResult("gone", "BadDeviceToken")]
    scorer.bowl(4)
    await stage.tick(scorer, seconds=130)

    await stage.cricket.orchestrator.run()
    await stage.deliver()
    await stage.cricket.live_activities.register(
        ADA.user_id, MATCH, "phone", phone.activities[-1].token
    )

    (session,) = await stage.cricket.live_activities.of_user(ADA.user_id)
    assert (len(phone.activities), session.status) == (2, "active")


async def test_a_start_is_sent_once_even_if_its_delivery_is_tried_again(stage: Stage) -> None:
    await stage.on_air()
    phone = await stage.joined(ADA)
    (row,) = await stage.outbox.waiting("cricket.activity_start")

    await stage.cricket.outbox_handlers()["cricket.activity_start"](row)
    await stage.cricket.outbox_handlers()["cricket.activity_start"](row)

    assert len(phone.activities) == 1


async def test_a_start_that_was_lost_in_a_crash_is_sent_anew(
    stage: Stage, store: Store, clock: ManualClock
) -> None:
    await stage.on_air()
    phone = await stage.joined(ADA)
    other = staged(store, clock, beside=stage, instance="two")
    stage.phones.dies_after = 0
    with pytest.raises(Killed):
        await stage.deliver()
    stage.phones.dies_after = None
    await other.deliver(61)
    lost = len(phone.activities)

    clock.advance(60)
    done = await other.cricket.orchestrator.run()
    await other.deliver()

    assert (lost, done.starts, len(phone.activities)) == (0, 1, 1)


async def test_a_start_that_could_not_be_written_down_is_begun_in_the_next_round(
    store: Store, clock: ManualClock
) -> None:
    store.create(ALL_TABLES)
    shaky = ShakyStore(store)
    stage = staged(shaky, clock)
    await stage.cricket.league_sync.run()
    await stage.cricket.team_sync.run()
    await soon(stage)
    phone = await stage.joined(ADA)
    await stage.on_air()
    shaky.refuses = True
    await stage.cricket.orchestrator.run()
    shaky.refuses = False

    done = await stage.cricket.orchestrator.run()
    await stage.deliver()

    assert (done.starts, len(phone.activities)) == (1, 1)


async def test_an_old_activity_is_begun_anew_before_ios_ends_it(stage: Stage) -> None:
    scorer = await stage.on_air()
    phone, old = await stage.with_activity(ADA)
    await stage.tick(scorer, seconds=7.8 * 3600)

    done = await stage.cricket.orchestrator.run()
    await stage.deliver()
    running = len(phone.running(stage.clock.epoch()))
    await stage.cricket.live_activities.register(
        ADA.user_id, MATCH, "phone", phone.activities[-1].token
    )
    await stage.deliver(3)

    assert (done.restarts, running) == (1, 2)
    assert [each is old for each in phone.running(stage.clock.epoch())] == [False]


async def test_a_silent_match_is_taken_over_and_looked_at(
    stage: Stage, store: Store, clock: ManualClock
) -> None:
    scorer = await stage.on_air()
    other = staged(store, clock, beside=stage, instance="two")
    scorer.out(then=13)
    stage.feed.says(scores_of(scorer, stage.clock))
    stage.clock.advance(30)

    done = await other.cricket.orchestrator.run()
    await other.cricket.coordinator.drain()

    match = await stage.store.read(ActiveMatch.by_id(MATCH))
    assert (done.taken_over, match.instance_id, match.seq) == ([MATCH], "two", 2)


async def test_a_quiet_match_is_told_again_before_lock_screens_call_it_old(stage: Stage) -> None:
    scorer = await stage.on_air()
    _, activity = await stage.with_activity(ADA)
    await stage.tick(scorer, seconds=8 * 60)

    done = await stage.cricket.orchestrator.run()
    await stage.deliver()

    lock = activity.shown(stage.clock.epoch() + 10 * 60)
    assert done.heartbeats == 1
    assert lock is not None
    assert not lock.stale


async def test_follows_and_sessions_of_a_five_day_match_live_as_long_as_it_does(
    stage: Stage,
) -> None:
    scorer = started()
    scorer.format = "Test"
    scorer.bowl(1)
    await stage.tick(scorer)
    await stage.cricket.fixture_sync.run()
    await stage.tick(scorer)
    await stage.with_activity(ADA)

    for _ in range(24):
        await stage.tick(scorer, seconds=6 * 3600)
        await stage.cricket.orchestrator.run()

    assert await stage.cricket.follows.find(ADA.user_id, MATCH) is not None
    assert await stage.store(LiveActivity.by_key(ActivityKey(MATCH, "ada", "phone"))) is not None


async def test_what_is_over_is_cleaned_once(stage: Stage) -> None:
    scorer = await stage.on_air()
    await stage.with_activity(ADA)
    scorer.status = "Aban."
    await stage.tick(scorer)

    rounds = [await stage.cricket.orchestrator.run(), await stage.cricket.orchestrator.run()]

    assert [each.closed for each in rounds] == [[MATCH], []]
    assert await stage.store(MatchFollow.of_match(MATCH)) == []
    fixture = await stage.store.read(Fixture.by_id(MATCH))
    assert fixture.archived_at is not None


async def test_a_match_is_not_closed_before_its_phones_were_told(stage: Stage) -> None:
    scorer = await stage.on_air()
    _, activity = await stage.with_activity(ADA)
    scorer.status = "Finished"
    stage.phones.dies_after = 0
    await stage.tick(scorer)
    stage.phones.dies_after = None

    before = await stage.cricket.orchestrator.run()
    await stage.deliver(61)
    after = await stage.cricket.orchestrator.run()

    assert (before.closed, after.closed) == ([], [MATCH])
    assert activity.state["phase"] == "ended"


async def test_a_match_that_is_put_off_rests_and_is_polled_on_when_it_comes(stage: Stage) -> None:
    scorer = Scorer()
    scorer.facts["starting_at"] = stage.clock.now() + timedelta(minutes=30)
    await stage.tick(scorer)
    await stage.tick(scorer)
    scorer.facts["starting_at"] = stage.clock.now() + timedelta(days=1)
    stage.feed.says(scores_of(scorer, stage.clock), live=False)
    await stage.cricket.fixture_sync.run()

    await stage.cricket.orchestrator.run()
    resting = await stage.store.read(ActiveMatch.by_id(MATCH))
    scorer.status = "1st Innings"
    stage.cricket.clear_caches()
    later = staged(stage.store, stage.clock, beside=stage, instance="two")
    await later.tick(scorer)

    match = await stage.store.read(ActiveMatch.by_id(MATCH))
    assert (resting.status, match.status, match.seq) == ("idle", "active", resting.seq)


async def test_a_start_that_apple_did_not_take_is_sent_when_it_does(stage: Stage) -> None:
    await stage.on_air()
    phone = await stage.joined(ADA)
    stage.phones.results[phone.start_token] = [PushResult("unsent", "Shutdown", None, 15.0)]
    await stage.deliver()
    before = len(phone.activities)

    await stage.deliver(16)

    assert (before, len(phone.activities)) == (0, 1)
