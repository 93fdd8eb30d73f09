"""Manipulations that must not raise a score, on hand-written answers."""

import re
from random import Random

import pytest

from grandstand.apps.trainer.domain.evaluation import (
    DIMENSION_NAMES,
    Answer,
    EvaluationRequest,
    word_count,
)
from grandstand.apps.trainer.domain.signals.assessment import assess
from tests.apps.trainer.labelled.labelled import Case, cases

CASES = cases("tuning")
IDS = [f"{each.scenario_id}-{each.question_id}-{each.label.quality}" for each in CASES]
SENTENCE_END = re.compile(r"(?<![ie]\.[eg]\.)(?<=[.!?])\s+")
FILLER = (
    "Elephants remember faces because their brains are huge, therefore they rarely forget.",
    "I assume that violins sound warmer than trumpets, although pianists might disagree.",
    "Perhaps moonlight inspires poets; alternatively, it merely keeps owls awake.",
)


def instead(case: Case, text: str) -> EvaluationRequest:
    question = case.work.questions[0]
    answer = Answer(question.question_id, question.text, text, word_count(text))
    work = case.work
    return EvaluationRequest(
        work.scenario_title, work.scenario_description, work.questions, (answer,)
    )


def raised(case: Case, text: str) -> list[str]:
    before, after = assess(case.work).scores, assess(instead(case, text)).scores
    return [name for name in DIMENSION_NAMES if after[name] > before[name]]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_saying_it_twice_or_padding_it_raises_nothing(case: Case) -> None:
    answer = case.label.answer

    assert raised(case, f"{answer} {answer}") == []
    assert raised(case, f"{answer} {' '.join(FILLER)}") == []
    assert raised(case, f"{FILLER[0]} {answer} {FILLER[2]}") == []


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_sentences_out_of_order_never_raise_logic(case: Case) -> None:
    sentences = SENTENCE_END.split(case.label.answer)
    orders = [Random(seed).sample(sentences, len(sentences)) for seed in range(5)]

    levels = [assess(instead(case, " ".join(order))).scores["logic"] for order in orders]

    assert max(levels) <= assess(case.work).scores["logic"]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_every_quote_is_in_the_answer(case: Case) -> None:
    quotes = [quote for each in assess(case.work).details for quote in each.quotes]

    assert quotes
    assert [quote for quote in quotes if quote not in case.label.answer] == []


@pytest.mark.parametrize("case", CASES[::3], ids=IDS[::3])
def test_an_echo_of_question_and_case_scores_next_to_nothing(case: Case) -> None:
    question, case_told = case.work.questions[0].text, case.work.scenario_description

    for_echoes = [
        max(assess(instead(case, echo)).scores.values())
        for echo in (question, case_told, f"{case_told} {question}", f"{question} {question}")
    ]

    assert max(for_echoes) <= 1


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_nobody_who_means_well_is_suspected(case: Case) -> None:
    assert assess(case.work).flags == ()
