"""Language models: structured replies, cost control, cached replies and providers."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Any, Final, Generic, Literal, Protocol, Self, TypeAlias, TypeVar

import msgspec
from pydantic import BaseModel, ValidationError

from grandstand.core.clock import Clock
from grandstand.core.errors import LimitReached, SourceFailed, Unavailable
from grandstand.core.metrics import Metrics
from grandstand.storage.tables import AsyncStore, Entity, Get, Table, Update, key, ttl

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


_REPAIRS: Final = 2
_MICRODOLLARS_PER_CENT: Final = 10_000


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


class RemoteLlm:
    """A provider's model; replies are validated, counted and cached."""

    def __init__(
        self,
        provider: Provider,
        terms: LlmLimits,
        *,
        store: AsyncStore,
        clock: Clock,
        metrics: Metrics,
    ) -> None:
        self._provider = provider
        self._terms = terms
        self._store = store
        self._clock = clock
        self._metrics = metrics

    @property
    def model_id(self) -> str:
        """The model as its provider names it."""
        return self._provider.model_id

    @property
    def offline(self) -> bool:
        """Always False."""
        return False

    async def ask(self, question: LlmRequest[V]) -> LlmReply[V]:
        """Return a cached reply, or ask the model; see `Llm.ask`."""
        digest = digest_of(question, self.model_id)
        kept = await self._store(CachedReply.to(digest))
        if kept is not None:
            return self._replayed(question, kept)
        reply = await self._ask(question)
        await self._store(
            CachedReply(
                digest=digest,
                purpose=question.purpose,
                model_id=reply.model_id,
                answer=reply.value.model_dump_json(),
                input_tokens=reply.input_tokens,
                output_tokens=reply.output_tokens,
                cost_microdollars=reply.cost_microdollars,
                answered_at=self._clock.now(),
            ).put()
        )
        return reply

    def _replayed(self, question: LlmRequest[V], kept: CachedReply) -> LlmReply[V]:
        return LlmReply(
            question.shape.model_validate_json(kept.answer),
            kept.model_id,
            kept.input_tokens,
            kept.output_tokens,
            kept.cost_microdollars,
            replayed=True,
        )

    async def _ask(self, question: LlmRequest[V]) -> LlmReply[V]:
        """Ask, and if the reply is invalid explain why and ask again, at most twice."""
        turns: tuple[Turn, ...] = (Turn("user", question.material),)
        spent = Completion("other", None, "", 0, 0)
        fault, repairs = "", 0
        for repairs in range(_REPAIRS + 1):
            completion = await self._complete(question, turns)
            spent = _sum(spent, completion)
            value, fault = _checked(question, completion)
            if value is not None:
                return LlmReply(
                    value,
                    self.model_id,
                    spent.input_tokens,
                    spent.output_tokens,
                    self._terms.cost(spent),
                    repairs,
                )
            if completion.stop == "refused":
                break
            turns = (*turns, *_corrected(completion, fault))
        message = f"{self.model_id} gave no valid reply after {repairs} corrections: {fault}"
        raise LlmResponseInvalid(message)

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
            async with asyncio.timeout(self._terms.seconds):
                completion = await self._provider.complete(request)
        except TimeoutError as late:
            message = f"{self.model_id} did not answer in {self._terms.seconds:g} seconds"
            raise LlmTooSlow(message) from late
        await self._count(completion)
        return completion

    async def _check_budget(self) -> None:
        today = self._clock.now().date()
        known = await self._store(LlmSpending.of(today))
        spent = 0 if known is None else known.cost_microdollars
        if spent >= self._terms.daily_cents * _MICRODOLLARS_PER_CENT:
            raise LlmBudgetExceeded(
                f"The daily budget for language models, {spent / 1_000_000:.2f} dollars, is spent. "
                "Raise GRANDSTAND_LLM_DAILY_CENTS, or wait until tomorrow (UTC)."
            )

    async def _count(self, completion: Completion) -> None:
        cost, model = self._terms.cost(completion), self.model_id
        used_in, used_out = completion.input_tokens, completion.output_tokens
        await self._store(LlmSpending.add_to(self._clock.now().date(), cost, used_in, used_out))
        self._metrics.count("llm_tokens", used_in, model=model, direction="in")
        self._metrics.count("llm_tokens", used_out, model=model, direction="out")
        self._metrics.count("llm_cost_microdollars", cost, model=model)


def digest_of(question: LlmRequest[V], model_id: str) -> str:
    """Return the digest of everything that determines a reply."""
    decides = [
        model_id,
        question.task,
        question.material,
        question.shape.model_json_schema(),
        question.most_tokens,
        question.temperature,
        question.sample,
    ]
    return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()


def _checked(question: LlmRequest[V], completion: Completion) -> tuple[V | None, str]:
    if completion.stop in ("too long", "refused"):
        return None, f"the answer was {completion.stop}"
    if completion.call is None:
        return None, "the tool was not called with a JSON object"
    try:
        # JSON has no tuples, so strictness is that of JSON.
        return question.shape.model_validate_json(json.dumps(completion.call[1])), ""
    except ValidationError as fault:
        told = [
            f"{'.'.join(map(str, each['loc'])) or 'answer'}: {each['msg']}"
            for each in fault.errors()
        ]
        return None, "; ".join(told)


def _corrected(completion: Completion, fault: str) -> tuple[Turn, ...]:
    again = f"This reply is invalid ({fault}). Call the tool again with a corrected reply."
    if completion.call is not None:
        call_id, _ = completion.call
        return Turn("model", call=completion.call), Turn("user", (again,), answers_call=call_id)
    said = completion.text.strip() or "(nothing)"
    return Turn("model", (said,)), Turn("user", (again,))


def _sum(before: Completion, now: Completion) -> Completion:
    return replace(
        now,
        input_tokens=before.input_tokens + now.input_tokens,
        output_tokens=before.output_tokens + now.output_tokens,
    )
