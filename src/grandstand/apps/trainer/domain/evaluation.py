"""The rubric of eight dimensions, and what an evaluation by it consists of."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from math import floor
from typing import Final, Literal, Protocol, TypeAlias

from grandstand.apps.trainer.domain.scenarios import Question

AttemptStatus: TypeAlias = Literal["in-progress", "completed", "abandoned"]
EvaluationState: TypeAlias = Literal["pending", "failed"]
Confidence: TypeAlias = Literal["low", "medium", "high"]

RUBRIC_VERSION: Final = "1"
MAX_SCORE: Final = 4
_WORD: Final = re.compile(r"[^\W_]+(?:['’\-.,][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Dimension:
    """One quality of good reasoning; `levels` describe the scores from 0 to 4."""

    name: str
    title: str
    weight_tenths: int
    asks: str
    levels: tuple[str, str, str, str, str]
    exercise: str


DIMENSIONS: Final = (
    Dimension(
        "clarity",
        "Clarity",
        12,
        "Is the position clear, and are its terms defined?",
        (
            "There is no recognizable position.",
            "A position is hinted at, but its terms shift or stay vague.",
            "The position can be followed with effort; some terms are left open.",
            "The position is clear and its main terms are defined; small ambiguities remain.",
            "The position is stated early and precisely, and every term that matters is defined.",
        ),
        "Define the three words your next answer relies on most before you use them.",
    ),
    Dimension(
        "relevance",
        "Relevance",
        10,
        "Does it answer the question and focus on what matters?",
        (
            "It does not answer the question.",
            "It touches the subject but answers a different question.",
            "It answers part of the question, or spends its space on side issues.",
            "It answers the whole question with few digressions.",
            "It answers every part, and gives the most space to what decides the matter.",
        ),
        "Say in one line what would count as an answer, then cut what does not serve it.",
    ),
    Dimension(
        "logic",
        "Logic",
        15,
        "Do the conclusions follow?",
        (
            "There is no reasoning, or it contradicts itself.",
            "Reasons are claimed, but the conclusion does not follow from them.",
            "Some steps hold; others are leaps or rest on a fallacy.",
            "The steps follow, with a small gap or two.",
            "Every step follows, conditions are stated, and the weakest link is named.",
        ),
        "Draw the argument as a map of claims and reasons, and test each arrow.",
    ),
    Dimension(
        "evidence",
        "Evidence",
        13,
        "Are claims tied to facts, and are the facts weighed?",
        (
            "Nothing is offered in support.",
            "Support is asserted, not shown.",
            "Some claims are backed by facts, but the quality of the facts is not questioned.",
            "The main claims rest on facts from the case, and their limits are mentioned.",
            "Facts are cited exactly, weighed for quality, and what is missing is named.",
        ),
        "For each claim, write down what you would show a skeptic, and how good that source is.",
    ),
    Dimension(
        "assumptions",
        "Assumptions",
        12,
        "Are hidden assumptions brought to light and tested?",
        (
            "No assumption is noticed.",
            "An assumption is mentioned in passing.",
            "One or two assumptions are named but not examined.",
            "The main assumptions are named, with what happens if they fail.",
            "Hidden assumptions are found, ranked by weight, and a test for each is proposed.",
        ),
        "List five things that must be true for the claim to hold, then try to break each one.",
    ),
    Dimension(
        "alternatives",
        "Alternatives",
        12,
        "Are other explanations and choices considered fairly?",
        (
            "Only one view is considered.",
            "Another view is mentioned and dismissed.",
            "An alternative is described, but not compared.",
            "Two or more alternatives are compared with reasons.",
            "The strongest alternatives are put at their best and compared, with a deciding test.",
        ),
        "Argue the opposite side for five minutes, as its best advocate would.",
    ),
    Dimension(
        "quantitative-reasoning",
        "Quantitative reasoning",
        8,
        "Are numbers used where they matter, and used correctly?",
        (
            "Numbers are needed and missing, or clearly wrong.",
            "Numbers are repeated but not used.",
            "Numbers are used, but a base rate, unit or comparison is missed.",
            "Numbers are compared correctly, or rightly left out.",
            "Sizes are estimated, base rates and uncertainty considered, and the sums are right.",
        ),
        "Make a rough estimate with stated factors, then bound it from both sides.",
    ),
    Dimension(
        "humility-uncertainty",
        "Humility and uncertainty",
        10,
        "Does the stated confidence match what is known?",
        (
            "Certainty is claimed throughout, or nothing is committed to.",
            "A stock phrase is the only sign of doubt.",
            "Doubt is expressed, but not tied to anything in particular.",
            "The confidence in the main claims is stated, with reasons.",
            "Confidence is graded claim by claim, with what would change your mind.",
        ),
        "Put a probability on three claims this week and check them when the answers come in.",
    ),
)

DIMENSION_NAMES: Final = tuple(dimension.name for dimension in DIMENSIONS)
DIMENSIONS_BY_NAME: Final[Mapping[str, Dimension]] = {
    dimension.name: dimension for dimension in DIMENSIONS
}
_TOTAL_WEIGHT: Final = sum(dimension.weight_tenths for dimension in DIMENSIONS)


def overall_score(scores: Mapping[str, int]) -> int:
    """Return the weighted mean of all eight scores out of 100, rounded half up."""
    weighted = sum(dimension.weight_tenths * scores[dimension.name] for dimension in DIMENSIONS)
    return floor(Fraction(weighted * 100, _TOTAL_WEIGHT * MAX_SCORE) + Fraction(1, 2))


def word_count(text: str) -> int:
    """Count runs of letters and digits; `1,200` and `don't` are one word each."""
    return len(_WORD.findall(text))


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to one question, with the question's text at that time."""

    question_id: str
    question_text: str
    answer: str
    word_count: int
    probability_percent: int | None = None


@dataclass(frozen=True, slots=True)
class DimensionScore:
    """The score of one dimension, 0 to 4, and the reasons for it."""

    name: str
    score: int
    rationale: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A judge's scores; the overall score, out of 100, is computed by the trainer."""

    overall_score: int
    dimensions: tuple[DimensionScore, ...]
    feedback: str
    model_id: str
    evaluated_at: datetime


@dataclass(frozen=True, slots=True)
class DimensionDetail:
    """The basis for the score of one dimension.

    Attributes:
        quotes: Passages of the answers, word for word.
        assessed: False if no question asks for this dimension.
        spread: The highest minus the lowest score of several samples.
        needed: What a score of 4 would have needed.
    """

    name: str
    quotes: tuple[str, ...]
    confidence: Confidence
    assessed: bool
    spread: int
    needed: str


@dataclass(frozen=True, slots=True)
class EvaluationDetails:
    """How an evaluation was made.

    Attributes:
        samples: How many times the judge scored the answers.
        flags: Kinds of text aimed at the judge, or copied, that were found.
        review: Why a person should look at the attempt.
    """

    rubric_version: str
    prompt_version: str
    samples: int
    dimensions: tuple[DimensionDetail, ...]
    flags: tuple[str, ...] = ()
    review: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Judgment:
    """What a judge returns: an evaluation and its details."""

    evaluation: Evaluation
    details: EvaluationDetails


@dataclass(frozen=True, slots=True)
class Override:
    """Scores that an instructor changed, in the order of the dimensions; never deleted."""

    by: str
    at: datetime
    reason: str
    before: tuple[int, ...]
    after: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """What a judge reads: the case, its questions with the author's notes, and the answers."""

    scenario_title: str
    scenario_description: str
    questions: tuple[Question, ...]
    answers: tuple[Answer, ...]


class Evaluator(Protocol):
    """A judge that scores all eight dimensions with reasons, or raises an error."""

    @property
    def model_id(self) -> str:
        """The judge's name, as stored with the scores."""

    async def judge(self, request: EvaluationRequest, at: datetime) -> Judgment:
        """Score the answers.

        Raises Unavailable, SourceFailed or LimitReached if that is impossible.
        """
