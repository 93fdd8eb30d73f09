"""Language models: structured replies, cost control, cached replies and providers."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, Protocol, Self, TypeAlias, TypeVar

import msgspec
from pydantic import BaseModel, ValidationError

from grandstand.core.clock import Clock
from grandstand.core.errors import LimitReached, SourceFailed, Unavailable
from grandstand.core.metrics import Metrics
from grandstand.storage.tables import AsyncStore, Entity, Get, Table, Update, key, ttl

if TYPE_CHECKING:
    from grandstand.net.bedrock import Bedrock

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

    offline: bool
    """Whether there is no model, so that only `LlmRequest.offline` answers."""

    async def ask(self, question: LlmRequest[V]) -> LlmReply[V]:
        """Return the model's reply.

        Raises LlmOffline, LlmResponseInvalid, LlmBudgetExceeded, or the provider's own error.
        """
        ...


class OfflineLlm:
    """Answers with each request's own `offline` function."""

    model_id = "offline"
    offline = True

    async def ask(self, question: LlmRequest[V]) -> LlmReply[V]:
        """Return the offline answer. Raises LlmOffline."""
        if question.offline is None:
            raise LlmOffline(
                f"{question.purpose} needs a language model: set GRANDSTAND_LLM_PROVIDER and "
                "GRANDSTAND_LLM_MODEL"
            )
        return LlmReply(question.offline(), self.model_id)


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

    model_id: str

    async def complete(self, request: Request) -> Completion:
        """Return the model's reply.

        Raises SourceFailed, Unavailable, LimitReached or NotAllowed.
        """
        ...


# Bedrock's stop reasons, then OpenAI's finish reasons.
_STOPS: Final[Mapping[str, Stop]] = {
    "tool_use": "called",
    "end_turn": "called",
    "stop_sequence": "called",
    "max_tokens": "too long",
    "guardrail_intervened": "refused",
    "content_filtered": "refused",
    "tool_calls": "called",
    "stop": "called",
    "length": "too long",
    "content_filter": "refused",
}


class BedrockProvider:
    """A model on Amazon Bedrock, by its id or inference profile."""

    def __init__(self, model_id: str, bedrock: Bedrock) -> None:
        self.model_id = model_id
        self._bedrock = bedrock

    async def complete(self, request: Request) -> Completion:
        """Return the model's reply. Raises SourceFailed if it cannot be read."""
        schema = {"json": request.schema}
        tool = {"name": TOOL, "description": TOOL_PURPOSE, "inputSchema": schema}
        response = await self._bedrock.converse(
            modelId=self.model_id,
            system=[{"text": request.task}],
            messages=[_converse_message(turn) for turn in request.turns],
            inferenceConfig={"maxTokens": request.most_tokens, "temperature": request.temperature},
            toolConfig={"tools": [{"toolSpec": tool}], "toolChoice": {"tool": {"name": TOOL}}},
        )
        try:
            return _read_converse(response)
        except (KeyError, TypeError) as fault:
            raise SourceFailed(f"{self.model_id} returned an unknown response: {fault}") from fault


def _converse_message(turn: Turn) -> dict[str, Any]:
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


def _read_converse(response: Mapping[str, Any]) -> Completion:
    content = response["output"]["message"]["content"]
    uses = [block["toolUse"] for block in content if "toolUse" in block]
    call = next((use for use in uses if use["name"] == TOOL), None)
    given = call["input"] if call is not None else None
    return Completion(
        stop=_STOPS.get(response["stopReason"], "other"),
        call=(call["toolUseId"], given) if call is not None and isinstance(given, dict) else None,
        text="".join(block.get("text", "") for block in content),
        input_tokens=response["usage"]["inputTokens"],
        output_tokens=response["usage"]["outputTokens"],
    )


Post: TypeAlias = Callable[[str, bytes], Awaitable[bytes]]
"""Posts a JSON body to a path of the endpoint and returns the body of the response."""


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


class _ChatCompletion(msgspec.Struct):
    choices: list[_Choice]
    usage: _Usage = msgspec.field(default_factory=_Usage)


class OpenAiProvider:
    """A model of an OpenAI-compatible endpoint."""

    def __init__(self, model_id: str, post: Post) -> None:
        self.model_id = model_id
        self._post = post

    async def complete(self, request: Request) -> Completion:
        """Return the model's reply. Raises SourceFailed if it cannot be read."""
        body = await self._post("chat/completions", msgspec.json.encode(self._body(request)))
        try:
            completion = msgspec.json.decode(body, type=_ChatCompletion)
            choice = completion.choices[0]
        except (msgspec.MsgspecError, IndexError) as fault:
            raise SourceFailed(
                f"{self.model_id} did not return a chat completion: {fault}"
            ) from fault
        return Completion(
            stop=_STOPS.get(choice.finish_reason or "", "other"),
            call=_read_call(choice.message),
            text=choice.message.content or "",
            input_tokens=completion.usage.prompt_tokens,
            output_tokens=completion.usage.completion_tokens,
        )

    def _body(self, request: Request) -> dict[str, Any]:
        function = {"name": TOOL, "description": TOOL_PURPOSE, "parameters": request.schema}
        messages = [message for turn in request.turns for message in _chat_messages(turn)]
        return {
            "model": self.model_id,
            "messages": [{"role": "system", "content": request.task}, *messages],
            "tools": [{"type": "function", "function": function}],
            "tool_choice": {"type": "function", "function": {"name": TOOL}},
            "max_tokens": request.most_tokens,
            "temperature": request.temperature,
        }


def _chat_messages(turn: Turn) -> list[dict[str, Any]]:
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


def _read_call(message: _Message) -> tuple[str, Mapping[str, Any]] | None:
    """Return the tool call; arguments that are not a JSON object count as no call."""
    for call in message.tool_calls or ():
        if call.function.name != TOOL:
            continue
        try:
            return call.id, msgspec.json.decode(call.function.arguments, type=dict[str, Any])
        except msgspec.MsgspecError:
            return None
    return None


spending = Table(
    "grandstand-llm-spending",
    partition="day",
    purpose="Language model cost per day.",
)
answers = Table(
    "grandstand-llm-answers",
    partition="digest",
    ttl="ttl",
    purpose="Cached language model replies by request digest.",
)

LLM_TABLES: Final = (spending, answers)


class LlmSpending(Entity, table=spending):
    """The cost of one day, in UTC."""

    day: date
    cost_microdollars: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    asked: int = 0

    row = key("{day}")

    @classmethod
    def of(cls, day: date) -> Get[Self]:
        """Return the cost of a day."""
        return cls.get(day=day).consistent()

    @classmethod
    def add_to(cls, day: date, cost: int, input_tokens: int, output_tokens: int) -> Update[Self]:
        """Add the cost of one reply."""
        return (
            cls.update(day=day)
            .upsert()
            .add(
                cost_microdollars=cost,
                input_tokens=input_tokens,
                output_tokens=output_tokens,
                asked=1,
            )
        )


class CachedReply(Entity, table=answers):
    """A reply as JSON with its model and cost, kept for ninety days."""

    digest: str
    purpose: str
    model_id: str
    answer: str
    input_tokens: int
    output_tokens: int
    cost_microdollars: int
    answered_at: datetime
    gone_at: datetime | None = ttl(after=timedelta(days=90), of="answered_at")

    row = key("{digest}")

    @classmethod
    def to(cls, digest: str) -> Get[Self]:
        """Return the cached reply to a request."""
        return cls.get(digest=digest)


class LlmTooSlow(Unavailable):
    """The model did not respond in time."""

    code = "llm-too-slow"


@dataclass(frozen=True, slots=True)
class LlmLimits:
    """Cost per token, daily budget and timeout."""

    input_microdollars: int
    output_microdollars: int
    daily_cents: int
    seconds: float

    def cost(self, completion: Completion) -> int:
        """Return the cost of a reply in microdollars."""
        return (
            completion.input_tokens * self.input_microdollars
            + completion.output_tokens * self.output_microdollars
        )


@dataclass(slots=True)
class RemoteLlm:
    """A provider's model; replies are validated, counted and cached."""

    provider: Provider
    limits: LlmLimits
    store: AsyncStore
    clock: Clock
    metrics: Metrics
    offline: bool = False

    @property
    def model_id(self) -> str:
        """The model as its provider names it."""
        return self.provider.model_id

    async def ask(self, question: LlmRequest[V]) -> LlmReply[V]:
        """Return a cached reply, or ask the model; see `Llm.ask`."""
        digest = digest_of(question, self.model_id)
        cached = await self.store(CachedReply.to(digest))
        if cached is not None:
            return LlmReply(
                question.shape.model_validate_json(cached.answer),
                cached.model_id,
                cached.input_tokens,
                cached.output_tokens,
                cached.cost_microdollars,
                replayed=True,
            )
        reply = await self._ask(question)
        await self.store(
            CachedReply(
                digest=digest,
                purpose=question.purpose,
                model_id=reply.model_id,
                answer=reply.value.model_dump_json(),
                input_tokens=reply.input_tokens,
                output_tokens=reply.output_tokens,
                cost_microdollars=reply.cost_microdollars,
                answered_at=self.clock.now(),
            ).put()
        )
        return reply

    async def _ask(self, question: LlmRequest[V]) -> LlmReply[V]:
        """Ask, and if the reply is invalid explain why and ask again, at most twice."""
        turns: tuple[Turn, ...] = (Turn("user", question.material),)
        spent = Completion("other", None, "", 0, 0)
        fault, repairs = "", 0
        for repairs in range(3):
            completion = await self._complete(question, turns)
            spent = replace(
                completion,
                input_tokens=spent.input_tokens + completion.input_tokens,
                output_tokens=spent.output_tokens + completion.output_tokens,
            )
            value, fault = _validate(question, completion)
            if value is not None:
                return LlmReply(
                    value,
                    self.model_id,
                    spent.input_tokens,
                    spent.output_tokens,
                    self.limits.cost(spent),
                    repairs,
                )
            if completion.stop == "refused":
                break
            turns = (*turns, *_request_correction(completion, fault))
        raise LlmResponseInvalid(
            f"{self.model_id} gave no valid reply after {repairs} corrections: {fault}"
        )

    async def _complete(self, question: LlmRequest[V], turns: tuple[Turn, ...]) -> Completion:
        await self._check_budget()
        request = Request(
            question.task,
            turns,
            question.shape.model_json_schema(),
            question.most_tokens,
            question.temperature,
        )
        try:
            async with asyncio.timeout(self.limits.seconds):
                completion = await self.provider.complete(request)
        except TimeoutError as late:
            raise LlmTooSlow(
                f"{self.model_id} did not answer in {self.limits.seconds:g} seconds"
            ) from late
        await self._count(completion)
        return completion

    async def _check_budget(self) -> None:
        today = self.clock.now().date()
        spending = await self.store(LlmSpending.of(today))
        spent = 0 if spending is None else spending.cost_microdollars
        if spent >= self.limits.daily_cents * 10_000:
            raise LlmBudgetExceeded(
                f"The daily budget for language models, {spent / 1_000_000:.2f} dollars, is spent. "
                "Raise GRANDSTAND_LLM_DAILY_CENTS, or wait until tomorrow (UTC)."
            )

    async def _count(self, completion: Completion) -> None:
        cost, model = self.limits.cost(completion), self.model_id
        used_in, used_out = completion.input_tokens, completion.output_tokens
        await self.store(LlmSpending.add_to(self.clock.now().date(), cost, used_in, used_out))
        self.metrics.count("llm_tokens", used_in, model=model, direction="in")
        self.metrics.count("llm_tokens", used_out, model=model, direction="out")
        self.metrics.count("llm_cost_microdollars", cost, model=model)


def digest_of(question: LlmRequest[V], model_id: str) -> str:
    """Return the digest of everything that determines a reply."""
    inputs = [
        model_id,
        question.task,
        question.material,
        question.shape.model_json_schema(),
        question.most_tokens,
        question.temperature,
        question.sample,
    ]
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


def _validate(question: LlmRequest[V], completion: Completion) -> tuple[V | None, str]:
    if completion.stop in ("too long", "refused"):
        return None, f"the answer was {completion.stop}"
    if completion.call is None:
        return None, "the tool was not called with a JSON object"
    try:
        # JSON has no tuples, so strictness is that of JSON.
        return question.shape.model_validate_json(json.dumps(completion.call[1])), ""
    except ValidationError as fault:
        return None, "; ".join(
            f"{'.'.join(map(str, error['loc'])) or 'answer'}: {error['msg']}"
            for error in fault.errors()
        )


def _request_correction(completion: Completion, fault: str) -> tuple[Turn, ...]:
    again = f"This reply is invalid ({fault}). Call the tool again with a corrected reply."
    if completion.call is not None:
        call_id, _ = completion.call
        return Turn("model", call=completion.call), Turn("user", (again,), answers_call=call_id)
    text = completion.text.strip() or "(nothing)"
    return Turn("model", (text,)), Turn("user", (again,))
