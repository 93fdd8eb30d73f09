"""Kept here: a whole attempt assessed: every answer read, every dimension put on its level."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor
from typing import Final

from grandstand.apps.trainer.model.integrity import Screened, screened
from grandstand.apps.trainer.model.judging import Work
from grandstand.apps.trainer.model.rubric import MOST, NAMES
from grandstand.apps.trainer.model.signals.depth import depth_of
from grandstand.apps.trainer.model.signals.expression import (
    LEAST_READABLE,
    Sight,
    clarity,
    logic,
    relevance,
)
from grandstand.apps.trainer.model.signals.passages import reading_of
from grandstand.apps.trainer.model.signals.substance import (
    alternatives,
    assumptions,
    evidence,
    humility,
    quantity,
)
from grandstand.apps.trainer.model.signals.tally import Tally
from grandstand.apps.trainer.model.signals.telling import Told, feedback_of, told_of
from grandstand.apps.trainer.model.signals.topic import topic_of
from grandstand.apps.trainer.model.values import Answer, Confidence, Question

SIGNALS_VERSION: Final = "1"

_QUANTITY: Final = "quantitative-reasoning"
_TALLIES: Final[Mapping[str, Callable[[Sight], Tally]]] = {
    "clarity": clarity,
    "relevance": relevance,
    "logic": logic,
    "evidence": evidence,
    "assumptions": assumptions,
    "alternatives": alternatives,
    _QUANTITY: quantity,
    "humility-uncertainty": humility,
}
# How much of the hoped-for length an answer must have for a level above each of these.
_LENGTH_CAPS: Final = ((0.05, 0.4), (0.1, 1.0), (0.2, 2.4), (0.3, 3.0))
_HALF: Final = 0.5
_LEFT_OUT: Final = 3.0
_COPIED_SHARE: Final = 0.6
_LEAST_FOR_COPY: Final = 20
_SURE_SIGNALS: Final = 3
_SURE_WORDS: Final = 40


@dataclass(frozen=True, slots=True)
class Assessed:
    """One dimension of an attempt; `level` is the score before rounding."""

    name: str
    score: int
    level: float
    rationale: tuple[str, ...]
    quotes: tuple[str, ...]
    confidence: Confidence
    assessed: bool
    needed: str


@dataclass(frozen=True, slots=True)
class Assessment:
    """All eight dimensions in the rubric's order, with what was noticed about the text itself."""

    dimensions: tuple[Assessed, ...]
    feedback: str
    flags: tuple[str, ...]

    @property
    def scores(self) -> dict[str, int]:
        """The score of each dimension by its name."""
        return {each.name: each.score for each in self.dimensions}


@dataclass(frozen=True, slots=True)
class _Read:
    """One answer, made safe and read, with its question."""

    question: Question
    screened: Screened
    sight: Sight

    @property
    def words(self) -> int:
        """How many of its words count."""
        return self.sight.reading.words

    @property
    def calls_for_figures(self) -> bool:
        """Whether it asks for quantitative reasoning."""
        return _QUANTITY in self.question.focus_areas

    @property
    def copies_model(self) -> bool:
        """Whether it repeats the author's own answer."""
        runs, model = self.sight.reading.trigrams, self.sight.topic.model
        return len(runs) >= _LEAST_FOR_COPY and len(runs & model) / len(runs) >= _COPIED_SHARE


def assess(work: Work) -> Assessment:
    """Assess an attempt; the same words always get the same scores. Never raises."""
    read = _read(work)
    flags = [flag for each in read for flag in each.screened.flags]
    if any(each.copies_model for each in read):
        flags.append("copies-model-answer")
    made = tuple(_assessed(name, read) for name in NAMES)
    told = feedback_of({each.name: each.score for each in made})
    return Assessment(made, told, tuple(dict.fromkeys(flags)))


def _read(work: Work) -> tuple[_Read, ...]:
    given = {each.question_id: each for each in work.answers}
    return tuple(
        _read_one(work, question, given.get(question.question_id)) for question in work.questions
    )


def _read_one(work: Work, question: Question, answer: Answer | None) -> _Read:
    safe = screened(answer.answer if answer else "")
    topic = topic_of(work.scenario_title, work.scenario_description, question)
    reading = reading_of(safe.graded, topic)
    depth = depth_of(reading, topic, question.target_word_count)
    return _Read(question, safe, Sight(reading, topic, depth))


def _asking(name: str, read: Sequence[_Read]) -> tuple[Sequence[_Read], bool]:
    """Answer those whose question asks for this dimension, or all when none does."""
    if name == _QUANTITY:
        asking = [each for each in read if each.calls_for_figures]
    else:
        asking = [each for each in read if name in each.question.focus_areas]
    return (asking or read), bool(asking)


def _tally(name: str, each: _Read) -> Tally:
    tally = _TALLIES[name](each.sight)
    target = each.question.target_word_count
    for below, cap in _LENGTH_CAPS:
        if each.words < below * target:
            said = f"Only {each.words} words of about {target} count"
            if not each.words:
                said = "The question that asks for this has no answer that counts"
            return replace(tally, cap=min(tally.cap, cap), capped_by=said)
    return tally


def _assessed(name: str, read: Sequence[_Read]) -> Assessed:
    asking, is_asked = _asking(name, read)
    tallies = [_tally(name, each) for each in asking]
    level = sum(tally.level for tally in tallies) / max(1, len(tallies))
    left_out = name == _QUANTITY and not is_asked and not any(e.sight.depth.figures for e in read)
    if left_out:
        level = _LEFT_OUT if any(each.words >= LEAST_READABLE for each in read) else 0.0
    score = min(MOST, floor(level + _HALF))
    given = zip(tallies, asking, strict=True)
    told = told_of(
        name,
        score,
        [Told(tally, each.screened, each.sight.reading) for tally, each in given],
        left_out=left_out,
    )
    return Assessed(
        name=name,
        score=score,
        level=level,
        rationale=told.rationale,
        quotes=told.quotes,
        confidence=_confidence(tallies, asking),
        assessed=is_asked or name != _QUANTITY,
        needed=told.needed,
    )


def _confidence(tallies: Sequence[Tally], read: Sequence[_Read]) -> Confidence:
    """Medium where several signals of more than one kind agree on enough text; never high."""
    signals = [signal for tally in tallies for signal in tally.signals]
    several = len(signals) >= _SURE_SIGNALS and len({each.kind for each in signals}) > 1
    return "medium" if several and sum(each.words for each in read) >= _SURE_WORDS else "low"
