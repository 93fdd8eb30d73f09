"""Kept here: the way to all sources that answer requests, and how things stand with them."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from random import Random
from typing import Final, Self

import httpx2

from grandstand.base.clock import Clock
from grandstand.base.errors import InvalidInput
from grandstand.base.log import remember
from grandstand.base.metrics import Metrics
from grandstand.wire.answer import Answer
from grandstand.wire.breaker import Breaking
from grandstand.wire.declaring import Credentials, Declared, read_address
from grandstand.wire.quota import MemoryQuotas, Quota, QuotaLedger, QuotaReading, ReadQuota
from grandstand.wire.rate import Allowance, MemoryAllowance, Rate, Sleep
from grandstand.wire.retry import Retries
from grandstand.wire.sending import open_client
from grandstand.wire.source import Means, Source, SourceStatus

__all__ = [
    "Allowance",
    "Answer",
    "Breaking",
    "Credentials",
    "Quota",
    "QuotaLedger",
    "QuotaReading",
    "Rate",
    "Retries",
    "Source",
    "SourceStatus",
    "Web",
]

_RATE: Final = Rate(per_second=5, burst=5)
_CREDENTIALS: Final = Credentials()
_RETRIES: Final = Retries()
_BREAKING: Final = Breaking()
_MOST_BYTES: Final = 16 * 1024 * 1024


class Web:
    """Makes sources and knows them all; no source is asked anything but what it is told to."""

    def __init__(
        self,
        *,
        clock: Clock,
        random: Random,
        metrics: Metrics,
        sleep: Sleep = asyncio.sleep,
        allowance: Allowance | None = None,
        quotas: QuotaLedger | None = None,
        agent: str = "grandstand",
        context: ssl.SSLContext | None = None,
        proxy: str | None = None,
    ) -> None:
        self._agent = agent
        self._context = context
        self._proxy = proxy
        self._client: httpx2.AsyncClient | None = None
        self._sources: dict[str, Source] = {}
        self._means = Means(
            clock=clock,
            random=random,
            sleep=sleep,
            metrics=metrics,
            allowance=allowance or MemoryAllowance(clock, random, sleep),
            quotas=quotas or MemoryQuotas(clock),
            client=self._opened,
        )

    def source(
        self,
        name: str,
        *,
        base_url: str,
        rate: Rate = _RATE,
        timeout_seconds: float = 10.0,
        daily_quota: int | None = None,
        quota: Quota | None = None,
        headers: Mapping[str, str] | None = None,
        credentials: Credentials = _CREDENTIALS,
        read_quota: ReadQuota | None = None,
        retries: Retries = _RETRIES,
        breaking: Breaking = _BREAKING,
        most_bytes: int = _MOST_BYTES,
        also_hosts: tuple[str, ...] = (),
    ) -> Source:
        """Declare a source; raise InvalidInput when its name is taken or its address is none.

        `read_quota` gets the headers of each answer and the time, and says what the source says of
        the quota. Redirects lead to `also_hosts` too, but without credentials.
        """
        self._check_free(name)
        url, credentials = read_address(base_url, credentials)
        declared = Declared(
            name=name,
            base_url=url,
            rate=rate,
            timeout_seconds=timeout_seconds,
            quota=quota or Quota(daily_quota),
            headers={"user-agent": self._agent, **(headers or {})},
            credentials=credentials,
            read_quota=read_quota,
            retries=retries,
            breaking=breaking,
            most_bytes=most_bytes,
            also_hosts=also_hosts,
        )
        self._sources[name] = Source(declared, self._means)
        return self._sources[name]

    def drop(self, name: str) -> None:
        """Forget a source, if it is known."""
        self._sources.pop(name, None)

    def status(self) -> tuple[SourceStatus, ...]:
        """Answer how things stand with every source, as far as this process has seen."""
        return tuple(source.status() for source in self._sources.values())

    async def current(self) -> tuple[SourceStatus, ...]:
        """Answer how things stand with every source, what other processes did included."""
        return tuple([await source.current() for source in self._sources.values()])

    async def close(self) -> None:
        """Close all connections; the next request opens them anew."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _check_free(self, name: str) -> None:
        if name in self._sources:
            message = f"There is a source {name} already: drop it first, or choose another name"
            raise InvalidInput(message)

    def _opened(self) -> httpx2.AsyncClient:
        if self._client is None:
            if self._proxy is not None:
                remember(httpx2.URL(self._proxy).password)
            self._client = open_client(self._context, self._proxy)
        return self._client
