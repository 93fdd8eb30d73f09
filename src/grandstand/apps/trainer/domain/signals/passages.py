"""An answer split into sentences, and which of them count."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from grandstand.apps.trainer.domain.scenarios import AuthorNotes, Question
from grandstand.apps.trainer.domain.signals.arithmetic import parse_figures
from grandstand.apps.trainer.domain.signals.lexicon import (
    FUNCTION_WORDS,
    REASONING_STEMS,
    CueMatch,
    Token,
    content_stem,
    content_stems,
    find_cues,
    tokenize,
    word_set,
)

Trigram: TypeAlias = tuple[str, str, str]
SentenceStatus: TypeAlias = Literal[
    "counted", "echo", "off topic", "gibberish", "stuffed", "short", "carried"
]

_TOPIC_CACHE_SIZE: Final = 512
# Possessive quantifiers, anchored at the first sign of a run: linear even for a text of dots.
_SENTENCE_END: Final = re.compile(r"(?<![.!?])[.!?]++[\"'”’)\]]*+\s+|\n+")
_ABBREVIATIONS: Final = (
    *("e.g.", "i.e.", "vs.", "approx.", "cf."),
    *("no.", "dr.", "mr.", "ms.", "mrs."),
)
_MAX_SENTENCE_WORDS: Final = 60
_REPEAT_WORDS: Final = 6
_ECHO_SHARE: Final = 0.6
_MIN_SENTENCE_WORDS: Final = 3
_MIN_FUNCTION_WORD_SHARE: Final = 0.18
_MIN_STUFFED_CUES: Final = 4
_MAX_CUES_PER_STEM: Final = 7
_MIN_TYING_SHARE: Final = 0.12
_UNREADABLE_SHARE: Final = 0.4
_COMMON_FAMILIES: Final = frozenset(
    ("opening", "comparison", "vague", "estimate", "position", "support")
)
_CERTAIN_TOPIC_STEMS: Final = 3
_TOPIC_SHARE: Final = 0.3
_FIGURE_STARTS: Final = "0123456789$£€¥"
_JOINTS_PER_BREAK_IN_SENTENCE: Final = 3
_JOINTS_PER_BREAK_IN_TEXT: Final = 6
_MIN_BROKEN_JOINTS: Final = 4
_JOINTS: Final = word_set(
    "the an its their our every would could should must will cannot of from with"
)
_NEVER_AFTER_JOINT: Final = word_set(
    """
    of in on at by for with to from is are was were and or but if because would could should will
    can may might must has does did so than then when while though
    """
)
_POINTS_BACK: Final = frozenset(
    ("this", "that", "these", "those", "it", "they", "such", "both", "he")
)
_UNREADABLE: Final = re.compile(
    r"[bcdfghjklmnpqrstvwxz]{5,}|(.)\1{3,}|[^\W\d_]{22,}", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Topic:
    """The stems, numbers and wording that an answer is compared with.

    Attributes:
        asked: Stems of the question alone.
        hoped: Stems of the author's notes that neither the question nor the case give away.
        source: Wording of the case, which an answer may not just repeat.
        model: Wording of the model answer.
    """

    stems: frozenset[str]
    asked: frozenset[str]
    hoped: frozenset[str]
    source: frozenset[Trigram]
    model: frozenset[Trigram]
    figures: frozenset[float]
    key_figures: frozenset[float]
    assumptions: tuple[frozenset[str], ...]
    alternatives: tuple[frozenset[str], ...]
    traps: tuple[frozenset[str], ...]


@lru_cache(_TOPIC_CACHE_SIZE)
def build_topic(title: str, description: str, question: Question) -> Topic:
    """Return the topic of a question."""
    notes = question.notes or AuthorNotes()
    points = (*notes.assumptions, *notes.alternatives, *notes.traps, *notes.key_numbers)
    case = f"{title}. {description} {question.text}"
    case_stems = content_stems(case)
    note_stems = content_stems(" ".join((*points, notes.model_answer)))
    return Topic(
        stems=case_stems | note_stems,
        asked=content_stems(question.text),
        hoped=note_stems - case_stems,
        source=trigrams([token.word for token in tokenize(case)]),
        model=trigrams([token.word for token in tokenize(notes.model_answer)]),
        figures=parse_figures(case),
        key_figures=parse_figures(" ".join((*notes.key_numbers, notes.model_answer))),
        assumptions=_stems_per_point(notes.assumptions),
        alternatives=_stems_per_point(notes.alternatives),
        traps=_stems_per_point(notes.traps),
    )


def trigrams(words: Sequence[str]) -> frozenset[Trigram]:
    """Return every three consecutive words."""
    return frozenset(zip(words, words[1:], words[2:], strict=False))


def _stems_per_point(points: tuple[str, ...]) -> tuple[frozenset[str], ...]:
    return tuple(stems for point in points if (stems := content_stems(point)))


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an answer: its words, subject and cues, and whether it counts."""

    start: int
    end: int
    tokens: tuple[Token, ...]
    stems: frozenset[str]
    topic_stems: frozenset[str]
    cues: tuple[CueMatch, ...]
    families: frozenset[str]
    opens_backward: bool
    status: SentenceStatus


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """The sentences of an answer; `words` counts those in `counted` sentences."""

    text: str
    sentences: tuple[Sentence, ...]
    counted: tuple[Sentence, ...]
    words: int
    all_words: int
    repeated_words: int
    trigrams: frozenset[Trigram]

    def sentence_text(self, sentence: Sentence) -> str:
        """Return the text of a sentence, including the sign after its last word."""
        return self.text[sentence.start : sentence.end + 1]

    @property
    def overclaiming(self) -> list[Sentence]:
        """The sentences that claim certainty or dismiss doubt, whether they count or not."""
        return [
            sentence
            for sentence in self.sentences
            if "absolute" in sentence.families and sentence.status not in {"echo", "short"}
        ]

    def words_with_status(self, status: SentenceStatus) -> int:
        """Return the number of words in sentences of this status."""
        return sum(len(each.tokens) for each in self.sentences if each.status == status)


def parse_answer(text: str, topic: Topic) -> ParsedAnswer:
    """Split an answer into sentences, without repetitions, and decide which of them count."""
    tokens = tokenize(text)
    all_words = [token.word for token in tokens]
    broken, joints = _joints(all_words)
    if broken >= _MIN_BROKEN_JOINTS and broken * _JOINTS_PER_BREAK_IN_TEXT >= joints:
        sentence = replace(_sentence(0, len(text), tokens, topic), status="gibberish")
        return ParsedAnswer(text, (sentence,), (), 0, len(tokens), 0, frozenset())
    text, repeated = _blank_repeats(text, tokens)
    left = [token for token in tokens if not text[token.start].isspace()]
    sentences = tuple(_sentence(*span, topic) for span in _split_sentences(text, left))
    counted = tuple(each for each in sentences if each.status == "counted")
    words = sum(len(each.tokens) for each in counted)
    return ParsedAnswer(text, sentences, counted, words, len(tokens), repeated, trigrams(all_words))


def _blank_repeats(text: str, tokens: Sequence[Token]) -> tuple[str, int]:
    """Blank every run of six words that occurred before."""
    words = [token.word for token in tokens]
    seen: set[tuple[str, ...]] = set()
    repeated = bytearray(len(words))
    for at in range(len(words) - _REPEAT_WORDS + 1):
        run = tuple(words[at : at + _REPEAT_WORDS])
        if run in seen:
            repeated[at : at + _REPEAT_WORDS] = b"\1" * _REPEAT_WORDS
        seen.add(run)
    if not any(repeated):
        return text, 0
    chars = list(text)
    last = -1
    for at, token in enumerate(tokens):
        if repeated[at]:
            start = token.start if last < 0 else last
            chars[start : token.end] = "\n" * (token.end - start)
            last = token.end
        else:
            last = -1
    return "".join(chars), sum(repeated)


def _split_sentences(text: str, tokens: Sequence[Token]) -> list[tuple[int, int, list[Token]]]:
    ends = (
        match.end()
        for match in _SENTENCE_END.finditer(text)
        if not text[max(0, match.start() - 8) : match.start() + 1].lower().endswith(_ABBREVIATIONS)
    )
    sentences: list[tuple[int, int, list[Token]]] = []
    at = 0
    for bound in (*ends, len(text) + 1):
        members: list[Token] = []
        while at < len(tokens) and tokens[at].start < bound:
            members.append(tokens[at])
            at += 1
        for first in range(0, len(members), _MAX_SENTENCE_WORDS):
            part = members[first : first + _MAX_SENTENCE_WORDS]
            sentences.append((part[0].start, part[-1].end, part))
    return sentences


def _sentence(start: int, end: int, tokens: list[Token], topic: Topic) -> Sentence:
    words = [token.word for token in tokens]
    stems = frozenset(found for word in words if (found := content_stem(word)) is not None)
    topic_stems = stems & topic.stems
    cues = tuple(find_cues(tokens))
    status = _status(words, cues, topic)
    about = len(topic_stems - REASONING_STEMS)
    if status == "counted" and about < _CERTAIN_TOPIC_STEMS and not _uses_figure(words, topic):
        on_topic = about and about >= _TOPIC_SHARE * len(stems - REASONING_STEMS)
        status = "counted" if on_topic else "carried" if words[0] in _POINTS_BACK else "off topic"
    return Sentence(
        start,
        end,
        tokens=tuple(tokens),
        stems=stems,
        topic_stems=topic_stems,
        cues=cues,
        families=frozenset(cue.family for cue in cues),
        opens_backward=any(cue.family == "opening" and not cue.first for cue in cues),
        status=status,
    )


def _uses_figure(words: Sequence[str], topic: Topic) -> bool:
    """Return whether a number of the case, or of the author's notes, is used."""
    text = " ".join(word for word in words if word[0] in _FIGURE_STARTS)
    return bool(text) and bool(parse_figures(text) & (topic.figures | topic.key_figures))


def _status(words: Sequence[str], cues: tuple[CueMatch, ...], topic: Topic) -> SentenceStatus:
    if len(words) < _MIN_SENTENCE_WORDS:
        return "short"
    if _is_gibberish(words):
        return "gibberish"
    if _is_echo(words, topic):
        return "echo"
    return "stuffed" if _is_stuffed(words, cues) else "counted"


def _is_stuffed(words: Sequence[str], cues: Sequence[CueMatch]) -> bool:
    """Return whether there are cues but few of the small words that tie them to content."""
    covered: set[int] = set()
    for cue in cues:
        if cue.family not in _COMMON_FAMILIES:
            covered.update(range(cue.first, cue.first + cue.length))
    if len(covered) < _MIN_STUFFED_CUES:
        return False
    free = [word for at, word in enumerate(words) if at not in covered]
    tying_share = sum(word in FUNCTION_WORDS for word in free) / len(words)
    about = sum(content_stem(word) is not None for word in free)
    return tying_share < _MIN_TYING_SHARE or about * _MAX_CUES_PER_STEM < len(covered)


def _is_gibberish(words: Sequence[str]) -> bool:
    function_words = sum(word in FUNCTION_WORDS for word in words)
    alphabetic = sum(word[0].isalpha() for word in words)
    if alphabetic >= 8 and function_words / alphabetic < _MIN_FUNCTION_WORD_SHARE:
        return True
    unreadable = sum(map(_is_unreadable, words))
    if unreadable / len(words) >= _UNREADABLE_SHARE:
        return True
    broken, joints = _joints(words)
    return broken * 2 > joints or (broken > 1 and broken * _JOINTS_PER_BREAK_IN_SENTENCE >= joints)


@lru_cache(1 << 14)
def _is_unreadable(word: str) -> bool:
    return _UNREADABLE.search(word) is not None


def _joints(words: Sequence[str]) -> tuple[int, int]:
    """Count the words that demand a certain kind of word after them, as (broken, all)."""
    broken = joints = 0
    for word, following in pairwise(words):
        if word in _JOINTS:
            joints += 1
            broken += following in _NEVER_AFTER_JOINT
    return broken, joints


def _is_echo(words: Sequence[str], topic: Topic) -> bool:
    runs = list(zip(words, words[1:], words[2:], strict=False))
    return sum(run in topic.source for run in runs) / len(runs) >= _ECHO_SHARE
