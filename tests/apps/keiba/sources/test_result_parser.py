"""The result: order, times, dead heats, those who did not finish, and what was paid."""

from decimal import Decimal

import pytest

from grandstand.apps.keiba.domain.errors import PageUnreadable
from grandstand.apps.keiba.domain.races import Payout
from grandstand.apps.keiba.sources.race_parser import parse_result
from tests.apps.keiba.sources.race_pages import (
    PAYOUTS,
    RACE,
    RESULT_HEADERS,
    WITH_DEAD_HEAT,
    document,
    finisher,
    page,
    paid,
    result,
)


def test_everyone_is_there_as_they_came_in() -> None:
    finishers = parse_result(page(WITH_DEAD_HEAT), RACE).value.finishers

    assert [(one.position, one.outcome) for one in finishers] == [
        (1, "finished"),
        (2, "finished"),
        (2, "finished"),
        (4, "finished"),
        (None, "stopped"),
        (None, "withdrawn"),
        (None, "disqualified"),
    ]
    assert [one.dead_heat for one in finishers] == [False, True, True, *[False] * 4]
    assert [one.demoted for one in finishers] == [*[False] * 3, True, *[False] * 3]


def test_a_finisher_is_all_that_its_row_says() -> None:
    parsed = parse_result(page(WITH_DEAD_HEAT), RACE)

    first, second = parsed.value.finishers[:2]
    assert parsed.warnings == ()
    assert (first.time, first.time_seconds, first.margin) == ("1:38.2", Decimal("98.2"), None)
    assert second.margin == "1.1/4"
    assert (first.allowance, first.jockey_name, first.jockey_id) == ("▲", "佐伯", "a01bb")
    assert (first.popularity, first.win_odds, first.last_3f) == (
        1,
        Decimal("11.5"),
        Decimal("35.1"),
    )
    assert (first.passing, first.body_weight, first.body_weight_change) == ((2, 2, 4, 2), 500, 2)
    assert (first.trainer_id, first.trainer_name, first.stable) == ("01055", "堀", "栗東")
    assert (first.frame_number, first.horse_number, first.carried_weight) == (1, 1, Decimal("57.0"))


def test_each_bet_has_what_it_paid() -> None:
    payouts = parse_result(page(WITH_DEAD_HEAT), RACE).value.payouts

    assert payouts == (
        Payout("win", (1,), 1150, 1),
        Payout("place", (1,), 210, 2),
        Payout("place", (2,), 170, 1),
        Payout("trifecta", (1, 2, 3), 12340, 45),
    )


def test_columns_may_stand_in_another_order() -> None:
    head = "".join(f"<th>{name}</th>" for name in RESULT_HEADERS)
    turned = "".join(f"<th>{name}</th>" for name in (*RESULT_HEADERS[1:], RESULT_HEADERS[0]))
    row = finisher(2, "7", "1:40.0")
    cells = row.removeprefix('<tr class="HorseList">').removesuffix("</tr>")
    first, rest = cells.split("</td>", 1)
    text = result(f"<tr>{rest}{first}</td></tr>", payouts=PAYOUTS).replace(head, turned)

    found = parse_result(page(text), RACE).value.finishers[0]

    assert (found.position, found.horse_number, found.time) == (7, 2, "1:40.0")


def test_a_race_that_is_not_over_is_not_confirmed() -> None:
    parsed = parse_result(page(result()), RACE)

    assert not parsed.value.confirmed
    assert (parsed.value.finishers, parsed.value.payouts, parsed.warnings) == ((), (), ())
    assert parsed.value.race_name == "かえで特別"


def test_a_payment_that_does_not_add_up_is_left_out_with_a_warning() -> None:
    odd = paid("Umaren", "馬連", "<span>1</span>", "500円", "")

    parsed = parse_result(page(result(finisher(1, "1", "1:38.2"), payouts=odd)), RACE)

    assert parsed.value.payouts == ()
    assert any("馬連" in warning for warning in parsed.warnings)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (document("<p>?</p>"), "no table of results"),
        (result(finisher(1, "?", "")), "no horses found"),
        (WITH_DEAD_HEAT[:3000], "truncated"),
    ],
)
def test_a_page_without_a_result_is_an_error(text: str, why: str) -> None:
    with pytest.raises(PageUnreadable, match=why):
        parse_result(page(text), RACE)
