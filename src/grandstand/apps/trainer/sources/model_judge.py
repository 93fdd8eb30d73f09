"""Kept here: the judge that asks a language model, three times over, and checks what it says."""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from statistics import median_low
from typing import Final

from grandstand.apps.trainer.model.integrity import Screened, screened
from grandstand.apps.trainer.model.judging import Work
from grandstand.apps.trainer.model.rubric import NAMES, RUBRIC_VERSION, overall_score
from grandstand.apps.trainer.model.signals import Assessment, assess
from grandstand.apps.trainer.model.values import (
    Confidence,
    DimensionDetail,
    DimensionScore,
    Evaluation,
    EvaluationDetails,
    Judgement,
    Question,
)
from grandstand.apps.trainer.sources.judge_prompt import (
    PROMPT_VERSION,
    TASK,
    Opinion,
    Verdict,
    order_of,
    verdict_in,
)
from grandstand.kit.llm.port import Ask, Llm

JUDGINGS: Final = 3
_WIDE: Final = 2
_UNSUPPORTED: Final = 2
_QUANTITY: Final = "quantitative-reasoning"
_LOW_SIGNS: Final = 30
_FAR_ABOVE: Final = 40
_SPREAD_CONFIDENCE: Final[tuple[Confidence, ...]] = ("high", "medium")
_BOUNDARY_LETTERS: Final = 24


@dataclass(frozen=True, slots=True)
class _Checked:
    """One judging of one dimension, after its quotes were looked for in the answers."""

    score: int
    opinion: Opinion
    quotes: tuple[str, ...]
    unfound: bool
    lowered: bool


class ModelJudge:
    """Judges by a model; scores are medians, quotes are verified, the total is ours.

    `secret` makes the boundary around answers: it is a keyed digest of the work, so that nobody
    who writes an answer can foresee it, while the same work makes the same request and answers
    that were kept are found again.
    """

    def __init__(self, llm: Llm, secret: bytes) -> None:
        self._llm = llm
        self._secret = secret

    @property
    def model_id(self) -> str:
        """The model, as its provider names it."""
        return self._llm.model_id

    async def judge(self, work: Work, at: datetime) -> Judgement:
        """Judge, again when it is far above the signs in the text; see `Evaluator.judge`.

        Raises what `Llm.ask` raises: without three usable answers there is no judgement.
        """
        safe = tuple(screened(each.answer) for each in work.answers)
        signs = assess(work)
        verdicts = await self._verdicts(work, safe, range(JUDGINGS))
        if _too_good(verdicts, signs):
            more = await self._verdicts(work, safe, range(JUDGINGS, 2 * JUDGINGS))
            verdicts = (*verdicts, *more)
        return _judgement(_Judging(work, safe, signs, tuple(verdicts)), self.model_id, at)

    async def _verdicts(
        self, work: Work, safe: Sequence[Screened], samples: range
    ) -> tuple[Verdict, ...]:
        boundary = self._boundary(work, safe)
        asked = [_ask(work, safe, boundary, sample) for sample in samples]
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._llm.ask(each)) for each in asked]
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from failed
        return tuple(task.result().value for task in tasks)

    def _boundary(self, work: Work, safe: Sequence[Screened]) -> str:
        content = json.dumps([_case(work), [each.graded for each in safe]]).encode()
        return hmac.new(self._secret, content, sha256).hexdigest()[:_BOUNDARY_LETTERS]


@dataclass(frozen=True, slots=True)
class _Judging:
    """All that was gathered to judge one work."""

    work: Work
    safe: tuple[Screened, ...]
    signs: Assessment
    verdicts: tuple[Verdict, ...]

    def checked(self, name: str) -> list[_Checked]:
        """Every judging of a dimension; high scores that nothing in the answers bears out sink."""
        return [self._checked(name, each.of(name)) for each in self.verdicts]

    def _checked(self, name: str, opinion: Opinion) -> _Checked:
        found = [self._found(quote) for quote in opinion.quotes]
        quotes = tuple(quote for quote in found if quote is not None)
        needless = name == _QUANTITY and not _is_asked(name, self.work.questions)
        lowered = opinion.score > _UNSUPPORTED and not quotes and not needless
        return _Checked(
            score=_UNSUPPORTED if lowered else opinion.score,
            opinion=opinion,
            quotes=quotes,
            unfound=len(quotes) < len(found),
            lowered=lowered,
        )

    def _found(self, quote: str) -> str | None:
        return next((found for each in self.safe if (found := each.found(quote))), None)


def _judgement(judging: _Judging, model_id: str, at: datetime) -> Judgement:
    scores: list[DimensionScore] = []
    details: list[DimensionDetail] = []
    review: list[str] = []
    for name in NAMES:
        checked = judging.checked(name)
        score = median_low([each.score for each in checked])
        chosen = next(each for each in checked if each.score == score)
        scores.append(DimensionScore(name, score, chosen.opinion.rationale))
        details.append(_detail(name, checked, chosen, judging.work.questions))
        review += _doubts(name, checked)
    by_name = {each.name: each.score for each in scores}
    if _too_good(judging.verdicts, judging.signs):
        review.insert(0, "The model rates this far above the signs of reasoning in the text.")
    if judging.signs.flags:
        review.append("The text has marks of being aimed at the judge, or copied.")
    middle = min(judging.verdicts, key=lambda each: abs(each.overall - overall_score(by_name)))
    return Judgement(
        Evaluation(overall_score(by_name), tuple(scores), middle.feedback, model_id, at),
        EvaluationDetails(
            rubric_version=RUBRIC_VERSION,
            prompt_version=PROMPT_VERSION,
            judgings=len(judging.verdicts),
            dimensions=tuple(details),
            flags=judging.signs.flags,
            review=tuple(review),
            note=f"The median of {len(judging.verdicts)} judgings by {model_id}; each passage shown"
            " was found in the answer, and the total was worked out from the scores.",
        ),
    )


def _detail(
    name: str, checked: Sequence[_Checked], chosen: _Checked, questions: Sequence[Question]
) -> DimensionDetail:
    spread = _spread(checked)
    sure = spread < len(_SPREAD_CONFIDENCE) and not any(each.lowered for each in checked)
    return DimensionDetail(
        name=name,
        quotes=chosen.quotes,
        confidence=_SPREAD_CONFIDENCE[spread] if sure else "low",
        assessed=name != _QUANTITY or _is_asked(name, questions),
        spread=spread,
        needed=chosen.opinion.needed,
    )


def _doubts(name: str, checked: Sequence[_Checked]) -> list[str]:
    doubts = []
    if _spread(checked) >= _WIDE:
        told = ", ".join(str(each.opinion.score) for each in checked)
        doubts.append(f"The judgings of {name} differ: {told}.")
    if any(each.unfound for each in checked):
        doubts.append(f"A passage quoted for {name} is not in the answers.")
    if any(each.lowered for each in checked):
        doubts.append(f"A high score for {name} had no passage to stand on and was lowered.")
    return doubts


def _spread(checked: Sequence[_Checked]) -> int:
    given = [each.opinion.score for each in checked]
    return max(given) - min(given)


def _too_good(verdicts: Sequence[Verdict], signs: Assessment) -> bool:
    """Whether a model finds much where the text shows next to nothing."""
    shown = overall_score(signs.scores)
    rated = median_low([each.overall for each in verdicts])
    return shown <= _LOW_SIGNS and rated - shown >= _FAR_ABOVE


def _is_asked(name: str, questions: Sequence[Question]) -> bool:
    return any(name in each.focus_areas for each in questions)


def _ask(work: Work, safe: Sequence[Screened], boundary: str, sample: int) -> Ask[Verdict]:
    order = order_of(sample)
    told = f"Judge the dimensions in this order: {', '.join(order)}. Boundary: data-{boundary}."
    answers = (
        _fenced({"questionId": each.question_id, "answer": safely.graded.strip()}, boundary)
        for each, safely in zip(work.answers, safe, strict=True)
    )
    return Ask(
        purpose="Judging an attempt",
        task=TASK,
        material=(json.dumps(_case(work)), told, *answers),
        shape=verdict_in(order),
        sample=sample,
    )


def _case(work: Work) -> dict[str, object]:
    return {
        "title": work.scenario_title,
        "description": work.scenario_description,
        "questions": [_question(each) for each in work.questions],
    }


def _question(question: Question) -> dict[str, object]:
    told: dict[str, object] = {
        "questionId": question.question_id,
        "text": question.text,
        "focusAreas": question.focus_areas,
        "targetWordCount": question.target_word_count,
    }
    if question.notes is not None:
        told["authorNotes"] = {
            "assumptions": question.notes.assumptions,
            "alternatives": question.notes.alternatives,
            "traps": question.notes.traps,
            "keyNumbers": question.notes.key_numbers,
        }
    return told


def _fenced(answer: dict[str, str], boundary: str) -> str:
    """Put an answer as JSON between boundary lines; signs that open or close marks are escaped."""
    escaped = json.dumps(answer).replace("<", "\\u003c").replace(">", "\\u003e")
    return f"data-{boundary}\n{escaped}\nend-data-{boundary}"
