"""Kept here: a judged attempt as its page shows it: scores, reasons, passages and notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from grandstand.apps.trainer.model import (
    Answer,
    Confidence,
    DimensionDetail,
    DimensionScore,
    Evaluation,
    Forecast,
    Judgement,
    Question,
)
from grandstand.apps.trainer.model.forecasts import Resolved, brier_score
from grandstand.apps.trainer.model.rubric import BY_NAME, DIMENSIONS, MOST, NAMES, Dimension
from grandstand.apps.trainer.pages.passages import (
    Found,
    Passage,
    Piece,
    Reason,
    pieces,
    place_of,
    quoted,
    reason_of,
)
from grandstand.apps.trainer.service import Attempt, AttemptView, Comparison

_OPEN: Final = 3
_UNKNOWN: Final = DimensionDetail("", (), "low", assessed=True, spread=0, needed="")


@dataclass(frozen=True, slots=True)
class SeenDimension:
    """The score of one dimension with all that stands behind it.

    `before` is the score of what was revised, `second` that of the second opinion. `passages` are
    those that no reason quotes. What there is most to learn from is `open` from the start.
    """

    number: int
    dimension: Dimension
    score: int
    reasons: tuple[Reason, ...]
    rationale: tuple[str, ...]
    detail: DimensionDetail
    passages: tuple[Passage, ...]
    before: int | None = None
    second: int | None = None
    open: bool = False

    @property
    def level(self) -> str:
        """What the score means."""
        return self.dimension.levels[self.score]

    @property
    def needed(self) -> str:
        """What a 4 would have needed; empty for a 4."""
        if self.score >= MOST:
            return ""
        return self.detail.needed or self.dimension.levels[MOST]


@dataclass(frozen=True, slots=True)
class SeenAnswer:
    """One answer with its marked passages, and what its author hoped for.

    `question` and `before` are None where the scenario is gone, and where nothing was revised.
    """

    number: int
    answer: Answer
    pieces: tuple[Piece, ...]
    question: Question | None
    before: Answer | None
    brier: Fraction | None


@dataclass(frozen=True, slots=True)
class Seen:
    """Everything the page of a judged attempt says."""

    dimensions: tuple[SeenDimension, ...]
    answers: tuple[SeenAnswer, ...]
    skipped: tuple[Question, ...]
    confidence: str
    second: Judgement | None
    judge: str

    @property
    def titles(self) -> dict[int, str]:
        """What the numbers of dimensions stand for."""
        return {at: each.title for at, each in enumerate(DIMENSIONS, 1)}


def title_of(view: AttemptView) -> str:
    """Answer the title of an attempt's scenario, or its id when it is not kept any more."""
    return view.attempt.scenario_id if view.scenario is None else view.scenario.title


def seen(view: AttemptView, comparison: Comparison | None = None) -> Seen:
    """Answer an attempt, submitted or judged, as its page shows it."""
    attempt = view.attempt
    places = _places(attempt)
    questions = () if view.scenario is None else view.scenario.questions
    answered = {each.question_id for each in attempt.answers}
    evaluation = attempt.evaluation
    return Seen(
        dimensions=_dimensions(attempt, places, comparison),
        answers=_answers(attempt, questions, places, comparison),
        skipped=tuple(each for each in questions if each.question_id not in answered),
        confidence=_confidence(attempt),
        second=attempt.second_opinion,
        judge="" if evaluation is None else judge_in_words(evaluation.model_id),
    )


def judge_in_words(model_id: str) -> str:
    """Say who judged."""
    kind, _, version = model_id.partition("/")
    return f"the offline rules, version {version}" if kind == "offline-heuristic" else model_id


_Places = Mapping[tuple[str, str], tuple[str, Found]]


def _places(attempt: Attempt) -> _Places:
    """Where each quote of each dimension stands: the question, and the place in its answer."""
    places: dict[tuple[str, str], tuple[str, Found]] = {}
    for name, quotes in _quotes(attempt).items():
        number = NAMES.index(name) + 1
        for at, quote in enumerate(quotes):
            for answer in attempt.answers:
                spot = place_of(answer.answer, quote)
                if spot is not None:
                    found = Found(*spot, number, f"passage-{number}-{at + 1}")
                    places[name, quote] = (answer.question_id, found)
                    break
    return places


def _quotes(attempt: Attempt) -> dict[str, list[str]]:
    """What is quoted for each dimension, by its reasons and beside them, each passage once."""
    scores = () if attempt.evaluation is None else attempt.evaluation.dimensions
    details = attempt.evaluation_details
    quotes = {each.name: [quoted(reason) for reason in each.rationale] for each in scores}
    for detail in () if details is None else details.dimensions:
        quotes.setdefault(detail.name, []).extend(detail.quotes)
    return {
        name: [quote for quote in dict.fromkeys(held) if quote]
        for name, held in quotes.items()
        if name in BY_NAME
    }


def _dimensions(
    attempt: Attempt, places: _Places, comparison: Comparison | None
) -> tuple[SeenDimension, ...]:
    if attempt.evaluation is None:
        return ()
    details, opinion = attempt.evaluation_details, attempt.second_opinion
    known = {} if details is None else {each.name: each for each in details.dimensions}
    before = {} if comparison is None else {c.name: c.before for c in comparison.dimensions}
    second = {} if opinion is None else {d.name: d.score for d in opinion.evaluation.dimensions}
    weakest = _weakest(attempt.evaluation, known)
    return tuple(
        SeenDimension(
            number=NAMES.index(each.name) + 1,
            dimension=BY_NAME[each.name],
            score=each.score,
            reasons=tuple(_reason(each.name, text, places) for text in each.rationale),
            rationale=each.rationale,
            detail=known.get(each.name, _UNKNOWN),
            passages=_passages(each, known.get(each.name, _UNKNOWN), places),
            before=before.get(each.name),
            second=second.get(each.name),
            open=each.name in weakest,
        )
        for each in attempt.evaluation.dimensions
        if each.name in BY_NAME
    )


def _weakest(evaluation: Evaluation, known: Mapping[str, DimensionDetail]) -> set[str]:
    asked = [e for e in evaluation.dimensions if known.get(e.name, _UNKNOWN).assessed]
    return {each.name for each in sorted(asked, key=lambda each: each.score)[:_OPEN]}


def _reason(name: str, text: str, places: _Places) -> Reason:
    quote = quoted(text)
    return reason_of(text, _passage(name, quote, places) if quote else None)


def _passage(name: str, quote: str, places: _Places) -> Passage:
    found = places.get((name, quote))
    return Passage(quote, "" if found is None else found[1].anchor)


def _passages(
    score: DimensionScore, detail: DimensionDetail, places: _Places
) -> tuple[Passage, ...]:
    told = {quoted(reason) for reason in score.rationale}
    return tuple(
        _passage(score.name, quote, places)
        for quote in dict.fromkeys(detail.quotes)
        if quote not in told
    )


def _answers(
    attempt: Attempt,
    questions: tuple[Question, ...],
    places: _Places,
    comparison: Comparison | None,
) -> tuple[SeenAnswer, ...]:
    asked = {each.question_id: each for each in questions}
    earlier = {} if comparison is None else {a.question_id: a for a in comparison.before.answers}
    made = []
    for at, answer in enumerate(attempt.answers):
        question = asked.get(answer.question_id)
        here = [found for name, found in places.values() if name == answer.question_id]
        made.append(
            SeenAnswer(
                number=at + 1,
                answer=answer,
                pieces=pieces(answer.answer, here),
                question=question,
                before=earlier.get(answer.question_id),
                brier=_brier(answer, None if question is None else question.forecast),
            )
        )
    return tuple(made)


def _brier(answer: Answer, forecast: Forecast | None) -> Fraction | None:
    said = answer.probability_percent
    if said is None or forecast is None or forecast.happened is None:
        return None
    return brier_score([Resolved(said, forecast.happened)])


def _confidence(attempt: Attempt) -> str:
    """The confidence most dimensions have, the lower of two as frequent."""
    details = attempt.evaluation_details
    named = [] if details is None else [each.confidence for each in details.dimensions]
    order: tuple[Confidence, ...] = ("low", "medium", "high")
    return max(order, key=lambda each: (named.count(each), -order.index(each))) if named else ""
