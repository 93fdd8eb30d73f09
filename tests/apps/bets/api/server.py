"""Bets on a real socket, with two users and scripted feeds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import httpx2

from grandstand.apps.bets.app import APP
from grandstand.apps.bets.services import Bets, app_services, build_bets
from grandstand.apps.bets.services.database import Database
from grandstand.apps.bets.settings import BetsSettings
from grandstand.core.clock import ManualClock
from grandstand.kit.app import AppResources, AppServices
from tests.apps.bets.scene import BEGUN, SPORTS, played, season_csv
from tests.apps.bets.stage import EPL, ScriptedOdds
from tests.host.server.serving import Served, serving, settings_in


@dataclass
class BetsServer:
    """A served platform with a client for each of two users, and one without credentials."""

    served: Served
    bets: Bets
    clock: ManualClock
    ada: httpx2.Client
    bob: httpx2.Client
    nobody: httpx2.Client

    def client(self, name: str) -> httpx2.Client:
        """Return a client for a new user."""
        return _client(self.served, name)


@contextmanager
def serve_bets(folder: Path) -> Iterator[BetsServer]:
    """Serve bets during a block, after the two days of the scene."""
    clock, odds = ManualClock(BEGUN), ScriptedOdds()

    def build(resources: AppResources) -> AppServices[Bets]:
        bets = build_bets(
            db=Database(store=resources.store, clock=clock, random=resources.random),
            settings=BetsSettings(sports=SPORTS),
            llm=resources.llm,
            outbox=resources.outbox,
            notifier=resources.notifier,
            events=resources.events,
            publisher=resources.publisher,
            cursors=resources.cursors,
            owner="test",
            odds_feed=odds,
        )
        return app_services(bets)

    settings = settings_in(folder, requests_per_minute=1_000_000)
    with serving(settings, apps=(replace(APP, build=build),)) as served:
        bets: Bets = served.platform.services["bets"]
        served.do(played(bets, odds, clock))
        served.do(bets.file_importer.import_season(EPL, "E0.csv", season_csv()))
        ada, bob, nobody = _client(served, "ada"), _client(served, "bob"), served.client()
        try:
            yield BetsServer(served, bets, clock, ada, bob, nobody)
        finally:
            for client in (ada, bob, nobody):
                client.close()


def _client(served: Served, name: str) -> httpx2.Client:
    async def issue_key() -> str:
        people = served.platform.people
        account = await people.add(name, "a stand with a view")
        key = await people.keys.issue(account.user_id, "test")
        return str(key.text)

    return served.client(authorization=f"Bearer {served.do(issue_key())}")
