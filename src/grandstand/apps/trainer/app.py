"""The card on the trainer's door: what the host may know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Final

from grandstand.apps.trainer import store
from grandstand.kit.app import App, Belongings, Calibrated, Found, Now, Resources

if TYPE_CHECKING:
    import typer

    from grandstand.apps.trainer.model.judging import Evaluator
    from grandstand.apps.trainer.service import Trainer
    from grandstand.kit.jobs.job import Job
    from grandstand.kit.outbox import Consequence, Deliver
    from grandstand.kit.pages.rendering import Pages
    from grandstand.kit.who.caller import Caller

NAME: Final = "trainer"
_SECRET_BYTES: Final = 32


def _service(resources: Resources) -> Trainer:
    from grandstand.apps.trainer.service import Means, Trainer
    from grandstand.apps.trainer.settings import TrainerSettings

    settings = resources.settings or TrainerSettings()
    second = settings.second_judge
    return Trainer(
        Means(
            store=resources.store,
            outbox=resources.outbox,
            clock=resources.clock,
            random=resources.random,
            teller=resources.teller,
            events=resources.events,
            cursors=resources.cursors,
            judge=_judge(settings.judge, resources),
            second=None if second == "none" else _judge(second, resources),
            settings=settings,
        )
    )


def _judge(kind: str, resources: Resources) -> Evaluator:
    if kind == "model":
        from grandstand.apps.trainer.sources.model_judge import ModelJudge

        return ModelJudge(resources.llm, resources.random.randbytes(_SECRET_BYTES))
    from grandstand.apps.trainer.sources.offline_judge import OfflineJudge

    return OfflineJudge()


def _api(trainer: Trainer) -> object:
    from grandstand.apps.trainer.api import TrainerApi

    return TrainerApi(trainer)


def _pages(trainer: Trainer, pages: Pages) -> object:
    from grandstand.apps.trainer.pages import TrainerPages

    return TrainerPages(trainer, pages)


def _jobs(trainer: Trainer) -> tuple[Job, ...]:
    from grandstand.apps.trainer.jobs import jobs
    from grandstand.apps.trainer.sources.scenario_files import library

    return jobs(trainer, library)


def _commands(opened: Callable[[], AbstractAsyncContextManager[Trainer]]) -> typer.Typer:
    from grandstand.apps.trainer.cli import Files, commands
    from grandstand.apps.trainer.sources.scenario_files import library, read_scenario_file

    return commands(opened, Files(library, read_scenario_file))


def _deliveries(trainer: Trainer) -> Mapping[str, Deliver]:
    from grandstand.apps.trainer.service import EVALUATE

    async def evaluate(consequence: Consequence) -> None:
        await trainer.evaluate(consequence.idempotency_key)

    return {EVALUATE: evaluate}


async def _now(trainer: Trainer, caller: Caller) -> Now:
    profile, suggestion = await trainer.profile(caller), await trainer.suggestion(caller)
    if suggestion is None:
        return Now("No scenarios yet", "They are loaded when the jobs run.", f"/{NAME}")
    headline = "Not begun yet"
    if profile is not None:
        attempts = "attempt" if profile.attempt_count == 1 else "attempts"
        headline = f"{profile.overall_average} of 100 over {profile.attempt_count} {attempts}"
    title, href = suggestion.scenario.title, f"/{NAME}/scenarios/{suggestion.scenario.scenario_id}"
    return Now(headline, f"Next: {title} ({suggestion.reason})", href)


async def _search(trainer: Trainer, sought: str, caller: Caller) -> tuple[Found, ...]:
    del caller
    return await trainer.search(sought)


async def _calibration(trainer: Trainer, caller: Caller) -> tuple[Calibrated, ...]:
    return await trainer.calibration(caller)


def _belongings(trainer: Trainer) -> Belongings:
    return trainer.belongings


CARD: Final[App[Trainer]] = App(
    name=NAME,
    title="Trainer",
    purpose="Practice scenarios, judged answers and a profile that grows.",
    tables=store.TABLES,
    service=_service,
    api=_api,
    pages=_pages,
    jobs=_jobs,
    commands=_commands,
    now=_now,
    search=_search,
    calibration=_calibration,
    belongings=_belongings,
    deliveries=_deliveries,
)
