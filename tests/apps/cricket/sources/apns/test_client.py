"""Every answer of Apple's becomes a value that says what may be done next."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

import pytest

from grandstand.apps.cricket.sources.apns import (
    Delivered,
    Doubtful,
    Gone,
    Later,
    Parcel,
    PushResult,
    Refused,
    Stopped,
)
from grandstand.base.errors import InvalidInput
from grandstand.simulators.push import Behaviour, SigningKey
from grandstand.simulators.push.behaviour import REASONS
from tests.apps.cricket.sources.apns.pushed import KEY, NOW, Pair, letter, pushing, update

pytestmark = pytest.mark.anyio

_AT = int(NOW.timestamp())

_MEANING: Final[dict[str, type[PushResult]]] = {
    "BadDeviceToken": Gone,
    "DeviceTokenNotForTopic": Gone,
    "Unregistered": Gone,
    "ExpiredToken": Gone,
    "IdleTimeout": Later,
    "TooManyRequests": Later,
    "TooManyProviderTokenUpdates": Later,
    "InternalServerError": Later,
    "ServiceUnavailable": Later,
    "Shutdown": Later,
    **{reason: Stopped for reason, status in REASONS.items() if status == 403},
}


async def _result(pair: Pair, token: str, parcel: Parcel | None = None) -> PushResult:
    (result,) = await pair.apns.deliver([letter(parcel or update(_AT), token)], within_seconds=5)
    return result


async def test_every_reason_apple_gives_has_a_meaning() -> None:
    async with pushing() as pair:
        phone = pair.phone()
        tokens = {reason: pair.activity(phone).token for reason in REASONS}
        for reason, token in tokens.items():
            pair.service.behaviours.ask_for(Behaviour(reason), token)
        results = {reason: await _result(pair, token) for reason, token in tokens.items()}

    meanings = {reason: type(result) for reason, result in results.items()}
    assert meanings == {reason: _MEANING.get(reason, Refused) for reason in REASONS}
    assert [
        result for result in results.values() if getattr(result, "reason", "") not in REASONS
    ] == []


async def test_many_letters_have_as_many_results_in_the_same_order() -> None:
    async with pushing() as pair:
        phone = pair.phone()
        good, bad = pair.activity(phone).token, pair.activity(phone).token
        pair.service.behaviours.ask_for(Behaviour("Unregistered", since=NOW), bad)
        parcel = update(_AT)

        results = await pair.apns.deliver([letter(parcel, good), letter(parcel, bad)] * 250)

    assert results == [Delivered(), Gone("Unregistered", NOW)] * 250
    assert pair.metrics.value("pushes", outcome="delivered") == 250
    assert pair.metrics.value("pushes", outcome="gone") == 250


async def test_a_token_no_phone_has_is_gone() -> None:
    async with pushing() as pair:
        unknown = await _result(pair, "ab" * 32)
        no_hex = await _result(pair, "xyz")

    assert (unknown, no_hex) == (Gone("BadDeviceToken"), Gone("BadDeviceToken"))


async def test_a_payload_too_large_never_leaves_the_house() -> None:
    large = Parcel(b"x" * 4_097)

    async with pushing() as pair:
        result = await _result(pair, "ab", large)

    assert (result, len(pair.service.arrivals)) == (Refused("PayloadTooLarge"), 0)


async def test_one_token_serves_until_it_is_45_minutes_old() -> None:
    async with pushing() as pair:
        first = pair.token.bearer()
        pair.clock.advance(2_699)
        later = pair.token.bearer()
        pair.clock.advance(1)
        renewed = pair.token.bearer()

    assert first == later
    assert renewed != first


async def test_a_token_that_expired_between_is_renewed_and_its_letters_sent_again() -> None:
    async with pushing() as pair:
        token = pair.activity(pair.phone()).token
        await _result(pair, token)
        behind = pair.clock.moment
        pair.service.clock = pair.service.keys.clock = ahead = type(pair.clock)(behind)
        ahead.advance(3_700)
        pair.clock.advance(1_300)
        result = await _result(pair, token, update(_AT + 1))

    assert result == Delivered()
    assert pair.service.count["ExpiredProviderToken"] == 1


async def test_a_token_that_is_new_and_called_old_stops_everything() -> None:
    async with pushing() as pair:
        token = pair.activity(pair.phone()).token
        pair.service.keys.clock = ahead = type(pair.clock)(pair.clock.moment)
        ahead.advance(4_000)

        result = await _result(pair, token)

    assert result == Stopped("ExpiredProviderToken")
    assert pair.service.count["ExpiredProviderToken"] == 1


@pytest.mark.parametrize(
    ("spoiled", "reason"),
    [
        (SigningKey.make, "InvalidProviderToken"),
        (lambda: SigningKey.make(key_id="OTHER12345"), "InvalidProviderToken"),
        (lambda: replace(KEY, team_id="OTHERTEAM1"), "InvalidProviderToken"),
    ],
    ids=["forged", "unknown key", "other team"],
)
async def test_a_key_apple_does_not_know_stops_everything(
    spoiled: Callable[[], SigningKey], reason: str
) -> None:
    async with pushing(spoiled()) as pair:
        result = await _result(pair, pair.activity(pair.phone()).token)

    assert result == Stopped(reason)


async def test_a_key_that_is_none_is_told_before_anything_is_sent() -> None:
    broken = replace(KEY, pem="-----BEGIN PRIVATE KEY-----\nnonsense\n-----END PRIVATE KEY-----")

    async with pushing(broken) as pair:
        with pytest.raises(InvalidInput, match=r"\.p8"):
            await _result(pair, "ab")

    assert len(pair.service.arrivals) == 0


async def test_a_token_changed_too_often_is_tried_on_another_connection() -> None:
    async with pushing() as pair:
        token = pair.activity(pair.phone()).token
        await _result(pair, token)
        pair.service.links[0].facts["token"] = "another one, a moment ago"

        result = await _result(pair, token, update(_AT + 1))

    assert result == Delivered()
    assert pair.service.count["TooManyProviderTokenUpdates"] == 1
    assert sum(link.count["requests"] > 0 for link in pair.service.links) == 2


async def test_a_service_that_shuts_down_is_asked_over_a_new_connection() -> None:
    async with pushing() as pair:
        token = pair.activity(pair.phone()).token
        pair.service.behaviours.ask_for(Behaviour("Shutdown", times=1), token)
        first = await _result(pair, token)
        second = await _result(pair, token)

    assert (first, second) == (Later("Shutdown", 15.0), Delivered())
    assert len(pair.service.links) == 2


async def test_no_answer_leaves_a_push_in_doubt() -> None:
    async with pushing() as pair:
        token = pair.activity(pair.phone()).token
        await _result(pair, token)
        pair.service.behaviours.ask_for(Behaviour(silent=True), token)
        later = letter(update(_AT + 1), token)
        (result,) = await pair.apns.deliver([later], within_seconds=0.5)

    assert result == Doubtful("no answer within 0.5 s")


async def test_the_moment_a_token_went_is_told() -> None:
    since = datetime(2026, 11, 15, 11, 59, 59, 250_000, tzinfo=UTC)

    async with pushing() as pair:
        token = pair.activity(pair.phone()).token
        pair.service.behaviours.ask_for(Behaviour("ExpiredToken", since=since), token)
        result = await _result(pair, token)

    assert result == Gone("ExpiredToken", since)


async def test_who_is_closed_has_no_connection_and_sends_nothing() -> None:
    async with pushing() as pair:
        token = pair.activity(pair.phone()).token
        before = await _result(pair, token)
        open_before = len(pair.client.standing)

        await pair.apns.close()
        after = await _result(pair, token)

    assert (before, open_before) == (Delivered(), 1)
    assert isinstance(after, Later)
    assert after.reason == "the client was closed"
    assert len(pair.service.arrivals) == 1
