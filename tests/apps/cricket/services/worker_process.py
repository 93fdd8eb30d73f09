"""An instance of cricket as a process: working.py PLACE PREFIX NAME FEED APNS KEY."""

from __future__ import annotations

import asyncio
import ssl
import sys
from pathlib import Path
from random import Random

from grandstand.apps.cricket.jobs import jobs
from grandstand.apps.cricket.services import Gateways, create_services
from grandstand.apps.cricket.services.interfaces import Database
from grandstand.apps.cricket.settings import CricketSettings
from grandstand.apps.cricket.sources.apns import ApnsClient, ProviderToken
from grandstand.apps.cricket.sources.sportmonks import SportMonksClient
from grandstand.core.clock import SystemClock
from grandstand.core.metrics import Metrics
from grandstand.kit.cursors import Cursors
from grandstand.kit.events import Events
from grandstand.kit.jobs.runner import JobRunner, RunnerConfig
from grandstand.kit.outbox import Deliverer, DeliveryPolicy, Outbox
from grandstand.kit.shared_limits import TableQuotas, TableRateLimiter
from grandstand.net.client import SourceRegistry
from grandstand.net.http2_push.client import PushClient, PushConfig
from grandstand.simulators.scores.feed import BASE, TOKEN
from tests.apps.cricket.services.stage import BUNDLE, Listener
from tests.kit.stores import open_at

LEASE_SECONDS = 1.0


def settings_for(feed: str) -> CricketSettings:
    """As quick as settings allow."""
    return CricketSettings.model_validate(
        {
            "feed_url": f"http://{feed}{BASE}",
            "feed_token": TOKEN,
            "poll_seconds": 1.0,
            "marquee_poll_seconds": 1.0,
            "orchestrate_seconds": 2.0,
            "fixture_sync_seconds": 10.0,
            "takeover_seconds": 5.0,
            "start_again_seconds": 5,
            "feed_reserve": 0,
        }
    )


async def work(place: str, prefix: str, name: str, feed: str, apns: str, key: str) -> None:
    """Poll, orchestrate and deliver until killed."""
    clock, random, metrics, listener = SystemClock(), Random(), Metrics(), Listener()
    store, settings = open_at(place, prefix), settings_for(feed)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    web = SourceRegistry(
        clock=clock,
        random=random,
        metrics=metrics,
        rate_limiter=TableRateLimiter(store, owner=name, clock=clock, random=random),
        quotas=TableQuotas(store, clock=clock, random=random),
    )
    token = ProviderToken(key=key, key_id="KEY1234567", team_id="TEAM123456", clock=clock)
    pushing = PushConfig(connections=1, stagger_seconds=0)
    client = PushClient(apns, clock=clock, random=random, context=context, config=pushing)
    cricket = create_services(
        store=Database(store, clock=clock, random=random),
        settings=settings,
        gateways=Gateways(
            feed=SportMonksClient(web, settings),
            push=ApnsClient(client, token, bundle_id=BUNDLE, metrics=metrics),
        ),
        outbox=Outbox(store, clock),
        publisher=listener,
        activity_log=Events(store, clock=clock, random=random, publisher=listener),
        cursors=Cursors(b"secret"),
        instance=name,
        lock_seconds=LEASE_SECONDS,
    )
    pace = RunnerConfig(lease_seconds=LEASE_SECONDS, grace_seconds=0.2, look_seconds=0.5)
    runner = JobRunner(
        store,
        jobs(cricket),
        clock=clock,
        random=random,
        metrics=metrics,
        publisher=listener,
        instance=name,
        config=pace,
    )
    deliverer = Deliverer(
        store,
        cricket.outbox_handlers(),
        clock=clock,
        random=random,
        metrics=metrics,
        policy=DeliveryPolicy(try_seconds=2.0, first_seconds=0.5, look_seconds=1.0),
    )
    await asyncio.gather(runner.run(), deliverer.run())


if __name__ == "__main__":
    given = sys.argv[1:]
    given[-1] = Path(given[-1]).read_text()
    asyncio.run(work(*given))
