"""Client for the webhook that receives key events."""

from __future__ import annotations

from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

from grandstand.core.logging import register_secrets
from grandstand.net.client import Credentials, Source, SourceRegistry
from grandstand.net.retry import RetryPolicy


class WebhookClient:
    """Posts JSON to one URL, whose path and query are treated as secrets."""

    def __init__(self, web: SourceRegistry, url: str) -> None:
        """Raises InvalidInput if the URL is malformed."""
        parts = urlsplit(url)
        register_secrets(parts.path.strip("/"), parts.query)
        self._source: Source = web.source(
            "cricket-webhook",
            base_url=urlunsplit(parts._replace(query="", fragment="")),
            credentials=Credentials(params=dict(parse_qsl(parts.query))),
            # The outbox retries.
            retries=RetryPolicy(tries=1),
        )

    async def post(self, body: bytes, idempotency_key: str) -> None:
        """Post JSON; the key is the same for a repeated event."""
        headers = {
            "content-type": "application/json",
            "idempotency-key": quote(idempotency_key, safe="/#:@=+,;"),
        }
        await self._source.post("", body=body, headers=headers)
