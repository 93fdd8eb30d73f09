"""Kept here: a written preview of a race as a value: each runner, all compared, the first five."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Confidence: TypeAlias = Literal["high", "medium", "low"]
Language: TypeAlias = Literal["en", "ja"]


@dataclass(frozen=True, slots=True)
class Individual:
    """What a preview says of one runner."""

    horse_id: str
    horse_name: str
    horse_number: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Pick:
    """One of the first five a preview expects, with its reason and how sure it is."""

    place: int
    horse_id: str
    horse_name: str
    horse_number: int | None
    reason: str
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class WrittenPreview:
    """A preview in words; `model_id` is `offline` when rules wrote it.

    `left_out` says what had to be left out of the material for its length.
    """

    language: Language
    individual: tuple[Individual, ...]
    comparison: str
    top: tuple[Pick, ...]
    model_id: str
    prompt_version: str
    words: str = ""
    left_out: tuple[str, ...] = ()
