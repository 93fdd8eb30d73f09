"""Kept here: browsers as their push services reach them."""

from __future__ import annotations

from grandstand.apps.cricket.service.ports import Verdict
from grandstand.apps.cricket.service.telling.apple import verdict_of
from grandstand.apps.cricket.sources.webpush import Subscription, WebPush
from grandstand.apps.cricket.store import Browser


class PushedBrowsers:
    """Pushes to browsers; implements Browsers."""

    def __init__(self, webpush: WebPush) -> None:
        self._webpush = webpush

    @property
    def public_key(self) -> str:
        """What a page subscribes with; raises InvalidInput when our key cannot be used."""
        return self._webpush.public_key

    def check(self, browser: Browser) -> None:
        """Raise InvalidInput for a subscription that nothing could be sent to."""
        self._webpush.check(_subscription(browser))

    async def send(self, browser: Browser, message: bytes, *, topic: str) -> Verdict:
        """Send one message; one of the same topic that waits is replaced by it."""
        result = await self._webpush.send(
            _subscription(browser), message, urgency="high", topic=topic
        )
        return verdict_of(result)

    async def close(self) -> None:
        """End all connections; what is still under way is lost."""
        await self._webpush.close()


def _subscription(browser: Browser) -> Subscription:
    return Subscription(browser.endpoint, browser.p256dh, browser.auth)
