"""Kept here: asking a model for an answer of a shape, within what it may cost."""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError

from grandstand.base.clock import Clock
from grandstand.base.errors import Unavailable
from grandstand.base.metrics import Metrics
from grandstand.kit.llm.ledger import KeptAnswer, Spending
from grandstand.kit.llm.port import Ask, LlmBudgetSpent, LlmUnusable, Reply
from grandstand.kit.llm.provider import Completion, Provider, Request, Turn
from grandstand.storage.tables.store import AsyncStore

V = TypeVar("V", bound=BaseModel)

_REPAIRS: Final = 2
_MICRODOLLARS_PER_CENT: Final = 10_000


class LlmTooSlow(Unavailable):
    """The model did not answer in time."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a model costs a token, what may be spent in a day, and how long an answer may take."""

    input_microdollars: int
    output_microdollars: int
    daily_cents: int
    seconds: float

    def cost(self, completion: Completion) -> int:
        """Answer what an answer cost, in millionths of a dollar."""
        return (
            completion.input_tokens * self.input_microdollars
            + completion.output_tokens * self.output_microdollars
        )


class RemoteLlm:
    """A model of a provider; answers are checked, counted, and kept to be used again."""

    def __init__(
        self,
        provider: Provider,
        terms: Terms,
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
        """The model, as its provider names it."""
        return self._provider.model_id

    @property
    def offline(self) -> bool:
        """There is a model."""
        return False

    async def ask(self, question: Ask[V]) -> Reply[V]:
        """Answer from what is kept, or by the model; see `Llm.ask`."""
        digest = digest_of(question, self.model_id)
        kept = await self._store(KeptAnswer.to(digest))
        if kept is not None:
            return self._replayed(question, kept)
        reply = await self._ask(question)
        await self._store(
            KeptAnswer(
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

    def _replayed(self, question: Ask[V], kept: KeptAnswer) -> Reply[V]:
        return Reply(
            question.shape.model_validate_json(kept.answer),
            kept.model_id,
            kept.input_tokens,
            kept.output_tokens,
            kept.cost_microdollars,
            replayed=True,
        )

    async def _ask(self, question: Ask[V]) -> Reply[V]:
        """Ask, and when the answer does not fit say why and ask again, at most twice."""
        turns: tuple[Turn, ...] = (Turn("user", question.material),)
        spent = Completion("other", None, "", 0, 0)
        fault, repairs = "", 0
        for repairs in range(_REPAIRS + 1):
            completion = await self._complete(question, turns)
            spent = _sum(spent, completion)
            value, fault = _checked(question, completion)
            if value is not None:
                return Reply(
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
        message = f"{self.model_id} gave no usable answer, after {repairs} corrections: {fault}"
        raise LlmUnusable(message)

    async def _complete(self, question: Ask[V], turns: tuple[Turn, ...]) -> Completion:
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
        known = await self._store(Spending.of(today))
        spent = 0 if known is None else known.cost_microdollars
        if spent >= self._terms.daily_cents * _MICRODOLLARS_PER_CENT:
            message = (
                f"Models have cost {spent / 1_000_000:.2f} dollars today, which is all they may: "
                "raise GRANDSTAND_LLM_DAILY_CENTS, or wait for tomorrow (UTC)"
            )
            raise LlmBudgetSpent(message)

    async def _count(self, completion: Completion) -> None:
        cost, model = self._terms.cost(completion), self.model_id
        used_in, used_out = completion.input_tokens, completion.output_tokens
        await self._store(Spending.add_to(self._clock.now().date(), cost, used_in, used_out))
        self._metrics.count("llm_tokens", used_in, model=model, direction="in")
        self._metrics.count("llm_tokens", used_out, model=model, direction="out")
        self._metrics.count("llm_cost_microdollars", cost, model=model)


def digest_of(question: Ask[V], model_id: str) -> str:
    """Answer the digest of everything that decides an answer."""
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


def _checked(question: Ask[V], completion: Completion) -> tuple[V | None, str]:
    if completion.stop in ("too long", "refused"):
        return None, f"the answer was {completion.stop}"
    if completion.call is None:
        return None, "the tool was not called with a JSON object"
    try:
        # JSON has no tuples, so the strictness that is wanted is that of JSON.
        return question.shape.model_validate_json(json.dumps(completion.call[1])), ""
    except ValidationError as fault:
        told = [
            f"{'.'.join(map(str, each['loc'])) or 'answer'}: {each['msg']}"
            for each in fault.errors()
        ]
        return None, "; ".join(told)


def _corrected(completion: Completion, fault: str) -> tuple[Turn, ...]:
    again = f"This cannot be used ({fault}). Call the tool again with a corrected answer."
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
