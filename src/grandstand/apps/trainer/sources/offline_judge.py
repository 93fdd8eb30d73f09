"""Kept here: the judge that needs no outsider: rules that look for signs of reasoning."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from grandstand.apps.trainer.model.judging import Work
from grandstand.apps.trainer.model.rubric import RUBRIC_VERSION, overall_score
from grandstand.apps.trainer.model.signals import SIGNALS_VERSION, Assessment, assess
from grandstand.apps.trainer.model.values import (
    DimensionDetail,
    DimensionScore,
    Evaluation,
    EvaluationDetails,
    Judgement,
)

OFFLINE_JUDGE: Final = f"offline-heuristic/{SIGNALS_VERSION}"
NOTE: Final = (
    "Scored by fixed rules that look for signs of reasoning in the wording, such as reasons, "
    "figures, conditions and rival explanations. They cannot tell whether what is said is true, "
    "and they read English only: take a score as a hint, and the passages shown as its grounds."
)
_COPIED: Final = "copies-model-answer"


class OfflineJudge:
    """Judges by textual signals alone; the same work always gets the same scores."""

    @property
    def model_id(self) -> str:
        """The rules and their version."""
        return OFFLINE_JUDGE

    async def judge(self, work: Work, at: datetime) -> Judgement:
        """Judge; never raises."""
        found = assess(work)
        evaluation = Evaluation(
            overall_score=overall_score(found.scores),
            dimensions=tuple(
                DimensionScore(each.name, each.score, each.rationale) for each in found.dimensions
            ),
            feedback=found.feedback,
            model_id=OFFLINE_JUDGE,
            evaluated_at=at,
        )
        return Judgement(evaluation, _details(found))


def _details(found: Assessment) -> EvaluationDetails:
    return EvaluationDetails(
        rubric_version=RUBRIC_VERSION,
        prompt_version=f"signals/{SIGNALS_VERSION}",
        judgings=1,
        dimensions=tuple(
            DimensionDetail(
                name=each.name,
                quotes=each.quotes,
                confidence=each.confidence,
                assessed=each.assessed,
                spread=0,
                needed=each.needed,
            )
            for each in found.dimensions
        ),
        flags=found.flags,
        review=("The answer repeats the model answer.",) if _COPIED in found.flags else (),
        note=NOTE,
    )
