"""A served platform with the trainer, three users and a scripted judge."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx2

from grandstand.apps.trainer.app import APP
from grandstand.apps.trainer.domain.evaluation import Evaluator
from grandstand.apps.trainer.services import Trainer, app_services, create_trainer
from grandstand.apps.trainer.settings import TrainerSettings
from grandstand.apps.trainer.store import TrainerStore
from grandstand.kit.app import App, AppResources, AppServices
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
        """Apply the changes to the profiles."""
        self.served.do(self.trainer.profiles.catch_up(self.trainer.profiles.follow()))


def trainer_app(judge: Evaluator, second: Evaluator | None = None, **settings: Any) -> App[Trainer]:
    """The trainer's manifest, with other judges."""

    def build(resources: AppResources) -> AppServices[Trainer]:
        trainer = create_trainer(
            store=TrainerStore(resources.store, resources.clock, resources.random),
            judge=judge,
            second_judge=second,
            outbox=resources.outbox,
            publisher=resources.publisher,
            events=resources.events,
            cursors=resources.cursors,
            settings=TrainerSettings(**settings),
        )
        return app_services(trainer)

    return replace(APP, build=build, pages=None)


@dataclass(frozen=True)
class Home:
    """A data folder with scenarios and three users, and their keys; servers use copies of it.

    Hashing three passwords takes longer than everything else.
    """

    folder: Path
    keys: Mapping[str, str]

    @contextmanager
    def copied(self, to: Path) -> Iterator[Housed]:
        """Serve the trainer on a copy of this folder."""
        shutil.copytree(self.folder, to, dirs_exist_ok=True)
        judge, other = ScriptedJudge(), ScriptedJudge(model_id="other/1")
        with _served(to, judge, other) as served, ExitStack() as clients:
            people = {
                name: clients.enter_context(served.client(authorization=f"Bearer {key}"))
                for name, key in self.keys.items()
            }
            yield Housed(served, served.platform.services["trainer"], judge, **people)


def furnished(folder: Path) -> Home:
    """Create the data folder."""
    with _served(folder, ScriptedJudge(), None) as served:
        trainer: Trainer = served.platform.services["trainer"]
        served.do(trainer.scenarios.load(SCENARIOS))
        keys = {name: _key(served, name, admin=name == "root") for name in ("ada", "bob", "root")}
    return Home(folder, keys)


def _served(
    folder: Path, judge: Evaluator, second: Evaluator | None
) -> AbstractContextManager[Served]:
    apps = (trainer_app(judge, second, wait_seconds=0.5),)
    return serving(settings_in(folder, requests_per_minute=1_000_000), apps=apps)


def _key(served: Served, name: str, *, admin: bool) -> str:
    async def keyed() -> str:
        people = served.platform.people
        account = await people.add(name, "a stand with a view", admin=admin)
        made = await people.keys.issue(account.user_id, "test", admin=admin)
        return str(made.text)

    return served.do(keyed())
