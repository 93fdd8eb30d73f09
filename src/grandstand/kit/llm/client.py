"""Requests to a language model, within a budget and with cached replies."""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Final, Self, TypeVar

from pydantic import BaseModel, ValidationError

from grandstand.core.clock import Clock
from grandstand.core.errors import Unavailable
from grandstand.core.metrics import Metrics
from grandstand.kit.llm.interface import LlmBudgetExceeded, LlmReply, LlmRequest, LlmResponseInvalid
from grandstand.kit.llm.providers import Completion, Provider, Request, Turn
from grandstand.storage.tables import Entity, Get, Table, Update, key, ttl
from grandstand.storage.tables.store import AsyncStore

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


V = TypeVar("V", bound=BaseModel)

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
