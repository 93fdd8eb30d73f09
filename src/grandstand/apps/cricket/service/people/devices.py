"""Kept here: the devices people are reached on."""

from __future__ import annotations

from typing import Final

from grandstand.apps.cricket.model import Phone
from grandstand.apps.cricket.model.tokens import check_token
from grandstand.apps.cricket.service.means import Means
from grandstand.apps.cricket.service.people.activities import check_device_id
from grandstand.apps.cricket.service.refusals import DeviceNameInvalid, DeviceUnknown
from grandstand.apps.cricket.service.values import DeviceGiven
from grandstand.apps.cricket.store import Device
from grandstand.storage.tables.errors import ConditionFailed

_LONGEST_VERSION: Final = 40


class Devices:
    """Registers devices, one row for each, or one for each person if the settings say so."""

    def __init__(self, means: Means) -> None:
        self._means = means

    async def of_user(self, user_id: str) -> tuple[Device, ...]:
        """Answer a person's devices, the one seen last at the front."""
        found = await self._means.store(Device.of_user(user_id))
        return tuple(sorted(found, key=lambda each: each.last_seen_at, reverse=True))

    async def register(self, user_id: str, given: DeviceGiven) -> Device:
        """Keep a device; raise TokenInvalid and DeviceNameInvalid.

        Its earlier rows go; a start token that one of them had is kept.
        """
        token = check_token(given.device_token, "device token")
        phone = _phone(given, token)
        store = self._means.store
        known = await store(Device.of_user(user_id))
        single = self._means.settings.devices == "single"
        stale = [
            each
            for each in known
            if each.device_token != token and (single or each.device_id == phone.device_id)
        ]
        registered = await store(Device.register(user_id, token, phone, self._means.now()))
        start = next(
            (each.push_to_start_token for each in stale if each.device_id == phone.device_id), None
        )
        if registered.push_to_start_token is None and start is not None:
            registered = await store(
                Device.set_push_to_start(user_id, token, start, self._means.now())
            )
        for each in stale:
            await store(Device.forget(user_id, each.device_token))
        return registered

    async def set_push_to_start(self, user_id: str, device_token: str, token: str) -> Device:
        """Keep the token that starts activities; raise TokenInvalid and DeviceUnknown."""
        device_token = check_token(device_token, "device token")
        token = check_token(token, "push-to-start token")
        try:
            return await self._means.store(
                Device.set_push_to_start(user_id, device_token, token, self._means.now())
            )
        except ConditionFailed as refused:
            raise _unknown(device_token) from refused

    async def forget(self, user_id: str, device_token: str) -> Device:
        """Remove a device and answer what it was; raise TokenInvalid and DeviceUnknown."""
        device_token = check_token(device_token, "device token")
        known = await self._means.store(Device.forget(user_id, device_token))
        if known is None:
            raise _unknown(device_token)
        return known


def _phone(given: DeviceGiven, token: str) -> Phone:
    versions = (given.platform, given.os_version, given.app_version)
    if any(len(each) > _LONGEST_VERSION for each in versions):
        message = f"Platform and versions have at most {_LONGEST_VERSION} characters each"
        raise DeviceNameInvalid(message)
    return Phone(
        check_device_id(given.device_id),
        given.platform or "ios",
        token,
        given.os_version,
        given.app_version,
    )


def _unknown(device_token: str) -> DeviceUnknown:
    return DeviceUnknown(
        f"You have no device with the token …{device_token[-6:]}: register it first"
    )
