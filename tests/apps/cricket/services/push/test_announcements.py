"""Plain alerts reach the devices they are for."""

import pytest

from tests.apps.cricket.services.stage import ADA, BOB, Stage

pytestmark = pytest.mark.anyio


async def test_a_test_push_reaches_ones_own_devices_only(stage: Stage) -> None:
    await stage.known()
    mine, other = await stage.joined(ADA, "mine"), await stage.joined(BOB, "other")

    told = await stage.cricket.announcements.send_test(ADA.user_id)

    assert told == {"mine": "delivered"}
    assert (len(mine.notifications), len(other.notifications)) == (1, 0)
