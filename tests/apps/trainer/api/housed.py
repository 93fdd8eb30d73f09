"""A house with the trainer in it on a real socket, three people, and a judge to be told what."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx2

from grandstand.apps.trainer.app import CARD
from grandstand.apps.trainer.model.judging import Evaluator
from grandstand.apps.trainer.service import Means, Trainer
from grandstand.apps.trainer.settings import TrainerSettings
from grandstand.kit.app import App, Resources
from tests.apps.trainer.stage import SCENARIOS, ScriptedJudge
from tests.host.server.serving import Served, serving, settings_in


@dataclass
class Housed:
    """A served trainer; each person has a client."""

    served: Served
    trainer: Trainer
    judge: ScriptedJudge
    ada: httpx2.Client
    bob: httpx2.Client
    root: httpx2.Client

    def follow(self) -> None:
        """Let the profiles follow."""
        self.served.do(self.trainer.catch_up(self.trainer.follow()))


def card(judge: Evaluator, second: Evaluator | None = None, **settings: Any) -> App[Trainer]:
    """The trainer's card, with other judges."""

    def service(resources: Resources) -> Trainer:
        return Trainer(
            Means(
                store=resources.store,
                outbox=resources.outbox,
                clock=resources.clock,
                random=resources.random,
                teller=resources.teller,
                events=resources.events,
                cursors=resources.cursors,
                judge=judge,
                second=second,
                settings=TrainerSettings(**settings),
            )
        )

    return replace(CARD, service=service, pages=None)


@contextmanager
def housed(folder: Path) -> Iterator[Housed]:
    """Serve the trainer for the length of a block, with scenarios and three people."""
    judge, other = ScriptedJudge(), ScriptedJudge(model_id="other/1")
    apps = (card(judge, other, wait_seconds=0.5),)
    settings = settings_in(folder, requests_per_minute=1_000_000)
    with serving(settings, apps=apps) as served:
        trainer: Trainer = served.house.services["trainer"]
        served.do(trainer.load_scenarios(SCENARIOS))
        people = {
            "ada": _client(served, "ada"),
            "bob": _client(served, "bob"),
            "root": _client(served, "root", admin=True),
        }
        try:
            yield Housed(served, trainer, judge, **people)
        finally:
            for client in people.values():
                client.close()


def _client(served: Served, name: str, *, admin: bool = False) -> httpx2.Client:
    async def keyed() -> str:
        people = served.house.people
        account = await people.add(name, "a stand with a view", admin=admin)
        made = await people.keys.issue(account.user_id, "test", admin=admin)
        return str(made.text)

    return served.client(authorization=f"Bearer {served.do(keyed())}")
