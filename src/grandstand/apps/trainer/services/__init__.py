"""The services of the trainer, and how they are built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from grandstand.apps.trainer.domain.evaluation import Evaluator
from grandstand.apps.trainer.domain.scenarios import ScenarioDraft
from grandstand.apps.trainer.services.attempts import AttemptService
from grandstand.apps.trainer.services.evaluation import EVALUATE_TOPIC, EvaluationService
from grandstand.apps.trainer.services.exports import ExportService, TrainerPersonalData
from grandstand.apps.trainer.services.instructor import InstructorService
from grandstand.apps.trainer.services.profiles import ProfileService
from grandstand.apps.trainer.services.scenarios import ScenarioService
from grandstand.apps.trainer.settings import TrainerSettings
from grandstand.apps.trainer.sources.scenario_files import load_library
from grandstand.apps.trainer.store import TrainerStore
from grandstand.core.clock import Clock
from grandstand.kit.app import AppResources, AppServices
from grandstand.kit.cursors import Cursors
from grandstand.kit.events import Events
from grandstand.kit.live import Publisher
from grandstand.kit.outbox import Outbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Trainer:
    """The services of the trainer.

    attempt = await trainer.attempts.submit_new("ada", "two-hospitals", answers)
    profile = await trainer.profiles.latest("ada")
    """

    scenarios: ScenarioService
    attempts: AttemptService
    evaluations: EvaluationService
    profiles: ProfileService
    instructor: InstructorService
    exports: ExportService
    personal_data: TrainerPersonalData
    settings: TrainerSettings
    cursors: Cursors
    clock: Clock


def build(resources: AppResources) -> AppServices[Trainer]:
    """Build the services from the platform's resources."""
    settings = resources.settings or TrainerSettings()
    second = settings.second_judge
    store = TrainerStore(resources.store, resources.clock, resources.random)
    trainer = create_trainer(
        store=store,
        judge=_create_judge(settings.judge, resources),
        second_judge=None if second == "none" else _create_judge(second, resources),
        outbox=resources.outbox,
        publisher=resources.publisher,
        events=resources.events,
        cursors=resources.cursors,
        settings=settings,
    )
    return app_services(trainer)


def create_trainer(
    *,
    store: TrainerStore,
    judge: Evaluator,
    second_judge: Evaluator | None,
    outbox: Outbox,
    publisher: Publisher,
    events: Events,
    cursors: Cursors,
    settings: TrainerSettings,
    library: Callable[[], Sequence[ScenarioDraft]] = load_library,
) -> Trainer:
    """Build the services with the given judges and scenario library."""
    scenarios = ScenarioService(store=store, settings=settings, library=library)
    evaluations = EvaluationService(
        store=store,
        scenarios=scenarios,
        judge=judge,
        second_judge=second_judge,
        publisher=publisher,
        events=events,
        settings=settings,
    )
    attempts = AttemptService(
        store=store,
        scenarios=scenarios,
        evaluations=evaluations,
        outbox=outbox,
        settings=settings,
    )
    profiles = ProfileService(
        store=store, scenarios=scenarios, publisher=publisher, window=settings.window
    )
    return Trainer(
        scenarios=scenarios,
        attempts=attempts,
        evaluations=evaluations,
        profiles=profiles,
        instructor=InstructorService(
            store=store, scenarios=scenarios, publisher=publisher, events=events
        ),
        exports=ExportService(
            store=store, scenarios=scenarios, attempts=attempts, profiles=profiles
        ),
        personal_data=TrainerPersonalData(store),
        settings=settings,
        cursors=cursors,
        clock=store.clock,
    )


def app_services(trainer: Trainer) -> AppServices[Trainer]:
    """Return the services with the functions that the platform calls."""
    return AppServices(
        services=trainer,
        home_card=trainer.scenarios.home_card,
        search=trainer.scenarios.search,
        calibration=trainer.profiles.calibration,
        personal_data=trainer.personal_data,
        outbox_handlers={EVALUATE_TOPIC: trainer.evaluations.deliver},
    )


def _create_judge(kind: str, resources: AppResources) -> Evaluator:
    from grandstand.apps.trainer.sources.judges import ModelJudge, OfflineJudge

    if kind == "model":
        return ModelJudge(resources.llm, resources.random.randbytes(32))
    return OfflineJudge()
