"""Steps of class, from words and from prizes."""

from decimal import Decimal

import pytest

from grandstand.apps.keiba.domain.speed_figures import class_of_card, class_of_run
from tests.apps.keiba.domain.runs import card, run


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("2歳新馬", 0),
        ("3歳未勝利", 1),
        ("3歳以上1勝クラス", 2),
        ("3歳以上500万下", 2),
        ("4歳以上2勝クラス", 3),
        ("4歳以上1000万下", 3),
        ("初霜S(3勝クラス)", 4),
        ("師走S(L)", 5),
        ("翔鷹C(G3)", 6),
        ("翔鷹C(GIII)", 6),
        ("翔鷹C(JpnII)", 7),
        ("有名記念(G\u2160)", 8),
    ],
)
def test_the_name_of_a_race_tells_its_class(name: str, step: int) -> None:
    assert class_of_run(run(race_name=name)) == step


@pytest.mark.parametrize(
    ("position", "prize", "step"),
    [(1, "800", 2), (2, "320", 2), (5, "55", 1), (3, "1000", 6), (6, "40", None), (2, None, None)],
)
def test_a_prize_tells_where_the_name_does_not(
    position: int, prize: str | None, step: int | None
) -> None:
    money = None if prize is None else Decimal(prize)

    assert class_of_run(run(race_name="桔梗特別", position=position, prize=money)) == step


def test_a_card_is_read_from_its_grade_before_its_class_and_prizes() -> None:
    prizes = (Decimal(550), Decimal(220))

    graded = card(grade="G2", race_class="オープン", prize_money=prizes)
    plain = card(race_class="未勝利", prize_money=(Decimal(4000),))
    unnamed = card(race_class=None, prize_money=prizes)

    assert [class_of_card(each) for each in (graded, plain, unnamed)] == [7, 1, 1]
    assert class_of_card(card(race_class=None)) is None
