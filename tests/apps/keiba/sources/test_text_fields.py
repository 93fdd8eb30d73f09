"""The site's ways of writing are read as what they mean, and anything else as nothing."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grandstand.apps.keiba.sources import text_fields


@pytest.mark.parametrize(
    ("read", "written", "meant"),
    [
        (text_fields.parse_int, "7,573", 7573),
        (text_fields.parse_int, "\uff11\uff12", 12),
        (text_fields.parse_int, "**", None),
        (text_fields.parse_int, "1.5", None),
        (text_fields.parse_positive_int, "0", None),
        (text_fields.parse_decimal, "---.-", None),
        (text_fields.parse_decimal, "\u00a012.5 ", Decimal("12.5")),
        (text_fields.parse_percent, "24.5\uff05", Decimal("24.5")),
        (text_fields.parse_money, "4,060万円", Decimal(4060)),
        (text_fields.parse_money, "1億2,345万円", Decimal(12345)),
        (text_fields.parse_money, "12億円", Decimal(120000)),
        (text_fields.parse_money, "678.5万円", Decimal("678.5")),
        (text_fields.parse_money, "-", None),
        (text_fields.parse_money, "円", None),
        (text_fields.parse_course, "ダ1600m", ("dirt", 1600)),
        (text_fields.parse_course, "障2970", ("jump", 2970)),
        (text_fields.parse_course, "芝\uff12\uff10\uff10\uff10\uff4d", ("turf", 2000)),
        (text_fields.parse_course, "200m", (None, 200)),
        (text_fields.parse_course, "", (None, None)),
        (text_fields.parse_body_weight, "445(0)", (445, 0)),
        (text_fields.parse_body_weight, "464 (-8)", (464, -8)),
        (text_fields.parse_body_weight, "464(前計不)", (464, None)),
        (text_fields.parse_body_weight, "計不", (None, None)),
        (text_fields.parse_race_time, "1:38.2", Decimal("98.2")),
        (text_fields.parse_race_time, "58.9", Decimal("58.9")),
        (text_fields.parse_race_time, "1:75.0", None),
        (text_fields.parse_race_time, "", None),
        (text_fields.parse_clock, "9:55 発走", "09:55"),
        (text_fields.parse_clock, "25:00", None),
        (text_fields.parse_date, "2026年11月5日", date(2026, 11, 5)),
        (text_fields.parse_date, "2026/02/30", None),
        (text_fields.parse_sex_and_age, "牝2", ("female", 2)),
        (text_fields.parse_sex_and_age, "セ4", ("gelding", 4)),
        (text_fields.parse_sex_and_age, "", (None, None)),
        (text_fields.parse_going, "稍", "good"),
        (text_fields.parse_going, "稍重", "good"),
        (text_fields.parse_going, "重", "yielding"),
        (text_fields.parse_going, "不良", "soft"),
        (text_fields.parse_going, "", None),
        (text_fields.parse_weather, "小雨", "drizzle"),
        (text_fields.parse_weather, "**", None),
        (text_fields.parse_direction, "右 外", "right"),
        (text_fields.parse_jockey_name, "▲佐伯", ("▲", "佐伯")),
        (text_fields.parse_jockey_name, "", (None, None)),
        (text_fields.parse_finish, "5(降)", text_fields.Finish(5, "finished", demoted=True)),
        (text_fields.parse_finish, "中止", text_fields.Finish(None, "stopped")),
        (text_fields.parse_finish, "取", text_fields.Finish(None, "withdrawn")),
        (text_fields.parse_finish, "除外", text_fields.Finish(None, "excluded")),
        (text_fields.parse_finish, "失格", text_fields.Finish(None, "disqualified")),
        (text_fields.parse_finish, "0", None),
        (text_fields.parse_finish, "", None),
        (text_fields.parse_corner_positions, "2-2-4-12", (2, 2, 4, 12)),
        (text_fields.parse_corner_positions, "", ()),
    ],
)
def test_what_is_written_is_read_as_what_it_means(read: Any, written: str, meant: object) -> None:
    assert read(written) == meant


def test_rates_are_rounded_as_the_site_rounds_them() -> None:
    rates = [text_fields.round_percent(part, 7573) for part in (582, 582 + 640, 582 + 640 + 634)]

    assert rates == [Decimal("7.7"), Decimal("16.1"), Decimal("24.5")]


@given(st.text(max_size=60))
def test_no_text_at_all_breaks_the_reading_of_it(written: str) -> None:
    readers = (
        text_fields.parse_int,
        text_fields.parse_decimal,
        text_fields.parse_money,
        text_fields.parse_course,
        text_fields.parse_body_weight,
        text_fields.parse_race_time,
        text_fields.parse_clock,
        text_fields.parse_date,
        text_fields.parse_sex_and_age,
        text_fields.parse_going,
        text_fields.parse_weather,
        text_fields.parse_direction,
        text_fields.parse_jockey_name,
        text_fields.parse_finish,
        text_fields.parse_corner_positions,
        text_fields.parse_percent,
    )

    assert len([read(written) for read in readers]) == len(readers)
