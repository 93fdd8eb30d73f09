"""Kept here: what a judge is given, and what every judge promises."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from grandstand.apps.trainer.model.values import Answer, Judgement, Question


@dataclass(frozen=True, slots=True)
class Work:
    """An attempt as a judge sees it: the case, its questions with their notes, and the answers."""

    scenario_title: str
    scenario_description: str
    questions: tuple[Question, ...]
    answers: tuple[Answer, ...]


class Evaluator(Protocol):
    """A judge: all eight dimensions are scored, each with reasons, or an error is raised."""

    @property
    def model_id(self) -> str:
        """Who judges, as it is written beside the scores."""
        ...

    async def judge(self, work: Work, at: datetime) -> Judgement:
        """Judge; raise Unavailable, SourceFailed or LimitReached, never a score out of nothing."""
        ...
