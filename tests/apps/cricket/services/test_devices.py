"""People are reached on the devices they have now."""

import pytest

from grandstand.apps.cricket.domain.errors import DeviceNotFound
from grandstand.apps.cricket.domain.live_activities import DeviceRegistration
from grandstand.apps.cricket.store.users import Device
from grandstand.core.clock import ManualClock
from grandstand.core.errors import InvalidInput
from grandstand.storage.tables import Store
from tests.apps.cricket.services.stage import ADA, Stage, staged

pytestmark = pytest.mark.anyio


async def test_a_device_that_registers_anew_leaves_no_old_row(stage: Stage) -> None:
    await stage.cricket.devices.register(ADA.user_id, DeviceRegistration("aa" * 32, "phone"))
    await stage.cricket.devices.set_push_to_start(ADA.user_id, "aa" * 32, "cc" * 40)
    await stage.cricket.devices.register(ADA.user_id, DeviceRegistration("dd" * 32, "tablet"))

    await stage.cricket.devices.register(ADA.user_id, DeviceRegistration("bb" * 32, "phone"))

    devices = {each.device_id: each for each in await stage.cricket.devices.of_user(ADA.user_id)}
    assert {name: each.device_token[:2] for name, each in devices.items()} == {
        "phone": "bb",
        "tablet": "dd",
    }
    stored = {each.device_id: each for each in await stage.store(Device.of_user(ADA.user_id))}
    assert stored["phone"].push_to_start_token == "cc" * 40


async def test_with_single_devices_the_newest_replaces_all_others(
    stage: Stage, store: Store, clock: ManualClock
) -> None:
    single = staged(store, clock, beside=stage, devices="single")
    await single.cricket.devices.register(ADA.user_id, DeviceRegistration("aa" * 32, "phone"))

    await single.cricket.devices.register(ADA.user_id, DeviceRegistration("dd" * 32, "tablet"))

    assert [each.device_id for each in await single.cricket.devices.of_user(ADA.user_id)] == [
        "tablet"
    ]


async def test_what_is_no_token_or_no_device_is_refused(stage: Stage) -> None:
    with pytest.raises(InvalidInput):
        await stage.cricket.devices.register(ADA.user_id, DeviceRegistration("xyz", "phone"))
    with pytest.raises(InvalidInput):
        await stage.cricket.devices.register(ADA.user_id, DeviceRegistration("aa" * 32, "pho#ne"))
    with pytest.raises(DeviceNotFound):
        await stage.cricket.devices.set_push_to_start(ADA.user_id, "aa" * 32, "bb" * 32)
    with pytest.raises(DeviceNotFound):
        await stage.cricket.devices.remove(ADA.user_id, "aa" * 32)
    with pytest.raises(InvalidInput):
        await stage.cricket.follows.set_alert_preferences(ADA.user_id, kinds=("goal",))
