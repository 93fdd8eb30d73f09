"""A simulated language model that speaks the protocols of OpenAI and Bedrock."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from random import Random
from typing import Any, Final, TypeAlias

import msgspec

from grandstand.simulators.asgi import Application, Message, Receive, Send, read_body, send_json

_CONVERSE: Final = re.compile(r"^/model/(?P<model>[^/]+)/converse$")
_CHARS_PER_TOKEN: Final = 4
_MAX_ITEMS: Final = 2


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt, independent of the protocol."""

    model: str
    task: str
    messages: tuple[str, ...]
    schema: Mapping[str, Any] = field(default_factory=dict)
    tool: str | None = None

    @property
    def tokens(self) -> int:
        """The approximate number of tokens."""
        return sum(len(text) for text in (self.task, *self.messages)) // _CHARS_PER_TOKEN + 1


Reply: TypeAlias = Callable[[Prompt], Mapping[str, Any] | str]


def reply_by_schema(prompt: Prompt) -> Mapping[str, Any]:
    """Return a random value that fits the schema, always the same for the same prompt."""
    seed = sha256("\n".join((prompt.task, *prompt.messages)).encode()).digest()
    value = _generate(prompt.schema, prompt.schema.get("$defs", {}), Random(seed))  # noqa: S311 - reproducible
    return value if isinstance(value, dict) else {}


@dataclass
class LlmServer:
    """The server; `reply` returns the arguments of a tool call, or a text.

    All prompts are recorded in `prompts`. With `key`, requests must send it as a bearer token.
    """

    reply: Reply = reply_by_schema
    prompts: list[Prompt] = field(default_factory=list)
    key: str | None = None

    @property
    def application(self) -> Application:
        """The ASGI application."""
        return self._serve

    async def _serve(self, scope: Message, receive: Receive, send: Send) -> None:
        body = msgspec.json.decode(await read_body(receive) or b"{}")
        headers = dict(scope["headers"])
        if self.key is not None and headers.get(b"authorization") != f"Bearer {self.key}".encode():
            await send_json(send, 401, {"error": {"message": "Incorrect API key provided"}})
        elif scope["path"] == "/v1/chat/completions":
            await send_json(send, 200, self._chat(body))
        elif match := _CONVERSE.match(scope["path"]):
            await send_json(send, 200, self._converse(match["model"], body))
        else:
            await send_json(send, 404, {"error": {"message": f"No route {scope['path']}"}})

    def _chat(self, body: Mapping[str, Any]) -> dict[str, Any]:
        system, *rest = body["messages"]
        function = body["tools"][0]["function"] if body.get("tools") else {}
        prompt = Prompt(
            body["model"],
            system["content"],
            tuple(text for message in rest for text in _chat_texts(message)),
            function.get("parameters", {}),
            function.get("name"),
        )
        reply = self._record(prompt)
        message: dict[str, Any] = {"role": "assistant", "content": None}
        if isinstance(reply, str):
            message["content"] = reply
        else:
            arguments = msgspec.json.encode(reply).decode()
            call = {"name": prompt.tool, "arguments": arguments}
            message["tool_calls"] = [{"id": _call_id(prompt), "type": "function", "function": call}]
        reason = "stop" if isinstance(reply, str) else "tool_calls"
        output_tokens = len(str(reply)) // _CHARS_PER_TOKEN + 1
        return {
            "id": f"chatcmpl-{_call_id(prompt)}",
            "object": "chat.completion",
            "created": 0,
            "model": prompt.model,
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": {
                "prompt_tokens": prompt.tokens,
                "completion_tokens": output_tokens,
                "total_tokens": prompt.tokens + output_tokens,
            },
        }

    def _converse(self, model: str, body: Mapping[str, Any]) -> dict[str, Any]:
        tools = body.get("toolConfig", {}).get("tools", [])
        spec = tools[0]["toolSpec"] if tools else {}
        prompt = Prompt(
            model,
            "".join(block.get("text", "") for block in body.get("system", ())),
            tuple(text for message in body["messages"] for text in _converse_texts(message)),
            spec.get("inputSchema", {}).get("json", {}),
            spec.get("name"),
        )
        reply = self._record(prompt)
        use = {"toolUseId": _call_id(prompt), "name": prompt.tool, "input": reply}
        content = {"text": reply} if isinstance(reply, str) else {"toolUse": use}
        output_tokens = len(str(reply)) // _CHARS_PER_TOKEN + 1
        return {
            "output": {"message": {"role": "assistant", "content": [content]}},
            "stopReason": "end_turn" if isinstance(reply, str) else "tool_use",
            "usage": {
                "inputTokens": prompt.tokens,
                "outputTokens": output_tokens,
                "totalTokens": prompt.tokens + output_tokens,
            },
            "metrics": {"latencyMs": 1},
        }

    def _record(self, prompt: Prompt) -> Mapping[str, Any] | str:
        self.prompts.append(prompt)
        return self.reply(prompt)


def _chat_texts(message: Mapping[str, Any]) -> list[str]:
    content = message.get("content") or ""
    if isinstance(content, str):
        return [content] if content else []
    return [part["text"] for part in content]


def _converse_texts(message: Mapping[str, Any]) -> list[str]:
    blocks = list(message["content"])
    blocks += [part for block in blocks for part in block.get("toolResult", {}).get("content", ())]
    return [block["text"] for block in blocks if "text" in block]


def _call_id(prompt: Prompt) -> str:
    return f"call_{sha256('|'.join((prompt.task, *prompt.messages)).encode()).hexdigest()[:16]}"


def _generate(schema: Mapping[str, Any], definitions: Mapping[str, Any], random: Random) -> Any:  # noqa: ANN401 - JSON
    if "$ref" in schema:
        return _generate(definitions[schema["$ref"].rpartition("/")[2]], definitions, random)
    if "anyOf" in schema:
        return _generate(schema["anyOf"][0], definitions, random)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return random.choice(schema["enum"])
    match schema.get("type"):
        case "object":
            properties = schema.get("properties", {})
            return {
                name: _generate(inner, definitions, random) for name, inner in properties.items()
            }
        case "array":
            minimum = schema.get("minItems", 1)
            count = min(max(minimum, _MAX_ITEMS), schema.get("maxItems", max(minimum, _MAX_ITEMS)))
            return [_generate(schema.get("items", {}), definitions, random) for _ in range(count)]
        case "integer":
            return random.randint(schema.get("minimum", 0), schema.get("maximum", 4))
        case "number":
            return random.uniform(schema.get("minimum", 0), schema.get("maximum", 1))
        case "boolean":
            return random.random() < 0.5
        case _:
            return "A simulated sentence of reasonable length."[: schema.get("maxLength")]
