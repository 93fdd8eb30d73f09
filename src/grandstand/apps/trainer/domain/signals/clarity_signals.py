"""Signals of clarity, relevance and logic."""

from __future__ import annotations

from typing import Final

from grandstand.apps.trainer.domain.signals.passages import ParsedAnswer
from grandstand.apps.trainer.domain.signals.scoring import (
    MIN_READABLE_WORDS,
    AnswerText,
    DimensionTally,
    match_points,
    start_tally,
    subtract_overclaims,
)

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
