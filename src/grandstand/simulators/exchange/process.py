"""Runs the simulated exchange in its own process."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import subprocess
import sys
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field

import msgspec

from grandstand.core.clock import SystemClock
from grandstand.core.errors import Broken, Unavailable
from grandstand.simulators.exchange.control import Pace
from grandstand.simulators.exchange.server import Exchange, ExchangeRules
from grandstand.simulators.exchange.world import World, WorldConfig
from grandstand.simulators.exchange.ws_connections import StreamFault


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeOptions(ExchangeRules):
    """Options of an exchange process, passed as JSON."""

    world: WorldConfig = field(default_factory=WorldConfig)
    pace: Pace = field(default_factory=Pace)
    faults: tuple[StreamFault, ...] = ()
    port: int = 0

    def exchange(self) -> Exchange:
        clock = SystemClock()
        exchange = Exchange(
            World(clock, self.world), clock, self, copy(self.pace), seed=self.world.seed
        )
        exchange.stream_faults.ask_for(*self.faults)
        return exchange


@contextlib.contextmanager
def exchange_process(options: ExchangeOptions) -> Iterator[str]:
    """Run an exchange in its own process and return its address; it stops with the block.

    Raises Unavailable if it does not start.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "grandstand.simulators.exchange"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        yield _start(process, options)
    finally:
        with contextlib.suppress(OSError):
            if process.stdin is not None:
                process.stdin.close()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _start(process: subprocess.Popen[bytes], options: ExchangeOptions) -> str:
    if process.stdin is None or process.stdout is None:
        raise Broken("The process of the exchange has no pipes.")
    process.stdin.write(msgspec.json.encode(options) + b"\n")
    process.stdin.flush()
    address = process.stdout.readline().decode().strip()
    if not address:
        raise Unavailable("The exchange did not start. See the error output of its process.")
    return address


async def serve_until_stopped(options: ExchangeOptions) -> None:
    """Serve an exchange, print its address, and stop at the end of the input or on a signal."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    loop.add_reader(sys.stdin.fileno(), stop.set)
    async with options.exchange().serve(options.port) as address:
        sys.stdout.write(f"{address}\n")
        sys.stdout.flush()
        await stop.wait()
    loop.remove_reader(sys.stdin.fileno())
