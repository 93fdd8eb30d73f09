"""Kept here: what is said about a score: reasons with the passages behind them, and what lacked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from grandstand.apps.trainer.model.integrity import Screened
from grandstand.apps.trainer.model.rubric import BY_NAME, MOST, NAMES
from grandstand.apps.trainer.model.signals.passages import Reading, Standing
from grandstand.apps.trainer.model.signals.tally import Signal, Tally

_MOST_REASONS: Final = 5
_MOST_QUOTES: Final = 3
_QUOTE_LETTERS: Final = 160
_SOUND: Final = 3
_NOTICED: Final = 0.15
_GENERAL: Final = frozenset(("depth", "readable", "on topic", "claim"))
_LOSSES: Final[Mapping[Standing, str]] = {
    "echo": "Part of it repeats the question or the case and does not count",
    "gibberish": "Part of it cannot be read and does not count",
    "stuffed": "Part of it is signal words without content and does not count",
    "off topic": "Part of it is not about the case and does not count",
}


@dataclass(frozen=True, slots=True)
class Told:
    """The tally of one answer, and the answer."""

    tally: Tally
    screened: Screened
    reading: Reading


@dataclass(frozen=True, slots=True)
class Telling:
    """Reasons, the passages they stand on, and what a 4 would have needed."""

    rationale: tuple[str, ...]
    quotes: tuple[str, ...]
    needed: str


def told_of(name: str, score: int, answers: Sequence[Told], *, left_out: bool) -> Telling:
    """Put a score into words: one to five reasons, at most three passages."""
    if left_out:
        said = "No question calls for figures, and none are used"
        return Telling((said,), (), _needed(name, score, ()))
    signals = sorted(
        ((signal, each) for each in answers for signal in each.tally.signals),
        key=lambda pair: (pair[0].kind in _GENERAL, -abs(pair[0].points)),
    )
    reasons: dict[str, str] = {}
    quotes: dict[str, None] = {}
    for signal, each in signals:
        quote = _quoted(signal, each.screened)
        reasons.setdefault(signal.says, f"{signal.says}: “{quote}”" if quote else signal.says)
        if quote:
            quotes.setdefault(quote)
    rationale = (*_held_down(answers), *reasons.values())[:_MOST_REASONS]
    missing = tuple(dict.fromkeys(says for each in answers for says in each.tally.missing))
    return Telling(
        rationale or (BY_NAME[name].levels[0],),
        tuple(quotes)[:_MOST_QUOTES],
        _needed(name, score, missing),
    )


def feedback_of(scores: Mapping[str, int]) -> str:
    """Say in two or three sentences what stood out and what to practise."""
    best = max(NAMES, key=lambda name: scores[name])
    least = min(NAMES, key=lambda name: scores[name])
    weakest = BY_NAME[least]
    if not scores[best]:
        return "The answers show no reasoning of their own yet: take a position and give a reason."
    said = [f"Strongest: {BY_NAME[best].title.lower()}. {BY_NAME[best].levels[scores[best]]}"]
    if scores[least] < _SOUND:
        said.append(f"Weakest: {weakest.title.lower()}. {weakest.levels[scores[least]]}")
        said.append(f"To practise: {weakest.exercise}")
    return " ".join(said)


def _quoted(signal: Signal, answer: Screened) -> str:
    """The passage word for word, cut at a word when it is long."""
    if signal.at is None:
        return ""
    passage = answer.passage(*signal.at).strip()
    if len(passage) <= _QUOTE_LETTERS:
        return passage
    return passage[:_QUOTE_LETTERS].rpartition(" ")[0]


def _held_down(answers: Sequence[Told]) -> list[str]:
    said = [each.tally.capped_by for each in answers if each.tally.capped_by]
    held = said[:1]
    for standing, loss in _LOSSES.items():
        if any(each.reading.lost(standing) > _NOTICED * each.reading.all_words for each in answers):
            held.append(loss)
    if any(each.reading.repeated_words > _NOTICED * each.reading.all_words for each in answers):
        held.append("Part of it is said twice and counts once")
    return held[:2]


def _needed(name: str, score: int, missing: Sequence[str]) -> str:
    if score == MOST:
        return "Nothing more: this is the highest level."
    top = BY_NAME[name].levels[MOST]
    return f"{top} Not found here: {'; '.join(missing)}." if missing else top
