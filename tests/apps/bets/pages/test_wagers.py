"""One's own bets as a form and a file write them."""

from decimal import Decimal

import pytest

from grandstand.apps.bets.domain.ledger import BetLimits
from grandstand.apps.bets.pages.base import (
    money,
    selection_text,
    short_age,
    signed_percent,
    tidy,
)
from grandstand.apps.bets.pages.wagers import (
    limit_usage,
    parse_limits_form,
    parse_wager_form,
    preview_file,
)
from grandstand.apps.bets.services.ledger import LimitsView
from grandstand.core.errors import InvalidInput

BET = {
    "game_id": "g1",
    "market": "spreads",
    "side": "home",
    "point": "-3.5",
    "price": "1.91",
    "stake": "25",
    "token": "abc",
}


def test_a_form_is_read_into_a_bet() -> None:
    draft, errors = parse_wager_form({**BET, "placed_at": "2026-02-11T20:15"}, "UTC")

    assert errors == {}
    assert draft is not None
    assert (draft.price, draft.stake_cents, draft.point) == (-110, 2500, Decimal("-3.5"))
    assert (draft.market_key, draft.side, draft.token) == ("spreads", "home", "abc")
    assert draft.placed_at is not None


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("game_id", ""),
        ("side", "over"),
        ("side", "everybody"),
        ("point", ""),
        ("price", "-50"),
        ("stake", ""),
        ("placed_at", "later"),
    ],
)
def test_a_fault_of_a_bet_is_said_beside_its_field(field: str, text: str) -> None:
    draft, errors = parse_wager_form({**BET, field: text}, "UTC")

    assert draft is None
    assert list(errors) == [field]


def test_a_bet_on_who_wins_has_no_line() -> None:
    _, errors = parse_wager_form({**BET, "market": "h2h"}, "UTC")

    assert list(errors) == ["point"]


def test_an_empty_limit_is_no_limit_and_a_faulty_one_changes_nothing() -> None:
    limits, _ = parse_limits_form(
        {"stake_per_bet": "50", "stake_per_day": "", "loss_per_week": "100.50"}
    )
    faulty, errors = parse_limits_form({"stake_per_bet": "many"})

    assert limits == BetLimits(5000, None, 10_050)
    assert faulty is None
    assert list(errors) == ["stake_per_bet"]


def test_what_is_used_is_shown_only_where_there_is_a_limit() -> None:
    limits = LimitsView(None, 20_000, None, None, 5000, 1834)

    assert limit_usage(limits) == (("Staked today", 5000, 20_000),)


def test_a_file_is_looked_at_line_by_line_before_anything_is_recorded() -> None:
    lines = (
        "game_id,market,side,price,stake,point",
        "g1,spreads,home,-110,25,-3.5",
        "g1,h2h,home,cheap,25,",
        "g1,h2h,home,-110,1.005,",
    )

    preview = preview_file("\n".join(lines))

    assert [at for at, _ in preview.readable] == [2]
    assert [rejected.line for rejected in preview.rejected] == [3, 4]
    assert "cheap" in preview.rejected[0].reason


@pytest.mark.parametrize("content", ["", "a,b\n1,2", "\udcff\udcfe"])
def test_a_file_that_is_none_is_refused(content: str) -> None:
    with pytest.raises(InvalidInput):
        preview_file(content)


def test_bets_money_and_ages_are_written_for_people() -> None:
    assert selection_text("home", Decimal("-3.50"), "Lakers", "Celtics") == "Lakers \u22123.5"
    assert selection_text("over", Decimal("221.5"), "Lakers", "Celtics") == "Over 221.5"
    assert selection_text("under", Decimal("9.5"), "", "", "austin_reaves") == (
        "Austin Reaves under 9.5"
    )
    assert (money(-123_456), money(5, signed=True), money(0, signed=True)) == (
        "\u2212$1,234.56",
        "+$0.05",
        "$0.00",
    )
    assert tidy("Lakers -6.0") == "Lakers \u22126"
    assert tidy("Against Lakers +3.50") == "Against Lakers +3.5"
    assert tidy("Philadelphia 76ers") == "Philadelphia 76ers"
    assert signed_percent(-0.0001) == "+0.0\u00a0%"
    assert (short_age(0), short_age(59), short_age(3700)) == ("now", "59\u00a0s", "1\u00a0h")
