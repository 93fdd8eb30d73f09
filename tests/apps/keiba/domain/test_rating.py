"""The ranking: points by factor, their sum, and chances."""

import math
import re
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grandstand.apps.keiba.domain.form import (
    Background,
    Entry,
    Figures,
    Record,
    WeightedMean,
    compute_figures,
)
from grandstand.apps.keiba.domain.ranking import (
    FACTORS,
    HARVILLE,
    HENERY,
    LABELS,
    WEIGHTS,
    Weight,
    compute_contributions,
    explain,
    rate,
    read_factors,
)
from tests.apps.keiba.domain.runs import RACE_DAY, card, form, run, runner

_UNKNOWN = compute_figures(Entry(runner()), card(), Background(), on=RACE_DAY)

_VALUES = st.floats(-50, 50)
_MEANS = st.none() | st.builds(WeightedMean, _VALUES, st.floats(0.01, 500))
_FIGURES = st.builds(
    Figures,
    horse_id=st.just("2023100001"),
    runs=st.integers(0, 40),
    days_since_last_run=st.none() | st.integers(1, 900),
    career=st.just(Record()),
    at_distance=st.just(Record(3, 1, 1, 1)),
    on_surface=st.just(Record()),
    on_going=st.just(Record()),
    on_course=st.just(Record()),
    speeds=st.just(()),
    speed=_MEANS,
    trend=_MEANS,
    distance_gain=_MEANS,
    surface_gain=_MEANS,
    going_gain=_MEANS,
    course_gain=_MEANS,
    finishing=_MEANS,
    class_move=_MEANS,
    carried_change=_MEANS,
    body_weight_change=st.none() | st.integers(-30, 30),
    jockey=st.none() | st.builds(WeightedMean, st.floats(0, 1), st.floats(1, 500)),
    jockey_on_course=st.just(Record()),
    jockey_gain=_MEANS,
    sire=st.builds(Record, st.integers(0, 90), st.just(0), st.just(0), st.just(0)),
)


def _at_speed(points: float, weight: float = 4.0) -> Figures:
    return replace(_UNKNOWN, speed=WeightedMean(points, weight))


@settings(max_examples=30, deadline=None)
@given(st.lists(_FIGURES, min_size=1, max_size=6))
def test_a_score_is_the_sum_of_its_contributions(field: list[Figures]) -> None:
    for rating in rate(field):
        assert rating.score == math.fsum(each.points for each in rating.contributions)
        assert [each.factor for each in rating.contributions] == list(FACTORS)


@settings(max_examples=30, deadline=None)
@given(st.lists(_FIGURES, min_size=1, max_size=6))
def test_whatever_is_missing_chances_are_positive_and_sum_to_one(field: list[Figures]) -> None:
    chances = [rating.placing.win for rating in rate(field)]

    assert min(chances) > 0
    assert math.fsum(chances) == pytest.approx(1)


@settings(max_examples=30, deadline=None)
@given(st.lists(_FIGURES, min_size=1, max_size=6))
def test_what_is_unknown_adds_nothing(field: list[Figures]) -> None:
    rows = compute_contributions(field)

    unknown = [each.points for row in rows for each in row if each.reading is None]

    assert set(unknown) <= {0.0}


@settings(max_examples=30, deadline=None)
@given(st.lists(_FIGURES, min_size=1, max_size=6))
def test_every_factor_has_a_sentence_in_both_languages(field: list[Figures]) -> None:
    for known, row in zip(field, compute_contributions(field), strict=True):
        for each in row:
            reasons = explain(known, each)
            assert reasons.sentence.endswith(".")
            assert reasons.sentence_ja.endswith("。")


def test_nothing_known_of_anybody_leaves_even_chances() -> None:
    ratings = rate([_UNKNOWN] * 4)

    assert [rating.placing.win for rating in ratings] == pytest.approx([0.25] * 4)
    assert {rating.rank for rating in ratings} == {1}
    assert {rating.evidence for rating in ratings} == {0.0}


def test_no_runners_have_no_ratings() -> None:
    assert rate([]) == ()


def test_ranks_follow_scores_and_ties_share_one() -> None:
    ratings = rate([_at_speed(0), _at_speed(20), _at_speed(0), _at_speed(-20)])

    assert [rating.rank for rating in ratings] == [2, 1, 2, 4]


def test_little_evidence_is_held_to_the_mean_of_the_field() -> None:
    settled, doubtful, *_ = rate([_at_speed(10, 20.0), _at_speed(10, 0.2), _at_speed(-10, 20.0)])

    assert settled.score > doubtful.score > 0
    assert settled.evidence > doubtful.evidence


def test_a_runner_without_figures_stands_between_the_good_and_the_bad() -> None:
    good, unknown, bad = rate([_at_speed(10), _UNKNOWN, _at_speed(-10)])

    assert good.score > unknown.score > bad.score
    assert unknown.score == 0


def test_contributions_are_measured_against_the_field_and_not_against_zero() -> None:
    low = rate([_at_speed(-100), _at_speed(-110)])
    high = rate([_at_speed(110), _at_speed(100)])

    assert [each.score for each in low] == pytest.approx([each.score for each in high])


def test_other_weights_may_be_given() -> None:
    ignored = {factor: Weight(0.0, 1.0) for factor in FACTORS}

    ratings = rate([_at_speed(0), _at_speed(20)], weights=ignored)

    assert [rating.score for rating in ratings] == [0.0, 0.0]


def test_a_discount_changes_places_and_not_wins() -> None:
    field = [_at_speed(points) for points in (0, 5, 10, 30)]

    plain, discounted = rate(field, discount=HARVILLE), rate(field, discount=HENERY)

    assert [each.placing.win for each in plain] == [each.placing.win for each in discounted]
    assert plain[3].placing.top3 > discounted[3].placing.top3


def test_every_reading_is_better_the_higher_it_is() -> None:
    eased = replace(
        _UNKNOWN, class_move=WeightedMean(-1.0, 1.0), carried_change=WeightedMean(-2.0, 1.0)
    )
    raised = replace(
        _UNKNOWN, class_move=WeightedMean(1.0, 1.0), carried_change=WeightedMean(2.0, 1.0)
    )

    better, worse = read_factors(eased), read_factors(raised)

    assert (better["class"], worse["class"]) == (WeightedMean(1.0, 1.0), WeightedMean(-1.0, 1.0))
    assert (better["carried"], worse["carried"]) == (
        WeightedMean(2.0, 1.0),
        WeightedMean(-2.0, 1.0),
    )


def test_every_factor_has_a_weight_and_labels() -> None:
    assert set(WEIGHTS) == set(LABELS) == set(FACTORS)


def test_a_reason_tells_what_was_read() -> None:
    entry = Entry(
        runner(carried_weight=Decimal(58), body_weight_change=-4),
        form("2023100001", [run(21, carried_weight=Decimal(56)), run(60)]),
    )
    known = compute_figures(entry, card(), Background(), on=RACE_DAY)
    other = compute_figures(
        Entry(runner(), form("2", [run(21, time_seconds=Decimal(99))])),
        card(),
        Background(),
        on=RACE_DAY,
    )
    [row, _] = compute_contributions([known, other])

    reasons = {each.factor: explain(known, each) for each in row}

    assert reasons["rest"].sentence.startswith("Last run 21 days ago: ")
    assert reasons["rest"].sentence_ja.startswith("前走から21日。")
    assert reasons["carried"].sentence.startswith("+2.0 kg carried compared with past runs: ")
    assert reasons["body"].sentence_ja.startswith("馬体重は前走比-4キロ。")
    assert reasons["speed"].sentence.startswith("2 timed runs, on average ")
    assert re.search(r"\+\d+\.\d points\.$", reasons["speed"].sentence)
    assert reasons["sire"].sentence == "Unknown, counted as the average of the field."
    assert (reasons["speed"].label, reasons["speed"].label_ja) == ("Speed", "スピード指数")
