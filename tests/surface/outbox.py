"""One outbox message per topic, written by the services themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from grandstand.apps.cricket.domain.live_activities import BrowserSubscription, PushResult
from grandstand.core.clock import ManualClock, SystemClock
from grandstand.core.metrics import Metrics
from grandstand.kit.notify import Notifier, read_channels
from grandstand.kit.outbox import Outbox, OutboxMessage
from grandstand.net.client import SourceRegistry
from grandstand.simulators.racing.site import Site
from grandstand.simulators.racing.world import World
from grandstand.storage.tables import Naming, Store, Table
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from tests.apps.bets import stage as bets
from tests.apps.cricket.domain.scorer import Scorer
from tests.apps.cricket.services import stage as cricket
from tests.apps.keiba import stage as keiba
from tests.apps.trainer import stage as trainer

_NOON = datetime(2026, 2, 11, 12, tzinfo=UTC)


@dataclass
class _Browsers:
    """A browser push service that accepts every message."""

    public_key: str = "key"

    def check(self, subscription: BrowserSubscription) -> None:
        """Accept any browser."""

    async def send(
        self,
        subscription: BrowserSubscription,
        message: bytes,
        *,
        urgency: str = "normal",
        topic: str | None = None,
    ) -> PushResult:
        """Report the message as delivered."""
        del subscription, message, urgency, topic
        return PushResult("delivered")

    async def close(self) -> None:
        """Do nothing: there is no connection."""


@contextmanager
def _store(tables: Sequence[Table], clock: ManualClock) -> Iterator[Store]:
    with Store(SqliteEngine.open(None, clock=clock), naming=Naming(), clock=clock) as store:
        store.create(tables)
        yield store


async def write_outbox(topics: Sequence[str]) -> str:
    """Run the services until each topic has a message; return one message per topic as JSON."""
    written = [*await _bets(), *await _cricket(), *await _keiba(), *await _trainer()]
    messages = {topic: _fullest(topic, written) for topic in sorted(topics)}
    return json.dumps(messages, indent=2, ensure_ascii=False) + "\n"


def _fullest(topic: str, written: Sequence[OutboxMessage]) -> dict[str, Any]:
    """Return the longest message of a topic, because optional fields are present in it."""
    found = [each for each in written if each.topic == topic]
    assert found, f"No message of {topic}: let tests/surface/outbox.py produce one."
    fullest = max(found, key=lambda each: (len(each.body), each.idempotency_key))
    return {"idempotency_key": fullest.idempotency_key, "body": json.loads(fullest.body)}


def _all_messages(store: Store) -> list[OutboxMessage]:
    return [*store(OutboxMessage.scan())]


async def _bets() -> list[OutboxMessage]:
    clock = ManualClock(_NOON)
    with _store(bets.ALL_TABLES, clock) as store:
        stage = bets.staged(store, clock)
        stage.odds.games = [bets.game(bets.h2h("fanduel", -150, 130))]
        await stage.bets.favorites.add(bets.ADA, bets.NBA, bets.LAKERS)
        await stage.bets.odds_collector.collect(bets.NBA)
        await stage.bets.alerts.run()
        return _all_messages(store)


async def _cricket() -> list[OutboxMessage]:
    return [*await _cricket_match(), *await _cricket_confirmation(), *await _cricket_backlog()]


async def _cricket_match() -> list[OutboxMessage]:
    """Announce a match, play it with a webhook, a browser and a phone, and unfollow it."""
    clock = ManualClock(_NOON)
    with _store(cricket.ALL_TABLES, clock) as store:
        stage = cricket.staged(store, clock, hooked=True)
        stage.cricket = stage.rebuilt(gateways={"browsers": _Browsers()})
        await stage.cricket.league_sync.run()
        await stage.cricket.team_sync.run()
        starts = clock.now() + timedelta(minutes=25)
        announced = cricket.scores_of(Scorer(), clock, match_id="100", starting_at=starts)
        stage.feed.says(announced, live=False)
        await stage.cricket.fixture_sync.run()
        await stage.joined(cricket.ADA, match_id="100")
        await stage.cricket.orchestrator.run()
        scorer = await stage.on_air()
        await stage.with_activity(cricket.BOB)
        scorer.out(then=13)
        await stage.tick(scorer)
        await stage.cricket.live_activities.end(
            cricket.BOB.user_id, cricket.MATCH, reason="unfollowed"
        )
        return _all_messages(store)


async def _cricket_confirmation() -> list[OutboxMessage]:
    """Hold an alert back until it is confirmed."""
    clock = ManualClock(_NOON)
    with _store(cricket.ALL_TABLES, clock) as store:
        stage = cricket.staged(store, clock, confirm_seconds=8)
        await stage.cricket.league_sync.run()
        await stage.cricket.team_sync.run()
        scorer = await stage.on_air()
        scorer.out(then=13)
        await stage.tick(scorer)
        return _all_messages(store)


async def _cricket_backlog() -> list[OutboxMessage]:
    """Detect more events in one poll than fit into one transaction."""
    clock = ManualClock(_NOON)
    with _store(cricket.ALL_TABLES, clock) as store:
        stage = cricket.staged(store, clock)
        await stage.cricket.league_sync.run()
        await stage.cricket.team_sync.run()
        scorer = await stage.on_air()
        for _ in range(48):
            scorer.bowl(6)
        await stage.tick(scorer)
        return _all_messages(store)


async def _keiba() -> list[OutboxMessage]:
    """Watch a horse, find it on a card, notify its owner, and find the result."""
    clock = ManualClock(keiba.NOON)
    world = World.at(7, keiba.NOON, seasons_before=0)
    site = Site(world, clock=ManualClock(keiba.NOON), wall=SystemClock())
    with _store(keiba.ALL_TABLES, clock) as store:
        async with (
            keiba.staged(store, site, clock) as stage,
            SourceRegistry(clock=clock, random=Random(1), metrics=Metrics()) as web,
        ):
            outbox = Outbox(stage.resources.store, clock)
            channels = read_channels(
                webhooks=("https://hooks.example.org/alerts",),
                smtp="smtps://mail.example.org",
                mail_from="alerts@example.org",
                mail_to=("ada@example.org",),
            )
            resources = replace(stage.resources, notifier=Notifier(outbox, channels, web=web))
            service = resources.create()
            race = world.race(stage.small)
            assert race is not None
            await service.days.day(keiba.SUNDAY, "jra")
            await service.pages.dated_race(stage.small)
            await service.watchlist.watch(keiba.ADA, race.horses[0].id, "first start")
            await service.watchlist.check_entries()
            [entered] = await outbox.waiting("keiba.entry")
            await service.watchlist.deliver(entered)
            clock.advance(5 * 3600)
            site.clock = ManualClock(clock.now())
            await service.result_watcher.check()
            return _all_messages(store)


async def _trainer() -> list[OutboxMessage]:
    clock = ManualClock(_NOON)
    with _store(trainer.ALL_TABLES, clock) as store:
        stage = trainer.staged(store, clock)
        await stage.trainer.scenarios.load(trainer.SCENARIOS)
        answers = trainer.given("It depends on who is taken in")
        await stage.trainer.attempts.submit_new(trainer.ADA.user_id, "two-hospitals", answers, "t1")
        return _all_messages(store)
