"""Kept here: signals of clarity, relevance and logic: how an answer is put."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from grandstand.apps.trainer.model.signals.depth import Depth, matched
from grandstand.apps.trainer.model.signals.passages import Passage, Reading
from grandstand.apps.trainer.model.signals.tally import Tally, Tallying
from grandstand.apps.trainer.model.signals.topic import Topic

_LONG_SENTENCE: Final = 45
_VAGUE_RATE: Final = 0.04
_NEAR_BEGINNING: Final = 2
_HALF: Final = 0.5
LEAST_READABLE: Final = 6
_MIDWAY: Final = frozenset(("so", "but", "and", "also", "then", "such", "these", "those", "nor"))
_RANKS: Final = {
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


@dataclass(frozen=True, slots=True)
class Sight:
    """One answer as every dimension sees it."""

    reading: Reading
    topic: Topic
    depth: Depth

    def having(self, *families: str) -> list[Passage]:
        """Answer the sentences that count and have a phrase of one of these families."""
        return [each for each in self.reading.counted if not each.families.isdisjoint(families)]


def begun(sight: Sight, share: float) -> Tallying:
    """Begin a tally with this share of the answer's depth."""
    tally = Tallying()
    tally.noted("depth", share * sight.depth.level, sight.depth.says, sight.depth.best)
    return tally


def overclaimed(tally: Tallying, sight: Sight, worth: float) -> None:
    """Count against an answer what claims certainty or scorns doubt, up to three times."""
    says = "It claims more than reasons can carry"
    tally.each("absolute", [-worth] * 3, says, sight.reading.overclaiming)


def clarity(sight: Sight) -> Tally:
    """Sentences of one's own, a position early, fixed terms, few vague words."""
    tally = begun(sight, 0.4)
    counted = sight.reading.counted
    if sight.reading.words >= LEAST_READABLE:
        tally.noted("readable", 2.3, "It can be followed", counted[0])
    early = [each for each in counted[:_NEAR_BEGINNING] if "position" in each.families]
    tally.each("position", [0.15], "The position is taken near the beginning", early)
    fixed = sight.having("definition")
    tally.each("definition", [0.1, 0.1], "A term is pinned down", fixed)
    long = [each for each in counted if len(each.tokens) > _LONG_SENTENCE]
    tally.each("long", [-0.2] * 2, "A sentence is too long to follow at once", long)
    vague = sight.having("vague")
    said = sum(cue.family == "vague" for each in vague for cue in each.cues)
    if said > _VAGUE_RATE * sight.reading.words:
        tally.each("vague", [-0.4], "Vague words stand where a fact could", vague)
    overclaimed(tally, sight, 0.4)
    tally.wanted("the position stated at the beginning", unless=bool(early))
    tally.wanted("the terms that matter pinned down", unless=bool(fixed))
    tally.wanted("exact words in place of vague ones", unless=not vague)
    return tally.done()


def relevance(sight: Sight) -> Tally:
    """The question's own subject taken up, the points its author hopes for, little beside it."""
    tally = begun(sight, 0.48)
    reading, topic = sight.reading, sight.topic
    touched = topic.asked & frozenset[str]().union(*(each.stems for each in reading.counted))
    part = len(touched) / max(1, len(topic.asked))
    if reading.words >= LEAST_READABLE:
        tally.noted("on topic", 1.9, "It is about the case", reading.counted[0])
    tally.noted("asked", 0.2 * min(1.0, part / _HALF), "It takes up what was asked")
    points = matched(reading, (*topic.assumptions, *topic.alternatives, *topic.traps))
    points.sort(key=lambda point: -point[0])
    says = "A point that decides the matter is made"
    tally.each("point", [0.1, 0.1], says, [each for _, each in points])
    beside = reading.lost("off topic") / max(1, reading.all_words - reading.repeated_words)
    tally.noted("beside", -_HALF * beside, "Part of it does not bear on the question")
    overclaimed(tally, sight, 0.38)
    tally.wanted("every part of the question answered", unless=part >= _HALF)
    tally.wanted("more room for the points that decide the matter", unless=len(points) > 1)
    return tally.done()


def logic(sight: Sight) -> Tally:
    """Reasons, consequences, conditions and contrasts tied to claims, in an order that holds."""
    tally = begun(sight, 0.52)
    if sight.reading.words >= LEAST_READABLE:
        tally.noted("claim", 1.2, "A claim is made", sight.reading.counted[0])
    for family, worth, says in (
        ("reason", (0.15, 0.1), "A claim has its reason"),
        ("consequence", (0.1, 0.05), "A conclusion is drawn"),
        ("condition", (0.35, 0.3, 0.2), "A condition is stated"),
        ("contrast", (0.1, 0.05), "What an inference does not bear is marked off"),
        ("care", (0.25, 0.15), "A trap of inference is looked at"),
    ):
        tally.each(family, worth, says, sight.having(family))
    overclaimed(tally, sight, 0.6)
    if _is_disordered(sight.reading):
        tally.noted("order", -1.2, "Sentences do not follow from those before them")
    for family, says in (
        ("reason", "a reason tied to each claim"),
        ("condition", "the conditions under which it holds"),
        ("care", "the weakest link named"),
    ):
        tally.wanted(says, unless=bool(sight.having(family)))
    return tally.done()


def _is_disordered(reading: Reading) -> bool:
    """Whether sentences that point back find nothing before them, or are counted out of turn."""
    if not reading.counted:
        return False
    pointing = broken = 0
    before = frozenset[str]()
    for each in reading.counted:
        if each.opens_backward:
            pointing += 1
            broken += not each.stems & before
        before = each.stems
    first = reading.counted[0]
    ranks = [rank for each in reading.counted if (rank := _RANKS.get(each.tokens[0].word))]
    return (
        first.opens_backward
        or first.tokens[0].word in _MIDWAY
        or (broken > 1 and broken * 2 >= pointing)
        or ranks != sorted(ranks)
        or (bool(ranks) and ranks[0] > 1)
    )
