"""Defects 1, 2 and 3 of the system before this one: bets settled by what their text says."""

from decimal import Decimal
from fractions import Fraction

import pytest

from grandstand.apps.bets.domain.records import PricedOutcome
from grandstand.apps.bets.domain.selections import (
    Selection,
    Side,
    format_selection,
    opposite_of,
    parse_outcomes,
)
from grandstand.apps.bets.domain.settlement import (
    HALF_LOSS,
    HALF_WIN,
    LOSS,
    PUSH,
    VOID,
    WIN,
    Abandoned,
    Cancelled,
    FieldResult,
    FinalResult,
    PlayerStatResult,
    Result,
    Verdict,
    pay_bet,
    settle_bet,
)

_THUNDER = "Oklahoma City Thunder"
_CELTICS = "Boston Celtics"


@pytest.mark.parametrize(
    ("home", "away", "score", "verdict"),
    [
        (_THUNDER, _CELTICS, (120, 100), WIN),
        (_THUNDER, _CELTICS, (100, 120), LOSS),
        (_CELTICS, _THUNDER, (100, 120), WIN),
        (_CELTICS, _THUNDER, (120, 100), LOSS),
    ],
)
def test_defect_01_the_thunder_are_not_a_bet_on_under(
    home: str, away: str, score: tuple[int, int], verdict: Verdict
) -> None:
    outcome = PricedOutcome(_THUNDER, -150)

    (selection,) = parse_outcomes("h2h", [outcome], home, away)

    assert selection.market == "h2h"
    assert format_selection(selection, home, away) == _THUNDER
    assert settle_bet(selection, FinalResult(*score)) == verdict


@pytest.mark.parametrize(
    ("selection", "result"),
    [
        (Selection("spreads", "home", Decimal(-3)), FinalResult(103, 100)),
        (Selection("spreads", "away", Decimal(3)), FinalResult(103, 100)),
        (Selection("totals", "over", Decimal(203)), FinalResult(103, 100)),
        (Selection("totals", "under", Decimal(203)), FinalResult(103, 100)),
        (Selection("prop", "over", Decimal(25), "p", "player_points"), PlayerStatResult(25)),
        (Selection("prop", "under", Decimal(25), "p", "player_points"), PlayerStatResult(25)),
    ],
)
def test_defect_02_a_push_returns_the_stake(selection: Selection, result: Result) -> None:
    verdict = settle_bet(selection, result)

    assert verdict == PUSH
    assert pay_bet(verdict, 2_000, -110).profit_cents == 0
    assert verdict.correct is None


@pytest.mark.parametrize(
    ("selection", "result", "verdict"),
    [
        (Selection("spreads", "home", Decimal("-0.25")), FinalResult(1, 1), HALF_LOSS),
        (Selection("totals", "over", Decimal("2.75")), FinalResult(2, 1), HALF_WIN),
        (Selection("draw_no_bet", "home"), FinalResult(1, 1), PUSH),
        (Selection("h2h", "home"), Cancelled(), VOID),
        (Selection("h2h", "home"), Abandoned(1, 0, Fraction(1, 3)), VOID),
        (
            Selection("prop", "over", Decimal(25), "p", "player_points"),
            PlayerStatResult(None),
            VOID,
        ),
    ],
)
def test_defect_02_there_are_more_verdicts_than_two(
    selection: Selection, result: Result, verdict: Verdict
) -> None:
    assert settle_bet(selection, result) == verdict


def test_defect_02_a_dead_heat_is_shared() -> None:
    verdict = settle_bet(
        Selection("outright", participant="arkle"), FieldResult(frozenset({"arkle", "red_rum"}))
    )

    assert pay_bet(verdict, 1_000, 400).payout_cents == 2_500


@pytest.mark.parametrize("side", ["home", "away"])
def test_defect_03_a_draw_is_no_win_of_either(side: Side) -> None:
    draw = FinalResult(1, 1)

    assert settle_bet(Selection("h2h_3way", side), draw) == LOSS
    assert settle_bet(Selection("h2h", side), draw) == PUSH
    assert settle_bet(Selection("h2h_3way", "draw"), draw) == WIN


def test_defect_03_the_inverse_of_a_three_way_pick_is_its_lay() -> None:
    pick = Selection("h2h_3way", "away")

    verdicts = [
        settle_bet(opposite_of(pick), FinalResult(*score)) for score in ((2, 1), (1, 1), (1, 2))
    ]

    assert verdicts == [WIN, WIN, LOSS]
