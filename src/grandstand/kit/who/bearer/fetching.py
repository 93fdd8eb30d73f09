"""Kept here: the way to an issuer's documents through the house's own web client."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from grandstand.wire.web import Rate, Retries, Source, Web

_RATE: Final = Rate(per_second=1, burst=3)
_RETRIES: Final = Retries(tries=2)
_SECONDS: Final = 5.0
_MOST_BYTES: Final = 262_144


class FetchThroughWeb:
    """Fetches documents as JSON, each host as a source of its own on the status page."""

    def __init__(self, web: Web) -> None:
        self._web = web
        self._sources: dict[str, Source] = {}

    async def __call__(self, url: str, /) -> object:
        """Answer what the document holds; raise SourceFailed, Unavailable or LimitReached."""
        parts = urlsplit(url)
        place = f"{parts.scheme}://{parts.netloc}"
        source = self._sources.get(place)
        if source is None:
            source = self._sources[place] = self._web.source(
                f"identity {parts.netloc}",
                base_url=place,
                rate=_RATE,
                timeout_seconds=_SECONDS,
                retries=_RETRIES,
                most_bytes=_MOST_BYTES,
            )
        return (await source.get(url)).json(dict)
