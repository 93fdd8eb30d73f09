"""Every answer of Apple's becomes a value that says what may be done next."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

import pytest

from grandstand.apps.cricket.domain.live_activities import PushOutcome, PushResult
from grandstand.apps.cricket.sources.apns import ApnsPayload
from grandstand.core.errors import InvalidInput
from grandstand.simulators.push.validation import STATUS_BY_REASON, ScriptedReply, SigningKey
from tests.apps.cricket.sources.apns_service import KEY, NOW, Pair, pushing, target, update

pytestmark = pytest.mark.anyio

_AT = int(NOW.timestamp())

_MEANING: Final[dict[str, PushOutcome]] = {
    "BadDeviceToken": "gone",
    "DeviceTokenNotForTopic": "gone",
    "Unregistered": "gone",
    "ExpiredToken": "gone",
    "IdleTimeout": "unsent",
    "TooManyRequests": "unsent",
    "TooManyProviderTokenUpdates": "unsent",
    "InternalServerError": "unsent",
    "ServiceUnavailable": "unsent",
    "Shutdown": "unsent",
    **{reason: "forbidden" for reason, status in STATUS_BY_REASON.items() if status == 403},
}


async def _result(pair: Pair, token: str, payload: ApnsPayload | None = None) -> PushResult:
    (result,) = await pair.apns.push(payload or update(_AT), [target(token)], within_seconds=5)
    return result


async def test_every_reason_apple_gives_has_a_meaning() -> None:
    async with pushing() as pair:
        phone = pair.phone()
        tokens = {reason: pair.activity(phone).token for reason in STATUS_BY_REASON}
        for reason, token in tokens.items():
            pair.service.scripted.script(ScriptedReply(reason), token)
        results = {reason: await _result(pair, token) for reason, token in tokens.items()}

    meanings = {reason: result.outcome for reason, result in results.items()}
    assert meanings == {reason: _MEANING.get(reason, "rejected") for reason in STATUS_BY_REASON}
    assert [result for result in results.values() if result.reason not in STATUS_BY_REASON] == []


async def test_many_targets_have_as_many_results_in_the_same_order() -> None:
    async with pushing() as pair:
        phone = pair.phone()
        good, bad = pair.activity(phone).token, pair.activity(phone).token
        pair.service.scripted.script(ScriptedReply("Unregistered", since=NOW), bad)

        results = await pair.apns.push(update(_AT), [target(good), target(bad)] * 250)

    assert results == [PushResult("delivered"), PushResult("gone", "Unregistered", NOW)] * 250
    assert pair.metrics.value("pushes", outcome="delivered") == 250
    assert pair.metrics.value("pushes", outcome="gone") == 250


async def test_a_token_no_phone_has_is_gone() -> None:
    async with pushing() as pair:
        unknown = await _result(pair, "ab" * 32)
        no_hex = await _result(pair, "xyz")

    assert (unknown, no_hex) == (
        PushResult("gone", "BadDeviceToken"),
        PushResult("gone", "BadDeviceToken"),
    )


async def test_a_payload_too_large_never_leaves_the_house() -> None:
    large = ApnsPayload(b"x" * 4_097)

    async with pushing() as pair:
        result = await _result(pair, "ab", large)

    assert (result, len(pair.service.arrivals)) == (PushResult("rejected", "PayloadTooLarge"), 0)


async def test_one_token_serves_until_it_is_45_minutes_old() -> None:
    async with pushing() as pair:
        first = pair.token.bearer()
        pair.clock.advance(2_699)
        later = pair.token.bearer()
        pair.clock.advance(1)
        renewed = pair.token.bearer()

    assert first == later
    assert renewed != first


async def test_a_token_that_expired_between_is_renewed_and_its_pushes_sent_again() -> None:
    async with pushing() as pair:
        token = pair.activity(pair.phone()).token
        await _result(pair, token)
        behind = pair.clock.moment
        pair.service.clock = pair.service.keys.clock = ahead = type(pair.clock)(behind)
        ahead.advance(3_700)
        pair.clock.advance(1_300)
        result = await _result(pair, token, update(_AT + 1))

    assert result == PushResult("delivered")
    assert pair.service.count["ExpiredProviderToken"] == 1


async def test_a_token_that_is_new_and_called_old_stops_everything() -> None:
    async with pushing() as pair:
        token = pair.activity(pair.phone()).token
        pair.service.keys.clock = ahead = type(pair.clock)(pair.clock.moment)
        ahead.advance(4_000)

        result = await _result(pair, token)

    assert result == PushResult("forbidden", "ExpiredProviderToken")
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

    assert result == PushResult("forbidden", reason)


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

    assert result == PushResult("delivered")
    assert pair.service.count["TooManyProviderTokenUpdates"] == 1
    assert sum(link.count["requests"] > 0 for link in pair.service.links) == 2


async def test_a_service_that_shuts_down_is_asked_over_a_new_connection() -> None:
    async with pushing() as pair:
        token = pair.activity(pair.phone()).token
        pair.service.scripted.script(ScriptedReply("Shutdown", times=1), token)
        first = await _result(pair, token)
        second = await _result(pair, token)

    assert (first, second) == (
        PushResult("unsent", "Shutdown", retry_seconds=15.0),
        PushResult("delivered"),
    )
    assert len(pair.service.links) == 2


async def test_no_answer_leaves_a_push_in_doubt() -> None:
    async with pushing() as pair:
        token = pair.activity(pair.phone()).token
        await _result(pair, token)
        pair.service.scripted.script(ScriptedReply(silent=True), token)
        targets = [target(token)]
        (result,) = await pair.apns.push(update(_AT + 1), targets, within_seconds=0.5)

    assert result == PushResult("uncertain", "no response within 0.5 s")


async def test_the_moment_a_token_went_is_told() -> None:
    since = datetime(2026, 11, 15, 11, 59, 59, 250_000, tzinfo=UTC)

    async with pushing() as pair:
        token = pair.activity(pair.phone()).token
        pair.service.scripted.script(ScriptedReply("ExpiredToken", since=since), token)
        result = await _result(pair, token)

    assert result == PushResult("gone", "ExpiredToken", since)


async def test_who_is_closed_has_no_connection_and_sends_nothing() -> None:
    async with pushing() as pair:
        token = pair.activity(pair.phone()).token
        before = await _result(pair, token)
        open_before = len(pair.client.statuses)

        await pair.apns.close()
        after = await _result(pair, token)

    assert (before, open_before) == (PushResult("delivered"), 1)
    assert after.outcome == "unsent"
    assert after.reason == "the client was closed"
    assert len(pair.service.arrivals) == 1
