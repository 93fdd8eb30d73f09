"""A process that runs jobs until it is killed: python working.py PLACE PREFIX NAME."""

import asyncio
import sys
from random import Random

from grandstand.core.clock import SystemClock
from grandstand.core.logging import configure_logging
from grandstand.core.metrics import Metrics
from grandstand.kit.jobs.job import Continuous, Every, Job, JobContext
from grandstand.kit.jobs.runner import JobRunner, RunnerConfig
from tests.kit.stores import Listener, open_at

LEASE_SECONDS = 4.0
GRACE_SECONDS = 0.5


def say(*words: object) -> None:
    """Tell whoever listens, with the moment."""
    sys.stdout.write(" ".join(map(str, (SystemClock().epoch(), *words))) + "\n")
    sys.stdout.flush()


async def always(run: JobContext) -> str | None:
    """Hold on until killed."""
    say("always", run.token)
    await asyncio.Event().wait()
    return None


async def long(run: JobContext) -> str | None:
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
    configure_logging(sys.stderr, json=True)
    place, prefix, name = sys.argv[1:]
    jobs = (
        Job("tests.always", "Holds on.", Continuous(), always),
        Job("tests.long", "Takes long.", Every(3600, jitter=0.0), long),
    )
    runner = JobRunner(
        open_at(place, prefix),
        jobs,
        clock=SystemClock(),
        random=Random(),
        metrics=Metrics(),
        publisher=Listener(),
        instance=name,
        config=RunnerConfig(LEASE_SECONDS, GRACE_SECONDS, look_seconds=0.3),
    )
    say("up")
    asyncio.run(runner.run())


if __name__ == "__main__":
    main()
