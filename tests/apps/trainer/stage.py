"""A trainer on a real store, with a judge whose scores the answers set."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Any

import pytest

from grandstand.apps.trainer.domain.evaluation import (
    DIMENSION_NAMES,
    DimensionDetail,
    DimensionScore,
    Evaluation,
    EvaluationDetails,
    EvaluationRequest,
    Evaluator,
    Judgment,
)
from grandstand.apps.trainer.domain.scenarios import AuthorNotes, Forecast, Question, ScenarioDraft
from grandstand.apps.trainer.services import Trainer, create_trainer
from grandstand.apps.trainer.services.validation import AnswerInput, AttemptInput
from grandstand.apps.trainer.settings import TrainerSettings
from grandstand.apps.trainer.store import TABLES, TrainerStore
from grandstand.core.clock import Clock, SystemClock
from grandstand.core.errors import Unavailable
from grandstand.kit.auth.caller import Caller
from grandstand.kit.cursors import Cursors
from grandstand.kit.events import EVENT_TABLES, Events
from grandstand.kit.outbox import OUTBOX_TABLES, Outbox
from grandstand.storage.tables import AsyncStore, Store
from grandstand.storage.tables.engines.protocol import Engine
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.platform_tables import PLATFORM_TABLES

ALL_TABLES = (*TABLES, *OUTBOX_TABLES, *EVENT_TABLES, *PLATFORM_TABLES)

ADA = Caller("ada", "Ada", frozenset({"user"}), "session")
BOB = Caller("bob", "Bob", frozenset({"user"}), "session")
ROOT = Caller("root", "Root", frozenset({"user", "admin"}), "session")

NOTES = AuthorNotes(
    assumptions=("the secret assumption",),
    traps=("the secret trap",),
    model_answer="the secret model answer",
)
HOSPITALS = ScenarioDraft(
    scenario_id="two-hospitals",
    title="Two hospitals",
    description="A city has two hospitals, and a newspaper ranks them by survival. " * 3,
    difficulty="beginner",
    tags=("health", "statistics"),
    estimated_minutes=20,
    questions=(
        Question("q1", "What would you want to know?", "long", 100, ("assumptions",), NOTES),
        Question("q2", "Which would you choose?", "short", 50, ("logic", "evidence"), NOTES),
    ),
)
PLANT = ScenarioDraft(
    scenario_id="battery-plant",
    title="A battery plant",
    description="A plant is to open in a year, says its builder, who has been late before. " * 3,
    difficulty="advanced",
    tags=("forecasting",),
    estimated_minutes=30,
    questions=(
        Question(
            "q1",
            "How likely is it to open in time?",
            "short",
            50,
            ("humility-uncertainty",),
            NOTES,
            Forecast("The plant opens in time", happened=False),
        ),
    ),
)
POLL = ScenarioDraft(
    scenario_id="a-poll",
    title="A poll",
    description="Sixty percent of those who answered are for the new lane, says a poll. " * 3,
    difficulty="intermediate",
    tags=(),
    estimated_minutes=15,
    questions=(Question("q1", "What is assumed?", "long", 100, ("assumptions",), NOTES),),
)
SCENARIOS = (HOSPITALS, PLANT, POLL)


@dataclass
class ScriptedJudge:
    """Gives every dimension the score in an answer such as `score 3`; can be down, slow or held."""

    model_id: str = "scripted/1"
    down: bool = False
    seconds: float = 0.0
    held_until: asyncio.Event | None = None
    names: tuple[str, ...] = DIMENSION_NAMES
    flags: tuple[str, ...] = ()
    asked: list[EvaluationRequest] = field(default_factory=list)

    async def judge(self, request: EvaluationRequest, at: datetime) -> Judgment:
        self.asked.append(request)
        await asyncio.sleep(self.seconds)
        if self.held_until is not None:
            await self.held_until.wait()
        if self.down:
            raise Unavailable("The judge is at lunch")
        match = re.search(r"score (\d)", " ".join(each.answer for each in request.answers))
        score = int(match.group(1)) if match else 2
        scores = tuple(DimensionScore(name, score, ("Because it says so",)) for name in self.names)
        details = tuple(DimensionDetail(name, (), "low", True, 0, "More") for name in self.names)
        return Judgment(
            Evaluation(0, scores, "Go on", self.model_id, at),
            EvaluationDetails("1", "1", 1, details, self.flags),
        )


class Listener:
    """Records what is published."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, dict[str, Any]]] = []

    def publish(self, topic: str, news: dict[str, Any]) -> None:
        self.heard.append((topic, news))


@dataclass
class Stage:
    """A trainer and what it is built from."""

    trainer: Trainer
    store: AsyncStore
    clock: Clock
    outbox: Outbox
    events: Events
    judge: ScriptedJudge
    slept: list[float]

    async def follow(self) -> int:
        """Apply the changes to the profiles."""
        return await self.trainer.profiles.catch_up(self.trainer.profiles.follow())


def staged(
    store: Store | AsyncStore,
    clock: Clock,
    *,
    judge: ScriptedJudge | None = None,
    second: Evaluator | None = None,
    **settings: Any,
) -> Stage:
    """Build a trainer; sleeps are recorded and take no time."""
    tables = store if isinstance(store, AsyncStore) else AsyncStore(store)
    scripted, listener, slept = judge or ScriptedJudge(), Listener(), list[float]()
    random, outbox = Random(1), Outbox(tables, clock)
    events = Events(tables, clock=clock, random=random, publisher=listener)

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        await asyncio.sleep(0)

    trainer = create_trainer(
        store=TrainerStore(tables, clock, random, sleep),
        judge=scripted,
        second_judge=second,
        outbox=outbox,
        publisher=listener,
        events=events,
        cursors=Cursors(b"secret"),
        settings=TrainerSettings(**({"scenario_seconds": 0} | settings)),
        library=lambda: SCENARIOS,
    )
    return Stage(trainer, tables, clock, outbox, events, scripted, slept)


def given(*texts: str, percent: int | None = None, seconds: int = 60) -> AttemptInput:
    """Return answers to q1, q2 and so on."""
    answers = tuple(
        AnswerInput(f"q{number}", text, percent) for number, text in enumerate(texts, start=1)
    )
    return AttemptInput(answers, seconds)


def saying(score: int) -> AttemptInput:
    """Return an answer that gets this score in every dimension."""
    return given(f"I say score {score} and have my reasons")


@contextmanager
def _embedded(_request: pytest.FixtureRequest, _prefix: str) -> Iterator[Engine]:
    with closing(SqliteEngine.open(None, clock=SystemClock())) as engine:
        yield engine


on_sqlite = pytest.mark.parametrize("store", [_embedded], indirect=True, ids=["sqlite"])
"""For tests that do not depend on the store: only the faster one is used."""
