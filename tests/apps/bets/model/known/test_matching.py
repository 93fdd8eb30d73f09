"""Outcomes find their sides by name, and what cannot be matched is refused with the reason."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from grandstand.apps.bets.model import PricedOutcome
from grandstand.apps.bets.model.known.facts import Quote
from grandstand.apps.bets.model.known.matching import market_of, matched
from grandstand.apps.bets.model.refusals import UnmatchedOutcome
from tests.apps.bets.model.games import BEGUN, fixture, h2h, spread, total

GAME = fixture(0, "los_angeles_lakers", "oklahoma_city_thunder")


def test_the_order_of_outcomes_means_nothing() -> None:
    listed = h2h(GAME, "alpha", BEGUN, -150, 130)
    turned = replace(listed, outcomes=tuple(reversed(listed.outcomes)))

    rows = [matched(quote, GAME).prices.tolist() for quote in (listed, turned)]

    assert rows == [[[-150, 130]], [[-150, 130]]]


def test_names_match_as_slugs_however_the_feed_writes_them() -> None:
    outcomes = (
        PricedOutcome("Oklahoma City Thunder", 130),
        PricedOutcome("Los Angeles Lakers", -150),
    )

    row = matched(Quote("g0", "alpha", "h2h", BEGUN, outcomes, BEGUN), GAME)

    assert row.prices.tolist() == [[-150, 130]]


def test_a_line_is_kept_as_the_first_side_has_it() -> None:
    spreads = matched(spread(GAME, "alpha", BEGUN, "-3.5", (-110, -105)), GAME)
    totals = matched(total(GAME, "alpha", BEGUN, "221.5", (-108, -112)), GAME)

    assert (spreads.points.tolist(), spreads.prices.tolist()) == ([-3.5], [[-110, -105]])
    assert (totals.points.tolist(), totals.prices.tolist()) == ([221.5], [[-108, -112]])


def test_a_winner_with_a_draw_is_three_way() -> None:
    quote = h2h(GAME, "alpha", BEGUN, 120, 240, draw=230)

    row = matched(quote, GAME)

    assert market_of(quote) == row.market == "h2h_3way"
    assert row.prices.tolist() == [[120, 230, 240]]


def test_a_prop_belongs_to_its_player() -> None:
    outcomes = (
        PricedOutcome("Under", -115, Decimal("25.5")),
        PricedOutcome("Over", -105, Decimal("25.5")),
    )
    quote = Quote("g0", "alpha", "player_points", BEGUN, outcomes, BEGUN, "lebron_james")

    row = matched(quote, GAME)

    assert (row.participant, row.prices.tolist()) == ("lebron_james", [[-105, -115]])


LAKERS = PricedOutcome("Los Angeles Lakers", -150)
THUNDER = PricedOutcome("Oklahoma City Thunder", 130)


@pytest.mark.parametrize(
    ("market", "outcomes", "why"),
    [
        ("h2h", (LAKERS,), "no price for away"),
        ("h2h", (LAKERS, replace(THUNDER, name="Utah Jazz")), "'Utah Jazz' is none of"),
        ("h2h", (LAKERS, LAKERS), "stands in it twice"),
        ("h2h", (LAKERS, replace(THUNDER, price=99)), "99 of 'Oklahoma City Thunder' is no"),
        ("h2h", (LAKERS, replace(THUNDER, price=0)), "is no American price"),
        ("spreads", (LAKERS, THUNDER), "a side has no line"),
        (
            "spreads",
            (replace(LAKERS, point=Decimal("-3.5")), replace(THUNDER, point=Decimal("4.5"))),
            "are of two markets",
        ),
        ("totals", (LAKERS, THUNDER), "is none of over, under"),
    ],
)
def test_what_cannot_be_matched_is_refused_with_the_reason(
    market: str, outcomes: tuple[PricedOutcome, ...], why: str
) -> None:
    quote = Quote("g0", "alpha", market, BEGUN, outcomes, BEGUN)

    with pytest.raises(UnmatchedOutcome, match=why):
        matched(quote, GAME)
