"""Kept here: how fast things go: the pace of a world, and the tokens of an account."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from grandstand.base.clock import Clock
from grandstand.simulators.exchange.floor.world import World

if TYPE_CHECKING:
    from grandstand.simulators.exchange.exchange import Exchange

_LEAST_WAIT: Final = 0.004
_MOST_WAIT: Final = 0.1
_AT_ONCE: Final = 2000
_CATCH_UP_SECONDS: Final = 1.0


@dataclass
class Pace:
    """How many things happen in a second, and how often something becomes of a market."""

    events_per_second: float = 0.0
    lifecycle_every_seconds: float = 0.0


class Bucket:
    """Tokens that come back at a rate, up to a second's worth."""

    def __init__(self, per_second: int, clock: Clock) -> None:
        self._per_second = per_second
        self._clock = clock
        self._tokens = float(per_second)
        self._at = clock.monotonic()

    def take(self, count: int) -> bool:
        """Take tokens; answer False, and take none, when there are too few."""
        now = self._clock.monotonic()
        earned = (now - self._at) * self._per_second
        self._tokens, self._at = min(self._tokens + earned, float(self._per_second)), now
        if self._tokens < count:
            return False
        self._tokens -= count
        return True


async def run(exchange: Exchange) -> None:
    """Keep the exchange's pace until cancelled; at a low one it mostly sleeps."""
    clock, pace, owed = exchange.clock, exchange.pace, 0.0
    last = turned = clock.monotonic()
    while True:
        rate = pace.events_per_second
        await asyncio.sleep(min(max(1.0 / rate if rate else _MOST_WAIT, _LEAST_WAIT), _MOST_WAIT))
        now = clock.monotonic()
        owed, last = min(owed + (now - last) * rate, rate * _CATCH_UP_SECONDS), now
        if not isinstance(exchange.floor, World):
            exchange.flush()
            continue
        if owed >= 1 and exchange.rest.trading_active:
            owed -= await step(exchange, exchange.floor, int(owed))
        every = pace.lifecycle_every_seconds
        if every and now - turned >= every:
            turned = now
            exchange.tell(exchange.floor.turn())
        exchange.flush()


async def step(exchange: Exchange, world: World, count: int, *, patient: bool = False) -> int:
    """Let so many things happen, some at a time; answer how many did.

    If `patient` it waits for slow readers, which no exchange does.
    """
    done = 0
    while done < count:
        events = world.step(min(count - done, _AT_ONCE))
        if not events:
            break
        done += len(events)
        exchange.tell(events)
        await asyncio.sleep(0)
        if patient:
            await exchange.drained()
    return done
