"""How signals add up to a level from 0 to 4, and how deep an answer goes into its case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from grandstand.apps.trainer.domain.evaluation import MAX_SCORE
from grandstand.apps.trainer.domain.signals.arithmetic import parse_figures
from grandstand.apps.trainer.domain.signals.lexicon import word_set
from grandstand.apps.trainer.domain.signals.passages import ParsedAnswer, Sentence, Topic

MIN_READABLE_WORDS: Final = 6
_KINDS_FOR_TOP_SCORE: Final = 2
_MIN_POINT_MATCH: Final = 0.4
_MIN_SHARED_STEMS: Final = 2
_MAX_POINT_STEMS: Final = 7
_MIN_WORDS_FOR_RATE: Final = 25
_REASONING_MOVES: Final = word_set(
    """
    reason consequence condition contrast care scrutiny assumption probe alternative weighing
    grading revision definition
    """
)
# The parts of depth: the maximum points, and the amount that earns them.
_LENGTH: Final = (0.85, 1.0)
_POINTS: Final = (0.15, 3.0)
_HOPED: Final = (0.75, 12.0)
_HOPED_PER_WORD: Final = (0.85, 0.1)
_BREADTH: Final = (0.75, 30.0)
_WORKED_OUT: Final = (0.4, 4.0)
_KEY_FIGURES: Final = (0.35, 4.0)
_VARIETY: Final = (0.3, 13.0)
_VARIETY_PER_WORD: Final = (0.95, 0.1)
_OVERCLAIMED: Final = (0.8, 0.5)


@dataclass(frozen=True, slots=True)
class Signal:
    """One sign of reasoning: its points (negative counts against), a description, and its span."""

    kind: str
    points: float
    text: str
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class DimensionTally:
    """The signals of one dimension in one answer; `missing` lists what would have added points."""

    signals: tuple[Signal, ...]
    missing: tuple[str, ...]
    cap: float = MAX_SCORE
    capped_by: str = ""

    @property
    def level(self) -> float:
        """The sum of all points between 0 and the cap; one kind of signal alone earns no 4."""
        kinds = len({signal.kind for signal in self.signals if signal.points > 0})
        cap = min(self.cap, MAX_SCORE if kinds >= _KINDS_FOR_TOP_SCORE else MAX_SCORE - 1)
        return max(0.0, min(cap, sum(signal.points for signal in self.signals)))


@dataclass
class TallyBuilder:
    """Collects the signals of one dimension."""

    signals: list[Signal] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    cap: float = MAX_SCORE

    def add(self, kind: str, points: float, text: str, sentence: Sentence | None = None) -> None:
        """Add a signal, unless it has no points."""
        if points:
            span = None if sentence is None else (sentence.start, sentence.end)
            self.signals.append(Signal(kind, points, text, span))

    def add_each(
        self, kind: str, points: Sequence[float], text: str, sentences: Sequence[Sentence]
    ) -> None:
        """Add a signal for each sentence, with points by position; further sentences earn none."""
        for sentence_points, sentence in zip(points, sentences, strict=False):
            self.add(kind, sentence_points, text, sentence)

    def suggest(self, text: str, *, unless: bool) -> None:
        """List something as missing, unless it is there."""
        if not unless:
            self.missing.append(text)

    def cap_without(self, *kinds: str, cap: float) -> None:
        """Limit the level if there is no signal of these kinds."""
        if not any(signal.kind in kinds for signal in self.signals):
            self.cap = min(self.cap, cap)

    def build(self) -> DimensionTally:
        """Return the tally."""
        return DimensionTally(tuple(self.signals), tuple(self.missing), self.cap)


@dataclass(frozen=True, slots=True)
class Depth:
    """How deep an answer goes into its case, 0 to 4, and what that is based on."""

    level: float
    ideas: int
    own_ideas: int
    figures: frozenset[float]
    worked_out: frozenset[float]
    best: Sentence | None

    @property
    def description(self) -> str:
        """The basis of the level, as a reason for a score."""
        numbers = f", and {len(self.worked_out)} calculated numbers" if self.worked_out else ""
        return f"It uses {self.ideas} ideas from the case and {self.own_ideas} beyond it{numbers}"


@dataclass(frozen=True, slots=True)
class AnswerText:
    """A parsed answer, as the signals of every dimension use it."""

    parsed: ParsedAnswer
    topic: Topic
    depth: Depth

    def sentences_with(self, *families: str) -> list[Sentence]:
        """Return the counted sentences that have a cue of one of these families."""
        return [each for each in self.parsed.counted if not each.families.isdisjoint(families)]


def start_tally(answer: AnswerText, share: float) -> TallyBuilder:
    """Start a tally with a share of the answer's depth."""
    tally = TallyBuilder()
    depth = answer.depth
    tally.add("depth", share * depth.level, depth.description, depth.best)
    return tally


def subtract_overclaims(tally: TallyBuilder, answer: AnswerText, points: float) -> None:
    """Subtract points for up to three sentences that claim certainty or dismiss doubt."""
    text = "It claims more than its reasons support"
    tally.add_each("absolute", [-points] * 3, text, answer.parsed.overclaiming)


def match_points(
    parsed: ParsedAnswer, points: tuple[frozenset[str], ...]
) -> list[tuple[float, Sentence]]:
    """Return the points that the answer makes, as (how fully, the sentence that makes it)."""
    matches = []
    for stems in points:
        needed = min(len(stems), _MAX_POINT_STEMS)
        best, best_sentence = 0.0, None
        for sentence in parsed.counted:
            shared = len(stems & sentence.stems)
            if shared >= _MIN_SHARED_STEMS and shared / needed > best:
                best, best_sentence = shared / needed, sentence
        if best_sentence is not None and best >= _MIN_POINT_MATCH:
            matches.append((min(1.0, best), best_sentence))
    return matches


def measure_depth(parsed: ParsedAnswer, topic: Topic, target_words: int) -> Depth:
    """Measure the depth of an answer by its counted sentences."""
    counted = parsed.counted
    stems = frozenset[str]().union(*(each.stems for each in counted))
    figures = frozenset[float]().union(
        *(parse_figures(parsed.sentence_text(each)) for each in counted)
    )
    points = match_points(parsed, (*topic.assumptions, *topic.alternatives, *topic.traps))
    moves = frozenset[str]().union(*(each.families for each in counted)) & _REASONING_MOVES
    own = stems & topic.hoped
    words = max(_MIN_WORDS_FOR_RATE, parsed.words)
    parts = (
        _part(_LENGTH, parsed.words / max(1, target_words)),
        _part(_POINTS, sum(share for share, _ in points)),
        _part(_HOPED, len(own)),
        _part(_HOPED_PER_WORD, len(own) / words),
        _part(_BREADTH, len(stems & topic.stems)),
        _part(_WORKED_OUT, len(figures - topic.figures)),
        _part(_KEY_FIGURES, len((figures & topic.key_figures) - topic.figures)),
        _part(_VARIETY, len(moves)),
        _part(_VARIETY_PER_WORD, len(moves) / words),
        -_part(_OVERCLAIMED, len(parsed.overclaiming) / max(1, len(counted))),
    )
    return Depth(
        level=max(0.0, min(float(MAX_SCORE), sum(parts))),
        ideas=len(stems & topic.stems) - len(own),
        own_ideas=len(own),
        figures=figures,
        worked_out=figures - topic.figures,
        best=max(counted, key=lambda each: len(each.topic_stems), default=None),
    )


def _part(weight: tuple[float, float], amount: float) -> float:
    max_points, full_amount = weight
    return max_points * min(1.0, amount / full_amount)
