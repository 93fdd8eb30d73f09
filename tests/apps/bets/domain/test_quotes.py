"""Quotes are matched to sides by name; invalid ones are rejected with a reason."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from grandstand.apps.bets.domain.quotes import match_quote, quote_market
from grandstand.apps.bets.domain.records import PricedOutcome, Quote
from grandstand.core.errors import InvalidInput
from tests.apps.bets.domain.games import BEGUN, fixture, h2h, spread, total

GAME = fixture(0, "los_angeles_lakers", "oklahoma_city_thunder")


def test_the_order_of_outcomes_means_nothing() -> None:
    listed = h2h(GAME, "alpha", BEGUN, -150, 130)
    turned = replace(listed, outcomes=tuple(reversed(listed.outcomes)))

    rows = [match_quote(quote, GAME).prices.tolist() for quote in (listed, turned)]

    assert rows == [[[-150, 130]], [[-150, 130]]]


def test_names_match_as_slugs_however_the_feed_writes_them() -> None:
    outcomes = (
        PricedOutcome("Oklahoma City Thunder", 130),
        PricedOutcome("Los Angeles Lakers", -150),
    )

    row = match_quote(Quote("g0", "alpha", "h2h", BEGUN, outcomes, BEGUN), GAME)

    assert row.prices.tolist() == [[-150, 130]]


def test_a_line_is_kept_as_the_first_side_has_it() -> None:
    spreads = match_quote(spread(GAME, "alpha", BEGUN, "-3.5", (-110, -105)), GAME)
    totals = match_quote(total(GAME, "alpha", BEGUN, "221.5", (-108, -112)), GAME)

    assert (spreads.points.tolist(), spreads.prices.tolist()) == ([-3.5], [[-110, -105]])
    assert (totals.points.tolist(), totals.prices.tolist()) == ([221.5], [[-108, -112]])


def test_a_winner_with_a_draw_is_three_way() -> None:
    quote = h2h(GAME, "alpha", BEGUN, 120, 240, draw=230)

    row = match_quote(quote, GAME)

    assert quote_market(quote) == row.market == "h2h_3way"
    assert row.prices.tolist() == [[120, 230, 240]]


def test_a_prop_belongs_to_its_player() -> None:
    outcomes = (
        PricedOutcome("Under", -115, Decimal("25.5")),
        PricedOutcome("Over", -105, Decimal("25.5")),
    )
    quote = Quote("g0", "alpha", "player_points", BEGUN, outcomes, BEGUN, "lebron_james")

    row = match_quote(quote, GAME)

    assert (row.participant, row.prices.tolist()) == ("lebron_james", [[-105, -115]])


LAKERS = PricedOutcome("Los Angeles Lakers", -150)
THUNDER = PricedOutcome("Oklahoma City Thunder", 130)


@pytest.mark.parametrize(
    ("market", "outcomes", "why"),
    [
        ("h2h", (LAKERS,), "no price for away"),
        ("h2h", (LAKERS, replace(THUNDER, name="Utah Jazz")), "'Utah Jazz' is none of"),
        ("h2h", (LAKERS, LAKERS), "occurs twice"),
        ("h2h", (LAKERS, replace(THUNDER, price=99)), "99 of 'Oklahoma City Thunder' is no"),
        ("h2h", (LAKERS, replace(THUNDER, price=0)), "is not an American price"),
        ("spreads", (LAKERS, THUNDER), "a side has no line"),
        (
            "spreads",
            (replace(LAKERS, point=Decimal("-3.5")), replace(THUNDER, point=Decimal("4.5"))),
            "do not match",
        ),
        ("totals", (LAKERS, THUNDER), "is none of over, under"),
    ],
)
def test_what_cannot_be_matched_is_refused_with_the_reason(
    market: str, outcomes: tuple[PricedOutcome, ...], why: str
) -> None:
    quote = Quote("g0", "alpha", market, BEGUN, outcomes, BEGUN)

    with pytest.raises(InvalidInput, match=why):
        match_quote(quote, GAME)
