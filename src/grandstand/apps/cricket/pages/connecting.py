"""Kept here: the page that says how an app is connected."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.cricket.model.swift import ATTRIBUTES_TYPE, swift_source
from grandstand.apps.cricket.pages.part import PagesPart
from grandstand.kit.routes import Who, page


class ConnectPages(PagesPart):
    """How an iOS app gets to show matches."""

    @page("/connect")
    async def connect(self, request: Request, who: Who) -> Response:
        """The steps, the addresses, and the Swift file."""
        del who
        settings = self._cricket.settings
        return self._render(
            request,
            "connect",
            here="connect",
            swift=swift_source(),
            attributes_type=ATTRIBUTES_TYPE,
            pushing=settings.apns_key is not None,
            bundle_id=settings.apns_bundle_id,
        )
