"""What is kept of a person can be taken along and erased."""

import pytest

from tests.apps.cricket.services.stage import ADA, BOB, Stage

pytestmark = pytest.mark.anyio


async def test_everything_kept_of_a_person_can_be_taken_along_and_erased(stage: Stage) -> None:
    await stage.on_air()
    await stage.with_activity(ADA)
    await stage.with_activity(BOB, "other")

    taken = [kind async for kind, _ in stage.cricket.personal_data.export("ada")]
    erased = await stage.cricket.personal_data.erase("ada")

    left = [kind async for kind, _ in stage.cricket.personal_data.export("ada")]
    assert (sorted(taken), left, erased) == (["activity", "device", "follow", "follower"], [], 4)
    assert len([kind async for kind, _ in stage.cricket.personal_data.export("bob")]) == 4
