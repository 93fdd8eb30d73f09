"""What happened reaches every phone; nobody is alerted twice, and nothing steps back."""

import asyncio
from datetime import timedelta

import msgspec
import pytest

from grandstand.apps.cricket.domain.live_activities import ActivityKey, PushResult
from grandstand.apps.cricket.services.push import apns_delivery
from grandstand.apps.cricket.store.matches import ActiveMatch, Delivery
from grandstand.apps.cricket.store.users import LiveActivity
from grandstand.core.clock import ManualClock
from grandstand.simulators.push.phones import Activity
from grandstand.storage.tables import Store
from tests.apps.cricket.services.stage import ADA, BOB, MATCH, Stage, on_both, staged

pytestmark = pytest.mark.anyio


def wickets(activity: Activity) -> list[str]:
    """The alerts about wickets a phone has shown."""
    return [alert for alert in activity.alerts if "Player 11" in alert]


@pytest.fixture
def paged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions are told two at a time."""
    monkeypatch.setattr(apns_delivery, "PAGE_SIZE", 2)


async def test_a_wicket_alerts_and_a_single_does_not(stage: Stage) -> None:
    scorer = await stage.on_air()
    _, activity = await stage.with_activity(ADA)
    scorer.bowl(1)
    await stage.tick(scorer)
    quiet = len(activity.alerts)
    scorer.out(then=13)

    await stage.tick(scorer)

    assert len(activity.alerts) == quiet + 1
    assert len(wickets(activity)) == 1
    last = stage.phones.sent[-2:]
    assert [(push.aps["event"], push.payload.priority) for push in last] == [
        ("update", 5),
        ("update", 10),
    ]


async def test_the_house_is_told_once_of_a_wicket_that_was_pushed(stage: Stage) -> None:
    scorer = await stage.on_air()
    await stage.with_activity(ADA)
    scorer.bowl(1)
    await stage.tick(scorer)
    scorer.out(then=13)

    await stage.tick(scorer)
    await stage.deliver(61)

    [event] = await stage.activity_log.recent(10, BOB)
    assert (event.app, event.kind, event.href) == ("cricket", "wicket", f"/cricket/matches/{MATCH}")
    assert "Player 11" in event.text
    assert event.text.endswith(". Pushed to 1 phone")


async def test_nothing_is_told_of_a_wicket_that_nobody_follows(stage: Stage) -> None:
    scorer = await stage.on_air()
    scorer.out(then=13)

    await stage.tick(scorer)
    await stage.deliver(61)

    assert await stage.activity_log.recent(10, BOB) == ()


async def test_timestamps_grow_even_within_one_second(stage: Stage) -> None:
    scorer = await stage.on_air()
    _, activity = await stage.with_activity(ADA)

    scorer.bowl(2)
    await stage.tick(scorer, seconds=0.1)
    scorer.bowl(4)
    await stage.tick(scorer, seconds=0.1)

    assert activity.seen == sorted(set(activity.seen))
    assert activity.state["teams"][0]["innings"][0]["score"] == 7


async def test_a_bulletin_that_was_not_told_is_told_by_another_instance(
    stage: Stage, store: Store, clock: ManualClock
) -> None:
    scorer = await stage.on_air()
    _, activity = await stage.with_activity(ADA)
    other = staged(store, clock, beside=stage, instance="two")
    scorer.out(then=13)
    stage.phones.dies_after = 0
    await stage.tick(scorer)
    stage.phones.dies_after = None

    await other.deliver(61)

    assert activity.state["teams"][0]["innings"][0]["wickets"] == 1


@pytest.mark.usefixtures("paged")
@pytest.mark.parametrize(
    ("dies_after", "alerts"),
    [(2, [1, 1, 0, 0, 1]), (3, [1, 1, 1, 0, 1]), (4, [1, 1, 1, 1, 0])],
    ids=["a page is marked", "half of it is sent", "the last is marked"],
)
async def test_a_crash_costs_the_alerts_of_one_page_and_no_state(
    stage: Stage, store: Store, clock: ManualClock, dies_after: int, alerts: list[int]
) -> None:
    scorer = await stage.on_air()
    activities = [(await stage.with_activity(ADA, name))[1] for name in "abcde"]
    other = staged(store, clock, beside=stage, instance="two")
    scorer.out(then=13)
    stage.phones.dies_after = dies_after
    await stage.tick(scorer)
    stage.phones.dies_after = None

    await other.deliver(61)

    assert [len(wickets(each)) for each in activities] == alerts
    assert {each.state["teams"][0]["innings"][0]["wickets"] for each in activities} == {1}
    assert all(each.seen == sorted(set(each.seen)) for each in activities)


@pytest.mark.usefixtures("paged")
async def test_news_after_a_crash_bring_everybody_the_state_and_nobody_an_alert_twice(
    stage: Stage, store: Store, clock: ManualClock
) -> None:
    scorer = await stage.on_air()
    activities = [(await stage.with_activity(ADA, name))[1] for name in "abcde"]
    other = staged(store, clock, beside=stage, instance="two")
    scorer.out(then=13)
    stage.phones.dies_after = 3
    await stage.tick(scorer)
    stage.phones.dies_after = None
    scorer.bowl(4)

    await other.tick(scorer)
    await other.deliver(61)

    assert {each.state["teams"][0]["innings"][0]["score"] for each in activities} == {5}
    assert {each.state["teams"][0]["innings"][0]["wickets"] for each in activities} == {1}
    assert [len(wickets(each)) for each in activities] == [1, 1, 1, 0, 0]


@on_both
async def test_what_is_sent_again_has_the_same_id_timestamp_and_content(
    stage: Stage, store: Store, clock: ManualClock
) -> None:
    scorer = await stage.on_air()
    await stage.with_activity(ADA, "a")
    await stage.with_activity(ADA, "b")
    other = staged(store, clock, beside=stage, instance="two")
    before = len(stage.phones.sent)
    scorer.bowl(4)
    stage.phones.dies_after = 1
    await stage.tick(scorer)
    stage.phones.dies_after = None

    await other.deliver(61)

    sent = [(push.payload, push.target) for push in stage.phones.sent[before:]]
    assert sent[0] == sent[1]
    assert len(sent) == 3


@on_both
async def test_two_tellers_of_one_bulletin_alert_once(
    stage: Stage, store: Store, clock: ManualClock
) -> None:
    scorer = await stage.on_air()
    _, activity = await stage.with_activity(ADA)
    others = [staged(store, clock, beside=stage, instance=name) for name in ("two", "three")]
    scorer.out(then=13)
    stage.phones.dies_after = 0
    await stage.tick(scorer)
    stage.phones.dies_after = None
    stage.clock.advance(61)

    match = await stage.store.read(ActiveMatch.by_id(MATCH))
    row = await stage.outbox.find("cricket.match_update", match.latest_update_key or "")
    assert row is not None
    await asyncio.gather(
        *(each.cricket.outbox_handlers()["cricket.match_update"](row) for each in others),
        return_exceptions=True,
    )

    loud = [
        push for push in stage.phones.sent if "alert" in push.aps and push.aps["event"] == "update"
    ]
    assert len(loud) <= 1
    assert activity.state["teams"][0]["innings"][0]["wickets"] == 1


async def test_the_alert_of_an_overtaken_bulletin_goes_with_the_newest(stage: Stage) -> None:
    scorer = await stage.on_air()
    _, activity = await stage.with_activity(ADA)
    stage.phones.dies_after = 0
    scorer.out(then=13)
    await stage.tick(scorer)
    overtaken = await stage.store.read(ActiveMatch.by_id(MATCH))
    scorer.bowl(1)
    await stage.tick(scorer)
    newest = await stage.store.read(ActiveMatch.by_id(MATCH))
    for match in (overtaken, newest):
        await stage.store(Delivery.cancel(MATCH, match.latest_update_key or ""))
    stage.phones.dies_after = None

    await stage.deliver(61)

    assert len(wickets(activity)) == 1
    assert activity.seen == sorted(set(activity.seen))
    assert activity.state["teams"][0]["innings"][0]["score"] == 2


async def test_each_person_chooses_what_wakes_them(stage: Stage) -> None:
    scorer = await stage.on_air()
    _, adas = await stage.with_activity(ADA, "ada-phone")
    _, bobs = await stage.with_activity(BOB, "bob-phone")
    await stage.cricket.follows.set_alert_preferences(ADA.user_id, kinds=("six",))
    await stage.cricket.follows.set_alert_preferences(BOB.user_id, muted=True)
    before = len(adas.alerts), len(bobs.alerts)

    scorer.bowl(6)
    await stage.tick(scorer)
    scorer.out(then=13)
    await stage.tick(scorer, seconds=30)

    assert (len(adas.alerts), len(bobs.alerts)) == (before[0] + 1, before[1])
    assert adas.state == bobs.state


async def test_a_rejected_token_suspends_its_session_and_an_old_rejection_does_not(
    stage: Stage,
) -> None:
    scorer = await stage.on_air()
    _, gone = await stage.with_activity(ADA, "gone")
    _, stays = await stage.with_activity(ADA, "stays")
    long_ago = stage.clock.now() - timedelta(hours=1)
    stage.phones.results = {
        gone.token: [PushResult("gone", "Unregistered", stage.clock.now() + timedelta(seconds=9))],
        stays.token: [PushResult("gone", "Unregistered", long_ago)],
    }
    scorer.bowl(4)

    await stage.tick(scorer)

    statuses = {
        each.device_id: each.status
        for each in await stage.cricket.live_activities.of_user(ADA.user_id)
    }
    assert statuses == {"gone": "suspended", "stays": "active"}


async def test_a_phone_that_was_busy_gets_the_newest_state_later(stage: Stage) -> None:
    scorer = await stage.on_air()
    _, activity = await stage.with_activity(ADA)
    stage.phones.results[activity.token] = [
        PushResult("uncertain", "TooManyRequests", None, 20.0),
        PushResult("uncertain", "TooManyRequests", None, 20.0),
    ]
    scorer.bowl(4)
    await stage.tick(scorer)
    scorer.bowl(6)
    await stage.tick(scorer)
    shown = activity.state["teams"][0]["innings"][0]["score"]

    await stage.deliver(21)

    assert (shown, activity.state["teams"][0]["innings"][0]["score"]) == (1, 11)
    assert activity.seen == sorted(set(activity.seen))


async def test_a_session_that_was_pending_is_told_how_things_stand(stage: Stage) -> None:
    scorer = await stage.on_air()
    phone = await stage.joined(ADA)
    await stage.deliver()
    scorer.bowl(4)
    await stage.tick(scorer)

    await stage.cricket.live_activities.register(
        ADA.user_id, MATCH, "phone", phone.activities[0].token
    )
    await stage.deliver()

    assert phone.activities[0].state["teams"][0]["innings"][0]["score"] == 5


async def test_a_channel_takes_one_push_whatever_the_number_of_phones(
    store: Store, clock: ManualClock, stage: Stage
) -> None:
    one = staged(store, clock, beside=stage, broadcast=True)
    scorer = await one.on_air()
    await one.cricket.orchestrator.run()
    phones = [await one.joined(ADA, name) for name in ("a", "b", "c")]
    await one.deliver()
    before = len(one.phones.sent)
    scorer.out(then=13)

    await one.tick(scorer)

    shown = {each.activities[0].state["teams"][0]["innings"][0]["wickets"] for each in phones}
    assert shown == {1}
    assert len(one.phones.sent) == before + 1
    assert [len(wickets(each.activities[0])) for each in phones] == [1, 1, 1]


async def test_a_key_event_is_posted_to_the_webhook(
    store: Store, clock: ManualClock, stage: Stage
) -> None:
    hooked = staged(store, clock, beside=stage, hooked=True)
    scorer = await hooked.on_air()
    await hooked.deliver()
    hooked.hook.posted.clear()
    scorer.out(then=13)
    await hooked.tick(scorer)

    await hooked.deliver()

    ((_, body),) = hooked.hook.posted
    told = msgspec.json.decode(body)
    assert (told["matchId"], told["kind"], told["state"]["phase"]) == (MATCH, "wicket", "live")


@pytest.mark.parametrize(("taken_back", "alerts"), [(True, 0), (False, 1)])
async def test_an_alert_that_waits_is_dropped_when_the_feed_takes_it_back(
    store: Store, clock: ManualClock, stage: Stage, *, taken_back: bool, alerts: int
) -> None:
    waiting = staged(store, clock, beside=stage, confirm_seconds=8)
    scorer = await waiting.on_air()
    _, activity = await waiting.with_activity(ADA)
    ball = scorer.out()
    await waiting.tick(scorer)
    told = {True: {"wicket": False, "credited": False, "out_id": None}, False: {}}[taken_back]
    scorer.correct(ball, **told)
    await waiting.tick(scorer)

    await waiting.deliver(8)
    await waiting.deliver(1)

    assert len(wickets(activity)) == alerts


@on_both
async def test_a_match_that_ends_is_told_to_its_phones_and_its_sessions_end(stage: Stage) -> None:
    scorer = await stage.on_air()
    phone, activity = await stage.with_activity(ADA)
    scorer.status = "Finished"
    scorer.facts["note"] = "HAR won"

    await stage.tick(scorer)
    done = await stage.cricket.orchestrator.run()

    session = await stage.store.read(LiveActivity.by_key(ActivityKey(MATCH, "ada", "phone")))
    assert (done.closed, session.status, session.end_reason) == ([MATCH], "ended", "match_ended")
    assert not phone.running(stage.clock.epoch())
    assert activity.state["result"] == "HAR won"
    assert await stage.cricket.follows.find(ADA.user_id, MATCH) is None


async def test_a_phone_that_missed_the_end_is_told_it_after_the_match_was_closed(
    stage: Stage,
) -> None:
    scorer = await stage.on_air()
    phone, activity = await stage.with_activity(ADA)
    stage.phones.results[activity.token] = [PushResult("uncertain", "TooManyRequests", None, 20.0)]
    scorer.status = "Finished"
    await stage.tick(scorer)
    await stage.cricket.orchestrator.run()
    running = phone.running(stage.clock.epoch())

    await stage.deliver(21)

    assert running == [activity]
    assert not phone.running(stage.clock.epoch())
    assert activity.state["phase"] == "ended"


async def test_an_instance_that_closes_leaves_no_connection_and_no_bulletin_behind(
    stage: Stage, store: Store, clock: ManualClock
) -> None:
    scorer = await stage.on_air()
    _, activity = await stage.with_activity(ADA)
    other = staged(store, clock, beside=stage, instance="two")
    scorer.bowl(4)
    stage.feed.says(scorer.fixture())
    stage.phones.hangs = True
    await stage.cricket.poller.poll()

    await stage.cricket.close()
    stage.phones.hangs = False
    await other.deliver(6)

    assert stage.phones.closed
    assert activity.state["teams"][0]["innings"][0]["score"] == 5


async def test_an_instance_that_stops_leaves_its_bulletins_to_others_at_once(
    stage: Stage, store: Store, clock: ManualClock
) -> None:
    scorer = await stage.on_air()
    _, activity = await stage.with_activity(ADA)
    other = staged(store, clock, beside=stage, instance="two")
    scorer.bowl(4)
    stage.feed.says(scorer.fixture())
    stage.phones.hangs = True
    await stage.cricket.poller.poll()
    await asyncio.sleep(0)

    await stage.cricket.coordinator.stop()
    stage.phones.hangs = False
    await other.deliver(6)

    assert activity.state["teams"][0]["innings"][0]["score"] == 5
