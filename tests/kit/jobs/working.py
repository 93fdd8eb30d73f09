"""A process that runs jobs until it is killed: python working.py PLACE PREFIX NAME."""

import asyncio
import sys
from random import Random

from grandstand.base.clock import SystemClock
from grandstand.base.log import configure
from grandstand.base.metrics import Metrics
from grandstand.kit.jobs.job import Always, Every, Job, Run
from grandstand.kit.jobs.runner import Pace, Runner
from tests.kit.stores import Listener, open_at

LEASE_SECONDS = 4.0
GRACE_SECONDS = 0.5


def say(*words: object) -> None:
    """Tell whoever listens, with the moment."""
    sys.stdout.write(" ".join(map(str, (SystemClock().epoch(), *words))) + "\n")
    sys.stdout.flush()


async def always(run: Run) -> str | None:
    """Hold on until killed."""
    say("always", run.token)
    await asyncio.Event().wait()
    return None


async def long(run: Run) -> str | None:
    """Take longer than the test lives, unless it is tried again."""
    say("long", run.token, run.attempt)
    try:
        await asyncio.sleep(60 if run.attempt == 1 else 0)
    except asyncio.CancelledError:
        say("stopped", run.token)
        raise
    return "done"


def main() -> None:
    """Run until killed."""
    configure(sys.stderr, json=True)
    place, prefix, name = sys.argv[1:]
    jobs = (
        Job("tests.always", "Holds on.", Always(), always),
        Job("tests.long", "Takes long.", Every(3600, jitter=0.0), long),
    )
    runner = Runner(
        open_at(place, prefix),
        jobs,
        clock=SystemClock(),
        random=Random(),
        metrics=Metrics(),
        teller=Listener(),
        instance=name,
        pace=Pace(LEASE_SECONDS, GRACE_SECONDS, look_seconds=0.3),
    )
    say("up")
    asyncio.run(runner.run())


if __name__ == "__main__":
    main()
