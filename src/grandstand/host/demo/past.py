"""Kept here: the simulated days before today, played by a process of their own and kept.

It takes half a minute of work, and libraries of which nothing stays in memory afterwards.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from grandstand.base.clock import ManualClock, SystemClock
from grandstand.base.errors import Unavailable
from grandstand.host.demo.birth import Birth

if TYPE_CHECKING:
    from grandstand.host.demo.world import Demo

DAYS: Final = 6
_LOOK_HOURS: Final = 12
# How the lines of games to come moved of late: hours ago at which prices alone are looked at.
_LATE_LOOKS: Final = (12, 8, 5, 3, 2, 1)
_NICE: Final = 5
_KEY: Final = "8d1c5f60a3"


class Past(msgspec.Struct, frozen=True):
    """What is to be played: where it is kept, of which world, from when to when."""

    folder: str
    birth: Birth
    until: datetime
    days: int = DAYS


async def play_past(demo: Demo, tell: Callable[[str], None]) -> None:
    """Play the days before today in a process of their own; raise Unavailable when it fails."""
    past = Past(str(demo.folder), demo.birth, SystemClock().now())
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "grandstand.host.demo.past",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    if process.stdin is None or process.stdout is None:
        raise Unavailable("The process that plays the past has no pipes")
    try:
        process.stdin.write(msgspec.json.encode(past))
        process.stdin.close()
        async for line in process.stdout:
            tell(line.decode().strip())
        if await process.wait():
            raise Unavailable("The simulated past could not be played")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def live_through(past: Past, said: Callable[[str], Any]) -> None:
    """Live through the days: look twice a day, predict, let Benny bet, and settle.

    Of the last hours only prices are kept: who is there today predicts today.
    """
    from grandstand.apps.bets.app import CARD
    from grandstand.host.demo.games import Leagues
    from grandstand.host.demo.settings import bets_at, simulated_settings
    from grandstand.host.house import House
    from grandstand.host.settings import Settings
    from grandstand.simulators.serving import served

    clock = ManualClock(past.until - timedelta(days=past.days))
    leagues = Leagues(past.birth)
    async with served(leagues.feed(clock, _KEY).application) as address:
        told = {**bets_at(address, _KEY), "horizon_days": 1}
        settings = simulated_settings(Settings(), {"bets": told})
        settings = settings.model_copy(update={"home": Path(past.folder)})
        async with House.open(settings, clock=clock, apps=(CARD,)) as house:
            bets = house.services["bets"]
            while clock.now() < past.until - timedelta(hours=_LOOK_HOURS):
                said(f"{clock.now():%a %d %b, %H:%M}")
                for sport in bets.sports():
                    await bets.collect_outcomes(sport)
                    await bets.collect_odds(sport)
                    await bets.analyse(sport)
                await bets.trade()
                clock.advance(_LOOK_HOURS * 3600)
            for hours in _LATE_LOOKS:
                at = past.until - timedelta(hours=hours)
                clock.advance((at - clock.now()).total_seconds())
                said(f"prices of {clock.now():%a %d %b, %H:%M}")
                for sport in bets.sports():
                    await bets.collect_odds(sport)


def main() -> None:
    """Play what standard input asks for, saying each day, at a low priority."""
    os.nice(_NICE)
    past = msgspec.json.decode(sys.stdin.buffer.read(), type=Past)
    asyncio.run(live_through(past, lambda line: print(line, flush=True)))  # noqa: T201


if __name__ == "__main__":
    main()
