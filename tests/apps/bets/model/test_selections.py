"""What is bet on, as typed values."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grandstand.apps.bets.model import PricedOutcome
from grandstand.apps.bets.model.errors import OutcomeUnknown, SelectionImpossible
from grandstand.apps.bets.model.selections import (
    Market,
    Selection,
    Side,
    code,
    display,
    is_prop,
    opposite,
    parse_code,
    prop_of,
    selections_of,
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
    assert parse_code(code(selection)) == selection


@given(SELECTIONS)
def test_the_opposite_of_the_opposite_is_the_selection(selection: Selection) -> None:
    assert opposite(opposite(selection)) == selection


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
    assert opposite(selection) == other


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
    with pytest.raises(SelectionImpossible):
        Selection(market, side, point, participant, stat)


@pytest.mark.parametrize(
    "text", ["", "h2h", "h2h|home||||against", "h2h|left||||", "spreads|home|x|||", "x|home||||"]
)
def test_a_text_that_is_no_code_is_refused(text: str) -> None:
    with pytest.raises(SelectionImpossible):
        parse_code(text)


def test_outcomes_are_told_by_name_wherever_they_stand() -> None:
    outcomes = [PricedOutcome("Dallas Stars", 120), PricedOutcome("Tampa Bay Lightning", -140)]

    found = selections_of("h2h", outcomes, "Tampa Bay Lightning", "Dallas Stars")

    assert found == (Selection("h2h", "away"), Selection("h2h", "home"))


def test_a_draw_among_the_outcomes_makes_the_market_three_way() -> None:
    outcomes = [PricedOutcome("Draw", 240), PricedOutcome("Leeds", 150), PricedOutcome("Hull", 170)]

    found = selections_of("h2h", outcomes, "Hull", "Leeds")

    assert [each.side for each in found] == ["draw", "away", "home"]
    assert {each.market for each in found} == {"h2h_3way"}


def test_lines_and_totals_keep_their_points() -> None:
    spread = PricedOutcome("Leeds", -110, Decimal("-1.25"))
    total = PricedOutcome("Under", -110, Decimal("2.5"))

    found = (
        *selections_of("spreads", [spread], "Hull", "Leeds"),
        *selections_of("totals", [total], "Hull", "Leeds"),
    )

    assert found == (
        Selection("spreads", "away", Decimal("-1.25")),
        Selection("totals", "under", Decimal("2.5")),
    )


@pytest.mark.parametrize(("market", "name"), [("h2h", "Leeds United"), ("totals", "Leeds")])
def test_a_name_that_is_neither_side_is_refused(market: str, name: str) -> None:
    with pytest.raises(OutcomeUnknown, match="Leeds"):
        selections_of(market, [PricedOutcome(name, 100, Decimal(2))], "Hull", "Leeds")


def test_a_market_nobody_knows_is_refused() -> None:
    with pytest.raises(SelectionImpossible, match="lay_of_the_land"):
        selections_of("lay_of_the_land", [PricedOutcome("Hull", 100)], "Hull", "Leeds")


def test_a_players_market_names_the_player_and_what_is_counted() -> None:
    found = prop_of("player_points", "LeBron James", "Over", Decimal("25.5"))

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
        (Selection("btts", "yes"), "Both to score: yes"),
        (Selection("team_totals", "under", Decimal("1.5"), "away"), "Leeds Under 1.5"),
        (Selection("outright", participant="red_rum"), "red_rum to win"),
    ],
)
def test_a_selection_is_shown_in_words(selection: Selection, said: str) -> None:
    assert display(selection, "Hull", "Leeds") == said
