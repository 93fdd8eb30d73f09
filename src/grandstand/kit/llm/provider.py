"""Kept here: what a provider of models is asked for: one forced call of one tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, TypeAlias

TOOL: Final = "answer"
TOOL_PURPOSE: Final = "Give the answer in exactly this form."


@dataclass(frozen=True, slots=True)
class Turn:
    """What one side said: blocks of text, or the tool's input with the id of that call."""

    speaker: Literal["user", "model"]
    texts: tuple[str, ...] = ()
    call: tuple[str, Mapping[str, Any]] | None = None
    answers_call: str | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """A conversation that must end with a call of the tool, whose input has this JSON schema."""

    task: str
    turns: tuple[Turn, ...]
    schema: Mapping[str, Any]
    most_tokens: int
    temperature: float


Stop: TypeAlias = Literal["called", "too long", "refused", "other"]


@dataclass(frozen=True, slots=True)
class Completion:
    """What the model did: the input it called the tool with, None when it did not."""

    stop: Stop
    call: tuple[str, Mapping[str, Any]] | None
    text: str
    input_tokens: int
    output_tokens: int


class Provider(Protocol):
    """A way to a model."""

    @property
    def model_id(self) -> str:
        """The model, as it is to be written beside its answers."""
        ...

    async def complete(self, request: Request) -> Completion:
        """Let the model answer; raise SourceFailed, Unavailable, LimitReached or NotAllowed."""
        ...
