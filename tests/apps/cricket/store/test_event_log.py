"""The log has each event once, and only one publisher moves the mark of an alert."""

from datetime import timedelta

import pytest

from grandstand.apps.cricket.domain.match_events import MatchEvent
from grandstand.apps.cricket.store.matches import (
    ActiveMatch,
    Delivery,
    LoggedEvent,
    active_matches,
    deliveries,
    match_events,
)
from grandstand.storage.tables import Store
from grandstand.storage.tables.errors import ConditionFailed
from tests.apps.cricket.records import MATCH, NOON

SIX = MatchEvent("six", "six:9", "Six!", 1, 5, ball_id=9)


@pytest.fixture(autouse=True)
def _tables(store: Store) -> None:
    store.create((match_events, deliveries, active_matches))


def test_events_are_logged_once_and_stand_in_the_order_of_their_ticks(store: Store) -> None:
    late = [LoggedEvent.from_event("71344", seq, SIX, NOON) for seq in (10, 9, 100)]

    for each in late:
        store(each.create())
    with pytest.raises(ConditionFailed):
        store(late[0].create())

    assert [each.seq for each in store(LoggedEvent.of_match("71344"))] == [9, 10, 100]
    assert (
        store.page(LoggedEvent.newest_first("71344"), 1).items[0]
        == store(LoggedEvent.of_match("71344"))[-1]
    )


def test_of_two_tellers_one_moves_the_mark(store: Store) -> None:
    begun = store(Delivery(match_id="71344", delivery="b1", started_at=NOON).create())
    other = store.read(Delivery.by_key("71344", "b1"))

    moved = store(begun.mark_alerted("m#1", 2))
    with pytest.raises(ConditionFailed):
        store(other.mark_alerted("m#1", 2))

    assert (moved.alerted_until, moved.alerted) == ("m#1", 2)
    assert store(moved.mark_alerted("z#1", 3)).alerted == 5


def test_a_second_write_of_the_same_owner_is_refused(store: Store) -> None:
    match = store(MATCH.register())
    state = match.state
    assert state is not None

    store(match.save_tick(state, NOON, "b1", NOON))
    with pytest.raises(ConditionFailed):
        store(match.save_tick(state, NOON + timedelta(seconds=1), "b2", NOON))

    assert store.read(ActiveMatch.by_id("71344")).latest_update_key == "b1"


@pytest.mark.parametrize("status", ["ended", "idle"])
def test_a_match_that_rests_is_polled_on_under_a_higher_epoch(store: Store, status: str) -> None:
    store(MATCH.replace(status=status, expires=None).put())

    revived = store(ActiveMatch.reactivate("71344", "two"))

    assert (revived.status, revived.epoch, revived.seq) == ("active", MATCH.epoch + 1, MATCH.seq)
    with pytest.raises(ConditionFailed):
        store(ActiveMatch.reactivate("71344", "three"))
