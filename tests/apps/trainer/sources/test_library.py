"""The built-in scenarios: number, length, correct sums, and notes."""

from collections import Counter

import pytest

from grandstand.apps.trainer.domain.evaluation import DIMENSION_NAMES, word_count
from grandstand.apps.trainer.domain.scenarios import (
    DIFFICULTIES,
    AuthorNotes,
    Question,
    ScenarioDraft,
)
from grandstand.apps.trainer.sources.scenario_files import (
    library_files,
    load_library,
    parse_scenarios,
)
from tests.apps.trainer.sources.arithmetic import Sum, sums_in

_LIBRARY = load_library()
_TOPICS = {
    "business",
    "health-statistics",
    "policy",
    "media-claims",
    "engineering-incident",
    "personal-finance",
    "science-news",
    "law-ethics",
    "hiring",
    "forecasting",
}

each_scenario = pytest.mark.parametrize("draft", _LIBRARY, ids=lambda draft: draft.scenario_id)


def _notes(question: Question) -> AuthorNotes:
    return question.notes or AuthorNotes()


@pytest.mark.parametrize(("name", "source"), library_files(), ids=lambda given: str(given)[:40])
def test_every_file_holds_the_scenario_it_is_named_after(name: str, source: bytes) -> None:
    drafts = parse_scenarios(source, file_name=name)

    assert [f"{draft.scenario_id}.yaml" for draft in drafts] == [name]


def test_there_are_six_scenarios_of_each_difficulty_easiest_first() -> None:
    difficulties = [draft.difficulty for draft in _LIBRARY]

    assert Counter(difficulties) == dict.fromkeys(DIFFICULTIES, 6)
    assert difficulties == sorted(difficulties, key=DIFFICULTIES.index)


def test_every_topic_is_covered() -> None:
    tags = {tag for draft in _LIBRARY for tag in draft.tags}

    assert sorted(_TOPICS - tags) == []


def test_every_dimension_is_in_focus_somewhere_at_every_difficulty() -> None:
    focused = {
        (draft.difficulty, area)
        for draft in _LIBRARY
        for question in draft.questions
        for area in question.focus_areas
    }

    assert focused == {
        (difficulty, name) for difficulty in DIFFICULTIES for name in DIMENSION_NAMES
    }


def test_forecasts_are_asked_for_and_do_not_all_end_the_same_way() -> None:
    outcomes = [
        question.forecast.happened
        for draft in _LIBRARY
        for question in draft.questions
        if question.forecast
    ]

    assert len(outcomes) >= 5
    assert set(outcomes) == {True, False}


@each_scenario
def test_a_description_has_at_least_a_hundred_and_twenty_words(draft: ScenarioDraft) -> None:
    assert word_count(draft.description) >= 120


@each_scenario
def test_a_scenario_asks_two_to_four_questions_with_full_notes(draft: ScenarioDraft) -> None:
    bare = [
        question.question_id
        for question in draft.questions
        if not all(
            (
                _notes(question).assumptions,
                _notes(question).traps,
                _notes(question).key_numbers,
                _notes(question).alternatives,
            )
        )
    ]

    assert 2 <= len(draft.questions) <= 4
    assert bare == []


@each_scenario
def test_a_model_answer_keeps_to_the_length_it_asks_for(draft: ScenarioDraft) -> None:
    shares = [
        word_count(_notes(question).model_answer) / question.target_word_count
        for question in draft.questions
    ]

    assert min(shares) >= 0.8
    assert max(shares) <= 1.25


@each_scenario
def test_a_long_question_asks_for_more_words_than_a_short_one(draft: ScenarioDraft) -> None:
    longest_short = max(
        (each.target_word_count for each in draft.questions if each.type == "short"), default=100
    )

    assert longest_short <= 100
    assert [q for q in draft.questions if q.type == "long" and q.target_word_count <= 100] == []


@each_scenario
def test_every_key_number_is_a_sum_that_holds(draft: ScenarioDraft) -> None:
    numbers = [number for question in draft.questions for number in _notes(question).key_numbers]

    sums = [found for number in numbers for found in sums_in(number)]

    assert len(sums) == len(numbers)
    assert [found for found in sums if not found.holds] == []


@each_scenario
def test_every_sum_in_a_model_answer_holds(draft: ScenarioDraft) -> None:
    answers = [_notes(question).model_answer for question in draft.questions]

    wrong = [found for answer in answers for found in sums_in(answer) if not found.holds]

    assert wrong == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("So 3 / 600 = 0.5% died.", [(Sum("3 / 600", True, "0.5%"), True)]),
        ("9.6 / 109.1 ≈ 8.8%", [(Sum("9.6 / 109.1", False, "8.8%"), True)]),
        ("9.6 / 109.1 ≈ 8.7%", [(Sum("9.6 / 109.1", False, "8.7%"), False)]),
        ("(120 - 78) / 120 = 35%", [(Sum("(120 - 78) / 120", True, "35%"), True)]),
        ("5 - 7 - 1 = -3", [(Sum("5 - 7 - 1", True, "-3"), True)]),
        ("1,300 × 2.90 = 3,771", [(Sum("1,300 × 2.90", True, "3,771"), False)]),
        ("p = 0.03 and no sum", []),
    ],
)
def test_sums_are_found_and_worked_out(text: str, expected: list[tuple[Sum, bool]]) -> None:
    assert [(found, found.holds) for found in sums_in(text)] == expected
