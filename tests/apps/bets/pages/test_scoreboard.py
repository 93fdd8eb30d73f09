"""The scoreboard says how sure it is, and draws it."""

from datetime import date, timedelta

import pytest

from grandstand.apps.bets.domain.records import CalibrationBin, Interval
from grandstand.apps.bets.pages.base import (
    calibration_chart,
    interval_bar,
    money_chart,
    signed_bar,
    units_chart,
)
from grandstand.apps.bets.pages.models import caution, describe_evidence, models_table, select_model
from grandstand.apps.bets.pages.wagers import rule_verdict
from grandstand.apps.bets.services.backtests import (
    BacktestPrediction,
    BacktestReport,
    BacktestRequest,
)
from grandstand.apps.bets.services.benny import RuleEffect
from grandstand.apps.bets.services.scoreboard import BalancePoint
from tests.apps.bets.pages.samples import NBA, NOON, compared, performance

WISH = BacktestRequest(date(2026, 1, 1), date(2026, 2, 1))


def test_evidence_names_the_rate_its_bounds_break_even_and_how_many_bets_are_missing() -> None:
    text = describe_evidence(compared("elo", performance(200, 110, needed=1400)))

    assert "110 of 200 correct, 55.0" in text
    assert "50.0 to 60.0" in text
    assert "Break-even is 52.4" in text
    assert "about 1,400 decided bets, 1,200 more than so far" in text


def test_enough_bets_are_said_to_be_enough() -> None:
    text = describe_evidence(compared("elo", performance(2000, 1200, needed=1400)))

    assert "enough to tell" in text


def test_nothing_decided_is_no_evidence() -> None:
    assert "No decided predictions" in describe_evidence(compared("elo", performance(0, 0)))


def test_the_model_asked_for_is_shown_in_full_and_else_the_first_with_anything_decided() -> None:
    held = (compared("value", performance(0, 0)), compared("elo", performance(20, 11)))

    assert select_model(held, "value") is held[0]
    assert select_model(held, "nobody") is held[1]
    assert select_model((), "") is None


def test_a_model_of_ones_own_has_its_own_name_and_cannot_write_markup() -> None:
    table = models_table((compared("m1", performance(20, 11), "<b>Mine"),), "/bets/scoreboard?x=1")

    cell = table.rows[0].cells[0]
    assert "&lt;b&gt;Mine" in cell.shown
    assert cell.value == "<b>Mine"


@pytest.mark.parametrize(
    ("interval", "tone"),
    [
        (Interval(0.56, 0.53, 0.59), "interval-good"),
        (Interval(0.49, 0.46, 0.52), "interval-bad"),
        (Interval(0.54, 0.48, 0.6), "interval-open"),
    ],
)
def test_an_interval_is_good_or_bad_only_when_it_is_clear_of_the_mark(
    interval: Interval, tone: str
) -> None:
    drawn = interval_bar(interval, (0.3, 0.8), 0.5238, "right")

    assert tone in drawn
    assert 'class="interval-mark"' in drawn


def test_bars_go_left_for_what_speaks_against_and_are_drawn_against_the_largest() -> None:
    against, most = signed_bar(-0.5, 1.0), signed_bar(1.0, 1.0)

    assert 'class="lever-against" x="-25.00"' in against
    assert 'class="lever-for" x="0.00" y="1" width="50.00"' in most


def test_calibration_is_drawn_beside_the_line_of_what_was_said() -> None:
    bins = (
        CalibrationBin(0.6, 0.7, 20, 0.65, 0.7),
        CalibrationBin(0.7, 0.8, 0, 0.0, 0.0),
        CalibrationBin(0.5, 0.6, 9, 0.55, 0.5),
    )

    chart = calibration_chart(bins, "Elo")

    assert [row[0] for row in chart.plots[1].rows] == pytest.approx([55, 65])
    assert [row[1] for row in chart.plots[1].rows] == [50, 70]
    assert "9, 20" in chart.note


def test_units_and_money_are_summed_over_time() -> None:
    tested = [
        BacktestPrediction(
            "g", NOON - timedelta(days=day), "Lakers", "h2h", 0.6, -110, "win", profit, None
        )
        for day, profit in ((1, -1.0), (3, 0.9), (2, 0.5), (0, None))
    ]

    units = [row[1] for row in units_chart(tested).plots[0].rows]
    amounts = ((NOON, 100), (NOON, 250), (NOON - timedelta(1), 99))
    points = tuple(BalancePoint(at, cents) for at, cents in amounts)
    money = money_chart("Bankroll", "", points)

    assert units == pytest.approx([0.9, 1.4, 0.4])
    assert [row[1] for row in money.plots[0].rows] == [0.99, 2.5]


@pytest.mark.parametrize(
    ("decided", "trials", "sharpe", "label"),
    [
        (0, 1, None, "No predictions were decided"),
        (40, 1, None, "too few bets"),
        (40, 7, 0.61, "trial 7"),
        (40, 7, 0.61, "below the usual 95"),
        (400, 2, 0.97, "strong evidence"),
    ],
)
def test_a_back_test_says_how_far_it_can_be_trusted(
    decided: int, trials: int, sharpe: float | None, label: str
) -> None:
    done = performance(decided, decided // 2)

    test = BacktestReport("b", "m", "Mine", NBA, WISH, NOON, 90, done, (), trials, sharpe, ())

    assert label in caution(test)


@pytest.mark.parametrize(
    ("roi", "label"),
    [
        (Interval(-0.2, -0.3, -0.1), "Saved money"),
        (Interval(0.2, 0.1, 0.3), "Cost money"),
        (Interval(-0.1, -0.3, 0.1), "Probably saves"),
        (None, "Not enough data"),
    ],
)
def test_a_rule_is_judged_by_what_it_rejected(roi: Interval | None, label: str) -> None:
    assert rule_verdict(RuleEffect("edge", 30, 20, 8, -4.0, roi)) == label
