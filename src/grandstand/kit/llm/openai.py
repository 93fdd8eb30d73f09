"""Kept here: models behind any endpoint that speaks OpenAI's chat completions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

import msgspec

from grandstand.base.errors import SourceFailed
from grandstand.kit.llm.provider import (
    TOOL,
    TOOL_PURPOSE,
    Completion,
    Request,
    Stop,
    Turn,
)

_STOPS: Final[Mapping[str, Stop]] = {
    "tool_calls": "called",
    "stop": "called",
    "length": "too long",
    "content_filter": "refused",
}


class Post(Protocol):
    """A request to the endpoint, which answers the body of a success and raises otherwise."""

    async def __call__(self, path: str, body: bytes) -> bytes:
        """Post JSON and answer JSON."""
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
    """One model of one endpoint."""

    def __init__(self, model: str, post: Post) -> None:
        self._model = model
        self._post = post

    @property
    def model_id(self) -> str:
        """The model as the endpoint names it."""
        return self._model

    async def complete(self, request: Request) -> Completion:
        """Let the model answer; raise SourceFailed for an answer that cannot be read."""
        answered = await self._post("chat/completions", msgspec.json.encode(self._body(request)))
        try:
            answer = msgspec.json.decode(answered, type=_Answer)
            choice = answer.choices[0]
        except (msgspec.MsgspecError, IndexError) as fault:
            message = f"{self._model} answered in a form that is not a chat completion: {fault}"
            raise SourceFailed(message) from fault
        return Completion(
            stop=_STOPS.get(choice.finish_reason or "", "other"),
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
    """Answer the call of the tool; arguments that are no JSON object count as no call."""
    for call in message.tool_calls or ():
        if call.function.name != TOOL:
            continue
        try:
            return call.id, msgspec.json.decode(call.function.arguments, type=dict[str, Any])
        except msgspec.MsgspecError:
            return None
    return None
