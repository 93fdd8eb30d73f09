"""What sessions promise: secret, sliding, bounded, one's own, and over when they are ended."""

from __future__ import annotations

from datetime import timedelta

import pytest

from grandstand.core.clock import ManualClock
from grandstand.core.errors import NotFound
from grandstand.kit.auth.accounts import AccountService
from grandstand.kit.auth.credentials import Visitor, hash_secret
from grandstand.kit.auth.tables import StoredSession
from grandstand.storage.tables import AsyncStore

pytestmark = pytest.mark.anyio

PASSWORD = "four strong words here"
HOME = Visitor("192.0.2.7", "Firefox")
DAY = timedelta(days=1).total_seconds()


@pytest.fixture(name="people")
async def _two(people: AccountService) -> AccountService:
    """Ada and Bob."""
    await people.add("ada", PASSWORD)
    await people.add("bob", PASSWORD)
    return people


async def test_the_store_keeps_only_the_hash_of_a_token(
    store: AsyncStore, people: AccountService
) -> None:
    session = await people.log_in("ada", PASSWORD, HOME)

    kept = await store.read(StoredSession.by_hash(hash_secret(session.token)))

    assert len(session.token) == 43
    assert session.token not in repr(kept)
    assert await people.by_session(kept.token_hash) is None


async def test_every_login_has_a_token_of_its_own_and_ends_the_one_it_replaces(
    people: AccountService,
) -> None:
    first = await people.log_in("ada", PASSWORD, HOME)

    second = await people.log_in("ada", PASSWORD, HOME, replacing=first.token)

    assert second.token != first.token
    assert await people.by_session(first.token) is None
    assert await people.by_session(second.token) is not None


@pytest.mark.parametrize("token", ["fixed-by-somebody-else", "A" * 43, "", "é" * 43, "A" * 9_999])
async def test_a_token_nobody_was_given_opens_nothing_and_is_never_adopted(
    embedded: AccountService, token: str
) -> None:
    await embedded.add("ada", PASSWORD)
    before = await embedded.by_session(token)
    session = await embedded.log_in("ada", PASSWORD, HOME, replacing=token)

    after = await embedded.by_session(token)

    assert (before, after) == (None, None)
    assert session.token != token


async def test_a_session_lasts_as_long_as_it_is_used(
    people: AccountService, clock: ManualClock
) -> None:
    session = await people.log_in("ada", PASSWORD, HOME)

    for _ in range(4):
        clock.advance(6 * DAY)
        assert await people.by_session(session.token) is not None


async def test_a_session_that_is_not_used_ends(people: AccountService, clock: ManualClock) -> None:
    session = await people.log_in("ada", PASSWORD, HOME)

    clock.advance(7 * DAY + 1)

    assert await people.by_session(session.token) is None


async def test_no_session_lasts_longer_than_the_maximum(
    people: AccountService, clock: ManualClock
) -> None:
    session = await people.log_in("ada", PASSWORD, HOME)
    for _ in range(29):
        clock.advance(DAY)
        assert await people.by_session(session.token) is not None

    clock.advance(DAY + 1)

    assert await people.by_session(session.token) is None


async def test_use_is_recorded_now_and_then_not_every_time(
    store: AsyncStore, people: AccountService, clock: ManualClock
) -> None:
    session = await people.log_in("ada", PASSWORD, HOME)
    begun = clock.now()

    clock.advance(60)
    await people.by_session(session.token)
    soon = await store.read(StoredSession.by_hash(hash_secret(session.token)))
    clock.advance(3_600)
    await people.by_session(session.token)
    later = await store.read(StoredSession.by_hash(hash_secret(session.token)))

    assert soon.seen_at == begun
    assert later.seen_at == clock.now()


async def test_a_person_sees_their_own_sessions_and_which_one_they_use(
    people: AccountService,
) -> None:
    ada = await people.read("ada")
    await people.log_in("ada", PASSWORD, Visitor("192.0.2.8", "Safari"))
    here = await people.log_in("ada", PASSWORD, HOME)
    await people.log_in("bob", PASSWORD, HOME)

    listed = await people.sessions.list(ada.user_id, here.token)

    assert {(each.agent, each.current) for each in listed} == {("Firefox", True), ("Safari", False)}


async def test_a_person_revokes_a_session_of_their_own(people: AccountService) -> None:
    ada = await people.read("ada")
    session = await people.log_in("ada", PASSWORD, HOME)

    await people.sessions.revoke(ada.user_id, session.session_id)

    assert await people.by_session(session.token) is None


@pytest.mark.parametrize("guess", ["", "x", "0" * 26, "#", "\udcff"])
async def test_what_is_no_session_cannot_be_revoked(embedded: AccountService, guess: str) -> None:
    await embedded.add("ada", PASSWORD)
    ada = await embedded.read("ada")

    with pytest.raises(NotFound):
        await embedded.sessions.revoke(ada.user_id, guess)


async def test_nobody_revokes_the_session_of_another(people: AccountService) -> None:
    bob = await people.read("bob")
    session = await people.log_in("ada", PASSWORD, HOME)

    with pytest.raises(NotFound):
        await people.sessions.revoke(bob.user_id, session.session_id)

    assert await people.by_session(session.token) is not None


async def test_logging_out_ends_this_session_only(people: AccountService) -> None:
    here = await people.log_in("ada", PASSWORD, HOME)
    there = await people.log_in("ada", PASSWORD, HOME)

    await people.sessions.end(here.token)

    assert await people.by_session(here.token) is None
    assert await people.by_session(there.token) is not None


async def test_a_session_of_an_older_generation_is_over_even_if_its_row_is_left(
    store: AsyncStore, people: AccountService
) -> None:
    ada = await people.read("ada")
    session = await people.log_in("ada", PASSWORD, HOME)
    row = await store.read(StoredSession.by_hash(hash_secret(session.token)))
    await people.reset_password(ada.user_id, f"new {PASSWORD}")

    await store(row.put().if_absent())

    assert await people.by_session(session.token) is None
    assert await people.sessions.list(ada.user_id) == ()
