"""Kept here: the exchange as a program, which reads how to open from its input's first line."""

from __future__ import annotations

import asyncio
import sys

import msgspec

from grandstand.simulators.exchange.process import Opening, serve_until_told


def main() -> None:
    """Serve an exchange until the input ends."""
    line = sys.stdin.buffer.readline()
    opening = msgspec.json.decode(line or b"{}", type=Opening)
    asyncio.run(serve_until_told(opening))


if __name__ == "__main__":
    main()
