"""Checks whether recording could start: the exchange, its clock, the key, the stream, the disk."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from random import Random

from grandstand.apps.gatherer.settings import GathererSettings
from grandstand.apps.gatherer.sources.kalshi.rest import KalshiClient
from grandstand.apps.gatherer.sources.kalshi.signing import Signer
from grandstand.apps.gatherer.sources.kalshi.stream import KalshiStream, StreamOpened
from grandstand.core.clock import Clock
from grandstand.core.errors import GrandstandError
from grandstand.core.metrics import Metrics


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
        checks = {
            "exchange": self._check_exchange,
            "clock": self._check_clock,
            "key": self._check_key,
            "stream": self._check_stream,
            "disk": self._check_disk,
        }
        results: list[CheckResult] = []
        for name, check in checks.items():
            try:
                results.append(CheckResult(name, *await check()))
            except GrandstandError as error:
                results.append(CheckResult(name, False, str(error)))
        return tuple(results)

    async def _check_exchange(self) -> tuple[bool, str]:
        status = await self._client.status()
        if not status.exchange_active:
            resumes = "" if status.resumes_at is None else f" until {status.resumes_at:%F %R} UTC"
            return False, f"The exchange is closed{resumes}."
        trading = "open for trading" if status.trading_active else "open, but trading is paused"
        return True, f"The exchange is {trading}."

    async def _check_clock(self) -> tuple[bool, str]:
        offset = await self._client.clock_offset()
        if offset is None:
            return True, "The exchange sends no time to compare with."
        text = f"The clock differs from the exchange's by {abs(offset.total_seconds()):.1f} s."
        if abs(offset) > timedelta(seconds=5):
            return False, f"{text} Synchronize it: signatures expire within seconds."
        return True, text

    async def _check_key(self) -> tuple[bool, str]:
        if self._key_error is not None:
            return False, self._key_error
        if self._signer is None:
            return False, (
                "No key is set. Set GRANDSTAND_GATHERER_KEY_ID and "
                "GRANDSTAND_GATHERER_PRIVATE_KEY_FILE."
            )
        limit = await self._client.limits()
        rate = "" if limit is None else f" Its limit is {limit.per_second:g} requests/s."
        return True, f"The {self._signer.kind} key is accepted.{rate}"

    async def _check_stream(self) -> tuple[bool, str]:
        stream = KalshiStream(
            "exchange-check",
            self._settings.stream_url,
            signer=self._signer,
            stamp=lambda: int(self._clock.epoch() * 1_000_000),
            clock=self._clock,
            random=self._random,
            metrics=self._metrics,
        )
        reason = "timed out"
        with suppress(TimeoutError):
            async with asyncio.timeout(15):
                async for event in stream:
                    await stream.close()
                    if isinstance(event, StreamOpened):
                        return True, "Connected to the stream."
                    reason = getattr(event, "reason", reason)
        return False, f"Cannot connect to the stream: {reason}."

    async def _check_disk(self) -> tuple[bool, str]:
        self._folder.mkdir(parents=True, exist_ok=True)
        free, minimum = shutil.disk_usage(self._folder).free / 1e9, self._settings.free_gigabytes
        return free > minimum, f"{free:.1f} GB free; recording stops at {minimum:g} GB."
