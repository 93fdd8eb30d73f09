"""What people write into fields is read, or refused beside the field."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from grandstand.apps.bets.pages.base import FormFields, parse_price


@pytest.mark.parametrize(
    ("text", "american", "decimal"),
    [
        ("-110", -110, 1.9090909),
        ("\u2212110", -110, 1.9090909),
        ("+150", 150, 2.5),
        ("150", 150, 2.5),
        ("1.91", -110, 1.91),
        (" 2.5 ", 150, 2.5),
        ("10/11", -110, 1.9090909),
        ("evens", 100, 2.0),
    ],
)
def test_a_price_is_read_in_any_of_its_forms(text: str, american: int, decimal: float) -> None:
    found = parse_price(text)

    assert found is not None
    assert found.american == american
    assert found.decimal == pytest.approx(decimal)


@pytest.mark.parametrize(
    "text", ["", "0", "1", "-50", "+99", "99.5.5", "1e5", "nan", "-inf", "1/0", "0/5", "cheap", "٣"]
)
def test_what_is_no_price_is_refused_beside_its_field(text: str) -> None:
    form = FormFields({"price": text})

    found = form.price("price")

    assert found is None
    assert list(form.errors) == ["price"]


@pytest.mark.parametrize(("text", "cents"), [("25", 2500), ("$12.50", 1250), ("0.01", 1)])
def test_dollars_are_read_into_whole_cents(text: str, cents: int) -> None:
    assert FormFields({"stake": text}).cents("stake") == cents


@pytest.mark.parametrize("text", ["-5", "0", "1.005", "lots", "9999999999"])
def test_what_is_no_amount_is_refused(text: str) -> None:
    form = FormFields({"stake": text})

    assert form.cents("stake") is None
    assert "dollars and cents" in form.errors["stake"]


def test_an_empty_field_is_none_and_a_fault_only_where_it_is_needed() -> None:
    form = FormFields({})

    found = (form.cents("limit"), form.cents("stake", required=True), form.line("point"))

    assert found == (None, None, None)
    assert list(form.errors) == ["stake"]


def test_percentages_lines_days_and_moments_are_read() -> None:
    texts = {"chance": "55 %", "line": "\u22123.5", "day": "2026-02-11", "at": "2026-02-11T20:15"}
    form = FormFields(texts)

    found = (
        form.percentage("chance", 0, 100),
        form.line("line"),
        form.date("day"),
        form.time("at", "America/New_York"),
    )

    assert found == (
        Decimal("0.55"),
        Decimal("-3.5"),
        date(2026, 2, 11),
        datetime(2026, 2, 12, 1, 15, tzinfo=UTC),
    )
    assert form.errors == {}


def test_each_faulty_field_has_its_own_reason() -> None:
    texts = {
        "chance": "120",
        "line": "3.3",
        "day": "soon",
        "at": "later",
        "days": "0",
        "name": "x" * 9,
    }
    form = FormFields(texts)

    form.percentage("chance", 0, 100)
    form.line("line")
    form.date("day")
    form.time("at", "UTC")
    usual = form.integer("days", 1, 9, 5)
    form.text("name", 8)

    assert set(form.errors) == set(texts)
    assert usual == 5
