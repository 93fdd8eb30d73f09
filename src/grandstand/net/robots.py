"""robots.txt of a site, fetched once a day and obeyed."""

from __future__ import annotations

from typing import Final

from protego import Protego

from grandstand.core.clock import Clock
from grandstand.core.errors import GrandstandError
from grandstand.net.client import Source
from grandstand.net.errors import RobotsDisallowed

_MAX_CHARACTERS: Final = 512_000
_CLIENT_ERRORS: Final = range(400, 500)
_MAX_AGE_SECONDS: Final = 86_400.0


class RobotsRules:
    """The rules of a robots.txt for one user agent."""

    def __init__(self, text: str, agent: str) -> None:
        self._rules = Protego.parse(text[:_MAX_CHARACTERS])
        self._agent = agent.partition("/")[0]

    @property
    def delay_seconds(self) -> float | None:
        """The Crawl-delay, if there is one."""
        delay = self._rules.crawl_delay(self._agent)
        return None if delay is None else float(delay)

    def allow(self, path: str) -> bool:
        """Return whether a path, including its query, may be fetched."""
        return bool(self._rules.can_fetch(path, self._agent))


class RobotsGuard:
    """Checks paths against a site's robots.txt.

    A site without the file allows everything. A site that does not respond, and whose rules are
    not known from before, allows nothing.
    """

    def __init__(self, source: Source, *, agent: str, clock: Clock) -> None:
        self._source = source
        self._agent = agent
        self._clock = clock
        self._rules: RobotsRules | None = None
        self._read_at = 0.0

    async def rules(self) -> RobotsRules:
        """Return the site's rules; raise RobotsDisallowed if they cannot be fetched."""
        if self._rules is None or self._clock.monotonic() - self._read_at > _MAX_AGE_SECONDS:
            try:
                self._rules = await self._fetch()
            except GrandstandError as error:
                if self._rules is None:
                    name = self._source.config.name
                    message = f"The robots.txt of {name} cannot be fetched: {error}"
                    raise RobotsDisallowed(message, source=name) from error
            self._read_at = self._clock.monotonic()
        return self._rules

    async def check(self, path: str) -> None:
        """Raise RobotsDisallowed if robots.txt disallows a path, including its query."""
        if not (await self.rules()).allow(path):
            name = self._source.config.name
            raise RobotsDisallowed(f"The robots.txt of {name} disallows {path}", source=name)

    async def _fetch(self) -> RobotsRules:
        url = str(self._source.config.base_url.copy_with(path="/robots.txt"))
        response = await self._source.get(url, accept=_CLIENT_ERRORS)
        if response.status in _CLIENT_ERRORS:
            return RobotsRules("", self._agent)
        return RobotsRules(response.body.decode("utf-8-sig", "replace"), self._agent)
