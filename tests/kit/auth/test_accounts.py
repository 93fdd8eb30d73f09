"""What accounts promise: names, passwords, roles, preferences and leaving."""

from __future__ import annotations

import asyncio

import pytest

from grandstand.core.clock import ManualClock
from grandstand.core.errors import Conflict, InvalidInput, NotFound
from grandstand.kit.auth.accounts import AccountService
from grandstand.kit.auth.caller import LastAdmin, LoginFailed, NameTaken, Preferences
from grandstand.kit.auth.credentials import Visitor
from grandstand.kit.auth.passwords import Cost, Passwords
from grandstand.kit.auth.tables import Person
from grandstand.storage.tables import AsyncStore

pytestmark = pytest.mark.anyio

PASSWORD = "four strong words here"
HOME = Visitor("192.0.2.7", "Firefox")


async def test_the_first_account_ends_the_time_without_login(people: AccountService) -> None:
    before = await people.any()
    await people.add("ada", PASSWORD, admin=True)

    after = await people.any()

    assert (before, after) == (False, True)


async def test_accounts_are_listed_by_name(people: AccountService) -> None:
    await people.add("Bob", PASSWORD)
    await people.add("ada", PASSWORD, admin=True)

    listed = await people.list()

    assert [(account.name, account.admin) for account in listed] == [("ada", True), ("Bob", False)]


@pytest.mark.parametrize("name", ["ada", "ADA", " Ada ", "\uff41\uff44\uff41"])
async def test_a_name_is_taken_in_every_way_of_writing_it(
    people: AccountService, name: str
) -> None:
    await people.add("Ada", PASSWORD)

    with pytest.raises(NameTaken, match="choose another name"):
        await people.add(name, PASSWORD)

    assert len(await people.list()) == 1


async def test_of_two_who_want_a_name_at_once_one_gets_it(people: AccountService) -> None:
    wanted = (people.add("ada", PASSWORD), people.add("Ada", PASSWORD))

    outcomes = await asyncio.gather(*wanted, return_exceptions=True)

    assert sum(isinstance(outcome, Conflict) for outcome in outcomes) == 1
    assert len(await people.list()) == 1


@pytest.mark.parametrize("name", ["", " ", "a#b", "a b", "-ada", "x" * 65, "a\nb", "a/b", "\udcff"])
async def test_what_is_no_name_is_refused(embedded: AccountService, name: str) -> None:
    with pytest.raises(InvalidInput, match="letters or digits"):
        await embedded.add(name, PASSWORD)


@pytest.mark.parametrize("password", ["", "short", "x" * 257, "aaaaaaaaaaaa", "ababababab"])
async def test_a_password_that_guesses_itself_is_refused(
    embedded: AccountService, password: str
) -> None:
    with pytest.raises(InvalidInput):
        await embedded.add("ada", password)

    assert not await embedded.any()


async def test_a_right_password_begins_a_session_of_its_person(people: AccountService) -> None:
    ada = await people.add("ada", PASSWORD, admin=True)

    session = await people.log_in("ADA", PASSWORD, HOME)
    caller = await people.by_session(session.token)

    assert caller is not None
    assert (caller.user_id, caller.name, caller.via, caller.admin) == (
        ada.user_id,
        "ada",
        "session",
        True,
    )


async def test_one_password_typed_on_two_keyboards_is_one_password(people: AccountService) -> None:
    await people.add("ada", "café au lait")

    session = await people.log_in("ada", "cafe\u0301 au lait", HOME)

    assert await people.by_session(session.token) is not None


@pytest.mark.parametrize(
    ("name", "password"),
    [
        ("ada", "wrong words here"),
        ("nobody", PASSWORD),
        ("#nobody", PASSWORD),
        ("", ""),
        ("\udcff", "\udcff"),
    ],
)
async def test_a_wrong_name_and_a_wrong_password_are_answered_alike(
    embedded: AccountService, name: str, password: str
) -> None:
    await embedded.add("ada", PASSWORD)

    with pytest.raises(LoginFailed) as refused:
        await embedded.log_in(name, password, HOME)

    assert str(refused.value) == "The name or the password is wrong"


async def test_an_unknown_name_costs_as_many_checks_as_a_known_one(
    people: AccountService, monkeypatch: pytest.MonkeyPatch
) -> None:
    from argon2 import PasswordHasher, extract_parameters

    checked: list[str] = []
    verify = PasswordHasher.verify
    await people.add("ada", PASSWORD)

    def watched(self: PasswordHasher, stored: str, given: str) -> bool:
        checked.append(stored)
        return verify(self, stored, given)

    monkeypatch.setattr(PasswordHasher, "verify", watched)
    for name in ("ada", "unknown"):
        with pytest.raises(LoginFailed):
            await people.log_in(name, "wrong words here", HOME)

    costs = [extract_parameters(stored) for stored in checked]
    assert len(costs) == 2
    assert costs[0] == costs[1]


async def test_a_changed_password_ends_every_other_session(people: AccountService) -> None:
    ada = await people.add("ada", PASSWORD)
    before = await people.log_in("ada", PASSWORD, HOME)

    after = await people.change_password(ada.user_id, PASSWORD, "other words entirely", HOME)

    assert await people.by_session(before.token) is None
    assert await people.by_session(after.token) is not None
    with pytest.raises(LoginFailed):
        await people.log_in("ada", PASSWORD, HOME)


async def test_a_password_is_not_changed_without_the_old_one(people: AccountService) -> None:
    ada = await people.add("ada", PASSWORD)

    with pytest.raises(LoginFailed, match="old password"):
        await people.change_password(ada.user_id, "a guess at it", "other words entirely", HOME)

    assert (await people.log_in("ada", PASSWORD, HOME)).user_id == ada.user_id


async def test_a_password_that_was_reset_ends_every_session(people: AccountService) -> None:
    ada = await people.add("ada", PASSWORD)
    before = await people.log_in("ada", PASSWORD, HOME)

    await people.reset_password(ada.user_id, "other words entirely")

    assert await people.by_session(before.token) is None
    assert (await people.log_in("ada", "other words entirely", HOME)).user_id == ada.user_id


async def test_a_password_is_hashed_anew_at_the_cost_of_today(
    store: AsyncStore, people: AccountService, clock: ManualClock
) -> None:
    from random import Random

    ada = await people.add("ada", PASSWORD)
    stronger = Passwords(Cost(passes=2, memory_kib=128))
    later = AccountService(store, clock=clock, random=Random(2), passwords=stronger)

    session = await later.log_in("ada", PASSWORD, HOME)

    stored = (await store.read(Person.by_id(ada.user_id))).password_hash
    assert "m=128,t=2" in stored
    assert await later.by_session(session.token) is not None


async def test_no_password_is_readable_in_the_store(
    store: AsyncStore, people: AccountService
) -> None:
    ada = await people.add("ada", PASSWORD)

    stored = (await store.read(Person.by_id(ada.user_id))).password_hash

    assert stored.startswith("$argon2id$")
    assert PASSWORD not in stored


async def test_a_role_counts_from_the_next_request_on(people: AccountService) -> None:
    await people.add("ada", PASSWORD, admin=True)
    bob = await people.add("bob", PASSWORD, admin=True)
    session = await people.log_in("bob", PASSWORD, HOME)

    await people.appoint(bob.user_id, admin=False)

    caller = await people.by_session(session.token)
    assert caller is not None
    assert not caller.admin


async def test_the_last_administrator_stays_as_long_as_there_are_others(
    people: AccountService,
) -> None:
    ada = await people.add("ada", PASSWORD, admin=True)
    bob = await people.add("bob", PASSWORD)

    with pytest.raises(LastAdmin):
        await people.remove(ada.user_id)
    with pytest.raises(LastAdmin):
        await people.appoint(ada.user_id, admin=False)
    await people.remove(bob.user_id)
    await people.remove(ada.user_id)

    assert not await people.any()


async def test_a_removed_account_leaves_nothing_and_frees_its_name(people: AccountService) -> None:
    await people.add("ada", PASSWORD, admin=True)
    bob = await people.add("bob", PASSWORD)
    session = await people.log_in("bob", PASSWORD, HOME)
    key = await people.keys.issue(bob.user_id, "script")

    await people.remove(bob.user_id)

    assert await people.by_session(session.token) is None
    assert await people.by_key(key.text) is None
    assert await people.keys.list(bob.user_id) == ()
    assert (await people.add("bob", PASSWORD)).user_id != bob.user_id


async def test_who_is_not_there_cannot_be_changed(people: AccountService) -> None:
    for change in (
        people.remove("x"),
        people.appoint("x", admin=True),
        people.reset_password("x", PASSWORD),
        people.read("x"),
    ):
        with pytest.raises(NotFound):
            await change


async def test_preferences_are_everybodys_own(people: AccountService) -> None:
    await people.add("ada", PASSWORD)
    ada = await people.read("ada")

    await people.prefer(ada.user_id, time_zone="Asia/Tokyo", odds_format="fractional")

    assert await people.preferences(ada.user_id) == Preferences("Asia/Tokyo", "fractional")
    assert await people.preferences("another") == Preferences()


@pytest.mark.parametrize(
    ("zone", "form", "told"),
    [
        ("Europe/Lonodn", "decimal", "did you mean Europe/London"),
        ("../../etc/passwd", "decimal", "Unknown time zone"),
        ("", "decimal", "Unknown time zone"),
        ("UTC", "roman", "american, decimal, fractional"),
    ],
)
async def test_a_preference_that_cannot_be_shown_is_refused(
    embedded: AccountService, zone: str, form: str, told: str
) -> None:
    with pytest.raises(InvalidInput, match=told):
        await embedded.prefer("ada", time_zone=zone, odds_format=form)
