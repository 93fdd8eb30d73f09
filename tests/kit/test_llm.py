"""A language model answers in a shape, within its budget; asked over the real protocols."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from random import Random
from typing import Annotated, Any, Literal

import boto3
import httpx2
import openai
import pytest
from pydantic import BaseModel, ConfigDict, Field

from grandstand.core.clock import ManualClock
from grandstand.core.errors import InvalidInput, LimitReached, NotAllowed, SourceFailed
from grandstand.core.metrics import Metrics
from grandstand.kit.llm import (
    LLM_TABLES,
    BedrockProvider,
    LlmBudgetExceeded,
    LlmLimits,
    LlmOffline,
    LlmRequest,
    LlmResponseInvalid,
    LlmSpending,
    LlmTooSlow,
    OfflineLlm,
    OpenAiProvider,
    Post,
    Provider,
    RemoteLlm,
)
from grandstand.net.bedrock import Bedrock
from grandstand.simulators.faults import Fault, Faults, Faulty
from grandstand.simulators.llm_server import LlmServer, Prompt
from grandstand.simulators.serving import serve
from grandstand.storage.tables import AsyncStore, Store
from grandstand.storage.tables.declaration.table import Naming
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.store import create_tables

pytestmark = pytest.mark.anyio

MODEL = "us.someone.model-1:0"


class Verdict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    reason: Annotated[str, Field(min_length=3)]
    score: Annotated[int, Field(ge=0, le=4)]
    trend: Literal["up", "down"]


GOOD = {"reason": "It names the base rate.", "score": 3, "trend": "up"}
QUESTION = LlmRequest("Judging", "You judge.", ("Scenario: …", "Answer: …"), Verdict)


@dataclass
class Desk:
    """A judge on a socket, and a model asked through it."""

    judge: LlmServer
    faults: Faults
    llm: RemoteLlm
    provider: Provider
    store: AsyncStore
    metrics: Metrics
    address: str
    clock: ManualClock


def opinions(*given: Mapping[str, Any] | str) -> Callable[[Prompt], Mapping[str, Any] | str]:
    left = [*given]
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


@pytest.fixture(params=["openai", "bedrock"])
async def desk(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Desk]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    clock, metrics, judge, faults = (
        ManualClock(),
        Metrics(),
        LlmServer(opinions(GOOD)),
        Faults(Random(1)),
    )
    async with AsyncExitStack() as stack:
        address = await stack.enter_async_context(serve(Faulty(judge.application, faults)))
        if request.param == "openai":
            base = f"http://{address}/v1/"
            client = await stack.enter_async_context(httpx2.AsyncClient(base_url=base))
            provider: Provider = OpenAiProvider(MODEL, posting(client))
        else:
            bedrock = Bedrock.open(region="eu-west-1", endpoint=f"http://{address}", seconds=5)
            provider = BedrockProvider(MODEL, bedrock)
        store = Store(SqliteEngine.open(None, clock=clock), naming=Naming(), clock=clock)
        create_tables(store.session, LLM_TABLES)
        awaited = AsyncStore(store)
        llm = RemoteLlm(
            provider, LlmLimits(3, 15, 100, 5.0), store=awaited, clock=clock, metrics=metrics
        )
        yield Desk(judge, faults, llm, provider, awaited, metrics, address, clock)
        store.close()


def posting(client: httpx2.AsyncClient) -> Post:
    async def post(path: str, body: bytes) -> bytes:
        answer = await client.post(path, content=body, headers={"content-type": "application/json"})
        return answer.raise_for_status().content

    return post


async def test_an_answer_has_the_shape_and_says_what_it_took(desk: Desk) -> None:
    reply = await desk.llm.ask(QUESTION)

    assert reply.value == Verdict(reason="It names the base rate.", score=3, trend="up")
    assert (reply.model_id, reply.repairs, reply.replayed) == (MODEL, 0, False)
    assert reply.cost_microdollars == 3 * reply.input_tokens + 15 * reply.output_tokens > 0


async def test_task_and_material_reach_the_model_apart(desk: Desk) -> None:
    await desk.llm.ask(QUESTION)

    heard = desk.judge.prompts[0]
    assert (heard.task, heard.messages) == ("You judge.", ("Scenario: …", "Answer: …"))
    assert set(heard.schema["properties"]) == {"reason", "score", "trend"}


@pytest.mark.parametrize(
    "bad",
    [
        GOOD | {"score": 7},
        GOOD | {"score": "3"},
        GOOD | {"score": 3.5},
        GOOD | {"bonus": 1},
        {"score": 3, "trend": "up"},
        "I would give this a 4.",
    ],
    ids=["range", "text", "fraction", "extra", "missing", "prose"],
)
async def test_an_answer_that_does_not_fit_is_corrected(
    desk: Desk, bad: Mapping[str, Any] | str
) -> None:
    desk.judge.reply = opinions(bad, GOOD)

    reply = await desk.llm.ask(QUESTION)

    assert (reply.value.score, reply.repairs) == (3, 1)
    assert "This reply is invalid" in desk.judge.prompts[1].messages[-1]


async def test_repair_ends_after_two_corrections(desk: Desk) -> None:
    desk.judge.reply = opinions(GOOD | {"score": 9})

    with pytest.raises(LlmResponseInvalid, match="score"):
        await desk.llm.ask(QUESTION)

    assert len(desk.judge.prompts) == 3


async def test_the_same_question_is_answered_from_what_is_kept(desk: Desk) -> None:
    first = await desk.llm.ask(QUESTION)
    desk.judge.reply = opinions(GOOD | {"score": 0})

    again = await desk.llm.ask(QUESTION)

    assert (again.value, again.replayed) == (first.value, True)
    assert len(desk.judge.prompts) == 1


async def test_another_sample_of_the_question_is_asked_anew(desk: Desk) -> None:
    await desk.llm.ask(QUESTION)

    other = await desk.llm.ask(
        LlmRequest("Judging", "You judge.", QUESTION.material, Verdict, sample=1)
    )

    assert not other.replayed
    assert len(desk.judge.prompts) == 2


async def test_the_days_spending_is_counted_with_failed_tries(desk: Desk) -> None:
    desk.judge.reply = opinions(GOOD | {"score": 9}, GOOD)

    reply = await desk.llm.ask(QUESTION)
    spent = await desk.store(LlmSpending.of(desk.clock.now().date()))

    assert spent is not None
    assert (spent.asked, spent.cost_microdollars) == (2, reply.cost_microdollars)
    assert b"grandstand_llm_tokens_total" in desk.metrics.exposition()


async def test_when_the_days_budget_is_spent_nothing_is_asked_until_tomorrow(desk: Desk) -> None:
    today = desk.clock.now().date()
    await desk.store(LlmSpending.add_to(today, 1_000_000, 1, 1))

    with pytest.raises(LlmBudgetExceeded, match=r"1\.00 dollars, is spent"):
        await desk.llm.ask(QUESTION)
    desk.clock.advance(86_400)
    reply = await desk.llm.ask(QUESTION)

    assert reply.value.score == 3


async def test_where_nothing_may_be_spent_not_even_the_first_is_asked(desk: Desk) -> None:
    terms = LlmLimits(3, 15, 0, 5.0)
    llm = RemoteLlm(desk.provider, terms, store=desk.store, clock=desk.clock, metrics=desk.metrics)

    with pytest.raises(LlmBudgetExceeded):
        await llm.ask(QUESTION)

    assert desk.judge.prompts == []


async def test_a_slow_model_is_given_up(desk: Desk) -> None:
    desk.faults.ask_for(Fault(kind="delay", seconds=3))
    terms = LlmLimits(3, 15, 100, 0.1)
    llm = RemoteLlm(desk.provider, terms, store=desk.store, clock=desk.clock, metrics=desk.metrics)

    with pytest.raises(LlmTooSlow, match=r"0\.1 seconds"):
        await llm.ask(QUESTION)


async def test_the_stand_in_satisfies_openais_own_client(desk: Desk) -> None:
    async with openai.AsyncOpenAI(base_url=f"http://{desk.address}/v1", api_key="x") as client:
        answered = await client.chat.completions.create(
            model=MODEL,
            messages=[{"role": "system", "content": "s"}, {"role": "user", "content": "u"}],
            tools=[{"type": "function", "function": {"name": "answer", "parameters": {}}}],
        )

    call = (answered.choices[0].message.tool_calls or [])[0]
    assert call.type == "function"
    assert call.function.name == "answer"


async def test_the_stand_in_satisfies_amazons_own_client(desk: Desk) -> None:
    client = boto3.client("bedrock-runtime", "eu-west-1", endpoint_url=f"http://{desk.address}")
    said = {"role": "user", "content": [{"text": "u"}]}

    answered = await asyncio.to_thread(client.converse, modelId=MODEL, messages=[said])

    assert answered["stopReason"] == "tool_use"
    client.close()


async def test_offline_answers_by_the_questions_own_rules_and_says_so() -> None:
    rules = LlmRequest("Judging", "", (), Verdict, offline=lambda: Verdict(**GOOD))  # type: ignore[arg-type]

    reply = await OfflineLlm().ask(rules)

    assert (reply.value.score, reply.model_id, reply.cost_microdollars) == (3, "offline", 0)


async def test_offline_without_rules_says_what_to_set() -> None:
    with pytest.raises(LlmOffline, match="GRANDSTAND_LLM_PROVIDER"):
        await OfflineLlm().ask(QUESTION)


@pytest.mark.parametrize(
    ("status", "code", "meaning"),
    [
        (429, "ThrottlingException", LimitReached),
        (403, "AccessDeniedException", NotAllowed),
        (400, "ValidationException", InvalidInput),
        (424, "ModelErrorException", SourceFailed),
    ],
)
async def test_what_bedrock_refuses_is_told_apart(
    monkeypatch: pytest.MonkeyPatch, status: int, code: str, meaning: type[Exception]
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")

    async def refuse(_scope: Any, _receive: Any, send: Any) -> None:
        headers = [(b"x-amzn-errortype", code.encode()), (b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b'{"message": "no"}'})

    async with serve(refuse) as address:
        bedrock = Bedrock.open(region="eu-west-1", endpoint=f"http://{address}", seconds=5)
        with pytest.raises(meaning, match="Bedrock refused"):
            await bedrock.converse(modelId=MODEL, messages=[])
