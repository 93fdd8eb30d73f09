"""The assessment of a whole attempt: a level, reasons and quotes for every dimension."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor
from typing import Final

from grandstand.apps.trainer.domain.evaluation import (
    DIMENSION_NAMES,
    DIMENSIONS_BY_NAME,
    MAX_SCORE,
    Answer,
    Confidence,
    DimensionDetail,
    DimensionScore,
    EvaluationRequest,
)
from grandstand.apps.trainer.domain.integrity import ScreenedAnswer, screen_answer
from grandstand.apps.trainer.domain.scenarios import Question
from grandstand.apps.trainer.domain.signals import scoring
from grandstand.apps.trainer.domain.signals.passages import (
    SentenceStatus,
    build_topic,
    parse_answer,
)

SIGNALS_VERSION: Final = "1"

_QUANTITY: Final = "quantitative-reasoning"
_SCORERS: Final[Mapping[str, Callable[[scoring.AnswerText], scoring.DimensionTally]]] = {
    "clarity": scoring.score_clarity,
    "relevance": scoring.score_relevance,
    "logic": scoring.score_logic,
    "evidence": scoring.score_evidence,
    "assumptions": scoring.score_assumptions,
    "alternatives": scoring.score_alternatives,
    _QUANTITY: scoring.score_quantity,
    "humility-uncertainty": scoring.score_humility,
}
# Shares of the target length below which the level is capped.
_LENGTH_CAPS: Final = ((0.05, 0.4), (0.1, 1.0), (0.2, 2.4), (0.3, 3.0))
_LEVEL_WITHOUT_FIGURES: Final = 3.0
_COPIED_SHARE: Final = 0.6
_MIN_TRIGRAMS_FOR_COPY: Final = 20
_MIN_SIGNALS_FOR_MEDIUM: Final = 3
_MIN_WORDS_FOR_MEDIUM: Final = 40
_MAX_REASONS: Final = 5
_MAX_QUOTES: Final = 3
_MAX_QUOTE_CHARS: Final = 160
_SOLID_SCORE: Final = 3
_NOTABLE_SHARE: Final = 0.15
_GENERAL_KINDS: Final = frozenset(("depth", "readable", "on topic", "claim"))
_UNCOUNTED: Final[Mapping[SentenceStatus, str]] = {
    "echo": "Part of it repeats the question or the case and does not count",
    "gibberish": "Part of it is unreadable and does not count",
    "stuffed": "Part of it is signal words without content and does not count",
    "off topic": "Part of it is not about the case and does not count",
}


@dataclass(frozen=True, slots=True)
class Assessment:
    """All eight dimensions in the rubric's order, and flags about the text itself."""

    dimensions: tuple[DimensionScore, ...]
    details: tuple[DimensionDetail, ...]
    feedback: str
    flags: tuple[str, ...]

    @property
    def scores(self) -> dict[str, int]:
        """The score of each dimension by name."""
        return {dimension.name: dimension.score for dimension in self.dimensions}


@dataclass(frozen=True, slots=True)
class _QuestionAnswer:
    """A question with its screened and parsed answer."""

    question: Question
    screened: ScreenedAnswer
    text: scoring.AnswerText

    @property
    def words(self) -> int:
        return self.text.parsed.words

    @property
    def copies_model_answer(self) -> bool:
        own, model = self.text.parsed.trigrams, self.text.topic.model
        return len(own) >= _MIN_TRIGRAMS_FOR_COPY and len(own & model) / len(own) >= _COPIED_SHARE

    def tally(self, name: str) -> scoring.DimensionTally:
        """Tally a dimension; a short answer is capped."""
        tally = _SCORERS[name](self.text)
        target = self.question.target_word_count
        for share, cap in _LENGTH_CAPS:
            if self.words < share * target:
                reason = f"Only {self.words} of about {target} words count"
                if not self.words:
                    reason = "The question about this has no answer that counts"
                return replace(tally, cap=min(tally.cap, cap), capped_by=reason)
        return tally


def assess(request: EvaluationRequest) -> Assessment:
    """Assess an attempt. The same words always get the same scores; never raises."""
    answers = {answer.question_id: answer for answer in request.answers}
    pairs = tuple(
        _question_answer(request, question, answers.get(question.question_id))
        for question in request.questions
    )
    flags = [flag for pair in pairs for flag in pair.screened.flags]
    if any(pair.copies_model_answer for pair in pairs):
        flags.append("copies-model-answer")
    assessed = [_assess_dimension(name, pairs) for name in DIMENSION_NAMES]
    feedback = summarize({score.name: score.score for score, _ in assessed})
    return Assessment(
        dimensions=tuple(score for score, _ in assessed),
        details=tuple(detail for _, detail in assessed),
        feedback=feedback,
        flags=tuple(dict.fromkeys(flags)),
    )


def summarize(scores: Mapping[str, int]) -> str:
    """Return feedback of two or three sentences: the strongest, the weakest, and an exercise."""
    strongest = max(DIMENSION_NAMES, key=lambda name: scores[name])
    weakest = min(DIMENSION_NAMES, key=lambda name: scores[name])
    if not scores[strongest]:
        return "The answers show no reasoning of their own yet: take a position and give a reason."
    best, worst = DIMENSIONS_BY_NAME[strongest], DIMENSIONS_BY_NAME[weakest]
    sentences = [f"Strongest: {best.title.lower()}. {best.levels[scores[strongest]]}"]
    if scores[weakest] < _SOLID_SCORE:
        sentences.append(f"Weakest: {worst.title.lower()}. {worst.levels[scores[weakest]]}")
        sentences.append(f"Exercise: {worst.exercise}")
    return " ".join(sentences)


def _question_answer(
    request: EvaluationRequest, question: Question, answer: Answer | None
) -> _QuestionAnswer:
    screened = screen_answer(answer.answer if answer else "")
    topic = build_topic(request.scenario_title, request.scenario_description, question)
    parsed = parse_answer(screened.graded, topic)
    depth = scoring.measure_depth(parsed, topic, question.target_word_count)
    return _QuestionAnswer(question, screened, scoring.AnswerText(parsed, topic, depth))


def _assess_dimension(
    name: str, pairs: Sequence[_QuestionAnswer]
) -> tuple[DimensionScore, DimensionDetail]:
    """Assess a dimension by the answers to the questions about it, or by all if there are none."""
    focused = [pair for pair in pairs if name in pair.question.focus_areas]
    used = focused or pairs
    tallies = [(pair, pair.tally(name)) for pair in used]
    level = sum(tally.level for _, tally in tallies) / max(1, len(tallies))
    needs_no_figures = (
        name == _QUANTITY and not focused and not any(pair.text.depth.figures for pair in pairs)
    )
    if needs_no_figures:
        readable = any(pair.words >= scoring.MIN_READABLE_WORDS for pair in pairs)
        level = _LEVEL_WITHOUT_FIGURES if readable else 0.0
    score = min(MAX_SCORE, floor(level + 0.5))
    if needs_no_figures:
        rationale: tuple[str, ...] = ("No question calls for numbers, and none are used",)
        quotes: tuple[str, ...] = ()
        missing: tuple[str, ...] = ()
    else:
        rationale, quotes = _explain(tallies)
        missing = tuple(dict.fromkeys(text for _, tally in tallies for text in tally.missing))
    return (
        DimensionScore(name, score, rationale or (DIMENSIONS_BY_NAME[name].levels[0],)),
        DimensionDetail(
            name=name,
            quotes=quotes,
            confidence=_confidence(tallies),
            assessed=bool(focused) or name != _QUANTITY,
            spread=0,
            needed=_needed(name, score, missing),
        ),
    )


def _explain(
    tallies: Sequence[tuple[_QuestionAnswer, scoring.DimensionTally]],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return up to five reasons and up to three quotes, the specific and weighty ones first."""
    signals = sorted(
        ((signal, pair) for pair, tally in tallies for signal in tally.signals),
        key=lambda item: (item[0].kind in _GENERAL_KINDS, -abs(item[0].points)),
    )
    reasons: dict[str, str] = {}
    quotes: dict[str, None] = {}
    for signal, pair in signals:
        quote = _quote(signal, pair.screened)
        reasons.setdefault(signal.text, f"{signal.text}: “{quote}”" if quote else signal.text)
        if quote:
            quotes.setdefault(quote)
    rationale = (*_limits(tallies), *reasons.values())[:_MAX_REASONS]
    return rationale, tuple(quotes)[:_MAX_QUOTES]


def _quote(signal: scoring.Signal, answer: ScreenedAnswer) -> str:
    """Return the passage of a signal word for word, cut at a space if it is long."""
    if signal.span is None:
        return ""
    passage = answer.passage(*signal.span).strip()
    if len(passage) <= _MAX_QUOTE_CHARS:
        return passage
    return passage[:_MAX_QUOTE_CHARS].rpartition(" ")[0]


def _limits(tallies: Sequence[tuple[_QuestionAnswer, scoring.DimensionTally]]) -> list[str]:
    """Return up to two reasons why the level is limited."""
    reasons = [tally.capped_by for _, tally in tallies if tally.capped_by][:1]
    parsed = [pair.text.parsed for pair, _ in tallies]
    for status, text in _UNCOUNTED.items():
        if any(p.words_with_status(status) > _NOTABLE_SHARE * p.all_words for p in parsed):
            reasons.append(text)
    if any(p.repeated_words > _NOTABLE_SHARE * p.all_words for p in parsed):
        reasons.append("Part of it is repeated and counts once")
    return reasons[:2]


def _needed(name: str, score: int, missing: Sequence[str]) -> str:
    if score == MAX_SCORE:
        return "Nothing more: this is the highest level."
    top = DIMENSIONS_BY_NAME[name].levels[MAX_SCORE]
    return f"{top} Not found here: {'; '.join(missing)}." if missing else top


def _confidence(tallies: Sequence[tuple[_QuestionAnswer, scoring.DimensionTally]]) -> Confidence:
    """Return medium if several kinds of signals agree on enough text, else low; never high."""
    signals = [signal for _, tally in tallies for signal in tally.signals]
    kinds = {signal.kind for signal in signals}
    words = sum(pair.words for pair, _ in tallies)
    several = len(signals) >= _MIN_SIGNALS_FOR_MEDIUM and len(kinds) > 1
    return "medium" if several and words >= _MIN_WORDS_FOR_MEDIUM else "low"
