"""The signals of each dimension, and how they add up to a level from 0 to 4."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from grandstand.apps.trainer.domain.evaluation import MAX_SCORE
from grandstand.apps.trainer.domain.signals.arithmetic import find_sums, parse_figures
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
_LONG_SENTENCE_WORDS: Final = 45
_MAX_VAGUE_RATE: Final = 0.04
_OPENING_SENTENCES: Final = 2
_MIN_QUESTION_SHARE: Final = 0.5
_OFF_TOPIC_WEIGHT: Final = 0.5
_CONTINUATIONS: Final = frozenset(
    ("so", "but", "and", "also", "then", "such", "these", "those", "nor")
)
_ORDINALS: Final = {
    "first": 1,
    "firstly": 1,
    "second": 2,
    "secondly": 2,
    "third": 3,
    "thirdly": 3,
    "fourth": 4,
    "finally": 5,
    "lastly": 5,
}
_MENTION_CAP: Final = 1.4
_NOTHING_CAP: Final = 0.9
_WRONG_SUM_POINTS: Final = -1.0
_WRONG_SUM_CAP: Final = 2.4
_FIGURE_ENDS: Final = "0123456789%"


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


def score_clarity(answer: AnswerText) -> DimensionTally:
    """Tally readable sentences, an early position, defined terms and few vague words."""
    tally = start_tally(answer, 0.4)
    counted = answer.parsed.counted
    if answer.parsed.words >= MIN_READABLE_WORDS:
        tally.add("readable", 2.3, "It is easy to follow", counted[0])
    early = [each for each in counted[:_OPENING_SENTENCES] if "position" in each.families]
    tally.add_each("position", [0.15], "It takes a position near the beginning", early)
    definitions = answer.sentences_with("definition")
    tally.add_each("definition", [0.1, 0.1], "It defines a term", definitions)
    long = [each for each in counted if len(each.tokens) > _LONG_SENTENCE_WORDS]
    tally.add_each("long", [-0.2] * 2, "A sentence is too long to follow", long)
    vague = answer.sentences_with("vague")
    vague_cues = sum(cue.family == "vague" for each in vague for cue in each.cues)
    if vague_cues > _MAX_VAGUE_RATE * answer.parsed.words:
        tally.add_each("vague", [-0.4], "It uses vague words where facts are needed", vague)
    subtract_overclaims(tally, answer, 0.4)
    tally.suggest("a position stated at the beginning", unless=bool(early))
    tally.suggest("definitions of the terms that matter", unless=bool(definitions))
    tally.suggest("exact words in place of vague ones", unless=not vague)
    return tally.build()


def score_relevance(answer: AnswerText) -> DimensionTally:
    """Tally how much of the question and of the author's points the answer covers."""
    tally = start_tally(answer, 0.48)
    parsed, topic = answer.parsed, answer.topic
    covered = topic.asked & frozenset[str]().union(*(each.stems for each in parsed.counted))
    share = len(covered) / max(1, len(topic.asked))
    if parsed.words >= MIN_READABLE_WORDS:
        tally.add("on topic", 1.9, "It is about the case", parsed.counted[0])
    tally.add("asked", 0.2 * min(1.0, share / _MIN_QUESTION_SHARE), "It addresses the question")
    points = match_points(parsed, (*topic.assumptions, *topic.alternatives, *topic.traps))
    points.sort(key=lambda point: -point[0])
    text = "It makes a point that decides the matter"
    tally.add_each("point", [0.1, 0.1], text, [sentence for _, sentence in points])
    off_topic = parsed.words_with_status("off topic") / max(
        1, parsed.all_words - parsed.repeated_words
    )
    text = "Part of it is not about the question"
    tally.add("beside", -_OFF_TOPIC_WEIGHT * off_topic, text)
    subtract_overclaims(tally, answer, 0.38)
    tally.suggest("an answer to every part of the question", unless=share >= _MIN_QUESTION_SHARE)
    tally.suggest("more space for the points that decide the matter", unless=len(points) > 1)
    return tally.build()


def score_logic(answer: AnswerText) -> DimensionTally:
    """Tally reasons, consequences, conditions and contrasts, and the order of the sentences."""
    tally = start_tally(answer, 0.52)
    if answer.parsed.words >= MIN_READABLE_WORDS:
        tally.add("claim", 1.2, "It makes a claim", answer.parsed.counted[0])
    for family, points, text in (
        ("reason", (0.15, 0.1), "It gives a reason for a claim"),
        ("consequence", (0.1, 0.05), "It draws a conclusion"),
        ("condition", (0.35, 0.3, 0.2), "It states a condition"),
        ("contrast", (0.1, 0.05), "It says what does not follow"),
        ("care", (0.25, 0.15), "It examines a possible fallacy"),
    ):
        tally.add_each(family, points, text, answer.sentences_with(family))
    subtract_overclaims(tally, answer, 0.6)
    if _is_disordered(answer.parsed):
        tally.add("order", -1.2, "The sentences do not follow from one another")
    for family, text in (
        ("reason", "a reason for each claim"),
        ("condition", "the conditions under which it holds"),
        ("care", "the weakest link"),
    ):
        tally.suggest(text, unless=bool(answer.sentences_with(family)))
    return tally.build()


def _is_disordered(parsed: ParsedAnswer) -> bool:
    """Return whether sentences refer back to nothing, or are numbered out of order."""
    if not parsed.counted:
        return False
    referring = broken = 0
    previous = frozenset[str]()
    for sentence in parsed.counted:
        if sentence.opens_backward:
            referring += 1
            broken += not sentence.stems & previous
        previous = sentence.stems
    first = parsed.counted[0]
    numbers = [number for each in parsed.counted if (number := _ORDINALS.get(each.tokens[0].word))]
    return (
        first.opens_backward
        or first.tokens[0].word in _CONTINUATIONS
        or (broken > 1 and broken * 2 >= referring)
        or numbers != sorted(numbers)
        or (bool(numbers) and numbers[0] > 1)
    )


def score_evidence(answer: AnswerText) -> DimensionTally:
    """Tally facts and numbers of the case behind claims, and doubts about their quality."""
    tally = start_tally(answer, 0.7)
    parsed = answer.parsed
    if parsed.words >= MIN_READABLE_WORDS:
        tally.add("claim", 0.3, "It discusses the facts of the case", parsed.counted[0])
    cited = [
        each
        for each in _with_figures(answer)
        if parse_figures(parsed.sentence_text(each)) & answer.topic.figures
    ]
    tally.add_each("figure", [0.25, 0.15, 0.1], "It uses a number from the case", cited)
    reasons = answer.sentences_with("reason")
    tally.add_each("reason", [0.1, 0.05], "It supports a claim", reasons)
    scrutiny = answer.sentences_with("scrutiny")
    text = "It questions the quality of the evidence"
    tally.add_each("scrutiny", [0.15, 0.1, 0.1], text, scrutiny)
    support = answer.sentences_with("support")
    tally.add_each("support", [0.1, 0.05], "It names a source or an example", support)
    subtract_overclaims(tally, answer, 0.4)
    tally.cap_without("figure", "reason", "scrutiny", "support", cap=_MENTION_CAP)
    tally.suggest("exact facts or numbers from the case", unless=bool(cited))
    tally.suggest("how good the evidence is, and what is missing", unless=len(scrutiny) > 1)
    return tally.build()


def score_assumptions(answer: AnswerText) -> DimensionTally:
    """Tally named assumptions, and what happens if they fail."""
    tally = start_tally(answer, 0.55)
    named = answer.sentences_with("assumption")
    tally.add_each("named", [0.8, 0.6, 0.4], "It names an assumption", named)
    found = [sentence for _, sentence in match_points(answer.parsed, answer.topic.assumptions)]
    tally.add_each("point", [0.2, 0.15], "It finds an assumption the case rests on", found)
    probed = _near(answer, named + found, "probe", "condition")
    text = "It says what follows if the assumption fails, or how to test it"
    tally.add_each("probe", [0.25, 0.15], text, probed)
    conditions = answer.sentences_with("condition", "probe")
    tally.add_each("condition", [0.2, 0.2, 0.15], "It says what a claim depends on", conditions)
    subtract_overclaims(tally, answer, 0.35)
    tally.cap_without("named", "point", "condition", cap=_NOTHING_CAP)
    tally.cap_without("named", "point", cap=_MENTION_CAP)
    tally.suggest("the hidden assumptions", unless=len(named) > 1)
    tally.suggest("what happens if they fail, or a test of each", unless=len(probed) > 1)
    return tally.build()


def score_alternatives(answer: AnswerText) -> DimensionTally:
    """Tally other explanations and choices, with reasons and comparisons."""
    tally = start_tally(answer, 0.8)
    named = answer.sentences_with("alternative")
    tally.add_each("named", [0.35, 0.2, 0.1], "It presents another view or choice", named)
    found = [sentence for _, sentence in match_points(answer.parsed, answer.topic.alternatives)]
    text = "It finds an alternative that has to be answered"
    tally.add_each("point", [0.1, 0.1], text, found)
    weighed = answer.sentences_with("weighing")
    tally.add_each("weighing", [0.1, 0.1], "It compares views", weighed)
    reasoned = _near(answer, named + found, "reason", "consequence", "contrast", "condition")
    tally.add_each("reason", [0.05, 0.05], "It gives a reason for an alternative", reasoned)
    subtract_overclaims(tally, answer, 0.4)
    tally.cap_without("named", "point", "weighing", cap=_MENTION_CAP)
    tally.suggest("at least two alternatives at their best", unless=len(named) > 1)
    tally.suggest("what would decide between them", unless=bool(weighed))
    return tally.build()


def score_quantity(answer: AnswerText) -> DimensionTally:
    """Tally numbers used and compared, base rates, and correct arithmetic."""
    tally = start_tally(answer, 0.8)
    figured = _with_figures(answer)
    tally.add_each("figure", [0.1, 0.1], "It uses a number", figured)
    key = len(answer.depth.figures & answer.topic.key_figures)
    tally.add("key", min(0.2, 0.05 * key), "It uses numbers that decide the matter")
    compared = [each for each in figured if "comparison" in each.families]
    tally.add_each("comparison", [0.1, 0.05], "It compares numbers", compared)
    measured = answer.sentences_with("measure")
    text = "It considers a rate, base or denominator"
    tally.add_each("measure", [0.2, 0.15], text, measured)
    worked_out = len(answer.depth.worked_out)
    text = "It calculates numbers instead of repeating them"
    tally.add("worked", min(0.2, 0.05 * worked_out), text)
    subtract_overclaims(tally, answer, 0.35)
    _check_sums(tally, answer)
    tally.cap_without("figure", cap=_NOTHING_CAP)
    tally.suggest("use of the numbers in the case", unless=bool(figured))
    tally.suggest("a base rate, denominator or comparison", unless=bool(measured))
    tally.suggest("a calculation, with its uncertainty", unless=worked_out > 1)
    return tally.build()


def score_humility(answer: AnswerText) -> DimensionTally:
    """Tally doubt tied to claims, degrees of confidence, and what would change the view."""
    tally = start_tally(answer, 0.6)
    hedged = [each for each in answer.sentences_with("hedge") if each.topic_stems]
    tally.add_each("hedge", [0.25, 0.2, 0.15], "It states a claim with caution", hedged)
    graded = answer.sentences_with("grading")
    tally.add_each("grading", [0.3, 0.2, 0.1], "It states a degree of confidence", graded)
    revisions = answer.sentences_with("revision")
    tally.add_each("revision", [0.5, 0.4], "It says what would change this view", revisions)
    limits = answer.sentences_with("scrutiny")
    tally.add_each("limits", [0.1, 0.05], "It sees the limits of what is known", limits)
    subtract_overclaims(tally, answer, 0.4)
    tally.cap_without("hedge", "grading", "revision", cap=_NOTHING_CAP)
    tally.suggest("how sure you are of each main claim", unless=bool(graded))
    tally.suggest("what would change your mind", unless=bool(revisions))
    return tally.build()


def _check_sums(tally: TallyBuilder, answer: AnswerText) -> None:
    for sentence in _with_figures(answer):
        for stated in find_sums(answer.parsed.sentence_text(sentence)):
            if stated.is_correct:
                tally.add("sum", 0.2, "The calculation is correct", sentence)
            else:
                tally.add("wrong sum", _WRONG_SUM_POINTS, "The calculation is wrong", sentence)
                tally.cap = min(tally.cap, _WRONG_SUM_CAP)


def _with_figures(answer: AnswerText) -> list[Sentence]:
    return [
        each
        for each in answer.parsed.counted
        if any(token.word[-1] in _FIGURE_ENDS for token in each.tokens)
    ]


def _near(answer: AnswerText, sentences: Sequence[Sentence], *families: str) -> list[Sentence]:
    """Return the sentences with these families that are among `sentences` or follow one."""
    starts = {each.start for each in sentences}
    counted = answer.parsed.counted
    return [
        each
        for at, each in enumerate(counted)
        if not each.families.isdisjoint(families)
        and any(near.start in starts for near in counted[max(0, at - 1) : at + 1])
    ]
