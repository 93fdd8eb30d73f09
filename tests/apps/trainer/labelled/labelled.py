"""Answers labelled by hand before there was a judge: what each is worth in every dimension.

The held half is for measuring a judge only; nothing may be tuned by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import msgspec

from grandstand.apps.trainer.domain.evaluation import (
    DIMENSION_NAMES,
    Answer,
    EvaluationRequest,
    word_count,
)
from grandstand.apps.trainer.domain.scenarios import Question, ScenarioDraft
from grandstand.apps.trainer.sources.scenario_files import load_library

Half: TypeAlias = Literal["tuning", "held"]
Quality: TypeAlias = Literal["poor", "fair", "good"]
Level: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=4)]
Percent: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=100)]
Levels: TypeAlias = tuple[Level, Level, Level, Level, Level, Level, Level, Level]


class LabelledAnswer(
    msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True, kw_only=True
):
    """One answer, as somebody might write it, with a level for each dimension."""

    quality: Quality
    levels: Levels
    answer: str
    probability_percent: Percent | None = None

    @property
    def scores(self) -> Mapping[str, int]:
        """The levels by the names of their dimensions."""
        return dict(zip(DIMENSION_NAMES, self.levels, strict=True))


class LabelledQuestion(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A question with answers of different worth."""

    question_id: str
    answers: tuple[LabelledAnswer, ...]


class LabelledScenario(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The labelled answers to one scenario; all of them belong to the same half."""

    scenario_id: str
    half: Half
    questions: tuple[LabelledQuestion, ...]


class Case(msgspec.Struct, frozen=True):
    """A labelled answer with all that a judge is given."""

    scenario_id: str
    question_id: str
    half: Half
    label: LabelledAnswer
    work: EvaluationRequest


def labelled() -> tuple[LabelledScenario, ...]:
    """Return the whole set, by scenario id."""
    paths = sorted(Path(__file__).parent.glob("*.yaml"))
    return tuple(msgspec.yaml.decode(path.read_bytes(), type=LabelledScenario) for path in paths)


def cases(half: Half) -> tuple[Case, ...]:
    """Return every labelled answer of one half, ready to be judged on its own."""
    drafts = {draft.scenario_id: draft for draft in load_library()}
    return tuple(
        case
        for scenario in labelled()
        if scenario.half == half
        for case in _cases(scenario, drafts[scenario.scenario_id])
    )


def _cases(scenario: LabelledScenario, draft: ScenarioDraft) -> Iterator[Case]:
    questions = {question.question_id: question for question in draft.questions}
    for asked in scenario.questions:
        question = questions[asked.question_id]
        for label in asked.answers:
            work = _work(draft, question, label)
            yield Case(draft.scenario_id, question.question_id, scenario.half, label, work)


def _work(draft: ScenarioDraft, question: Question, label: LabelledAnswer) -> EvaluationRequest:
    answer = Answer(
        question_id=question.question_id,
        question_text=question.text,
        answer=label.answer,
        word_count=word_count(label.answer),
        probability_percent=label.probability_percent,
    )
    return EvaluationRequest(draft.title, draft.description, (question,), (answer,))
