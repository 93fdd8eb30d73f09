"""Command-line entry point: reads its options from the first line of input."""

from __future__ import annotations

import asyncio
import sys

import msgspec

from grandstand.simulators.exchange.process import ExchangeOptions, serve_until_stopped


def main() -> None:
    line = sys.stdin.buffer.readline()
    options = msgspec.json.decode(line or b"{}", type=ExchangeOptions)
    asyncio.run(serve_until_stopped(options))


if __name__ == "__main__":
    main()
