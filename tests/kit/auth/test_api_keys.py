"""What API keys promise: shown once, acting for their person, and gone when revoked."""

from __future__ import annotations

from datetime import timedelta

import pytest

from grandstand.core.clock import ManualClock
from grandstand.core.errors import InvalidInput, LimitReached, NotFound
from grandstand.core.logging import redact
from grandstand.kit.auth.accounts import AccountService
from grandstand.kit.auth.credentials import MOST_KEYS
from grandstand.kit.auth.tables import StoredApiKey
from grandstand.storage.tables import AsyncStore

pytestmark = pytest.mark.anyio

PASSWORD = "four strong words here"
HOUR = timedelta(hours=1)


@pytest.fixture
async def ada(people: AccountService) -> str:
    return (await people.add("ada", PASSWORD, admin=True)).user_id


async def test_a_key_acts_for_its_person(people: AccountService, ada: str) -> None:
    key = await people.keys.issue(ada, "script")

    caller = await people.by_key(key.text)

    assert caller is not None
    assert (caller.user_id, caller.name, caller.via) == (ada, "ada", "key")


async def test_a_key_administers_only_if_it_and_its_person_may(
    people: AccountService, ada: str
) -> None:
    bob = await people.add("bob", PASSWORD)
    plain = await people.keys.issue(ada, "plain")
    strong = await people.keys.issue(ada, "strong", admin=True)
    hopeful = await people.keys.issue(bob.user_id, "hopeful", admin=True)

    callers = [await people.by_key(key.text) for key in (plain, strong, hopeful)]

    assert [caller is not None and caller.admin for caller in callers] == [False, True, False]


async def test_the_store_keeps_only_the_hash_of_a_secret(
    store: AsyncStore, people: AccountService, ada: str
) -> None:
    key = await people.keys.issue(ada, "script")

    kept = await store.read(StoredApiKey.by_id(key.view.key_id))

    secret = key.text.rpartition("_")[2]
    assert len(secret) == 64
    assert secret not in repr(kept)
    assert await people.by_key(f"gs_{kept.key_id}_{kept.secret_hash}") is None


async def test_a_key_is_never_logged(people: AccountService, ada: str) -> None:
    key = await people.keys.issue(ada, "script")

    logged = redact(f"asked with Bearer {key.text} and {key.text}")

    assert key.text not in logged
    assert key.text.rpartition("_")[2] not in logged


@pytest.mark.parametrize("end", ["", "0" * 63, "0" * 64, "0" * 65, "G" * 64, "0" * 63 + "é"])
async def test_a_guessed_secret_opens_nothing(embedded: AccountService, end: str) -> None:
    ada = (await embedded.add("ada", PASSWORD)).user_id
    key = await embedded.keys.issue(ada, "script")

    guessed = f"gs_{key.view.key_id}_{end}"

    assert await embedded.by_key(guessed) is None
    assert await embedded.by_key(f"gs_{'0' * 26}_{end}") is None


async def test_secrets_are_compared_in_constant_time(
    people: AccountService, ada: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import hmac

    compared: list[tuple[int, int]] = []
    compare = hmac.compare_digest
    key = await people.keys.issue(ada, "script")

    def watched(one: bytes, other: bytes) -> bool:
        compared.append((len(one), len(other)))
        return compare(one, other)

    monkeypatch.setattr(hmac, "compare_digest", watched)
    for text in (key.text, f"gs_{key.view.key_id}_{'0' * 64}", f"gs_{'0' * 26}_{'0' * 64}"):
        await people.by_key(text)

    assert compared == [(64, 64)] * 3


async def test_a_key_expires(people: AccountService, ada: str, clock: ManualClock) -> None:
    key = await people.keys.issue(ada, "script", ends_at=clock.now() + HOUR)
    before = await people.by_key(key.text)

    clock.advance(3_601)

    assert before is not None
    assert await people.by_key(key.text) is None
    assert await people.keys.list(ada) == ()


async def test_a_key_that_would_have_expired_is_not_issued(
    people: AccountService, ada: str, clock: ManualClock
) -> None:
    with pytest.raises(InvalidInput, match="Choose a later one"):
        await people.keys.issue(ada, "script", ends_at=clock.now())


async def test_a_revoked_key_opens_nothing(people: AccountService, ada: str) -> None:
    key = await people.keys.issue(ada, "script")

    await people.keys.revoke(ada, key.view.key_id)

    assert await people.by_key(key.text) is None
    with pytest.raises(NotFound):
        await people.keys.revoke(ada, key.view.key_id)


@pytest.mark.parametrize("guess", ["", "x", "#", "\udcff"])
async def test_what_is_no_key_cannot_be_revoked(embedded: AccountService, guess: str) -> None:
    ada = (await embedded.add("ada", PASSWORD)).user_id

    with pytest.raises(NotFound):
        await embedded.keys.revoke(ada, guess)


async def test_nobody_revokes_the_key_of_another(people: AccountService, ada: str) -> None:
    bob = await people.add("bob", PASSWORD)
    key = await people.keys.issue(ada, "script")

    with pytest.raises(NotFound):
        await people.keys.revoke(bob.user_id, key.view.key_id)

    assert await people.by_key(key.text) is not None


async def test_use_is_recorded_to_the_hour(
    people: AccountService, ada: str, clock: ManualClock
) -> None:
    key = await people.keys.issue(ada, "script")
    begun = clock.now()

    used = []
    for minutes in (0, 59, 2):
        clock.advance(60 * minutes)
        await people.by_key(key.text)
        used.append((await people.keys.list(ada))[0].used_at)

    assert used == [begun, begun, clock.now()]


async def test_nobody_gets_a_key_without_an_account(people: AccountService) -> None:
    with pytest.raises(NotFound):
        await people.keys.issue("nobody", "script")


@pytest.mark.parametrize("name", ["", "  ", "x" * 65, "a\x07b"])
async def test_a_key_needs_a_name_that_can_be_shown(embedded: AccountService, name: str) -> None:
    ada = (await embedded.add("ada", PASSWORD)).user_id

    with pytest.raises(InvalidInput, match="visible"):
        await embedded.keys.issue(ada, name)


async def test_there_is_an_end_to_how_many_keys_one_may_have(
    people: AccountService, ada: str
) -> None:
    for number in range(MOST_KEYS):
        await people.keys.issue(ada, f"script {number}")

    with pytest.raises(LimitReached, match="Revoke one"):
        await people.keys.issue(ada, "one more")
