"""What is kept of a person can be taken along whole, and erased even when it fails half-way."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from grandstand.core.clock import ManualClock
from grandstand.core.errors import NotFound, Unavailable
from grandstand.kit.auth.accounts import AccountService
from grandstand.kit.auth.caller import LastAdmin
from grandstand.kit.auth.credentials import Visitor
from grandstand.kit.auth.personal_data import PersonalDataService
from grandstand.storage.tables import AsyncStore

pytestmark = pytest.mark.anyio

PASSWORD = "four strong words here"
HOME = Visitor("192.0.2.7", "Firefox")


@dataclass
class Drawer:
    """An application that keeps notes of people, and fails when it is told to."""

    notes: dict[str, list[str]] = field(default_factory=dict)
    broken: bool = False
    erasures: int = 0

    async def export(self, user_id: str) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        for note in self.notes.get(user_id, []):
            yield "note", {"text": note}

    async def erase(self, user_id: str) -> int:
        if self.broken:
            raise Unavailable("The drawer is stuck")
        self.erasures += 1
        return len(self.notes.pop(user_id, []))


@pytest.fixture
def drawers() -> dict[str, Drawer]:
    return {"bets": Drawer(), "trainer": Drawer()}


@pytest.fixture
def personal_data(
    store: AsyncStore, people: AccountService, drawers: dict[str, Drawer], clock: ManualClock
) -> PersonalDataService:
    return PersonalDataService(store, people, drawers, clock)


@pytest.fixture
async def bob(people: AccountService, drawers: dict[str, Drawer]) -> str:
    """Somebody with something in every drawer, among others."""
    await people.add("ada", PASSWORD, admin=True)
    user_id = (await people.add("bob", PASSWORD)).user_id
    await people.prefer(user_id, time_zone="Asia/Tokyo", odds_format="american")
    await people.keys.issue(user_id, "script")
    await people.log_in("bob", PASSWORD, HOME)
    for drawer in drawers.values():
        drawer.notes = {user_id: ["mine", "mine too"], "another": ["theirs"]}
    return user_id


async def test_everything_of_a_person_is_exported_and_nothing_of_others(
    personal_data: PersonalDataService, bob: str
) -> None:
    told = [each async for each in personal_data.export(bob)]

    kinds = [(each.app, each.kind) for each in told]
    assert kinds == [
        ("platform", "account"),
        ("platform", "session"),
        ("platform", "key"),
        ("platform", "preferences"),
        *[("bets", "note")] * 2,
        *[("trainer", "note")] * 2,
    ]
    assert "theirs" not in repr(told)
    assert told[0].value["name"] == "bob"
    assert told[3].value == {"time_zone": "Asia/Tokyo", "odds_format": "american"}


async def test_an_export_holds_no_hash_of_a_password_or_secret(
    personal_data: PersonalDataService, bob: str
) -> None:
    told = repr([each async for each in personal_data.export(bob)])

    assert "argon2" not in told
    assert "hash" not in told
    assert "gs_" not in told


async def test_an_erased_person_is_gone_everywhere(
    personal_data: PersonalDataService, people: AccountService, drawers: dict[str, Drawer], bob: str
) -> None:
    erased = await personal_data.erase(bob)

    assert erased.records == {"bets": 2, "trainer": 2, "platform": 3}
    assert await people.find("bob") is None
    assert [drawer.notes for drawer in drawers.values()] == [{"another": ["theirs"]}] * 2
    left = [each async for each in personal_data.export(bob)]
    assert [each.kind for each in left] == ["preferences"]
    assert left[0].value["time_zone"] == "UTC"
    assert await personal_data.unfinished() == ()


async def test_an_erasure_that_failed_goes_on_where_it_stopped(
    personal_data: PersonalDataService, people: AccountService, drawers: dict[str, Drawer], bob: str
) -> None:
    drawers["trainer"].broken = True
    with pytest.raises(Unavailable):
        await personal_data.erase(bob)
    between = await personal_data.unfinished()
    found = await personal_data.find_user_id("bob")

    drawers["trainer"].broken = False
    erased = await personal_data.erase(found)

    assert [(each.name, each.done) for each in between] == [("bob", frozenset({"bets"}))]
    assert erased.records == {"trainer": 2, "platform": 3}
    assert drawers["bets"].erasures == 1
    assert await people.find("bob") is None


async def test_credentials_are_worthless_from_the_first_moment_of_an_erasure(
    personal_data: PersonalDataService, people: AccountService, drawers: dict[str, Drawer], bob: str
) -> None:
    session = await people.log_in("bob", PASSWORD, HOME)
    key = await people.keys.issue(bob, "another script")
    drawers["bets"].broken = True

    with pytest.raises(Unavailable):
        await personal_data.erase(bob)

    assert await people.by_session(session.token) is None
    assert await people.by_key(key.text) is None
    assert await people.by_subject(bob) is None


async def test_somebody_known_by_token_only_can_be_erased(
    personal_data: PersonalDataService, people: AccountService, drawers: dict[str, Drawer]
) -> None:
    await people.prefer("sub-1", time_zone="Asia/Tokyo", odds_format="decimal")
    drawers["bets"].notes["sub-1"] = ["mine"]

    erased = await personal_data.erase("sub-1")

    assert erased.records == {"bets": 1, "trainer": 0, "platform": 1}
    assert await people.by_subject("sub-1") is not None


async def test_the_last_administrator_is_not_erased_before_the_others(
    personal_data: PersonalDataService, people: AccountService, drawers: dict[str, Drawer], bob: str
) -> None:
    ada = await people.read("ada")

    with pytest.raises(LastAdmin):
        await personal_data.erase(ada.user_id)

    assert await people.find("bob") is not None
    assert (await people.read("ada")).admin
    assert drawers["bets"].notes[bob] == ["mine", "mine too"]
    assert await personal_data.unfinished() == ()


async def test_whose_name_nobody_has_is_not_found(personal_data: PersonalDataService) -> None:
    with pytest.raises(NotFound, match="grandstand user list"):
        await personal_data.find_user_id("nobody")
