"""Typed selections."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grandstand.apps.bets.domain.records import PricedOutcome
from grandstand.apps.bets.domain.selections import (
    InvalidSelection,
    Market,
    Selection,
    Side,
    decode_selection,
    encode_selection,
    format_selection,
    is_prop,
    opposite_of,
    parse_outcomes,
    parse_prop,
)

_LINES = st.integers(-200, 200).map(lambda quarters: Decimal(quarters) / 4)
SELECTIONS = st.one_of(
    st.builds(Selection, st.just("h2h"), st.sampled_from(["home", "away"])),
    st.builds(
        Selection, st.just("h2h_3way"), st.sampled_from(["home", "draw", "away"]), lay=st.booleans()
    ),
    st.builds(Selection, st.just("spreads"), st.sampled_from(["home", "away"]), _LINES),
    st.builds(Selection, st.just("totals"), st.sampled_from(["over", "under"]), _LINES),
    st.builds(
        Selection,
        st.just("team_totals"),
        st.sampled_from(["over", "under"]),
        _LINES,
        st.sampled_from(["home", "away"]),
    ),
    st.builds(Selection, st.just("draw_no_bet"), st.sampled_from(["home", "away"])),
    st.builds(Selection, st.just("btts"), st.sampled_from(["yes", "no"])),
)


@given(SELECTIONS)
def test_the_code_of_a_selection_reads_back_as_it(selection: Selection) -> None:
    assert decode_selection(encode_selection(selection)) == selection


@given(SELECTIONS)
def test_the_opposite_of_the_opposite_is_the_selection(selection: Selection) -> None:
    assert opposite_of(opposite_of(selection)) == selection


@pytest.mark.parametrize(
    ("selection", "other"),
    [
        (Selection("h2h", "home"), Selection("h2h", "away")),
        (
            Selection("spreads", "home", Decimal("-3.5")),
            Selection("spreads", "away", Decimal("3.5")),
        ),
        (Selection("totals", "over", Decimal(210)), Selection("totals", "under", Decimal(210))),
        (Selection("h2h_3way", "away"), Selection("h2h_3way", "away", lay=True)),
        (
            Selection("outright", participant="red_rum"),
            Selection("outright", participant="red_rum", lay=True),
        ),
    ],
)
def test_two_ways_have_another_side_and_more_ways_a_lay(
    selection: Selection, other: Selection
) -> None:
    assert opposite_of(selection) == other


@pytest.mark.parametrize(
    ("market", "side", "point", "participant", "stat"),
    [
        ("h2h", "draw", None, None, None),
        ("h2h", "home", Decimal(1), None, None),
        ("spreads", "home", None, None, None),
        ("spreads", "over", Decimal(1), None, None),
        ("spreads", "home", Decimal("0.3"), None, None),
        ("spreads", "home", Decimal("NaN"), None, None),
        ("totals", "home", Decimal(200), None, None),
        ("totals", "over", Decimal(200), "celtics", None),
        ("team_totals", "over", Decimal(100), "celtics", None),
        ("outright", "home", None, "celtics", None),
        ("outright", None, None, None, None),
        ("prop", "over", Decimal("25.5"), "lebron_james", None),
        ("h2h", "home", None, None, "player_points"),
        ("moneyline", "home", None, None, None),
    ],
)
def test_parts_that_do_not_fit_are_refused(
    market: Market, side: Side | None, point: Decimal | None, participant: str, stat: str
) -> None:
    with pytest.raises(InvalidSelection):
        Selection(market, side, point, participant, stat)


@pytest.mark.parametrize(
    "text", ["", "h2h", "h2h|home||||against", "h2h|left||||", "spreads|home|x|||", "x|home||||"]
)
def test_a_text_that_is_no_code_is_refused(text: str) -> None:
    with pytest.raises(InvalidSelection):
        decode_selection(text)


def test_outcomes_are_matched_by_name_in_any_order() -> None:
    outcomes = [PricedOutcome("Dallas Stars", 120), PricedOutcome("Tampa Bay Lightning", -140)]

    found = parse_outcomes("h2h", outcomes, "Tampa Bay Lightning", "Dallas Stars")

    assert found == (Selection("h2h", "away"), Selection("h2h", "home"))


def test_a_draw_among_the_outcomes_makes_the_market_three_way() -> None:
    outcomes = [PricedOutcome("Draw", 240), PricedOutcome("Leeds", 150), PricedOutcome("Hull", 170)]

    found = parse_outcomes("h2h", outcomes, "Hull", "Leeds")

    assert [each.side for each in found] == ["draw", "away", "home"]
    assert {each.market for each in found} == {"h2h_3way"}


def test_lines_and_totals_keep_their_points() -> None:
    spread = PricedOutcome("Leeds", -110, Decimal("-1.25"))
    total = PricedOutcome("Under", -110, Decimal("2.5"))

    found = (
        *parse_outcomes("spreads", [spread], "Hull", "Leeds"),
        *parse_outcomes("totals", [total], "Hull", "Leeds"),
    )

    assert found == (
        Selection("spreads", "away", Decimal("-1.25")),
        Selection("totals", "under", Decimal("2.5")),
    )


@pytest.mark.parametrize(("market", "name"), [("h2h", "Leeds United"), ("totals", "Leeds")])
def test_a_name_that_is_neither_side_is_refused(market: str, name: str) -> None:
    with pytest.raises(InvalidSelection, match="Leeds"):
        parse_outcomes(market, [PricedOutcome(name, 100, Decimal(2))], "Hull", "Leeds")


def test_unknown_market_is_rejected() -> None:
    with pytest.raises(InvalidSelection, match="lay_of_the_land"):
        parse_outcomes("lay_of_the_land", [PricedOutcome("Hull", 100)], "Hull", "Leeds")


def test_a_players_market_names_the_player_and_what_is_counted() -> None:
    found = parse_prop("player_points", "LeBron James", "Over", Decimal("25.5"))

    assert found == Selection("prop", "over", Decimal("25.5"), "lebron_james", "player_points")
    assert is_prop("player_points")
    assert not is_prop("spreads")


@pytest.mark.parametrize(
    ("selection", "said"),
    [
        (Selection("h2h", "home"), "Hull"),
        (Selection("spreads", "away", Decimal("1.5")), "Leeds +1.5"),
        (Selection("totals", "over", Decimal("2.5")), "Over 2.5"),
        (Selection("h2h_3way", "draw", lay=True), "Against Draw"),
        (Selection("btts", "yes"), "Both teams to score: yes"),
        (Selection("team_totals", "under", Decimal("1.5"), "away"), "Leeds Under 1.5"),
        (Selection("outright", participant="red_rum"), "red_rum to win"),
    ],
)
def test_a_selection_is_shown_in_words(selection: Selection, said: str) -> None:
    assert format_selection(selection, "Hull", "Leeds") == said
