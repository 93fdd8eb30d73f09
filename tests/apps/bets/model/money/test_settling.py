"""Very many bets settled at once."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grandstand.apps.bets.model.errors import PriceImpossible, SelectionImpossible, StakeImpossible
from grandstand.apps.bets.model.money.settlement import (
    Abandoned,
    Cancelled,
    Field,
    Figure,
    Final,
    Postponed,
    Rules,
    pay,
    settle,
)
from grandstand.apps.bets.model.money.settling import TypedBet, settle_many
from grandstand.apps.bets.model.selections import Selection
from tests.apps.bets.model.test_selections import SELECTIONS

_SCORES = st.integers(0, 60)
_BETS = st.builds(
    TypedBet,
    SELECTIONS,
    st.builds(Final, _SCORES, _SCORES, st.none() | st.tuples(_SCORES, _SCORES)),
    st.integers(1, 10_000_000),
    st.one_of(st.integers(100, 20_000), st.integers(-20_000, -100)),
)
_RULES = st.builds(Rules, overtime=st.booleans())


@settings(max_examples=60)
@given(st.lists(_BETS, max_size=30), _RULES)
def test_many_bets_are_settled_as_each_would_be_alone(bets: list[TypedBet], rules: Rules) -> None:
    verdicts = [settle(bet.selection, bet.result, rules) for bet in bets]
    paid = [
        pay(verdict, bet.stake_cents, bet.american)
        for verdict, bet in zip(verdicts, bets, strict=True)
    ]

    settled = settle_many(bets, rules)

    assert [settled.name(at) for at in range(len(bets))] == [each.name for each in verdicts]
    assert settled.payout_cents.tolist() == [each.payout_cents for each in paid]
    assert settled.profit_cents.tolist() == [each.profit_cents for each in paid]


def test_results_of_every_kind_are_settled_in_their_places() -> None:
    home = Selection("h2h", "home")
    prop = Selection("prop", "over", Decimal("25.5"), "lebron_james", "player_points")
    bets = [
        TypedBet(Selection("outright", participant="arkle"), Field(frozenset("ab")), 500, 400),
        TypedBet(home, Final(2, 1), 1550, -150),
        TypedBet(home, Postponed(3), 1000, -110),
        TypedBet(prop, Figure(30), 1000, -110),
        TypedBet(home, Cancelled(), 1000, -110),
        TypedBet(home, Abandoned(1, 0, Fraction(1, 4)), 700, -110),
        TypedBet(Selection("outright", participant="a"), Field(frozenset({"a", "b"})), 1000, 400),
    ]

    settled = settle_many(bets)

    assert [settled.name(at) for at in range(len(bets))] == [
        "loss",
        "win",
        "pending",
        "win",
        "void",
        "void",
        "dead_heat",
    ]
    assert settled.payout_cents.tolist() == [0, 2583, 0, 1909, 1000, 700, 2500]
    assert settled.profit_cents.tolist() == [-500, 1033, 0, 909, 0, 0, 1500]


def test_no_bets_settle_to_nothing() -> None:
    assert settle_many([]).profit_cents.tolist() == []


def test_one_bet_at_fault_is_refused_by_its_reason() -> None:
    home, score = Selection("h2h", "home"), Final(1, 0)
    prop = Selection("prop", "over", Decimal("25.5"), "lebron_james", "player_points")

    with pytest.raises(PriceImpossible, match="55"):
        settle_many([TypedBet(home, score, 100, 120), TypedBet(home, score, 100, 55)])
    with pytest.raises(StakeImpossible, match="-3"):
        settle_many([TypedBet(home, score, -3, 120)])
    with pytest.raises(SelectionImpossible):
        settle_many([TypedBet(prop, score, 100, 120)])
