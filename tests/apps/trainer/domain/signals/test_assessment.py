"""Scores follow signs of reasoning, and nothing else can raise them."""

from random import Random
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grandstand.apps.trainer.domain.evaluation import DIMENSION_NAMES, EvaluationRequest
from grandstand.apps.trainer.domain.signals.assessment import assess
from tests.apps.trainer.canaries import (
    CANARIES,
    DESCRIPTION,
    QUESTION,
    STRONG,
    TITLE,
    WEAK,
    work_of,
)

FAIR = (
    "I think the bakery is one reason because it opened in May. But the ferry was out too, so it "
    "could also be that. If the owner halves the price she earns only 0.50 for each cake."
)
ANSWERS = (WEAK, FAIR, STRONG)
FILLER = (
    "My grandmother knits wonderful jumpers in winter.",
    "Elephants remember faces because their brains are huge, therefore they rarely forget.",
    "I assume that violins sound warmer than trumpets, although pianists might disagree.",
    "For example, 40% of mountaineers prefer wool, compared with 25% of sailors.",
    "Perhaps moonlight inspires poets; alternatively, it merely keeps owls awake.",
    "Football stadiums were built of concrete long ago.",
    "If the violinist practises, the orchestra would probably sound brighter.",
)
SENTENCES = tuple(part.strip() + "." for part in STRONG.rstrip(".").split(". "))


def scores(text: str) -> dict[str, int]:
    return assess(work_of(text)).scores


def gained(before: str, after: str) -> dict[str, int]:
    was, now = scores(before), scores(after)
    return {name: now[name] for name in DIMENSION_NAMES if now[name] > was[name]}


def test_better_answers_score_higher_on_every_dimension_that_was_asked_for() -> None:
    weak, fair, strong = (scores(answer) for answer in ANSWERS)

    asked = QUESTION.focus_areas
    assert [weak[name] < strong[name] for name in asked] == [True] * len(asked)
    assert sum(weak.values()) < sum(fair.values()) < sum(strong.values())


def test_all_eight_dimensions_have_a_score_and_reasons() -> None:
    found = assess(work_of(STRONG))

    assert [each.name for each in found.dimensions] == list(DIMENSION_NAMES)
    assert all(0 <= each.score <= 4 for each in found.dimensions)
    assert all(1 <= len(each.rationale) <= 5 for each in found.dimensions)
    assert all(each.needed for each in found.details)
    assert {each.confidence for each in found.details} <= {"low", "medium"}


@pytest.mark.parametrize("answer", [*ANSWERS, STRONG.replace("ferry", "fer\u00adry…")])
def test_every_quote_is_in_the_answer_word_for_word(answer: str) -> None:
    quotes = [quote for each in assess(work_of(answer)).details for quote in each.quotes]

    assert quotes
    assert [quote for quote in quotes if quote not in answer] == []


@given(st.lists(st.sampled_from(FILLER), min_size=1, max_size=6), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=60)
def test_filler_never_raises_a_score(filler: list[str], random: Random) -> None:
    mixed = [*SENTENCES]
    for sentence in filler:
        mixed.insert(random.randint(0, len(mixed)), sentence)

    assert gained(" ".join(SENTENCES), " ".join(mixed)) == {}
    assert gained(WEAK, f"{WEAK} {' '.join(filler)}") == {}
    assert gained("", " ".join(filler)) == {}


@given(st.permutations(SENTENCES))
@settings(deadline=None, max_examples=60)
def test_sentences_out_of_order_never_raise_logic(shuffled: list[str]) -> None:
    assert scores(" ".join(shuffled))["logic"] <= scores(" ".join(SENTENCES))["logic"]


def test_sentences_out_of_order_cost_logic() -> None:
    told = (
        "First, the ferry was out for three weeks because of repairs. Second, the bakery is small. "
        "Therefore the bakery cannot explain the drop in sales."
    )
    shuffled = (
        "Therefore the bakery cannot explain the drop in sales. Second, the bakery is small. "
        "First, the ferry was out for three weeks because of repairs."
    )

    assert scores(shuffled)["logic"] < scores(told)["logic"]


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("between", [" ", "\n\n", ""])
def test_saying_it_twice_gains_nothing(answer: str, between: str) -> None:
    assert gained(answer, answer + between + answer) == {}
    assert gained(answer, between.join([answer.rstrip(".")] * 3)) == {}


@pytest.mark.parametrize(
    "echo",
    [
        QUESTION.text,
        DESCRIPTION,
        f"{TITLE}. {DESCRIPTION} {QUESTION.text}",
        DESCRIPTION.replace(". ", " and "),
        f"You ask: {QUESTION.text} {DESCRIPTION[:200]}",
    ],
)
def test_an_echo_of_the_case_scores_next_to_nothing(echo: str) -> None:
    assert max(scores(echo).values()) <= 1


@pytest.mark.parametrize(
    "gibberish",
    [
        "",
        "   \n ",
        "!!! ??? ...",
        "asdf qwer zxcv lkjh " * 20,
        "because therefore however assume alternative evidence probability uncertain " * 10,
        "bakery because ferry therefore sales however owner assume price alternative cake if "
        "evidence probability uncertain compare " * 3,
        "the the of bakery because a is sales therefore the with if ferry a of owner the " * 4,
        "因为 面包店 所以 销售 下降。" * 10,
    ],
)
def test_gibberish_and_stuffing_score_next_to_nothing(gibberish: str) -> None:
    assert max(scores(gibberish).values()) <= 1


def test_words_of_a_good_answer_in_any_order_are_not_a_good_answer() -> None:
    words = STRONG.split()
    Random(7).shuffle(words)

    salad = scores(" ".join(words))

    assert sum(salad.values()) < sum(scores(WEAK).values())


@pytest.mark.parametrize("payload", CANARIES.values(), ids=list(CANARIES))
def test_no_canary_gains_a_point(payload: str) -> None:
    with_payload = [
        f"{WEAK} {payload}",
        f"{payload} {WEAK}",
        f"{WEAK}\n\n{payload}",
        f"{payload}\n\n{WEAK}",
    ]

    assert [gained(WEAK, text) for text in with_payload] == [{}] * 4
    assert all(assess(work_of(text)).flags for text in with_payload)


def test_a_sum_that_does_not_hold_costs_quantity() -> None:
    question = work_of("").questions[0]
    asking = type(question)(
        "q1", question.text, "long", 60, ("quantitative-reasoning",), question.notes
    )
    right = "The margin falls from 2.50 to 0.50, and 2,000 - 1,400 = 600 cakes fewer were sold."
    wrong = right.replace("= 600", "= 800")

    held, broken = (assess(work_of(text, asking)).scores for text in (right, wrong))

    assert broken["quantitative-reasoning"] < held["quantitative-reasoning"]


def test_figures_nobody_asks_for_may_be_left_out() -> None:
    found = assess(work_of(WEAK))

    assessed = {each.name: each.assessed for each in found.details}
    assert (found.scores["quantitative-reasoning"], assessed["quantitative-reasoning"]) == (
        3,
        False,
    )
    assert assessed["logic"]


def test_the_model_answer_handed_in_is_flagged() -> None:
    assert QUESTION.notes is not None

    found = assess(work_of(QUESTION.notes.model_answer))

    assert "copies-model-answer" in found.flags


def test_an_unanswered_question_counts() -> None:
    second = type(QUESTION)("q2", "What would you ask the owner?", "short", 50, ("logic",), None)
    one = work_of(STRONG)
    half = EvaluationRequest(
        one.scenario_title, one.scenario_description, (QUESTION, second), one.answers
    )

    assert assess(half).scores["logic"] < assess(one).scores["logic"]


def test_the_same_words_always_get_the_same_assessment() -> None:
    assert assess(work_of(STRONG)) == assess(work_of(STRONG))


@pytest.mark.parametrize(
    "endless",
    ["." * 20_000, f"{STRONG} It is {'1,' * 9_000} of 2, or 3.", f"{STRONG} 7{' ' * 18_000}2 3"],
    ids=["dots", "digits", "spaces"],
)
def test_no_text_keeps_the_reader_busy(endless: str) -> None:
    started = process_time()
    scores(endless)
    taken = process_time() - started

    assert taken < 1.0
