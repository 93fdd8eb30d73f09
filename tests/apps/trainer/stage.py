"""A trainer on a real store, with a judge that says what the answer tells it to."""

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

from grandstand.apps.trainer.model import (
    AuthorNotes,
    DimensionDetail,
    DimensionScore,
    Evaluation,
    EvaluationDetails,
    Forecast,
    Judgement,
    Question,
)
from grandstand.apps.trainer.model.judging import Evaluator, Work
from grandstand.apps.trainer.model.rubric import NAMES
from grandstand.apps.trainer.model.scenarios import ScenarioDraft
from grandstand.apps.trainer.service import Given, GivenAnswer, Means, Trainer
from grandstand.apps.trainer.settings import TrainerSettings
from grandstand.apps.trainer.store import TABLES
from grandstand.base.clock import Clock, SystemClock
from grandstand.base.errors import Unavailable
from grandstand.kit.cursors import Cursors
from grandstand.kit.events import EVENT_TABLES, Events
from grandstand.kit.outbox import OUTBOX_TABLES, Outbox
from grandstand.kit.who.caller import Caller
from grandstand.storage.tables import AsyncStore, Store
from grandstand.storage.tables.engines.protocol import Engine
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.house import HOUSE_TABLES

ALL_TABLES = (*TABLES, *OUTBOX_TABLES, *EVENT_TABLES, *HOUSE_TABLES)

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
    """Gives every dimension the score an answer names as `score 3`; down or slow when told to."""

    model_id: str = "scripted/1"
    down: bool = False
    seconds: float = 0.0
    names: tuple[str, ...] = NAMES
    flags: tuple[str, ...] = ()
    asked: list[Work] = field(default_factory=list)

    async def judge(self, work: Work, at: datetime) -> Judgement:
        self.asked.append(work)
        await asyncio.sleep(self.seconds)
        if self.down:
            raise Unavailable("The judge is at lunch")
        told = re.search(r"score (\d)", " ".join(each.answer for each in work.answers))
        score = int(told.group(1)) if told else 2
        scores = tuple(DimensionScore(name, score, ("Because it says so",)) for name in self.names)
        details = tuple(DimensionDetail(name, (), "low", True, 0, "More") for name in self.names)
        return Judgement(
            Evaluation(0, scores, "Go on", self.model_id, at),
            EvaluationDetails("1", "1", 1, details, self.flags),
        )


class Listener:
    """Whoever is told the news, and remembers it."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, dict[str, Any]]] = []

    def tell(self, topic: str, news: dict[str, Any]) -> None:
        self.heard.append((topic, news))


@dataclass
class Stage:
    """A trainer, and all it stands on."""

    trainer: Trainer
    means: Means
    judge: ScriptedJudge
    slept: list[float]

    @property
    def store(self) -> AsyncStore:
        return self.means.store

    async def follow(self) -> int:
        """Let the profiles follow what changed."""
        return await self.trainer.catch_up(self.trainer.follow())


def staged(
    store: Store | AsyncStore,
    clock: Clock,
    *,
    judge: ScriptedJudge | None = None,
    second: Evaluator | None = None,
    **settings: Any,
) -> Stage:
    """Set a trainer up; sleeping is noted and costs no time."""
    kept = store if isinstance(store, AsyncStore) else AsyncStore(store)
    scripted, listener, slept = judge or ScriptedJudge(), Listener(), []
    random = Random(1)

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        await asyncio.sleep(0)

    means = Means(
        store=kept,
        outbox=Outbox(kept, clock),
        clock=clock,
        random=random,
        teller=listener,
        events=Events(kept, clock=clock, random=random, teller=listener),
        cursors=Cursors(b"secret"),
        judge=scripted,
        second=second,
        settings=TrainerSettings(**({"scenario_seconds": 0} | settings)),
        sleep=sleep,
    )
    return Stage(Trainer(means), means, scripted, slept)


def given(*texts: str, percent: int | None = None, seconds: int = 60) -> Given:
    """Answers to q1, q2 and so on."""
    answers = tuple(
        GivenAnswer(f"q{number}", text, percent) for number, text in enumerate(texts, start=1)
    )
    return Given(answers, seconds)


def saying(score: int) -> Given:
    """An answer that is judged with this score in every dimension."""
    return given(f"I say score {score} and have my reasons")


@contextmanager
def _embedded(_request: pytest.FixtureRequest, _prefix: str) -> Iterator[Engine]:
    with closing(SqliteEngine.open(None, clock=SystemClock())) as engine:
        yield engine


on_sqlite = pytest.mark.parametrize("store", [_embedded], indirect=True, ids=["sqlite"])
"""For what does not depend on the store: it is shown on the quicker one alone."""
