"""The calculators: sums anybody can check by hand."""

import pytest

from grandstand.apps.bets.pages.calculators import calculate, fair_table, kelly_stake, middle, split


def test_five_methods_stand_side_by_side_and_each_sums_to_one() -> None:
    table = fair_table((1.5, 2.6))

    assert [row.method for row in table.rows] == [
        "multiplicative",
        "additive",
        "power",
        "shin",
        "odds_ratio",
    ]
    assert [sum(row.chances) for row in table.rows] == pytest.approx([1.0] * 5)
    assert table.margin == pytest.approx(1 / 1.5 + 1 / 2.6 - 1)
    assert table.rows[0].decimals == pytest.approx((1 / 0.6341463, 1 / 0.3658537))


def test_kelly_stakes_the_edge_over_the_odds_and_nothing_without_one() -> None:
    good, bad = kelly_stake(0.55, 2.0, 100_000, 0.25), kelly_stake(0.45, 2.0, 100_000, 0.25)

    assert good.full_share == pytest.approx(0.1)
    assert good.stake_cents == 2500
    assert good.expected_return == pytest.approx(0.1)
    assert (bad.full_share, bad.stake_cents) == (0.0, 0)


def test_a_split_stake_pays_alike_and_says_the_worst_case_in_cents() -> None:
    found = split((2.1, 2.05), 10_000)

    assert [leg.stake_cents for leg in found.legs] == [4940, 5060]
    assert [leg.payout_cents for leg in found.legs] == [10_374, 10_373]
    assert (found.staked_cents, found.profit_cents) == (10_000, 373)


def test_a_middle_costs_little_when_missed_and_pays_twice_when_hit() -> None:
    found = middle((219.5, 223.5), (1.91, 1.91), 10_000)

    assert found.width == 4.0
    assert (found.hit_cents, found.missed_cents) == (9100, -450)
    assert found.needed == pytest.approx(450 / 9550)


def test_examples_are_reckoned_before_anything_is_asked() -> None:
    done = calculate({})

    assert done.errors == {}
    assert done.fair is not None
    assert done.kelly is not None
    assert done.split is not None
    assert done.middle is not None


def test_prices_that_leave_a_side_no_chance_are_refused_with_a_message() -> None:
    done = calculate({"prices": "1.0001 -100000 10000"})

    assert done.fair is None
    assert "no probability left" in done.errors["prices"]


def test_what_cannot_be_read_is_said_beside_its_field_and_the_rest_is_reckoned() -> None:
    done = calculate({"prices": "1.9 cheap", "chance": "130", "offers": "2.1", "over": ""})

    assert set(done.errors) == {"prices", "chance", "offers", "over"}
    assert "cheap" in done.errors["prices"]
    assert (done.fair, done.kelly, done.split, done.middle) == (None, None, None, None)
    assert done.texts["prices"] == "1.9 cheap"
