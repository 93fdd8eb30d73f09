"""Written previews: three parts from the ranking or a model, kept for the same data, cut to fit."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from pydantic import BaseModel

from grandstand.apps.keiba.services.previews import PreviewRejected, PromptDetail, prompt_data
from grandstand.core.clock import ManualClock
from grandstand.kit.llm import LlmReply, LlmRequest, LlmResponseInvalid
from grandstand.simulators.racing.site import Site
from grandstand.storage.tables import Naming, Store
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from tests.apps.keiba.stage import NOON, Stage, staged

pytestmark = pytest.mark.anyio

V = TypeVar("V", bound=BaseModel)


class ScriptedModel:
    """Returns a scripted draft and records the requests."""

    model_id = "scripted/1"
    offline = False

    def __init__(self) -> None:
        self.asked: list[LlmRequest[Any]] = []
        self.says: dict[str, Any] = {}

    async def ask(self, question: LlmRequest[V]) -> LlmReply[V]:
        self.asked.append(question)
        return LlmReply(question.shape.model_validate(self.says), self.model_id)


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


@pytest.fixture
async def written(
    gathered_file: Path, tmp_path: Path, race_site: Site, model: ScriptedModel
) -> AsyncIterator[Stage]:
    """A keiba whose previews are written by a model, with little room for material."""
    clock, file = ManualClock(NOON), Path(shutil.copy(gathered_file, tmp_path))
    with Store(SqliteEngine.open(file, clock=clock), naming=Naming(), clock=clock) as store:
        async with staged(store, race_site, clock, llm=model, preview_input_tokens=16_500) as made:
            yield made


async def test_without_a_model_rules_write_all_three_parts_in_both_languages(
    gathered: Stage,
) -> None:
    card = await gathered.keiba.cards.assemble(gathered.small)

    english = await gathered.keiba.previews.write(gathered.small)
    japanese = await gathered.keiba.previews.write(gathered.small, language="ja")

    ranking = [each.runner.horse_id for each in card.ranking]
    assert [one.horse_id for one in english.individual] == ranking
    assert [one.horse_id for one in english.top] == ranking[:5]
    assert [one.place for one in english.top] == [1, 2, 3, 4, 5]
    assert {one.confidence for one in english.top} <= {"high", "medium", "low"}
    assert english.comparison.startswith(card.ranking[0].runner.horse_name)
    assert (english.model_id, english.cached) == ("offline", False)
    assert "最上位" in japanese.comparison
    assert "評価1位" in japanese.individual[0].text
    assert japanese.digest != english.digest


async def test_a_preview_is_written_once_for_the_same_data_and_wish(
    written: Stage, model: ScriptedModel
) -> None:
    card = await written.keiba.cards.assemble(written.small)
    first, second = (each.runner.horse_id for each in card.ranking[:2])
    model.says = {
        "individual": [{"horse_id": first, "text": "Fast."}, {"horse_id": "x", "text": "Who?"}],
        "comparison": "Close.",
        "top": [
            {"horse_id": second, "reason": "Rested", "confidence": "medium"},
            {"horse_id": second, "reason": "Twice", "confidence": "low"},
            {"horse_id": "stranger", "reason": "?", "confidence": "high"},
            {"horse_id": first, "reason": "Fast", "confidence": "low"},
        ],
    }

    one = await written.keiba.previews.write(written.small, "Who likes rain?")
    written.clock.advance(120)
    again = await written.keiba.previews.write(written.small, "Who likes rain?")
    other = await written.keiba.previews.write(written.small, "Who is fast?")

    assert [(pick.horse_id, pick.reason) for pick in one.top] == [
        (second, "Rested"),
        (first, "Fast"),
    ]
    assert [each.text for each in one.individual] == ["Fast."]
    assert (one.cached, again.cached, other.cached) == (False, True, False)
    assert (again.digest, again.written_at) == (one.digest, one.written_at)
    assert len(model.asked) == 2
    assert model.asked[0].material[1] == "Who likes rain?"
    key = (f"ANALYSIS#{written.small}", f"PROMPT#{one.digest}")
    assert key in written.stored_keys()


async def test_an_answer_about_nobody_of_this_race_is_no_preview_and_not_kept(
    written: Stage, model: ScriptedModel
) -> None:
    model.says = {"individual": [], "comparison": "Hm.", "top": []}

    with pytest.raises(LlmResponseInvalid):
        await written.keiba.previews.write(written.small)

    assert not [key for key in written.stored_keys() if key[0].startswith("ANALYSIS")]


async def test_the_material_is_cut_in_the_order_of_the_steps(gathered: Stage) -> None:
    card = await gathered.keiba.cards.assemble(gathered.small)

    lengths = [len(prompt_data(card, step)) for step in PromptDetail.levels()]
    left_out = [len(step.omitted) for step in PromptDetail.levels()]

    assert lengths == sorted(lengths, reverse=True)
    assert len(set(lengths)) == 5
    assert left_out == [0, 1, 2, 3, 4]
    assert "odds" not in prompt_data(card, PromptDetail())


async def test_material_over_the_budget_is_cut_and_that_is_said(
    written: Stage, model: ScriptedModel
) -> None:
    card = await written.keiba.cards.assemble(written.small)
    first = card.ranking[0].runner.horse_id
    model.says = {
        "individual": [{"horse_id": first, "text": "Fast."}],
        "comparison": "Clear.",
        "top": [{"horse_id": first, "reason": "Fast", "confidence": "high"}],
    }

    preview = await written.keiba.previews.write(written.small)

    assert preview.omitted == ("past races beyond the last five", "parents' careers")
    assert len(model.asked[0].material[0]) < len(prompt_data(card, PromptDetail()))


async def test_a_focus_that_is_too_long_is_rejected(gathered: Stage) -> None:
    with pytest.raises(PreviewRejected, match="At most 1000"):
        await gathered.keiba.previews.write(gathered.small, "x" * 1001)
