"""Providers of language models: Amazon Bedrock and OpenAI-compatible endpoints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, TypeAlias

import msgspec

from grandstand.core.errors import SourceFailed

TOOL: Final = "answer"
TOOL_PURPOSE: Final = "Give the answer in exactly this form."


@dataclass(frozen=True, slots=True)
class Turn:
    """One message: text blocks, or the tool's input with the id of the call."""

    speaker: Literal["user", "model"]
    texts: tuple[str, ...] = ()
    call: tuple[str, Mapping[str, Any]] | None = None
    answers_call: str | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """A conversation that must end with a tool call whose input has this JSON schema."""

    task: str
    turns: tuple[Turn, ...]
    schema: Mapping[str, Any]
    most_tokens: int
    temperature: float


Stop: TypeAlias = Literal["called", "too long", "refused", "other"]


@dataclass(frozen=True, slots=True)
class Completion:
    """The input of the tool call; None if the model did not call the tool."""

    stop: Stop
    call: tuple[str, Mapping[str, Any]] | None
    text: str
    input_tokens: int
    output_tokens: int


class Provider(Protocol):
    """A provider's model."""

    @property
    def model_id(self) -> str:
        """The model's name, as shown beside its replies."""
        ...

    async def complete(self, request: Request) -> Completion:
        """Return the model's reply.

        Raises SourceFailed, Unavailable, LimitReached or NotAllowed.
        """
        ...


_STOPS: Final[Mapping[str, Stop]] = {
    "tool_use": "called",
    "end_turn": "called",
    "stop_sequence": "called",
    "max_tokens": "too long",
    "guardrail_intervened": "refused",
    "content_filtered": "refused",
}


class Converse(Protocol):
    """Sends a Converse request."""

    async def converse(self, **request: object) -> dict[str, Any]:
        """Return Bedrock's response."""
        ...


class BedrockProvider:
    """A model on Amazon Bedrock, by its id or inference profile."""

    def __init__(self, model: str, bedrock: Converse) -> None:
        self._model = model
        self._bedrock = bedrock

    @property
    def model_id(self) -> str:
        """The model as Bedrock names it."""
        return self._model

    async def complete(self, request: Request) -> Completion:
        """Return the model's reply. Raises SourceFailed if it cannot be read."""
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
            raise SourceFailed(f"{self._model} returned an unknown response: {fault}") from fault


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


_OPENAI_FINISH_REASONS: Final[Mapping[str, Stop]] = {
    "tool_calls": "called",
    "stop": "called",
    "length": "too long",
    "content_filter": "refused",
}


class Post(Protocol):
    """Posts to the endpoint; returns the body or raises."""

    async def __call__(self, path: str, body: bytes) -> bytes:
        """Post a JSON body and return the response body."""
        ...


class _Function(msgspec.Struct):
    name: str
    arguments: str


class _Call(msgspec.Struct):
    id: str
    function: _Function


class _Message(msgspec.Struct):
    content: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Answer(msgspec.Struct):
    choices: list[_Choice]
    usage: _Usage = msgspec.field(default_factory=_Usage)


class OpenAiProvider:
    """A model of an OpenAI-compatible endpoint."""

    def __init__(self, model: str, post: Post) -> None:
        self._model = model
        self._post = post

    @property
    def model_id(self) -> str:
        """The model as the endpoint names it."""
        return self._model

    async def complete(self, request: Request) -> Completion:
        """Return the model's reply. Raises SourceFailed if it cannot be read."""
        answered = await self._post("chat/completions", msgspec.json.encode(self._body(request)))
        try:
            answer = msgspec.json.decode(answered, type=_Answer)
            choice = answer.choices[0]
        except (msgspec.MsgspecError, IndexError) as fault:
            message = f"{self._model} did not return a chat completion: {fault}"
            raise SourceFailed(message) from fault
        return Completion(
            stop=_OPENAI_FINISH_REASONS.get(choice.finish_reason or "", "other"),
            call=_called(choice.message),
            text=choice.message.content or "",
            input_tokens=answer.usage.prompt_tokens,
            output_tokens=answer.usage.completion_tokens,
        )

    def _body(self, request: Request) -> dict[str, Any]:
        function = {"name": TOOL, "description": TOOL_PURPOSE, "parameters": request.schema}
        said = [message for turn in request.turns for message in _messages(turn)]
        return {
            "model": self._model,
            "messages": [{"role": "system", "content": request.task}, *said],
            "tools": [{"type": "function", "function": function}],
            "tool_choice": {"type": "function", "function": {"name": TOOL}},
            "max_tokens": request.most_tokens,
            "temperature": request.temperature,
        }


def _messages(turn: Turn) -> list[dict[str, Any]]:
    texts = [{"type": "text", "text": text} for text in turn.texts]
    if turn.answers_call is not None:
        return [
            {"role": "tool", "tool_call_id": turn.answers_call, "content": "\n".join(turn.texts)}
        ]
    if turn.call is None:
        return [{"role": "user" if turn.speaker == "user" else "assistant", "content": texts}]
    call_id, given = turn.call
    arguments = msgspec.json.encode(given).decode()
    call = {"id": call_id, "type": "function", "function": {"name": TOOL, "arguments": arguments}}
    return [{"role": "assistant", "content": None, "tool_calls": [call]}]


def _called(message: _Message) -> tuple[str, Mapping[str, Any]] | None:
    """Return the tool call; arguments that are not a JSON object count as no call."""
    for call in message.tool_calls or ():
        if call.function.name != TOOL:
            continue
        try:
            return call.id, msgspec.json.decode(call.function.arguments, type=dict[str, Any])
        except msgspec.MsgspecError:
            return None
    return None
