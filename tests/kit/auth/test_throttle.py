"""What failing to log in costs: a wait, for the one who guesses and for nobody else."""

from __future__ import annotations

import asyncio

import pytest

from grandstand.core.clock import ManualClock
from grandstand.kit.auth.accounts import AccountService
from grandstand.kit.auth.caller import LoginFailed, LoginThrottled
from grandstand.kit.auth.credentials import Visitor
from grandstand.kit.auth.passwords import network_of

pytestmark = pytest.mark.anyio

PASSWORD = "four strong words here"
THIEF = Visitor("203.0.113.9")
HOME = Visitor("192.0.2.7")


@pytest.fixture(name="people")
async def _ada(people: AccountService, clock: ManualClock) -> AccountService:
    """Ada, at the start of a window of time."""
    clock.advance(900 - clock.epoch() % 900)
    await people.add("ada", PASSWORD)
    return people


async def _guess(people: AccountService, name: str, visitor: Visitor) -> type[BaseException] | None:
    try:
        await people.log_in(name, "a wrong guess", visitor)
    except (LoginFailed, LoginThrottled) as refused:
        return type(refused)
    return None


async def test_after_five_guesses_even_the_right_password_has_to_wait(
    people: AccountService,
) -> None:
    guesses = [await _guess(people, "ada", THIEF) for _ in range(6)]

    with pytest.raises(LoginThrottled, match="Try again in 15 min") as refused:
        await people.log_in("ada", PASSWORD, THIEF)

    assert guesses == [LoginFailed] * 5 + [LoginThrottled]
    assert refused.value.retry_after_seconds == 900


async def test_guesses_made_at_once_are_counted_one_by_one(people: AccountService) -> None:
    guesses = await asyncio.gather(*(_guess(people, "ada", THIEF) for _ in range(12)))

    assert guesses.count(LoginFailed) == 5
    assert guesses.count(LoginThrottled) == 7


async def test_a_name_that_does_not_exist_is_throttled_alike(people: AccountService) -> None:
    guesses = [await _guess(people, "unknown", THIEF) for _ in range(6)]

    assert guesses == [LoginFailed] * 5 + [LoginThrottled]


async def test_the_owner_of_a_name_still_comes_in_from_elsewhere(people: AccountService) -> None:
    for _ in range(6):
        await _guess(people, "ada", THIEF)

    session = await people.log_in("ada", PASSWORD, HOME)

    assert await people.by_session(session.token) is not None


async def test_the_wait_ends(people: AccountService, clock: ManualClock) -> None:
    for _ in range(6):
        await _guess(people, "ada", THIEF)

    clock.advance(900)

    assert (await people.log_in("ada", PASSWORD, THIEF)).token


async def test_a_right_password_forgives_the_wrong_ones_before(people: AccountService) -> None:
    for _ in range(4):
        await _guess(people, "ada", HOME)
    await people.log_in("ada", PASSWORD, HOME)

    guesses = [await _guess(people, "ada", HOME) for _ in range(5)]

    assert guesses == [LoginFailed] * 5


async def test_one_address_cannot_try_a_password_on_everybody(people: AccountService) -> None:
    guesses = [await _guess(people, f"name{number}", THIEF) for number in range(31)]

    assert guesses == [LoginFailed] * 30 + [LoginThrottled]


async def test_a_session_cannot_be_used_to_guess_the_password(people: AccountService) -> None:
    ada = await people.read("ada")
    for _ in range(5):
        with pytest.raises(LoginFailed):
            await people.change_password(ada.user_id, "a wrong guess", "new words here", THIEF)

    with pytest.raises(LoginThrottled):
        await people.change_password(ada.user_id, PASSWORD, "new words here", THIEF)


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
        ("2001:db8:0:1:ffff::2", "2001:db8:0:1::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("a socket", "a socket"),
    ],
)
async def test_a_visitor_is_told_by_an_address_they_cannot_change_at_will(
    address: str, network: str
) -> None:
    assert network_of(address) == network
