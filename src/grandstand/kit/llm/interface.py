"""Requests to a language model and its replies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Generic, Protocol, TypeVar

from pydantic import BaseModel

from grandstand.core.errors import LimitReached, SourceFailed, Unavailable

V = TypeVar("V", bound=BaseModel)


class LlmOffline(Unavailable):
    """No language model is configured and the request has no offline answer."""

    code = "llm-offline"


class LlmResponseInvalid(SourceFailed):
    """The reply does not have the requested shape, even after repair."""

    code = "llm-response-invalid"


class LlmBudgetExceeded(LimitReached):
    """The daily budget is used up."""

    code = "llm-budget-exceeded"


@dataclass(frozen=True, slots=True)
class LlmRequest(Generic[V]):
    """A request for a reply of a given shape.

    `task` is ours and becomes the system prompt; each item of `material` is passed as data in a
    block of its own. `offline` answers without a model. `sample` distinguishes repeated requests.
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
class LlmReply(Generic[V]):
    """A reply, its model and its cost; `replayed` if it came from the cache."""

    value: V
    model_id: str
    input_tokens: int = 0
    output_tokens: int = 0
    cost_microdollars: int = 0
    repairs: int = 0
    replayed: bool = False


class Llm(Protocol):
    """A language model."""

    @property
    def model_id(self) -> str:
        """The model's name, as shown beside its replies."""
        ...

    @property
    def offline(self) -> bool:
        """Whether there is no model, so that only `LlmRequest.offline` answers."""
        ...

    async def ask(self, question: LlmRequest[V]) -> LlmReply[V]:
        """Return the model's reply.

        Raises LlmOffline, LlmResponseInvalid, LlmBudgetExceeded, or the provider's own error.
        """
        ...


OFFLINE: Final = "offline"


class OfflineLlm:
    """Answers with each request's own `offline` function."""

    @property
    def model_id(self) -> str:
        return OFFLINE

    @property
    def offline(self) -> bool:
        return True

    async def ask(self, question: LlmRequest[V]) -> LlmReply[V]:
        """Return the offline answer. Raises LlmOffline."""
        if question.offline is None:
            raise LlmOffline(
                f"{question.purpose} needs a language model: set GRANDSTAND_LLM_PROVIDER and "
                "GRANDSTAND_LLM_MODEL"
            )
        return LlmReply(question.offline(), OFFLINE)
