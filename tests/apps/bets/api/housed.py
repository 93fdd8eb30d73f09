"""A house with bets in it on a real socket, two people, and feeds that say what they are told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import httpx2

from grandstand.apps.bets.app import CARD
from grandstand.apps.bets.service import Bets, Means
from grandstand.apps.bets.settings import BetsSettings
from grandstand.base.clock import ManualClock
from grandstand.kit.app import Resources
from tests.apps.bets.scene import BEGUN, SPORTS, played, season_csv
from tests.apps.bets.stage import EPL, ScriptedOdds
from tests.host.server.serving import Served, serving, settings_in


@dataclass
class Housed:
    """A served house; each person has a client, and one is nobody."""

    served: Served
    bets: Bets
    clock: ManualClock
    ada: httpx2.Client
    bob: httpx2.Client
    nobody: httpx2.Client

    def client(self, name: str) -> httpx2.Client:
        """Somebody else, from now on."""
        return _client(self.served, name)


@contextmanager
def housed(folder: Path) -> Iterator[Housed]:
    """Serve bets for the length of a block, after the two days of the scene."""
    clock, odds = ManualClock(BEGUN), ScriptedOdds()

    def service(resources: Resources) -> Bets:
        return Bets(
            Means(
                store=resources.store,
                llm=resources.llm,
                outbox=resources.outbox,
                notifier=resources.notifier,
                events=resources.events,
                teller=resources.teller,
                cursors=resources.cursors,
                clock=clock,
                random=resources.random,
                owner="test",
                odds=odds,
                settings=BetsSettings(sports=SPORTS),
            )
        )

    settings = settings_in(folder, requests_per_minute=1_000_000)
    with serving(settings, apps=(replace(CARD, service=service),)) as served:
        bets: Bets = served.house.services["bets"]
        served.do(played(bets, odds, clock))
        served.do(bets.import_season(EPL, "E0.csv", season_csv()))
        ada, bob, nobody = _client(served, "ada"), _client(served, "bob"), served.client()
        try:
            yield Housed(served, bets, clock, ada, bob, nobody)
        finally:
            for client in (ada, bob, nobody):
                client.close()


def _client(served: Served, name: str) -> httpx2.Client:
    async def keyed() -> str:
        people = served.house.people
        account = await people.add(name, "a stand with a view")
        made = await people.keys.issue(account.user_id, "test")
        return str(made.text)

    return served.client(authorization=f"Bearer {served.do(keyed())}")
