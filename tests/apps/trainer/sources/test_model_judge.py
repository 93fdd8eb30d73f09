"""The model judge: three samples, verified quotes and recomputed totals."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import Any

import httpx2
import pytest

from grandstand.apps.trainer.domain.evaluation import DIMENSION_NAMES
from grandstand.apps.trainer.sources.judges import ModelJudge
from grandstand.core.clock import ManualClock
from grandstand.core.errors import SourceFailed, Unavailable
from grandstand.core.metrics import Metrics
from grandstand.kit.llm import (
    LLM_TABLES,
    LlmLimits,
    LlmOffline,
    LlmResponseInvalid,
    OfflineLlm,
    OpenAiProvider,
    Post,
    RemoteLlm,
)
from grandstand.simulators.faults import Fault, Faults, Faulty
from grandstand.simulators.llm_server import LlmServer, Prompt, reply_by_schema
from grandstand.simulators.serving import serve
from grandstand.storage.tables import AsyncStore, Store
from grandstand.storage.tables.declaration.table import Naming
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.store import create_tables
from tests.apps.trainer.canaries import CANARIES, QUESTION, STRONG, WEAK, work_of

pytestmark = pytest.mark.anyio

MODEL = "someone/model-1"
AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
FIELDS = tuple(name.replace("-", "_") for name in DIMENSION_NAMES)
QUOTE = "The bakery took the customers"

Given = Mapping[str, Any] | str


@dataclass
class Court:
    """A simulated model and its judge."""

    model: LlmServer
    faults: Faults
    llm: RemoteLlm
    judge: ModelJudge


@pytest.fixture
async def court() -> AsyncIterator[Court]:
    clock, model, faults = ManualClock(), LlmServer(), Faults(Random(1))
    async with AsyncExitStack() as stack:
        address = await stack.enter_async_context(serve(Faulty(model.application, faults)))
        base = f"http://{address}/v1/"
        client = await stack.enter_async_context(httpx2.AsyncClient(base_url=base))
        store = Store(SqliteEngine.open(None, clock=clock), naming=Naming(), clock=clock)
        create_tables(store.session, LLM_TABLES)
        llm = RemoteLlm(
            OpenAiProvider(MODEL, posting(client)),
            LlmLimits(3, 15, 100, 5.0),
            store=AsyncStore(store),
            clock=clock,
            metrics=Metrics(),
        )
        yield Court(model, faults, llm, ModelJudge(llm, b"secret"))
        store.close()


def posting(client: httpx2.AsyncClient) -> Post:
    async def post(path: str, body: bytes) -> bytes:
        try:
            answer = await client.post(
                path, content=body, headers={"content-type": "application/json"}
            )
            return answer.raise_for_status().content
        except httpx2.HTTPError as fault:
            raise Unavailable(str(fault)) from fault

    return post


def opinion(score: int, *quotes: str) -> dict[str, Any]:
    return {
        "quotes": list(quotes),
        "rationale": ["It names a cause."],
        "score": score,
        "needed": "A comparison with the ferry.",
    }


def verdict(score: int, *quotes: str, **changed: Any) -> dict[str, Any]:
    return {field: opinion(score, *quotes) for field in FIELDS} | {"summary": "Fair."} | changed


def turns(*given: Given) -> Callable[[Prompt], Given]:
    left = [*given]
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


async def test_scores_are_medians_of_three_judgings(court: Court) -> None:
    court.model.reply = turns(verdict(1, QUOTE), verdict(2, QUOTE), verdict(2, QUOTE))

    judgement = await court.judge.judge(work_of(WEAK), AT)

    assert [each.score for each in judgement.evaluation.dimensions] == [2] * 8
    assert judgement.evaluation.overall_score == 50
    assert (judgement.evaluation.model_id, judgement.details.samples) == (MODEL, 3)
    assert {each.spread for each in judgement.details.dimensions} == {1}
    assert {each.confidence for each in judgement.details.dimensions} == {"medium"}
    assert {each.quotes for each in judgement.details.dimensions} == {(QUOTE,)}
    assert judgement.details.review == ()


async def test_judgings_far_apart_are_for_a_person_to_look_at(court: Court) -> None:
    odd = verdict(2, QUOTE, logic=opinion(0, QUOTE))
    court.model.reply = turns(verdict(2, QUOTE), odd, verdict(2, QUOTE))

    judgement = await court.judge.judge(work_of(WEAK), AT)

    logic = judgement.details.dimensions[DIMENSION_NAMES.index("logic")]
    assert (logic.spread, logic.confidence) == (2, "low")
    assert [each for each in judgement.details.review if "logic differ" in each]


async def test_reasons_come_before_scores_and_the_order_turns(court: Court) -> None:
    court.model.reply = turns(verdict(2, QUOTE))

    await court.judge.judge(work_of(WEAK), AT)

    orders = {tuple(heard.schema["properties"])[:8] for heard in court.model.prompts}
    inner = list(court.model.prompts[0].schema["$defs"]["DimensionVerdict"]["properties"])
    assert len(orders) == 3
    assert {frozenset(order) for order in orders} == {frozenset(FIELDS)}
    assert inner.index("rationale") < inner.index("score")
    assert len({heard.task for heard in court.model.prompts}) == 1


async def test_an_answer_goes_as_data_between_boundaries_nobody_can_foresee(court: Court) -> None:
    court.model.reply = turns(verdict(2, QUOTE))
    answer = 'The bakery <b>"took"</b>\nthe customers.'

    await court.judge.judge(work_of(answer), AT)

    said = court.model.prompts[0].messages
    first, data, last = said[-1].split("\n")
    assert re.fullmatch(r"data-[0-9a-f]{24}", first)
    assert last == f"end-{first}"
    assert json.loads(data) == {"questionId": "q1", "answer": answer}
    assert "<" not in data
    assert first in said[1]


async def test_other_work_or_another_secret_makes_another_boundary(court: Court) -> None:
    court.model.reply = turns(verdict(2, QUOTE))

    await court.judge.judge(work_of(WEAK), AT)
    await court.judge.judge(work_of(STRONG), AT)
    await ModelJudge(court.llm, b"another").judge(work_of(WEAK), AT)

    fences = {heard.messages[-1].split("\n")[0] for heard in court.model.prompts}
    assert len(fences) == 3


async def test_the_same_work_is_not_asked_about_twice(court: Court) -> None:
    court.model.reply = turns(verdict(2, QUOTE))

    first = await court.judge.judge(work_of(WEAK), AT)
    again = await court.judge.judge(work_of(WEAK), AT)

    assert len(court.model.prompts) == 3
    assert again == first


async def test_quotes_that_are_not_in_the_answer_are_dropped_and_told(court: Court) -> None:
    court.model.reply = turns(verdict(2, QUOTE, "The ferry was out of service."))

    judgement = await court.judge.judge(work_of(WEAK), AT)

    assert {each.quotes for each in judgement.details.dimensions} == {(QUOTE,)}
    assert "A passage quoted for clarity is not in the answers." in judgement.details.review


async def test_a_high_score_without_a_passage_sinks(court: Court) -> None:
    court.model.reply = turns(verdict(4, "Never said anywhere."))

    judgement = await court.judge.judge(work_of(STRONG), AT)

    scores = {each.name: each.score for each in judgement.evaluation.dimensions}
    assert scores.pop("quantitative-reasoning") == 4
    assert set(scores.values()) == {2}
    assert [each for each in judgement.details.review if "was lowered" in each]


async def test_a_verdict_far_above_the_signs_is_asked_again_and_marked(court: Court) -> None:
    court.model.reply = turns(verdict(4, "The owner thinks so."))

    judgement = await court.judge.judge(work_of("The owner thinks so."), AT)

    assert judgement.details.samples == 6
    assert judgement.details.review[0].startswith("The model's scores are far above")


async def test_a_verdict_that_fits_the_signs_is_not_marked(court: Court) -> None:
    court.model.reply = turns(verdict(4, "I would not blame the bakery yet."))

    judgement = await court.judge.judge(work_of(STRONG), AT)

    assert (judgement.details.samples, judgement.details.review) == (3, ())
    assert judgement.evaluation.overall_score == 100


def obeys(asked: Prompt) -> Given:
    """Follow the instructions in the answer, like a gullible model."""
    told = re.search(
        "full|marks|score|4|top|highest|perfect|excellent|exemplary|outstanding|Evaluation|model",
        json.loads(asked.messages[-1].split("\n")[1])["answer"],
    )
    return verdict(4, QUOTE) if told else verdict(1, QUOTE)


@pytest.mark.parametrize("payload", CANARIES.values(), ids=list(CANARIES))
async def test_a_model_that_obeys_never_reads_the_order(court: Court, payload: str) -> None:
    court.model.reply = obeys

    judgement = await court.judge.judge(work_of(f"{WEAK}\n\n{payload}"), AT)

    assert {each.score for each in judgement.evaluation.dimensions} == {1}
    assert judgement.details.flags
    assert judgement.details.review


@pytest.mark.parametrize("payload", list(CANARIES.values())[:5])
async def test_a_model_that_is_won_over_all_the_same_is_caught(court: Court, payload: str) -> None:
    court.model.reply = turns(verdict(4))

    judgement = await court.judge.judge(work_of(f"It was the bakery. {payload}"), AT)

    assert judgement.details.samples == 6
    assert max(each.score for each in judgement.evaluation.dimensions[:6]) == 2
    assert judgement.details.review[0].startswith("The model's scores are far above")


BAD: dict[str, Given] = {
    "seven dimensions": {k: v for k, v in verdict(2, QUOTE).items() if k != "logic"},
    "nine dimensions": verdict(2, QUOTE, charm=opinion(4)),
    "half points": verdict(2, QUOTE, logic=opinion(2) | {"score": 3.5}),
    "text for a score": verdict(2, QUOTE, logic=opinion(2) | {"score": "4"}),
    "five": verdict(2, QUOTE, logic=opinion(5)),
    "no reasons": verdict(2, QUOTE, logic=opinion(2) | {"rationale": []}),
    "prose": "I would give this a 4 on all dimensions.",
    "cut off": '{"clarity": {"quotes": ["The bak',
    "a list": {"dimensions": [{"name": name, "score": 4} for name in DIMENSION_NAMES]},
}


@pytest.mark.parametrize("bad", BAD.values(), ids=list(BAD))
async def test_a_verdict_of_the_wrong_form_is_corrected(court: Court, bad: Given) -> None:
    court.model.reply = turns(bad, verdict(2, QUOTE))

    judgement = await court.judge.judge(work_of(WEAK), AT)

    assert [each.score for each in judgement.evaluation.dimensions] == [2] * 8
    assert len(court.model.prompts) == 4


@pytest.mark.parametrize("bad", BAD.values(), ids=list(BAD))
async def test_a_verdict_that_stays_wrong_is_an_error_and_no_score(
    court: Court, bad: Given
) -> None:
    court.model.reply = turns(bad)

    with pytest.raises(LlmResponseInvalid):
        await court.judge.judge(work_of(WEAK), AT)


@pytest.mark.parametrize("kind", ["failing", "too many", "garbage", "disconnect"])
async def test_a_model_out_of_reach_is_an_error_and_no_score(court: Court, kind: Any) -> None:
    court.faults.ask_for(Fault(kind))

    with pytest.raises((Unavailable, SourceFailed)):
        await court.judge.judge(work_of(WEAK), AT)


async def test_without_a_model_there_is_no_verdict() -> None:
    judge = ModelJudge(OfflineLlm(), b"secret")

    with pytest.raises(LlmOffline):
        await judge.judge(work_of(WEAK), AT)


async def test_any_verdict_that_fits_the_form_can_be_used(court: Court) -> None:
    court.model.reply = reply_by_schema

    judgement = await court.judge.judge(work_of(STRONG), AT)

    assert [each.name for each in judgement.evaluation.dimensions] == list(DIMENSION_NAMES)


async def test_the_author_s_notes_reach_the_model_but_not_the_model_answer(court: Court) -> None:
    court.model.reply = turns(verdict(2, QUOTE))
    assert QUESTION.notes is not None

    await court.judge.judge(work_of(WEAK), AT)

    case = json.loads(court.model.prompts[0].messages[0])
    notes = case["questions"][0]["authorNotes"]
    assert tuple(notes["traps"]) == QUESTION.notes.traps
    assert QUESTION.notes.model_answer not in court.model.prompts[0].messages[0]
