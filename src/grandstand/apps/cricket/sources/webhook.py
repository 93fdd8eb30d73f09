"""Kept here: the webhook key events are posted to."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

from grandstand.base.log import remember
from grandstand.wire.web import Credentials, Retries, Source, Web

_NAME: Final = "cricket-webhook"
_JSON: Final = "application/json"


class Webhook:
    """One address that takes JSON; whoever knows its path can post to it, so it is a secret."""

    def __init__(self, web: Web, url: str) -> None:
        """Raises InvalidInput when the address is none."""
        parts = urlsplit(url)
        remember(parts.path.strip("/"), parts.query)
        self._source: Source = web.source(
            _NAME,
            base_url=urlunsplit(parts._replace(query="", fragment="")),
            credentials=Credentials(params=dict(parse_qsl(parts.query))),
            # The outbox tries again by itself, and remembers that it has to.
            retries=Retries(tries=1),
        )

    async def post(self, body: bytes, idempotency_key: str) -> None:
        """Post JSON; the same key is the same event. Raises what `wire.errors` lists."""
        headers = {
            "content-type": _JSON,
            "idempotency-key": quote(idempotency_key, safe="/#:@=+,;"),
        }
        await self._source.post("", body=body, headers=headers)
