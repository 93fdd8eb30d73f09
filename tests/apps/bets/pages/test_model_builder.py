"""The form a model is built with: read, refused beside its fields, and scale_weights."""

from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal

import pytest

from grandstand.apps.bets.pages.models import (
    BuilderForm,
    empty_form,
    model_form,
    parse_builder_form,
    scale_weights,
    submitted_form,
)
from grandstand.apps.bets.services.user_models import DatasetView, UserModelView
from tests.apps.bets.pages.samples import NBA, NOON

TODAY = date(2026, 2, 11)
PACE = DatasetView("d1", "Pace", NBA, "team", ("pace",), 30, NOON)


def _form(**texts: str) -> BuilderForm:
    """The empty form, named, with other texts in some fields; a dot is written as two lines."""
    begun = empty_form(NBA, TODAY)
    given = {name.replace("__", "."): text for name, text in texts.items()}
    return replace(begun, texts={**begun.texts, "name": "Rest is best", **given})


def test_the_form_begins_with_weights_that_add_up() -> None:
    form = _form()

    draft, wish, errors = parse_builder_form(form, ())

    assert errors == {}
    assert form.total == 100
    assert draft is not None
    assert sum(draft.data_sources.values()) == 1
    assert draft.min_confidence == Decimal("0.55")
    assert wish is not None
    assert wish.end == TODAY


def test_weights_that_do_not_add_up_are_refused_with_their_sum() -> None:
    draft, _, errors = parse_builder_form(_form(weight__injuries="35"), ())

    assert draft is None
    assert "115" in errors["weights"]


def test_scaling_makes_them_add_up_to_a_hundred_exactly() -> None:
    thirds = {"weight__team_stats": "1", "weight__recent_form": "1", "weight__injuries": "1"}

    form = scale_weights(_form(**thirds, weight__odds_movement="0"))

    assert form.total == 100
    assert sorted(
        form.texts[f"weight.{name}"] for name in ("team_stats", "recent_form", "injuries")
    ) == [
        "33",
        "33",
        "34",
    ]


def test_nothing_is_scaled_where_nothing_counts() -> None:
    form = submitted_form({"weight.injuries": "0"}, ["h2h"])

    assert scale_weights(form) is form


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("name", "ab"),
        ("description", "short"),
        ("min_confidence", "40"),
        ("min_confidence", "sure"),
        ("weight__injuries", "-5"),
        ("start", "yesterday"),
        ("end", "2020-01-01"),
        ("train_days", "0"),
    ],
)
def test_a_fault_is_said_beside_its_field(field: str, text: str) -> None:
    _, _, errors = parse_builder_form(_form(**{field: text}), ())

    assert field.replace("__", ".") in errors


def test_a_model_bets_on_something_and_only_on_what_there_is() -> None:
    form = submitted_form({**_form().texts}, ["parlay"])

    _, _, errors = parse_builder_form(form, ())

    assert "bet_types" in errors


def test_what_is_only_tried_needs_no_name() -> None:
    draft, _, errors = parse_builder_form(_form(name=""), (), testing=True)

    assert errors == {}
    assert draft is not None


def test_own_data_with_a_weight_needs_a_table_and_its_shares_are_scaled() -> None:
    heavy = {"weight__custom_data": "20", "weight__injuries": "0"}

    _, _, without = parse_builder_form(_form(**heavy), (PACE,))
    draft, _, errors = parse_builder_form(_form(**heavy, dataset__d1="50"), (PACE,))

    assert "weight.custom_data" in without
    assert errors == {}
    assert draft is not None
    assert draft.datasets == {"d1": 1}


def test_a_stored_model_fills_the_form_and_comes_back_the_same() -> None:
    created = datetime(2026, 1, 1, tzinfo=NOON.tzinfo)
    sources = {"recent_form": Decimal("0.625"), "rest_schedule": Decimal("0.375")}
    stored = UserModelView(
        "m1",
        "Rest",
        "",
        NBA,
        ("totals",),
        sources,
        {},
        Decimal("0.6"),
        "active",
        True,
        created,
        created,
    )

    draft, _, errors = parse_builder_form(model_form(stored, TODAY), ())

    assert errors == {}
    assert draft is not None
    assert (draft.data_sources, draft.bet_types, draft.auto_adjust_weights) == (
        sources,
        ("totals",),
        True,
    )
