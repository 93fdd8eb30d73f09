"""Runs the simulated exchange in its own process."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import msgspec

from grandstand.core.clock import SystemClock
from grandstand.core.errors import Broken, Unavailable
from grandstand.simulators.exchange.control import PlaybackSpeed
from grandstand.simulators.exchange.rest import RequestBudget
from grandstand.simulators.exchange.server import Exchange, ExchangeRules
from grandstand.simulators.exchange.world import World, WorldConfig
from grandstand.simulators.exchange.ws_commands import StreamLimits
from grandstand.simulators.exchange.ws_connections import StreamFault

_STOP_SECONDS: Final = 10


@dataclass(frozen=True, slots=True)
class ExchangeOptions:
    """How an exchange opens, in one value that can be written down."""

    scenery: WorldConfig = field(default_factory=WorldConfig)
    pace: PlaybackSpeed = field(default_factory=PlaybackSpeed)
    keys: dict[str, str] | None = None
    limits: StreamLimits = field(default_factory=StreamLimits)
    budget: RequestBudget = field(default_factory=RequestBudget)
    faults: tuple[StreamFault, ...] = ()
    stale_seconds: float = 0.0
    unstamped_every: int = 0
    ping_seconds: float = 10.0
    port: int = 0

    def exchange(self) -> Exchange:
        """Return the exchange that opens so."""
        clock = SystemClock()
        rules = ExchangeRules(
            keys=self.keys,
            limits=self.limits,
            budget=self.budget,
            stale_seconds=self.stale_seconds,
            unstamped_every=self.unstamped_every,
            ping_seconds=self.ping_seconds,
        )
        pace = PlaybackSpeed(self.pace.events_per_second, self.pace.lifecycle_every_seconds)
        made = Exchange(World(clock, self.scenery), clock, rules, pace, seed=self.scenery.seed)
        made.stream_faults.ask_for(*self.faults)
        return made


@contextlib.contextmanager
def exchange_process(opening: ExchangeOptions) -> Iterator[str]:
    """Open an exchange in a process of its own and answer its address; it closes with the block.

    Raises Unavailable when it does not open.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "grandstand.simulators.exchange"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        yield _address(process, opening)
    finally:
        with contextlib.suppress(OSError):
            if process.stdin is not None:
                process.stdin.close()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _address(process: subprocess.Popen[bytes], opening: ExchangeOptions) -> str:
    if process.stdin is None or process.stdout is None:
        raise Broken("The process of the exchange has no pipes")
    process.stdin.write(msgspec.json.encode(opening) + b"\n")
    process.stdin.flush()
    address = process.stdout.readline().decode().strip()
    if not address:
        raise Unavailable("The exchange did not open: its process said why on its error output")
    return address


async def serve_until_stopped(opening: ExchangeOptions) -> None:
    """Serve an exchange, say its address, and stop when the input ends or a signal comes."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    loop.add_reader(sys.stdin.fileno(), stop.set)
    async with opening.exchange().serve(opening.port) as address:
        sys.stdout.write(f"{address}\n")
        sys.stdout.flush()
        await stop.wait()
    loop.remove_reader(sys.stdin.fileno())
