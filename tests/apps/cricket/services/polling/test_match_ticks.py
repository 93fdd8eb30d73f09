"""A tick writes what happened once, and nothing of an instance that was overtaken."""

import pytest

from grandstand.apps.cricket.domain.errors import MatchNotFound
from grandstand.apps.cricket.store.fixtures import DisplayState
from grandstand.apps.cricket.store.matches import ActiveMatch, LoggedEvent
from grandstand.core.clock import ManualClock
from grandstand.storage.tables import Store
from tests.apps.cricket.domain.scorer import Scorer
from tests.apps.cricket.services.stage import MATCH, Stage, on_both, staged, started

pytestmark = pytest.mark.anyio


async def logged(stage: Stage) -> list[str]:
    """The keys of what is in the log, in order."""
    return [each.event_key for each in await stage.store(LoggedEvent.of_match(MATCH))]


async def begun(stage: Stage) -> Scorer:
    """A match that was registered and ticked once."""
    scorer = started()
    scorer.bowl(1)
    await stage.tick(scorer)
    await stage.tick(scorer)
    return scorer


async def test_a_match_that_goes_live_is_registered_and_then_ticked(stage: Stage) -> None:
    scorer = started()
    scorer.bowl(1)

    registered, ticked = await stage.tick(scorer), await stage.tick(scorer)

    assert (registered.outcome, ticked.outcome, ticked.seq) == ("registered", "changed", 1)
    match = await stage.store.read(ActiveMatch.by_id(MATCH))
    assert (match.status, match.match_phase, match.instance_id) == ("active", "live", "one")


@on_both
async def test_a_wicket_is_logged_shown_and_told_once(stage: Stage) -> None:
    scorer = await begun(stage)
    scorer.out(then=13)

    ticked, again = await stage.tick(scorer), await stage.tick(scorer)

    assert (ticked.outcome, again.outcome) == ("changed", "unchanged")
    assert [key for key in await logged(stage) if key.startswith("wicket")] == [ticked.key_event]
    shown = await stage.store.read(DisplayState.by_key(MATCH, "neutral"))
    assert shown.state["keyEvent"]["kind"] == "wicket"


async def test_a_tick_without_news_writes_only_its_time(stage: Stage) -> None:
    scorer = await begun(stage)
    before = await stage.store.read(ActiveMatch.by_id(MATCH))
    waiting = await stage.outbox.find("cricket.match_update", before.latest_update_key or "")

    await stage.tick(scorer)

    after = await stage.store.read(ActiveMatch.by_id(MATCH))
    assert after == before.replace(last_tick_at=stage.cricket.store.now())
    assert waiting is not None
    assert len(stage.wall.phones) == 0


@on_both
async def test_an_overtaken_instance_writes_nothing(
    stage: Stage, store: Store, clock: ManualClock
) -> None:
    scorer = await begun(stage)
    other = staged(store, clock, beside=stage, instance="two")
    await other.tick()
    scorer.out(then=13)
    stage.feed.says(scorer.fixture())
    stage.clock.advance(1)

    late = (await stage.cricket.poller.poll()).ticks[0]
    match = await stage.store.read(ActiveMatch.by_id(MATCH))

    assert (late.outcome, match.instance_id, match.seq) == ("lost", "two", 1)
    assert not [key for key in await logged(stage) if key.startswith("wicket")]


async def test_what_one_instance_lost_the_next_owner_finds(
    stage: Stage, store: Store, clock: ManualClock
) -> None:
    scorer = await begun(stage)
    other = staged(store, clock, beside=stage, instance="two")
    await other.tick()
    scorer.out(then=13)
    await stage.tick(scorer)

    found = await stage.tick(scorer)

    assert found.outcome == "changed"
    assert len([key for key in await logged(stage) if key.startswith("wicket")]) == 1


async def test_a_match_that_ends_is_deactivated_and_archived(stage: Stage) -> None:
    scorer = await begun(stage)
    await stage.cricket.fixture_sync.run()
    scorer.status = "Finished"

    await stage.tick(scorer)

    match = await stage.store.read(ActiveMatch.by_id(MATCH))
    view = await stage.cricket.fixtures.get(MATCH)
    assert (match.status, view.phase) == ("ended", "ended")
    assert view.archived_at is not None


@on_both
async def test_a_match_taken_for_ended_goes_on_with_what_was_remembered(stage: Stage) -> None:
    scorer = await begun(stage)
    scorer.out(then=13)
    await stage.tick(scorer)
    scorer.status = "Finished"
    await stage.tick(scorer)
    scorer.status = "1st Innings"

    await stage.tick(scorer)
    resumed = await stage.tick(scorer)

    assert resumed.outcome == "changed"
    assert len([key for key in await logged(stage) if key.startswith("wicket")]) == 1


@on_both
async def test_more_events_than_a_transaction_holds_are_all_logged(stage: Stage) -> None:
    scorer = started()
    scorer.bowl()
    await stage.tick(scorer)
    await stage.tick(scorer)
    for number in range(240):
        scorer.bowl(6 if number % 2 else 4, by=21 + number // 6 % 2)
    await stage.tick(scorer)

    await stage.deliver(1)

    keys = await logged(stage)
    assert len([key for key in keys if key.startswith("over_end")]) == 40
    assert len(keys) == len(set(keys)) > 90


async def test_a_match_that_nobody_knows_cannot_be_looked_at(stage: Stage) -> None:
    with pytest.raises(MatchNotFound):
        await stage.cricket.ticker.poll_now("404")

    assert stage.feed.asked == []
