"""Kept here: whether a gatherer could record now: the exchange, its clock, the key, the disk."""

from __future__ import annotations

import asyncio
import shutil
from datetime import timedelta
from typing import Final

from grandstand.apps.gatherer.service.means import Means
from grandstand.apps.gatherer.service.values import Finding
from grandstand.apps.gatherer.sources.kalshi.errors import KeyRefused
from grandstand.apps.gatherer.sources.kalshi.frames import FrameDecoder
from grandstand.apps.gatherer.sources.kalshi.stream import Opened, Stream
from grandstand.base.errors import GrandstandError

_FAR: Final = timedelta(seconds=5)
_PATIENCE_SECONDS: Final = 15.0
_GIGABYTE: Final = 1_000_000_000


class Checking:
    """Looks at what recording needs, without recording anything."""

    def __init__(self, means: Means) -> None:
        self._means = means

    async def check(self) -> tuple[Finding, ...]:
        """Answer what was found, the outermost first; nothing is raised for what is not well."""
        return (
            await self._exchange(),
            await self._clock(),
            await self._key(),
            await self._stream(),
            self._disk(),
        )

    async def _exchange(self) -> Finding:
        try:
            status = await self._means.exchange.status()
        except GrandstandError as fault:
            return Finding("exchange", False, str(fault))
        if not status.exchange_active:
            resumes = "" if status.resumes_at is None else f" until {status.resumes_at:%F %R} UTC"
            return Finding("exchange", False, f"The exchange is closed{resumes}.")
        trading = "trading" if status.trading_active else "open, but nobody trades now"
        return Finding("exchange", True, f"The exchange is {trading}.")

    async def _clock(self) -> Finding:
        try:
            offset = await self._means.exchange.clock_offset()
        except GrandstandError as fault:
            return Finding("clock", False, str(fault))
        if offset is None:
            return Finding("clock", True, "The exchange does not say its time.")
        seconds = offset.total_seconds()
        text = f"This machine's clock is {abs(seconds):.1f} s off the exchange's."
        if abs(offset) > _FAR:
            return Finding("clock", False, f"{text} Set it right: signatures are refused by time.")
        return Finding("clock", True, text)

    async def _key(self) -> Finding:
        means = self._means
        if means.key_fault is not None:
            return Finding("key", False, means.key_fault)
        if means.signer is None:
            text = (
                "No key is set: set GRANDSTAND_GATHERER_KEY_ID and "
                "GRANDSTAND_GATHERER_PRIVATE_KEY_FILE."
            )
            return Finding("key", False, text)
        try:
            limit = await means.exchange.limits()
        except GrandstandError as fault:
            return Finding("key", False, str(fault))
        allowed = "" if limit is None else f" It may ask {limit.per_second:g} times a second."
        return Finding("key", True, f"The {means.signer.kind} key is accepted.{allowed}")

    async def _stream(self) -> Finding:
        means = self._means
        stream = Stream(
            "exchange-check",
            means.settings.stream_url,
            signer=means.signer,
            parse=FrameDecoder().parse,
            stamp=means.now_us,
            clock=means.clock,
            random=means.random,
            metrics=means.metrics,
        )
        reason = "no connection in time"
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                async for event in stream:
                    await stream.close()
                    if isinstance(event, Opened):
                        return Finding("stream", True, "The stream can be connected to.")
                    reason = getattr(event, "reason", reason)
        except (KeyRefused, GrandstandError) as fault:
            return Finding("stream", False, str(fault))
        except TimeoutError:
            pass
        return Finding("stream", False, f"The stream cannot be connected to: {reason}.")

    def _disk(self) -> Finding:
        self._means.folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(self._means.folder).free / _GIGABYTE
        least = self._means.settings.free_gigabytes
        text = f"{free:.1f} GB are free; recording stops at {least:g} GB."
        return Finding("disk", free > least, text)
