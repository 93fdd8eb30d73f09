"""Kept here: what a question is about, drawn from its scenario and its author's notes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from grandstand.apps.trainer.model.signals.sums import figures_of
from grandstand.apps.trainer.model.signals.words import stems_of, tokens_of
from grandstand.apps.trainer.model.values import AuthorNotes, Question

Trigram = tuple[str, str, str]
_TOPICS_KEPT = 512


@dataclass(frozen=True, slots=True)
class Topic:
    """The stems, figures and wording an answer is held against.

    `asked` are the stems of the question alone; `hoped` those of its author's notes that neither
    question nor case give away; `source` is the wording an answer may not just repeat.
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


@lru_cache(_TOPICS_KEPT)
def topic_of(title: str, description: str, question: Question) -> Topic:
    """Work out what a question is about."""
    notes = question.notes or AuthorNotes()
    hoped = (*notes.assumptions, *notes.alternatives, *notes.traps, *notes.key_numbers)
    told = f"{title}. {description} {question.text}"
    given = stems_of(told)
    hidden = stems_of(" ".join((*hoped, notes.model_answer)))
    return Topic(
        stems=given | hidden,
        asked=stems_of(question.text),
        hoped=hidden - given,
        source=trigrams_of(told),
        model=trigrams_of(notes.model_answer),
        figures=figures_of(told),
        key_figures=figures_of(" ".join((*notes.key_numbers, notes.model_answer))),
        assumptions=_each(notes.assumptions),
        alternatives=_each(notes.alternatives),
        traps=_each(notes.traps),
    )


def trigrams_of(text: str) -> frozenset[Trigram]:
    """Answer every three words that stand together."""
    words = [token.word for token in tokens_of(text)]
    return frozenset(zip(words, words[1:], words[2:], strict=False))


def _each(hoped: tuple[str, ...]) -> tuple[frozenset[str], ...]:
    return tuple(stems for each in hoped if (stems := stems_of(each)))
