"""Kept here: a stand-in for language models that speaks OpenAI's and Bedrock's protocols."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from random import Random
from typing import Any, Final, TypeAlias

import msgspec

from grandstand.simulators.asgi import (
    Application,
    Message,
    Receive,
    Send,
    answer_json,
    body_of,
)

_CONVERSE: Final = re.compile(r"^/model/(?P<model>[^/]+)/converse$")
_CHAT: Final = "/v1/chat/completions"
_LETTERS_A_TOKEN: Final = 4
_MOST_ITEMS: Final = 2


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked, whichever protocol brought it."""

    model: str
    task: str
    said: tuple[str, ...]
    schema: Mapping[str, Any] = field(default_factory=dict)
    tool: str | None = None

    @property
    def tokens(self) -> int:
        """A guess at its length, as a tokenizer would count."""
        return sum(len(text) for text in (self.task, *self.said)) // _LETTERS_A_TOKEN + 1


Opinion: TypeAlias = Callable[[Asked], Mapping[str, Any] | str]


def by_schema(asked: Asked) -> Mapping[str, Any]:
    """Answer something that fits the schema: any, but for one question always the same."""
    seed = sha256("\n".join((asked.task, *asked.said)).encode()).digest()
    made = _made(asked.schema, asked.schema.get("$defs", {}), Random(seed))  # noqa: S311 - chance that can be repeated
    return made if isinstance(made, dict) else {}


@dataclass
class Judge:
    """The server: `opinion` decides what the model answers, a text when it calls no tool.

    Every question is kept in `heard`, so that a test can see what was sent.
    """

    opinion: Opinion = by_schema
    heard: list[Asked] = field(default_factory=list)
    key: str | None = None

    @property
    def application(self) -> Application:
        """The ASGI application."""
        return self._serve

    async def _serve(self, scope: Message, receive: Receive, send: Send) -> None:
        body = msgspec.json.decode(await body_of(receive) or b"{}")
        headers = dict(scope["headers"])
        if self.key is not None and headers.get(b"authorization") != f"Bearer {self.key}".encode():
            await answer_json(send, 401, {"error": {"message": "Incorrect API key provided"}})
        elif scope["path"] == _CHAT:
            await answer_json(send, 200, self._chat(body))
        elif found := _CONVERSE.match(scope["path"]):
            await answer_json(send, 200, self._converse(found["model"], body))
        else:
            await answer_json(send, 404, {"error": {"message": f"no route {scope['path']}"}})

    def _chat(self, body: Mapping[str, Any]) -> dict[str, Any]:
        system, *rest = body["messages"]
        function = body["tools"][0]["function"] if body.get("tools") else {}
        asked = Asked(
            body["model"],
            system["content"],
            tuple(text for message in rest for text in _chat_texts(message)),
            function.get("parameters", {}),
            function.get("name"),
        )
        given = self._opinion(asked)
        message: dict[str, Any] = {"role": "assistant", "content": None}
        if isinstance(given, str):
            message["content"] = given
        else:
            arguments = msgspec.json.encode(given).decode()
            called = {"name": asked.tool, "arguments": arguments}
            message["tool_calls"] = [
                {"id": _call_id(asked), "type": "function", "function": called}
            ]
        reason = "stop" if isinstance(given, str) else "tool_calls"
        written = len(str(given)) // _LETTERS_A_TOKEN + 1
        return {
            "id": f"chatcmpl-{_call_id(asked)}",
            "object": "chat.completion",
            "created": 0,
            "model": asked.model,
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": {
                "prompt_tokens": asked.tokens,
                "completion_tokens": written,
                "total_tokens": asked.tokens + written,
            },
        }

    def _converse(self, model: str, body: Mapping[str, Any]) -> dict[str, Any]:
        tools = body.get("toolConfig", {}).get("tools", [])
        spec = tools[0]["toolSpec"] if tools else {}
        asked = Asked(
            model,
            "".join(block.get("text", "") for block in body.get("system", ())),
            tuple(text for message in body["messages"] for text in _converse_texts(message)),
            spec.get("inputSchema", {}).get("json", {}),
            spec.get("name"),
        )
        given = self._opinion(asked)
        use = {"toolUseId": _call_id(asked), "name": asked.tool, "input": given}
        content = {"text": given} if isinstance(given, str) else {"toolUse": use}
        written = len(str(given)) // _LETTERS_A_TOKEN + 1
        return {
            "output": {"message": {"role": "assistant", "content": [content]}},
            "stopReason": "end_turn" if isinstance(given, str) else "tool_use",
            "usage": {
                "inputTokens": asked.tokens,
                "outputTokens": written,
                "totalTokens": asked.tokens + written,
            },
            "metrics": {"latencyMs": 1},
        }

    def _opinion(self, asked: Asked) -> Mapping[str, Any] | str:
        self.heard.append(asked)
        return self.opinion(asked)


def _chat_texts(message: Mapping[str, Any]) -> list[str]:
    content = message.get("content") or ""
    if isinstance(content, str):
        return [content] if content else []
    return [part["text"] for part in content]


def _converse_texts(message: Mapping[str, Any]) -> list[str]:
    blocks = list(message["content"])
    blocks += [part for block in blocks for part in block.get("toolResult", {}).get("content", ())]
    return [block["text"] for block in blocks if "text" in block]


def _call_id(asked: Asked) -> str:
    return f"call_{sha256('|'.join((asked.task, *asked.said)).encode()).hexdigest()[:16]}"


def _made(schema: Mapping[str, Any], known: Mapping[str, Any], random: Random) -> Any:  # noqa: ANN401 - JSON
    if "$ref" in schema:
        return _made(known[schema["$ref"].rpartition("/")[2]], known, random)
    if "anyOf" in schema:
        return _made(schema["anyOf"][0], known, random)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return random.choice(schema["enum"])
    match schema.get("type"):
        case "object":
            properties = schema.get("properties", {})
            return {name: _made(inner, known, random) for name, inner in properties.items()}
        case "array":
            least = schema.get("minItems", 1)
            count = min(max(least, _MOST_ITEMS), schema.get("maxItems", max(least, _MOST_ITEMS)))
            return [_made(schema.get("items", {}), known, random) for _ in range(count)]
        case "integer":
            return random.randint(schema.get("minimum", 0), schema.get("maximum", 4))
        case "number":
            return random.uniform(schema.get("minimum", 0), schema.get("maximum", 1))
        case "boolean":
            return random.random() < 0.5  # noqa: PLR2004 - even chances
        case _:
            return "A simulated sentence, long enough to be read."[: schema.get("maxLength")]
