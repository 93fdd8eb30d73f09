"""Command-line entry point: reads its options from the first line of input."""

from __future__ import annotations

import asyncio
import sys

import msgspec

from grandstand.simulators.exchange.process import ExchangeOptions, serve_until_stopped


def main() -> None:
    """Serve an exchange until the input ends."""
    line = sys.stdin.buffer.readline()
    opening = msgspec.json.decode(line or b"{}", type=ExchangeOptions)
    asyncio.run(serve_until_stopped(opening))


if __name__ == "__main__":
    main()
