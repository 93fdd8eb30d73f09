"""People are reached on the devices they have now."""

import pytest

from grandstand.apps.cricket.model.errors import AlertKindUnknown, TokenInvalid
from grandstand.apps.cricket.service import (
    AlertsGiven,
    DeviceGiven,
    DeviceNameInvalid,
    DeviceUnknown,
)
from grandstand.base.clock import ManualClock
from grandstand.storage.tables import Store
from tests.apps.cricket.service.stage import ADA, Stage, staged

pytestmark = pytest.mark.anyio


async def test_a_device_that_registers_anew_leaves_no_old_row(stage: Stage) -> None:
    await stage.cricket.register_device(ADA, DeviceGiven("aa" * 32, "phone"))
    await stage.cricket.set_push_to_start(ADA, "aa" * 32, "cc" * 40)
    await stage.cricket.register_device(ADA, DeviceGiven("dd" * 32, "tablet"))

    await stage.cricket.register_device(ADA, DeviceGiven("bb" * 32, "phone"))

    devices = {each.device_id: each for each in await stage.cricket.devices(ADA)}
    assert {name: each.device_token[:2] for name, each in devices.items()} == {
        "phone": "bb",
        "tablet": "dd",
    }
    assert devices["phone"].push_to_start_token == "cc" * 40


async def test_with_single_devices_the_newest_replaces_all_others(
    stage: Stage, store: Store, clock: ManualClock
) -> None:
    single = staged(store, clock, beside=stage, devices="single")
    await single.cricket.register_device(ADA, DeviceGiven("aa" * 32, "phone"))

    await single.cricket.register_device(ADA, DeviceGiven("dd" * 32, "tablet"))

    assert [each.device_id for each in await single.cricket.devices(ADA)] == ["tablet"]


async def test_what_is_no_token_or_no_device_is_refused(stage: Stage) -> None:
    with pytest.raises(TokenInvalid):
        await stage.cricket.register_device(ADA, DeviceGiven("xyz", "phone"))
    with pytest.raises(DeviceNameInvalid):
        await stage.cricket.register_device(ADA, DeviceGiven("aa" * 32, "pho#ne"))
    with pytest.raises(DeviceUnknown):
        await stage.cricket.set_push_to_start(ADA, "aa" * 32, "bb" * 32)
    with pytest.raises(DeviceUnknown):
        await stage.cricket.forget_device(ADA, "aa" * 32)
    with pytest.raises(AlertKindUnknown):
        await stage.cricket.choose_alerts(ADA, AlertsGiven(kinds=("goal",)))
