"""Kept here: the answer when no language model is set up."""

from __future__ import annotations

from typing import Final, TypeVar

from pydantic import BaseModel

from grandstand.kit.llm.port import Ask, LlmOffline, Reply

V = TypeVar("V", bound=BaseModel)

OFFLINE: Final = "offline"


class OfflineLlm:
    """Answers by the rules a question brings along, always the same, and says so."""

    @property
    def model_id(self) -> str:
        """Nobody answers but rules."""
        return OFFLINE

    @property
    def offline(self) -> bool:
        """There is no model."""
        return True

    async def ask(self, question: Ask[V]) -> Reply[V]:
        """Answer by the question's own rules; raise LlmOffline when it has none."""
        if question.offline is None:
            message = (
                f"{question.purpose} needs a language model: set GRANDSTAND_LLM_PROVIDER and "
                "GRANDSTAND_LLM_MODEL"
            )
            raise LlmOffline(message)
        return Reply(question.offline(), OFFLINE)
