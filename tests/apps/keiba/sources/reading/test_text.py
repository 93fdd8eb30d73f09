"""The site's ways of writing are read as what they mean, and anything else as nothing."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grandstand.apps.keiba.sources.reading import text


@pytest.mark.parametrize(
    ("read", "written", "meant"),
    [
        (text.whole, "7,573", 7573),
        (text.whole, "\uff11\uff12", 12),
        (text.whole, "**", None),
        (text.whole, "1.5", None),
        (text.positive, "0", None),
        (text.decimal, "---.-", None),
        (text.decimal, "\u00a012.5 ", Decimal("12.5")),
        (text.rate, "24.5\uff05", Decimal("24.5")),
        (text.money, "4,060万円", Decimal(4060)),
        (text.money, "1億2,345万円", Decimal(12345)),
        (text.money, "12億円", Decimal(120000)),
        (text.money, "678.5万円", Decimal("678.5")),
        (text.money, "-", None),
        (text.money, "円", None),
        (text.surface_and_distance, "ダ1600m", ("dirt", 1600)),
        (text.surface_and_distance, "障2970", ("jump", 2970)),
        (text.surface_and_distance, "芝\uff12\uff10\uff10\uff10\uff4d", ("turf", 2000)),
        (text.surface_and_distance, "200m", (None, 200)),
        (text.surface_and_distance, "", (None, None)),
        (text.body_weight, "445(0)", (445, 0)),
        (text.body_weight, "464 (-8)", (464, -8)),
        (text.body_weight, "464(前計不)", (464, None)),
        (text.body_weight, "計不", (None, None)),
        (text.seconds, "1:38.2", Decimal("98.2")),
        (text.seconds, "58.9", Decimal("58.9")),
        (text.seconds, "1:75.0", None),
        (text.seconds, "", None),
        (text.clock, "9:55 発走", "09:55"),
        (text.clock, "25:00", None),
        (text.day, "2026年11月5日", date(2026, 11, 5)),
        (text.day, "2026/02/30", None),
        (text.sex_and_age, "牝2", ("female", 2)),
        (text.sex_and_age, "セ4", ("gelding", 4)),
        (text.sex_and_age, "", (None, None)),
        (text.going, "稍", "good"),
        (text.going, "稍重", "good"),
        (text.going, "重", "yielding"),
        (text.going, "不良", "soft"),
        (text.going, "", None),
        (text.weather, "小雨", "drizzle"),
        (text.weather, "**", None),
        (text.direction, "右 外", "right"),
        (text.jockey, "▲佐伯", ("▲", "佐伯")),
        (text.jockey, "", (None, None)),
        (text.arrival, "5(降)", text.Arrival(5, "finished", demoted=True)),
        (text.arrival, "中止", text.Arrival(None, "stopped")),
        (text.arrival, "取", text.Arrival(None, "withdrawn")),
        (text.arrival, "除外", text.Arrival(None, "excluded")),
        (text.arrival, "失格", text.Arrival(None, "disqualified")),
        (text.arrival, "0", None),
        (text.arrival, "", None),
        (text.passing, "2-2-4-12", (2, 2, 4, 12)),
        (text.passing, "", ()),
    ],
)
def test_what_is_written_is_read_as_what_it_means(read: Any, written: str, meant: object) -> None:
    assert read(written) == meant


def test_rates_are_rounded_as_the_site_rounds_them() -> None:
    rates = [text.percentage(part, 7573) for part in (582, 582 + 640, 582 + 640 + 634)]

    assert rates == [Decimal("7.7"), Decimal("16.1"), Decimal("24.5")]


@given(st.text(max_size=60))
def test_no_text_at_all_breaks_the_reading_of_it(written: str) -> None:
    readers = (
        text.whole,
        text.decimal,
        text.money,
        text.surface_and_distance,
        text.body_weight,
        text.seconds,
        text.clock,
        text.day,
        text.sex_and_age,
        text.going,
        text.weather,
        text.direction,
        text.jockey,
        text.arrival,
        text.passing,
        text.rate,
    )

    assert len([read(written) for read in readers]) == len(readers)
