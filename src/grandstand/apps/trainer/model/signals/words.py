"""Kept here: English words as the evaluator sees them: tokens, stems, and words that carry none."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

_TOKEN: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|[$£€¥]?\d+(?:[.,:]\d+)*%?")
_STEMS_KEPT: Final = 1 << 15
_LEAST_STEM: Final = 3
# Stems are remembered by the word: a word without end would be kept with them.
_LONGEST_WORD: Final = 64


def listed(words: str) -> frozenset[str]:
    """Answer the words of a list that is written as text."""
    return frozenset(words.split())


FUNCTION_WORDS: Final = listed(
    """
    a an the this that these those such i me my we us our you your he him his she her it its they
    them their who whom whose which what where when why how there here one ones and or but nor so
    if then than because as while although though since unless until whether of in on at by for
    with without within from to into onto over under about against between among through during
    before after above below up down out off per via is are was were be been being am do does did
    doing done have has had having can could may might must shall should will would ought not no
    never neither either both each every all any some many much more most few less least several
    other others another same own only just also too very even still yet again ever once rather
    quite almost don't doesn't didn't isn't aren't wasn't weren't can't couldn't won't wouldn't
    shouldn't hasn't haven't it's that's there's i'm i'd i've we'd they're let however therefore
    thus hence instead perhaps
    """
)

# Words of reasoning and of talk in general: they say nothing about a subject.
GENERIC_WORDS: Final = listed(
    """
    thing things stuff good bad nice great big small really think believe feel know say says said
    tell make makes made get gets got go goes going come take takes use used using want need needs
    people person someone everyone anyone something anything everything way ways lot lots kind sort
    time times year years month months day days week weeks today new old first second third last
    next point points part case question answer reason reasons fact facts idea example important
    different possible likely able well better best worse right wrong true false sure certain maybe
    probably might always definitely obviously clearly simply basically like look looks see seen
    seems show shows mean means give gives given put long high low large work works happen happens
    change find found number numbers two three four five ten start end keep let try help problem
    problems situation issue issues important matter matters world life merely rarely
    remember forget
    """
)

_SUFFIXES: Final = (
    ("ationally", ""),
    ("ations", ""),
    ("ation", ""),
    ("ities", ""),
    ("ments", ""),
    ("ment", ""),
    ("ness", ""),
    ("ions", ""),
    ("ion", ""),
    ("ings", ""),
    ("ing", ""),
    ("edly", ""),
    ("ies", "y"),
    ("ied", "y"),
    ("ity", ""),
    ("ers", ""),
    ("ed", ""),
    ("er", ""),
    ("es", ""),
    ("ly", ""),
    ("s", ""),
    ("e", ""),
)


class Token(NamedTuple):
    """A word in lower case and where it stands."""

    # A tuple, not a dataclass: there are hundreds to an answer, and tuples are made thrice as fast.

    word: str
    start: int
    end: int


def tokens_of(text: str) -> list[Token]:
    """Answer the words and figures of a text in order; of one without end, how it begins."""
    lowered = text.lower().replace("’", "'")
    if len(lowered) != len(text):
        # A few capitals, such as the Turkish I, become two letters.
        lowered = "".join(each if len(each.lower()) > 1 else each.lower() for each in text)
    return [Token(match[0][:_LONGEST_WORD], *match.span()) for match in _TOKEN.finditer(lowered)]


@lru_cache(_STEMS_KEPT)
def stem(word: str) -> str:
    """Answer the word without its ending, the same for most forms of it."""
    word = word.removesuffix("'s")
    for suffix, instead in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _LEAST_STEM:
            if suffix == "s" and word.endswith("ss"):
                return word
            word = word[: -len(suffix)] + instead
            break
    return word[:-1] if len(word) > _LEAST_STEM and word[-1] == word[-2] else word


@lru_cache(_STEMS_KEPT)
def content_stem(word: str) -> str | None:
    """Answer the stem of a word that is about something, None for words that are not."""
    if word in FUNCTION_WORDS or word in GENERIC_WORDS or len(word) < _LEAST_STEM:
        return None
    if word[0].isdigit() or word[0] in "$£€¥":
        return None
    made = stem(word)
    return None if made in _GENERIC_STEMS else made


_GENERIC_STEMS: Final = frozenset(stem(word) for word in GENERIC_WORDS)


def stems_of(text: str) -> frozenset[str]:
    """Answer the stems a text is about."""
    return frozenset(
        made for token in tokens_of(text) if (made := content_stem(token.word)) is not None
    )
