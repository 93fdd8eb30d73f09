"""Kept here: models on Amazon Bedrock, through its Converse call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from grandstand.base.errors import SourceFailed
from grandstand.kit.llm.provider import TOOL, TOOL_PURPOSE, Completion, Request, Stop, Turn

_STOPS: Final[Mapping[str, Stop]] = {
    "tool_use": "called",
    "end_turn": "called",
    "stop_sequence": "called",
    "max_tokens": "too long",
    "guardrail_intervened": "refused",
    "content_filtered": "refused",
}


class Converse(Protocol):
    """Whoever carries a Converse request out."""

    async def converse(self, **request: object) -> dict[str, Any]:
        """Answer as Bedrock does; raise an error of ours."""
        ...


class BedrockProvider:
    """One model, by its id or that of an inference profile."""

    def __init__(self, model: str, bedrock: Converse) -> None:
        self._model = model
        self._bedrock = bedrock

    @property
    def model_id(self) -> str:
        """The model as Bedrock names it."""
        return self._model

    async def complete(self, request: Request) -> Completion:
        """Let the model answer; raise SourceFailed for an answer that cannot be read."""
        answered = await self._bedrock.converse(
            modelId=self._model,
            system=[{"text": request.task}],
            messages=[_message(turn) for turn in request.turns],
            inferenceConfig={"maxTokens": request.most_tokens, "temperature": request.temperature},
            toolConfig={
                "tools": [
                    {
                        "toolSpec": {
                            "name": TOOL,
                            "description": TOOL_PURPOSE,
                            "inputSchema": {"json": request.schema},
                        }
                    }
                ],
                "toolChoice": {"tool": {"name": TOOL}},
            },
        )
        try:
            return _read(answered)
        except (KeyError, TypeError) as fault:
            raise SourceFailed(f"{self._model} answered in an unknown form: {fault}") from fault


def _message(turn: Turn) -> dict[str, Any]:
    role = "user" if turn.speaker == "user" else "assistant"
    texts = [{"text": text} for text in turn.texts]
    if turn.answers_call is not None:
        result = {"toolUseId": turn.answers_call, "content": texts, "status": "error"}
        return {"role": role, "content": [{"toolResult": result}]}
    if turn.call is None:
        return {"role": role, "content": texts}
    call_id, given = turn.call
    return {
        "role": role,
        "content": [{"toolUse": {"toolUseId": call_id, "name": TOOL, "input": given}}],
    }


def _read(answered: Mapping[str, Any]) -> Completion:
    content = answered["output"]["message"]["content"]
    uses = [block["toolUse"] for block in content if "toolUse" in block]
    call = next((use for use in uses if use["name"] == TOOL), None)
    given = call["input"] if call is not None else None
    return Completion(
        stop=_STOPS.get(answered["stopReason"], "other"),
        call=(call["toolUseId"], given) if call is not None and isinstance(given, dict) else None,
        text="".join(block.get("text", "") for block in content),
        input_tokens=answered["usage"]["inputTokens"],
        output_tokens=answered["usage"]["outputTokens"],
    )
