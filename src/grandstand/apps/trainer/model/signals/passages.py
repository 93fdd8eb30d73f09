"""Kept here: an answer cut into sentences, and which of them count."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from grandstand.apps.trainer.model.signals.lexicon import REASONING_STEMS, Cue, cues_of
from grandstand.apps.trainer.model.signals.sums import figures_of
from grandstand.apps.trainer.model.signals.topic import Topic, Trigram
from grandstand.apps.trainer.model.signals.words import (
    FUNCTION_WORDS,
    Token,
    content_stem,
    listed,
    tokens_of,
)

Standing: TypeAlias = Literal[
    "counted", "echo", "off topic", "gibberish", "stuffed", "short", "carried"
]

# From the first sign of a row, and never going back: a text of dots costs no more than others.
_SPLIT: Final = re.compile(r"(?<![.!?])[.!?]++[\"'”’)\]]*+\s+|\n+")
_SHORTENED: Final = ("e.g.", "i.e.", "vs.", "approx.", "cf.", "no.", "dr.", "mr.", "ms.", "mrs.")
_LONGEST_SENTENCE: Final = 60
_REPEATED_WORDS: Final = 6
_ECHO_SHARE: Final = 0.6
_LEAST_WORDS: Final = 3
_LEAST_FUNCTION_SHARE: Final = 0.18
_FEW_SIGNS: Final = 4
_SIGNS_A_STEM: Final = 7
_TIED_SHARE: Final = 0.12
_UNREADABLE_SHARE: Final = 0.4
_COMMON: Final = frozenset(("opening", "comparison", "vague", "estimate", "position", "support"))
_SURELY_ABOUT: Final = 3
_ABOUT_SHARE: Final = 0.3
_FIGURE_STARTS: Final = "0123456789$£€¥"
_FEW_JOINTS: Final = 3
_BROKEN_JOINTS: Final = 4
_JOINTS_OF_SALAD: Final = 6
_JOINTS: Final = listed(
    "the an its their our every would could should must will cannot of from with"
)
_NEVER_AFTER_JOINT: Final = listed(
    """
    of in on at by for with to from is are was were and or but if because would could should will
    can may might must has does did so than then when while though
    """
)
_BACKWARD: Final = frozenset(("this", "that", "these", "those", "it", "they", "such", "both", "he"))
_UNREADABLE: Final = re.compile(
    r"[bcdfghjklmnpqrstvwxz]{5,}|(.)\1{3,}|[^\W\d_]{22,}", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence: its words, what it is about, its cues, and whether it counts."""

    start: int
    end: int
    tokens: tuple[Token, ...]
    stems: frozenset[str]
    topical: frozenset[str]
    cues: tuple[Cue, ...]
    families: frozenset[str]
    opens_backward: bool
    standing: Standing


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer as far as it can be read: its sentences, and how much of it says nothing new."""

    text: str
    passages: tuple[Passage, ...]
    counted: tuple[Passage, ...]
    words: int
    all_words: int
    repeated_words: int
    trigrams: frozenset[Trigram]

    def passage(self, passage: Passage) -> str:
        """The text of a sentence, with the sign that may follow its last word."""
        return self.text[passage.start : passage.end + 1]

    @property
    def overclaiming(self) -> list[Passage]:
        """The sentences that claim certainty or scorn doubt, whether they count or not."""
        return [
            each
            for each in self.passages
            if "absolute" in each.families and each.standing not in {"echo", "short"}
        ]

    def lost(self, standing: Standing) -> int:
        """How many words stand in sentences that do not count, for this reason."""
        return sum(len(each.tokens) for each in self.passages if each.standing == standing)


def reading_of(text: str, topic: Topic) -> Reading:
    """Read an answer: what it repeats is dropped, and sentences that say nothing do not count."""
    tokens = tokens_of(text)
    broken, joints = _joints([token.word for token in tokens])
    if broken >= _BROKEN_JOINTS and broken * _JOINTS_OF_SALAD >= joints:
        passage = _passage(0, len(text), tokens, topic)
        salad = replace(passage, standing="gibberish")
        return Reading(text, (salad,), (), 0, len(tokens), 0, frozenset())
    text, repeated = _without_repeats(text, tokens)
    passages: list[Passage] = []
    for start, end, held in _sentences(text, [t for t in tokens if not text[t.start].isspace()]):
        passages.append(_passage(start, end, held, topic))
    counted = tuple(each for each in passages if each.standing == "counted")
    words = sum(len(each.tokens) for each in counted)
    said = [token.word for token in tokens]
    runs = frozenset(zip(said, said[1:], said[2:], strict=False))
    return Reading(text, tuple(passages), counted, words, len(tokens), repeated, runs)


def _without_repeats(text: str, tokens: Sequence[Token]) -> tuple[str, int]:
    """Blank every run of words that stood before."""
    words = [token.word for token in tokens]
    seen: set[tuple[str, ...]] = set()
    repeated = bytearray(len(words))
    for at in range(len(words) - _REPEATED_WORDS + 1):
        run = tuple(words[at : at + _REPEATED_WORDS])
        if run in seen:
            repeated[at : at + _REPEATED_WORDS] = b"\1" * _REPEATED_WORDS
        seen.add(run)
    if not any(repeated):
        return text, 0
    letters = list(text)
    last = -1
    for at, token in enumerate(tokens):
        if repeated[at]:
            start = token.start if last < 0 else last
            letters[start : token.end] = "\n" * (token.end - start)
            last = token.end
        else:
            last = -1
    return "".join(letters), sum(repeated)


def _sentences(text: str, tokens: Sequence[Token]) -> list[tuple[int, int, list[Token]]]:
    ends = (
        found.end()
        for found in _SPLIT.finditer(text)
        if not text[max(0, found.start() - 8) : found.start() + 1].lower().endswith(_SHORTENED)
    )
    made: list[tuple[int, int, list[Token]]] = []
    at = 0
    for bound in (*ends, len(text) + 1):
        held: list[Token] = []
        while at < len(tokens) and tokens[at].start < bound:
            held.append(tokens[at])
            at += 1
        for first in range(0, len(held), _LONGEST_SENTENCE):
            part = held[first : first + _LONGEST_SENTENCE]
            made.append((part[0].start, part[-1].end, part))
    return made


def _passage(start: int, end: int, held: list[Token], topic: Topic) -> Passage:
    stems = frozenset(made for each in held if (made := content_stem(each.word)) is not None)
    topical = stems & topic.stems
    figured = _figured(held, topic)
    cues = tuple(cues_of(held))
    standing = _standing(held, cues, topic)
    about = len(topical - REASONING_STEMS)
    if standing == "counted" and not figured and about < _SURELY_ABOUT:
        known = about and about >= _ABOUT_SHARE * len(stems - REASONING_STEMS)
        standing = "counted" if known else "carried" if held[0].word in _BACKWARD else "off topic"
    return Passage(
        start,
        end,
        tokens=tuple(held),
        stems=stems,
        topical=topical,
        cues=cues,
        families=frozenset(cue.family for cue in cues),
        opens_backward=any(cue.family == "opening" and not cue.first for cue in cues),
        standing=standing,
    )


def _figured(held: list[Token], topic: Topic) -> bool:
    """Whether a figure of the case, or one its author works out, is used."""
    text = " ".join(each.word for each in held if each.word[0] in _FIGURE_STARTS)
    return bool(text) and bool(figures_of(text) & (topic.figures | topic.key_figures))


def _standing(held: list[Token], cues: tuple[Cue, ...], topic: Topic) -> Standing:
    words = [each.word for each in held]
    if len(words) < _LEAST_WORDS:
        return "short"
    if _is_salad(words):
        return "gibberish"
    if _is_echo(words, topic):
        return "echo"
    return "stuffed" if _is_stuffed(words, cues) else "counted"


def _is_stuffed(words: Sequence[str], cues: Sequence[Cue]) -> bool:
    """Whether signal words stand almost alone, without the small words that tie them to content."""
    covered: set[int] = set()
    for cue in cues:
        if cue.family not in _COMMON:
            covered.update(range(cue.first, cue.first + cue.length))
    if len(covered) < _FEW_SIGNS:
        return False
    free = [word for at, word in enumerate(words) if at not in covered]
    tied = sum(word in FUNCTION_WORDS for word in free) / len(words)
    about = sum(content_stem(word) is not None for word in free)
    return tied < _TIED_SHARE or about * _SIGNS_A_STEM < len(covered)


def _is_salad(words: Sequence[str]) -> bool:
    function = sum(word in FUNCTION_WORDS for word in words)
    lettered = sum(word[0].isalpha() for word in words)
    if lettered >= 8 and function / lettered < _LEAST_FUNCTION_SHARE:  # noqa: PLR2004 - shorter ones may be headings
        return True
    unreadable = sum(map(_is_unreadable, words))
    if unreadable / len(words) >= _UNREADABLE_SHARE:
        return True
    broken, joints = _joints(words)
    return broken * 2 > joints or (broken > 1 and broken * _FEW_JOINTS >= joints)


@lru_cache(1 << 14)
def _is_unreadable(word: str) -> bool:
    return _UNREADABLE.search(word) is not None


def _joints(words: Sequence[str]) -> tuple[int, int]:
    """How many words that must be followed by certain others are not, of how many there are."""
    broken = joints = 0
    for word, following in pairwise(words):
        if word in _JOINTS:
            joints += 1
            broken += following in _NEVER_AFTER_JOINT
    return broken, joints


def _is_echo(words: Sequence[str], topic: Topic) -> bool:
    runs = list(zip(words, words[1:], words[2:], strict=False))
    return sum(run in topic.source for run in runs) / len(runs) >= _ECHO_SHARE
