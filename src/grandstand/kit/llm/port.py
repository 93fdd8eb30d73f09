"""Kept here: what is asked of a language model, and what comes back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel

from grandstand.base.errors import LimitReached, SourceFailed, Unavailable

V = TypeVar("V", bound=BaseModel)


class LlmOffline(Unavailable):
    """No language model is set up, and there is no way to answer without one."""


class LlmUnusable(SourceFailed):
    """The model's answer does not have the shape that was asked for, also after repair."""


class LlmBudgetSpent(LimitReached):
    """What may be spent on models in a day is spent."""


@dataclass(frozen=True, slots=True)
class Ask(Generic[V]):
    """A question whose answer has a shape.

    `task` is ours and goes as the system's text; each of `material` goes as data in a block of its
    own. `offline` answers without a model. `sample` tells repeated askings of one question apart.
    """

    purpose: str
    task: str
    material: tuple[str, ...]
    shape: type[V]
    offline: Callable[[], V] | None = field(default=None, compare=False)
    most_tokens: int = 4096
    temperature: float = 0.0
    sample: int = 0


@dataclass(frozen=True, slots=True)
class Reply(Generic[V]):
    """An answer, who gave it, and what it took; `replayed` when it was kept from before."""

    value: V
    model_id: str
    input_tokens: int = 0
    output_tokens: int = 0
    cost_microdollars: int = 0
    repairs: int = 0
    replayed: bool = False


class Llm(Protocol):
    """Whoever answers questions."""

    @property
    def model_id(self) -> str:
        """Who answers, as it is to be written beside the answer."""
        ...

    @property
    def offline(self) -> bool:
        """Whether there is no model, so that only the rules of an `Ask` answer."""
        ...

    async def ask(self, question: Ask[V]) -> Reply[V]:
        """Answer; raise LlmOffline, LlmUnusable, LlmBudgetSpent, or what the provider met."""
        ...
