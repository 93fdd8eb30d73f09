"""Kept here: cricket's routes for browsers that are pushed to, where that is set up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from fastapi import Query
from pydantic import Field

from grandstand.apps.cricket.api.asking import RoutesPart
from grandstand.apps.cricket.api.models import Asked, Told
from grandstand.apps.cricket.service import Browser, PushingOff, PushKeyMissing
from grandstand.base.errors import InvalidInput
from grandstand.kit.routes import Who, delete, get, post

Endpoint = Annotated[
    str, Field(min_length=1, max_length=2000, examples=["https://push.example.org/send/42"])
]
EndpointGiven = Annotated[str, Query(min_length=1, max_length=2000)]
Secret = Annotated[str, Field(pattern=r"^[A-Za-z0-9_=-]{1,200}$")]


class BrowserKeys(Asked):
    """What a message to a browser is encrypted with, as its subscription has it."""

    p256dh: Annotated[Secret, Field(alias="p256dh")]
    auth: Secret


class BrowserAsked(Asked):
    """A subscription, as the browser writes it to JSON."""

    endpoint: Endpoint
    expiration_time: float | None = None
    keys: BrowserKeys


class BrowserKeyModel(Told):
    """What a page gives to `pushManager.subscribe` as its application server key."""

    public_key: str


class BrowserRoutes(RoutesPart):
    """Browsers of the caller that are told what alerts the caller."""

    @get("/user/browser", summary="The key a browser subscribes with", problems=(PushKeyMissing,))
    async def browser_key(self, who: Who) -> BrowserKeyModel:
        """The public key; 409 where browsers are not pushed to."""
        del who
        with _set_up():
            return BrowserKeyModel(public_key=self._cricket.browser_key)

    @post(
        "/user/browser",
        summary="Push alerts to a browser",
        problems=(PushKeyMissing, InvalidInput),
        status=204,
    )
    async def subscribe_browser(self, who: Who, asked: BrowserAsked) -> None:
        """Nothing: the browser is told what alerts the caller."""
        browser = Browser(asked.endpoint, asked.keys.p256dh, asked.keys.auth)
        with _set_up():
            await self._cricket.subscribe_browser(who, browser)

    @delete("/user/browser", summary="Push no more to a browser")
    async def unsubscribe_browser(self, who: Who, endpoint: EndpointGiven) -> None:
        """Nothing: the browser is not told anything, whether or not it was."""
        await self._cricket.unsubscribe_browser(who, endpoint)


@contextmanager
def _set_up() -> Iterator[None]:
    """Here the push service is not asked: that pushing is off is how the house is set up."""
    try:
        yield
    except PushingOff as fault:
        raise PushKeyMissing(str(fault)) from fault
