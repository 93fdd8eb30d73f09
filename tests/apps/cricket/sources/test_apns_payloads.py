"""What is put into pushes is what lock screens then show, in order and without repeats."""

from datetime import timedelta
from uuid import UUID

import msgspec
import pytest

from grandstand.apps.cricket.domain.alerts import Alert
from grandstand.apps.cricket.domain.live_activities import PushResult, make_push_id
from grandstand.apps.cricket.sources.apns import (
    ApnsPayload,
    alert_payload,
    end_payload,
    start_payload,
    update_payload,
)
from tests.apps.cricket.sources.apns_service import (
    NOW,
    WICKET,
    Pair,
    pushing,
    shown,
    target,
    update,
)

pytestmark = pytest.mark.anyio

_AT = int(NOW.timestamp())
_STALE = NOW + timedelta(minutes=15)
_ATTRIBUTES = {"matchId": "m1", "homeTeam": "India", "awayTeam": "Australia"}


async def _send(pair: Pair, payload: ApnsPayload, token: str) -> None:
    results = await pair.apns.push(payload, [target(token)])
    assert results == [PushResult("delivered")]


async def test_a_start_begins_an_activity_whose_token_takes_updates() -> None:
    start = start_payload(
        shown("0-0"), attributes=_ATTRIBUTES, timestamp=_AT, stale_at=_STALE, alert=WICKET
    )

    async with pushing() as pair:
        phone = pair.phone()
        heard: list[str] = []
        pair.service.wall.started.append(lambda _, activity: heard.append(activity.token))
        await _send(pair, start, phone.start_token)
        await _send(pair, update(_AT + 5, "121-4"), heard[0])
        (lock,) = phone.locks(pair.clock.epoch())

    assert lock.state == shown("121-4")
    assert lock.attributes == _ATTRIBUTES
    assert (lock.updates, lock.alerts, lock.stale, lock.ended) == (2, 1, False, False)
    assert phone.dropped == {}


async def test_a_push_sent_again_is_shown_once_and_an_old_one_never() -> None:
    async with pushing() as pair:
        phone = pair.phone()
        activity = pair.activity(phone)
        for payload in (
            update(_AT + 9, "125-5", WICKET),
            update(_AT + 9, "125-5", WICKET),
            update(_AT + 3, "120-4", WICKET),
        ):
            await _send(pair, payload, activity.token)
        (lock,) = phone.locks(pair.clock.epoch())

    assert (lock.state["status"], lock.alerts, activity.seen) == ("125-5", 1, [_AT + 9])
    assert phone.dropped == {"shown already": 1, "older than what is shown": 1}


async def test_an_end_shows_the_last_state_until_it_is_dismissed() -> None:
    dismissal = NOW + timedelta(minutes=30)
    end = end_payload(shown("India won"), timestamp=_AT + 1, dismissal_at=dismissal)

    async with pushing() as pair:
        phone = pair.phone()
        await _send(pair, end, pair.activity(phone).token)
        (lock,) = phone.locks(pair.clock.epoch())
        after = phone.locks(dismissal.timestamp())

    assert (lock.state["status"], lock.ended, after) == ("India won", True, [])


async def test_who_unfollowed_sees_nothing_any_more() -> None:
    end = end_payload(shown(), timestamp=_AT + 1, dismissal_at=NOW)

    async with pushing() as pair:
        phone = pair.phone()
        await _send(pair, end, pair.activity(phone).token)

    assert phone.locks(pair.clock.epoch()) == []


async def test_an_alert_makes_a_push_urgent_and_the_rest_is_not() -> None:
    start = start_payload(
        shown(), attributes=_ATTRIBUTES, timestamp=_AT, stale_at=_STALE, alert=WICKET
    )

    async with pushing() as pair:
        phone = pair.phone()
        token = pair.activity(phone).token
        await _send(pair, update(_AT), token)
        await _send(pair, update(_AT + 1, alert=WICKET), token)
        await _send(pair, start, phone.start_token)
        told = [(each.priority, each.expiration) for each in pair.service.arrivals]

    assert told == [("5", "0"), ("10", "0"), ("10", str(_AT + 600))]


async def test_a_plain_alert_reaches_a_phone_without_an_activity() -> None:
    soon = alert_payload(
        Alert("India v Australia", "In 30 minutes."), match_id="m1", expires_at=NOW
    )

    async with pushing() as pair:
        phone = pair.phone()
        await _send(pair, soon, phone.device_token)

    (told,) = phone.notifications
    assert told["aps"]["alert"] == {"title": "India v Australia", "body": "In 30 minutes."}
    assert told["matchId"] == "m1"


async def test_one_broadcast_reaches_every_phone_on_the_channel() -> None:
    async with pushing() as pair:
        channel = await pair.apns.create_channel()
        phones = [pair.phone(str(number)) for number in range(20)]
        start = start_payload(
            shown(),
            attributes=_ATTRIBUTES,
            timestamp=_AT,
            stale_at=_STALE,
            alert=WICKET,
            channel_id=channel,
        )
        await pair.apns.push(start, [target(phone.start_token) for phone in phones])
        before = sum(link.count["requests"] for link in pair.service.links)

        result = await pair.apns.broadcast(
            update(_AT + 1, "130-5"), channel, make_push_id("m1", "2")
        )
        locks = [phone.locks(pair.clock.epoch())[0] for phone in phones]

    assert result == PushResult("delivered")
    assert {lock.state["status"] for lock in locks} == {"130-5"}
    assert sum(link.count["requests"] for link in pair.service.links) - before == 1


async def test_channels_are_created_and_deleted() -> None:
    async with pushing() as pair:
        created = [await pair.apns.create_channel(), await pair.apns.create_channel()]
        listed = [*pair.service.channels.channels]
        await pair.apns.delete_channel(created[0])
        await pair.apns.delete_channel(created[0])
        left = [*pair.service.channels.channels]
        rejected = await pair.apns.broadcast(update(_AT), created[0], make_push_id("x"))

    assert (listed, left) == (created, created[1:])
    assert rejected == PushResult("rejected", "ChannelNotRegistered")


async def test_the_id_of_a_push_is_a_uuid_that_can_be_made_again() -> None:
    made = make_push_id("m1", "tick 7", "token")

    assert str(UUID(made)) == made
    assert made == make_push_id("m1", "tick 7", "token")
    assert made != make_push_id("m1", "tick 7t", "oken")


async def test_dates_are_plain_numbers_of_seconds() -> None:
    payload = update_payload(shown(), timestamp=_AT, stale_at=_STALE, alert=WICKET)

    aps = msgspec.json.decode(payload.body)["aps"]

    assert (aps["timestamp"], aps["stale-date"], aps["event"]) == (_AT, _AT + 900, "update")
    assert aps["alert"] == {"title": WICKET.title, "body": WICKET.body, "sound": "default"}
