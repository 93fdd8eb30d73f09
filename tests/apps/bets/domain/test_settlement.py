"""Verdicts and payouts."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grandstand.apps.bets.domain.odds import InvalidPrice
from grandstand.apps.bets.domain.selections import (
    InvalidSelection,
    Market,
    Selection,
    Side,
    opposite_of,
)
from grandstand.apps.bets.domain.settlement import (
    HALF_LOSS,
    HALF_WIN,
    LOSS,
    PENDING,
    PUSH,
    VOID,
    WIN,
    Abandoned,
    Cancelled,
    FieldResult,
    FinalResult,
    PlayerStatResult,
    Postponed,
    Result,
    SettlementRules,
    Verdict,
    pay_bet,
    settle_bet,
    settlement_rules_for,
)
from grandstand.core.errors import Conflict, InvalidInput
from tests.apps.bets.domain.test_selections import SELECTIONS

_SCORES = st.integers(0, 60)
_ARKLE = Selection("outright", participant="arkle")


@pytest.mark.parametrize(
    ("market", "side", "point", "score", "verdict"),
    [
        ("h2h", "home", None, (3, 1), WIN),
        ("h2h", "away", None, (3, 1), LOSS),
        ("h2h", "home", None, (1, 1), PUSH),
        ("draw_no_bet", "away", None, (1, 1), PUSH),
        ("draw_no_bet", "away", None, (1, 2), WIN),
        ("h2h_3way", "home", None, (1, 1), LOSS),
        ("h2h_3way", "draw", None, (1, 1), WIN),
        ("h2h_3way", "draw", None, (2, 1), LOSS),
        ("h2h_3way", "away", None, (0, 1), WIN),
        ("spreads", "home", "-3", (103, 100), PUSH),
        ("spreads", "home", "-3.5", (103, 100), LOSS),
        ("spreads", "away", "3.5", (103, 100), WIN),
        ("spreads", "away", "3", (103, 100), PUSH),
        ("spreads", "home", "-0.25", (1, 1), HALF_LOSS),
        ("spreads", "away", "0.25", (1, 1), HALF_WIN),
        ("spreads", "home", "-0.75", (2, 1), HALF_WIN),
        ("spreads", "away", "0.75", (2, 1), HALF_LOSS),
        ("spreads", "home", "-0.75", (3, 1), WIN),
        ("spreads", "home", "-1.25", (2, 1), HALF_LOSS),
        ("spreads", "home", "0", (1, 1), PUSH),
        ("totals", "over", "210", (105, 105), PUSH),
        ("totals", "under", "210", (105, 105), PUSH),
        ("totals", "over", "2.25", (1, 1), HALF_LOSS),
        ("totals", "under", "2.25", (1, 1), HALF_WIN),
        ("totals", "over", "2.75", (2, 1), HALF_WIN),
        ("totals", "under", "2.75", (2, 1), HALF_LOSS),
        ("totals", "under", "2.75", (1, 1), WIN),
        ("btts", "yes", None, (1, 2), WIN),
        ("btts", "yes", None, (0, 2), LOSS),
        ("btts", "no", None, (0, 2), WIN),
    ],
)
def test_a_final_score_decides_every_market(
    market: Market, side: Side, point: str | None, score: tuple[int, int], verdict: Verdict
) -> None:
    selection = Selection(market, side, None if point is None else Decimal(point))

    assert settle_bet(selection, FinalResult(*score)) == verdict


@given(SELECTIONS, _SCORES, _SCORES)
def test_of_a_bet_and_its_opposite_one_is_right_or_neither_counts(
    selection: Selection, home: int, away: int
) -> None:
    one = settle_bet(selection, FinalResult(home, away))

    other = settle_bet(opposite_of(selection), FinalResult(home, away))

    assert one.win == 1 - other.win - other.push
    assert one.push == other.push
    assert {one.correct, other.correct} in ({True, False}, {None})


@given(
    st.integers(-80, 80).filter(lambda quarters: quarters % 2),
    _SCORES,
    _SCORES,
    st.sampled_from([("totals", "over"), ("spreads", "home")]),
)
def test_a_quarter_line_is_half_a_bet_on_each_of_its_neighbours(
    quarters: int, home: int, away: int, bet: tuple[Market, Side]
) -> None:
    market, side = bet
    halves = [
        settle_bet(Selection(market, side, Decimal(quarters + off) / 4), FinalResult(home, away))
        for off in (-1, 1)
    ]

    whole = settle_bet(Selection(market, side, Decimal(quarters) / 4), FinalResult(home, away))

    assert whole.win == sum(each.win for each in halves) / 2
    assert whole.push == sum(each.push for each in halves) / 2


@pytest.mark.parametrize(
    ("result", "rules", "verdict"),
    [
        (Postponed(12), SettlementRules(), PENDING),
        (Postponed(49), SettlementRules(), VOID),
        (Cancelled(), SettlementRules(), VOID),
        (Abandoned(2, 0, Fraction(1, 2)), SettlementRules(), VOID),
        (Abandoned(2, 0, Fraction(2, 3)), SettlementRules(official_after=Fraction(5, 9)), WIN),
        (FinalResult(3, 2, regulation=(2, 2)), SettlementRules(overtime=True), WIN),
        (FinalResult(3, 2, regulation=(2, 2)), SettlementRules(overtime=False), LOSS),
    ],
)
def test_the_rules_say_what_counts(
    result: Result, rules: SettlementRules, verdict: Verdict
) -> None:
    assert settle_bet(Selection("h2h_3way", "home"), result, rules) == verdict


def test_only_soccer_leaves_overtime_out() -> None:
    assert not settlement_rules_for("soccer_epl").overtime
    assert settlement_rules_for("icehockey_nhl").overtime
    assert settlement_rules_for("curling").overtime


@pytest.mark.parametrize(
    ("figure", "side", "verdict"),
    [(26, "over", WIN), (26, "under", LOSS), (25, "over", PUSH), (None, "over", VOID)],
)
def test_a_prop_is_decided_by_the_players_figure(
    figure: int | None, side: Side, verdict: Verdict
) -> None:
    selection = Selection("prop", side, Decimal(25), "lebron_james", "player_points")

    assert settle_bet(selection, PlayerStatResult(figure)) == verdict


@pytest.mark.parametrize(
    ("winners", "selection", "verdict"),
    [
        ({"arkle"}, _ARKLE, WIN),
        ({"red_rum"}, _ARKLE, LOSS),
        ({"red_rum"}, opposite_of(_ARKLE), WIN),
        ({"arkle", "red_rum"}, _ARKLE, Verdict("dead_heat", Fraction(1, 2), Fraction(0))),
        (
            {"arkle", "b", "c"},
            opposite_of(_ARKLE),
            Verdict("dead_heat", Fraction(2, 3), Fraction(0)),
        ),
    ],
)
def test_a_field_is_won_alone_or_shared(
    winners: set[str], selection: Selection, verdict: Verdict
) -> None:
    assert settle_bet(selection, FieldResult(frozenset(winners))) == verdict


def test_a_bet_on_one_who_did_not_start_is_void() -> None:
    result = FieldResult(frozenset({"red_rum"}), withdrawn=frozenset({"arkle"}))

    assert settle_bet(Selection("outright", participant="arkle"), result) == VOID


@pytest.mark.parametrize(
    ("selection", "result"),
    [
        (Selection("h2h", "home"), PlayerStatResult(3)),
        (Selection("h2h", "home"), FieldResult(frozenset({"home"}))),
        (Selection("outright", participant="arkle"), FinalResult(1, 0)),
        (Selection("prop", "over", Decimal(3), "arkle", "player_points"), FinalResult(1, 0)),
    ],
)
def test_a_result_of_another_kind_is_refused(selection: Selection, result: Result) -> None:
    with pytest.raises(InvalidSelection, match="does not decide"):
        settle_bet(selection, result)


@pytest.mark.parametrize(
    ("verdict", "stake", "american", "payout", "profit"),
    [
        (WIN, 1550, -150, 2583, 1033),
        (LOSS, 1550, -150, 0, -1550),
        (PUSH, 1550, -150, 1550, 0),
        (VOID, 1550, -150, 1550, 0),
        (HALF_WIN, 1000, 150, 1750, 750),
        (HALF_LOSS, 1000, 150, 500, -500),
        (HALF_LOSS, 1001, 150, 501, -500),
        (WIN, 1, -110, 2, 1),
        (WIN, 333, 130, 766, 433),
        (Verdict("dead_heat", Fraction(1, 2), Fraction(0)), 1000, 400, 2500, 1500),
        (Verdict("dead_heat", Fraction(1, 3), Fraction(0)), 1000, 100, 667, -333),
    ],
)
def test_a_verdict_pays_to_the_cent(
    verdict: Verdict, stake: int, american: int, payout: int, profit: int
) -> None:
    paid = pay_bet(verdict, stake, american)

    assert (paid.payout_cents, paid.profit_cents) == (payout, profit)


def test_a_pending_bet_pays_nothing_yet() -> None:
    with pytest.raises(Conflict):
        pay_bet(PENDING, 1000, -110)


@pytest.mark.parametrize("stake", [0, -5, True])
def test_a_stake_is_above_nothing(stake: int) -> None:
    with pytest.raises(InvalidInput):
        pay_bet(WIN, stake, -110)


def test_a_price_that_cannot_be_pays_nothing() -> None:
    with pytest.raises(InvalidPrice):
        pay_bet(WIN, 1000, 50)
