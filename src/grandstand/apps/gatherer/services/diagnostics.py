"""Checks whether recording could start: the exchange, its clock, the key, the stream, the disk."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Final

from grandstand.apps.gatherer.settings import GathererSettings
from grandstand.apps.gatherer.sources.kalshi.rest import KalshiClient
from grandstand.apps.gatherer.sources.kalshi.signing import Signer
from grandstand.apps.gatherer.sources.kalshi.stream import KalshiStream, StreamOpened
from grandstand.core.clock import Clock
from grandstand.core.errors import GrandstandError
from grandstand.core.metrics import Metrics

_MAX_CLOCK_OFFSET: Final = timedelta(seconds=5)
_STREAM_TIMEOUT_SECONDS: Final = 15.0
_GIGABYTE: Final = 1_000_000_000
_MICRO: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check."""

    name: str
    ok: bool
    text: str


class Diagnostics:
    """Checks what recording needs, without recording anything."""

    def __init__(
        self,
        *,
        settings: GathererSettings,
        folder: Path,
        client: KalshiClient,
        signer: Signer | None,
        key_error: str | None,
        clock: Clock,
        random: Random,
        metrics: Metrics,
    ) -> None:
        self._settings = settings
        self._folder = folder
        self._client = client
        self._signer = signer
        self._key_error = key_error
        self._clock = clock
        self._random = random
        self._metrics = metrics

    async def run(self) -> tuple[CheckResult, ...]:
        """Run all checks; a failed check is a result, not an exception."""
        return (
            await self._check_exchange(),
            await self._check_clock(),
            await self._check_key(),
            await self._check_stream(),
            self._check_disk(),
        )

    async def _check_exchange(self) -> CheckResult:
        try:
            status = await self._client.status()
        except GrandstandError as error:
            return CheckResult("exchange", False, str(error))
        if not status.exchange_active:
            resumes = "" if status.resumes_at is None else f" until {status.resumes_at:%F %R} UTC"
            return CheckResult("exchange", False, f"The exchange is closed{resumes}.")
        trading = "open for trading" if status.trading_active else "open, but trading is paused"
        return CheckResult("exchange", True, f"The exchange is {trading}.")

    async def _check_clock(self) -> CheckResult:
        try:
            offset = await self._client.clock_offset()
        except GrandstandError as error:
            return CheckResult("clock", False, str(error))
        if offset is None:
            return CheckResult("clock", True, "The exchange sends no time to compare with.")
        text = f"The clock differs from the exchange's by {abs(offset.total_seconds()):.1f} s."
        if abs(offset) > _MAX_CLOCK_OFFSET:
            advice = "Synchronize it: signatures expire within seconds."
            return CheckResult("clock", False, f"{text} {advice}")
        return CheckResult("clock", True, text)

    async def _check_key(self) -> CheckResult:
        if self._key_error is not None:
            return CheckResult("key", False, self._key_error)
        if self._signer is None:
            text = (
                "No key is set. Set GRANDSTAND_GATHERER_KEY_ID and "
                "GRANDSTAND_GATHERER_PRIVATE_KEY_FILE."
            )
            return CheckResult("key", False, text)
        try:
            limit = await self._client.limits()
        except GrandstandError as error:
            return CheckResult("key", False, str(error))
        rate = "" if limit is None else f" Its limit is {limit.per_second:g} requests/s."
        return CheckResult("key", True, f"The {self._signer.kind} key is accepted.{rate}")

    async def _check_stream(self) -> CheckResult:
        stream = KalshiStream(
            "exchange-check",
            self._settings.stream_url,
            signer=self._signer,
            stamp=lambda: int(self._clock.epoch() * _MICRO),
            clock=self._clock,
            random=self._random,
            metrics=self._metrics,
        )
        reason = "timed out"
        try:
            async with asyncio.timeout(_STREAM_TIMEOUT_SECONDS):
                async for event in stream:
                    await stream.close()
                    if isinstance(event, StreamOpened):
                        return CheckResult("stream", True, "Connected to the stream.")
                    reason = getattr(event, "reason", reason)
        except GrandstandError as error:
            return CheckResult("stream", False, str(error))
        except TimeoutError:
            pass
        return CheckResult("stream", False, f"Cannot connect to the stream: {reason}.")

    def _check_disk(self) -> CheckResult:
        self._folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(self._folder).free / _GIGABYTE
        minimum = self._settings.free_gigabytes
        text = f"{free:.1f} GB free; recording stops at {minimum:g} GB."
        return CheckResult("disk", free > minimum, text)
