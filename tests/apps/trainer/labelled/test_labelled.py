"""The labelled answers are complete, balanced, and say what they claim."""

from collections import Counter
from itertools import pairwise

import pytest

from grandstand.apps.trainer.domain.evaluation import DIMENSION_NAMES, overall_score, word_count
from grandstand.apps.trainer.sources.scenario_files import load_library
from tests.apps.trainer.labelled.labelled import LabelledScenario, cases, labelled

_DRAFTS = {draft.scenario_id: draft for draft in load_library()}
_SCENARIOS = labelled()


def _named(scenario: LabelledScenario) -> str:
    return scenario.scenario_id


def test_every_scenario_of_the_library_has_labelled_answers() -> None:
    ids = [scenario.scenario_id for scenario in _SCENARIOS]

    assert sorted(ids) == sorted(_DRAFTS)


def test_there_are_at_least_seventy_two_different_answers() -> None:
    answers = [case.label.answer for half in ("tuning", "held") for case in cases(half)]

    assert len(set(answers)) == len(answers)
    assert len(answers) >= 72


def test_the_halves_are_balanced_in_every_difficulty() -> None:
    halves = Counter((_DRAFTS[each.scenario_id].difficulty, each.half) for each in _SCENARIOS)

    assert set(halves.values()) == {3}
    assert len(halves) == 6
    assert len(cases("tuning")) == len(cases("held"))


@pytest.mark.parametrize("scenario", _SCENARIOS, ids=_named)
def test_every_question_has_one_answer_of_each_quality(scenario: LabelledScenario) -> None:
    known = {question.question_id for question in _DRAFTS[scenario.scenario_id].questions}

    assert {question.question_id for question in scenario.questions} <= known
    assert [[a.quality for a in question.answers] for question in scenario.questions] == [
        ["poor", "fair", "good"] for _ in scenario.questions
    ]


@pytest.mark.parametrize("scenario", _SCENARIOS, ids=_named)
def test_a_better_answer_is_labelled_better_overall(scenario: LabelledScenario) -> None:
    rises = [
        overall_score(better.scores) - overall_score(worse.scores)
        for question in scenario.questions
        for worse, better in pairwise(question.answers)
    ]

    assert min(rises) >= 10


@pytest.mark.parametrize("scenario", _SCENARIOS, ids=_named)
def test_an_answer_gives_a_probability_exactly_where_one_is_asked(
    scenario: LabelledScenario,
) -> None:
    questions = {each.question_id: each for each in _DRAFTS[scenario.scenario_id].questions}

    given = {
        asked.question_id: {answer.probability_percent is not None for answer in asked.answers}
        for asked in scenario.questions
    }

    assert given == {name: {questions[name].forecast is not None} for name in given}


def test_every_dimension_is_labelled_over_the_breadth_of_its_scale() -> None:
    used = {
        (name, level)
        for half in ("tuning", "held")
        for case in cases(half)
        for name, level in case.label.scores.items()
    }

    narrow = [
        name for name in DIMENSION_NAMES if not {(name, level) for level in range(1, 5)} <= used
    ]

    assert narrow == []


def test_length_does_not_give_the_quality_away() -> None:
    lengths = [
        {answer.quality: word_count(answer.answer) for answer in question.answers}
        for scenario in _SCENARIOS
        for question in scenario.questions
    ]

    assert sum(each["poor"] > each["good"] for each in lengths) >= 8
    assert sum(each["poor"] > each["fair"] for each in lengths) >= 12
    assert sum(each["fair"] > each["good"] for each in lengths) >= 2
