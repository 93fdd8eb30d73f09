"""The result of an attempt as its page shows it: scores, reasons and marked passages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from grandstand.apps.trainer.domain import evaluation
from grandstand.apps.trainer.domain.profiles import ForecastOutcome, brier_score
from grandstand.apps.trainer.domain.scenarios import Forecast, Question
from grandstand.apps.trainer.services.attempts import AttemptWithScenario, Comparison
from grandstand.apps.trainer.services.evaluation import AttemptRecord

_QUOTED: Final = re.compile("“([^”]+)”")


@dataclass(frozen=True, slots=True)
class QuotedPassage:
    """A quote that supports a score, and the anchor in the answers; empty if not found."""

    quote: str
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class RationaleLine:
    """A reason for a score, split around the passage it quotes, if any."""

    text: str
    passage: QuotedPassage | None = None
    after: str = ""


@dataclass(frozen=True, slots=True)
class QuoteSpan:
    """The span of a quote in an answer, and the number of the dimension it supports."""

    start: int
    end: int
    dimension: int
    anchor: str


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of an answer: the dimensions that quote it, and what starts and ends here."""

    text: str
    dimensions: tuple[int, ...] = ()
    anchors: tuple[str, ...] = ()
    ends: tuple[int, ...] = ()


def find_quote(text: str, quote: str) -> tuple[int, int] | None:
    """Return the span of a quote, whatever its spacing; None if the text does not contain it."""
    at = text.find(quote) if quote else -1
    if at >= 0:
        return at, at + len(quote)
    words = [re.escape(word) for word in quote.split()]
    found = re.search(r"\s+".join(words), text) if words else None
    return None if found is None else found.span()


def first_quote(reason: str) -> str:
    """Return the first quote in a reason, or an empty string."""
    found = _QUOTED.search(reason)
    return "" if found is None else found.group(1)


def split_reason(text: str, passage: QuotedPassage | None) -> RationaleLine:
    """Split a reason around the passage it quotes."""
    found = _QUOTED.search(text)
    if found is None or passage is None:
        return RationaleLine(text)
    return RationaleLine(text[: found.start()], passage, text[found.end() :])


def split_text(text: str, spans: Sequence[QuoteSpan]) -> tuple[TextPiece, ...]:
    """Split a text where quotes start and end."""
    cuts = sorted({0, len(text), *(s.start for s in spans), *(s.end for s in spans)})
    pieces = []
    for start, end in pairwise(cuts):
        over = [each for each in spans if each.start <= start and each.end >= end]
        pieces.append(
            TextPiece(
                text=text[start:end],
                dimensions=_numbers(over),
                anchors=tuple(each.anchor for each in over if each.start == start),
                ends=_numbers([each for each in over if each.end == end]),
            )
        )
    return tuple(pieces)


def _numbers(spans: Sequence[QuoteSpan]) -> tuple[int, ...]:
    return tuple(sorted({each.dimension for each in spans}))


_NO_DETAIL: Final = evaluation.DimensionDetail("", (), "low", assessed=True, spread=0, needed="")


@dataclass(frozen=True, slots=True)
class DimensionResult:
    """The score of one dimension and its basis.

    Attributes:
        passages: Supporting passages that no reason quotes.
        before: The score of the revised attempt.
        second: The score of the second opinion.
        open: Whether the dimension is expanded at first; the weakest are.
    """

    number: int
    dimension: evaluation.Dimension
    score: int
    reasons: tuple[RationaleLine, ...]
    rationale: tuple[str, ...]
    detail: evaluation.DimensionDetail
    passages: tuple[QuotedPassage, ...]
    before: int | None = None
    second: int | None = None
    open: bool = False

    @property
    def level(self) -> str:
        """The description of the score."""
        return self.dimension.levels[self.score]

    @property
    def needed(self) -> str:
        """What a 4 would have needed; empty for a 4."""
        if self.score >= evaluation.MAX_SCORE:
            return ""
        return self.detail.needed or self.dimension.levels[evaluation.MAX_SCORE]


@dataclass(frozen=True, slots=True)
class AnswerResult:
    """One answer with its marked passages.

    Attributes:
        question: The question with its notes; None if the scenario was deleted.
        before: The revised answer.
    """

    number: int
    answer: evaluation.Answer
    pieces: tuple[TextPiece, ...]
    question: Question | None
    before: evaluation.Answer | None
    brier: float | None


@dataclass(frozen=True, slots=True)
class ResultView:
    """The content of the result page."""

    dimensions: tuple[DimensionResult, ...]
    answers: tuple[AnswerResult, ...]
    skipped: tuple[Question, ...]
    confidence: str
    second: evaluation.Judgment | None
    judge: str

    @property
    def titles(self) -> dict[int, str]:
        """The titles of the dimensions by number."""
        return {at: each.title for at, each in enumerate(evaluation.DIMENSIONS, 1)}


def build_result_view(
    view: AttemptWithScenario, comparison: Comparison | None = None
) -> ResultView:
    """Return the content of an attempt's result page."""
    attempt = view.attempt
    spans = _quote_spans(attempt)
    questions = () if view.scenario is None else view.scenario.questions
    answered = {each.question_id for each in attempt.answers}
    return ResultView(
        dimensions=_dimensions(attempt, spans, comparison),
        answers=_answers(attempt, questions, spans, comparison),
        skipped=tuple(each for each in questions if each.question_id not in answered),
        confidence=_confidence(attempt),
        second=attempt.second_opinion,
        judge="" if attempt.evaluation is None else judge_label(attempt.evaluation.model_id),
    )


def judge_label(model_id: str) -> str:
    """Return the name of a judge."""
    kind, _, version = model_id.partition("/")
    return f"offline rules, version {version}" if kind == "offline-heuristic" else model_id


_Spans = Mapping[tuple[str, str], tuple[str, QuoteSpan]]


def _quote_spans(attempt: AttemptRecord) -> _Spans:
    """Return the question and span of each quote, by dimension and quote."""
    spans: dict[tuple[str, str], tuple[str, QuoteSpan]] = {}
    for name, quotes in _quotes(attempt).items():
        number = evaluation.DIMENSION_NAMES.index(name) + 1
        for at, quote in enumerate(quotes):
            for answer in attempt.answers:
                found = find_quote(answer.answer, quote)
                if found is not None:
                    span = QuoteSpan(*found, number, f"passage-{number}-{at + 1}")
                    spans[name, quote] = (answer.question_id, span)
                    break
    return spans


def _quotes(attempt: AttemptRecord) -> dict[str, list[str]]:
    """Return the quotes of each dimension, in its reasons and besides, without duplicates."""
    scores = () if attempt.evaluation is None else attempt.evaluation.dimensions
    details = attempt.evaluation_details
    quotes = {each.name: [first_quote(reason) for reason in each.rationale] for each in scores}
    for detail in () if details is None else details.dimensions:
        quotes.setdefault(detail.name, []).extend(detail.quotes)
    return {
        name: [quote for quote in dict.fromkeys(found) if quote]
        for name, found in quotes.items()
        if name in evaluation.DIMENSIONS_BY_NAME
    }


def _dimensions(
    attempt: AttemptRecord, spans: _Spans, comparison: Comparison | None
) -> tuple[DimensionResult, ...]:
    if attempt.evaluation is None:
        return ()
    details, opinion = attempt.evaluation_details, attempt.second_opinion
    known = {} if details is None else {each.name: each for each in details.dimensions}
    before = {} if comparison is None else {c.name: c.before for c in comparison.dimensions}
    second = {} if opinion is None else {d.name: d.score for d in opinion.evaluation.dimensions}
    assessed = [
        each for each in attempt.evaluation.dimensions if known.get(each.name, _NO_DETAIL).assessed
    ]
    weakest = {each.name for each in sorted(assessed, key=lambda each: each.score)[:3]}
    return tuple(
        DimensionResult(
            number=evaluation.DIMENSION_NAMES.index(each.name) + 1,
            dimension=evaluation.DIMENSIONS_BY_NAME[each.name],
            score=each.score,
            reasons=tuple(
                split_reason(text, _passage(each.name, first_quote(text), spans))
                for text in each.rationale
            ),
            rationale=each.rationale,
            detail=known.get(each.name, _NO_DETAIL),
            passages=_passages(each, known.get(each.name, _NO_DETAIL), spans),
            before=before.get(each.name),
            second=second.get(each.name),
            open=each.name in weakest,
        )
        for each in attempt.evaluation.dimensions
        if each.name in evaluation.DIMENSIONS_BY_NAME
    )


def _passage(name: str, quote: str, spans: _Spans) -> QuotedPassage:
    found = spans.get((name, quote))
    return QuotedPassage(quote, "" if found is None else found[1].anchor)


def _passages(
    score: evaluation.DimensionScore, detail: evaluation.DimensionDetail, spans: _Spans
) -> tuple[QuotedPassage, ...]:
    quoted = {first_quote(reason) for reason in score.rationale}
    return tuple(
        _passage(score.name, quote, spans)
        for quote in dict.fromkeys(detail.quotes)
        if quote not in quoted
    )


def _answers(
    attempt: AttemptRecord,
    questions: tuple[Question, ...],
    spans: _Spans,
    comparison: Comparison | None,
) -> tuple[AnswerResult, ...]:
    asked = {each.question_id: each for each in questions}
    earlier = {} if comparison is None else {a.question_id: a for a in comparison.before.answers}
    results = []
    for at, answer in enumerate(attempt.answers):
        question = asked.get(answer.question_id)
        here = [found for name, found in spans.values() if name == answer.question_id]
        results.append(
            AnswerResult(
                number=at + 1,
                answer=answer,
                pieces=split_text(answer.answer, here),
                question=question,
                before=earlier.get(answer.question_id),
                brier=_brier(answer, None if question is None else question.forecast),
            )
        )
    return tuple(results)


def _brier(answer: evaluation.Answer, forecast: Forecast | None) -> float | None:
    percent = answer.probability_percent
    if percent is None or forecast is None or forecast.happened is None:
        return None
    return brier_score([ForecastOutcome(percent, forecast.happened)])


def _confidence(attempt: AttemptRecord) -> str:
    """Return the most frequent confidence of the dimensions; the lower one of a tie."""
    details = attempt.evaluation_details
    levels = [] if details is None else [each.confidence for each in details.dimensions]
    order: tuple[evaluation.Confidence, ...] = ("low", "medium", "high")
    return max(order, key=lambda each: (levels.count(each), -order.index(each))) if levels else ""
