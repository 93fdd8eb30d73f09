"""Kept here: the form a model is built with: read into a draft, shown again, and scaled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from typing import Final

from grandstand.apps.bets.pages.forms import Given
from grandstand.apps.bets.pages.words import SOURCES
from grandstand.apps.bets.service import DatasetView, ModelDraft, ModelView, WalkWish

BET_TYPES: Final = ("h2h", "spreads", "totals")
_HUNDRED: Final = Decimal(100)
_NAME: Final = (3, 50)
_DESCRIPTION: Final = (10, 200)
_USUAL: Final = {"team_stats": "30", "recent_form": "30", "odds_movement": "20", "injuries": "20"}
_OFF_BY: Final = Decimal("0.01")
_CUSTOM: Final = "custom_data"
_UNNAMED: Final = "Unnamed"


@dataclass(frozen=True, slots=True)
class BuilderForm:
    """What the builder shows: texts by field, what is chosen, and what is wrong with a field."""

    texts: dict[str, str]
    bet_types: tuple[str, ...]
    auto_adjust: bool = False
    errors: dict[str, str] = field(default_factory=dict)

    @property
    def total(self) -> Decimal:
        """What the weights add up to, in per cent; what cannot be read counts nothing."""
        weights = Given(self.texts)
        held = sum((_weight(weights, name) or Decimal(0) for name in SOURCES), Decimal(0))
        return Decimal(f"{(held * _HUNDRED).normalize():f}")

    def weight(self, source: str) -> str:
        """What stands in the field of a source."""
        return self.texts.get(f"weight.{source}", "")


def empty_form(sport: str, today: date) -> BuilderForm:
    """Answer the form a new model begins with."""
    texts = {f"weight.{name}": _USUAL.get(name, "0") for name in SOURCES}
    return BuilderForm({"sport": sport, "min_confidence": "55", **texts, **_days(today)}, ("h2h",))


def form_of_model(model: ModelView, today: date) -> BuilderForm:
    """Answer the form filled with a model as it is kept."""
    weights = {f"weight.{name}": _written(model.data_sources.get(name)) for name in SOURCES}
    datasets = {f"dataset.{name}": _written(share) for name, share in model.datasets.items()}
    texts = {
        "name": model.name,
        "description": model.description,
        "sport": model.sport,
        "min_confidence": _written(model.min_confidence),
    }
    return BuilderForm(
        {**texts, **weights, **datasets, **_days(today)},
        model.bet_types,
        model.auto_adjust_weights,
    )


def form_given(texts: Mapping[str, str], bet_types: Sequence[str]) -> BuilderForm:
    """Answer the form as it was sent."""
    known = tuple(each for each in BET_TYPES if each in bet_types)
    return BuilderForm(dict(texts), known, bool(texts.get("auto_adjust")))


def scaled(form: BuilderForm) -> BuilderForm:
    """Answer the form with its weights scaled to a hundred, the rest of rounding on the largest."""
    given = Given(form.texts)
    held = {name: (_weight(given, name) or Decimal(0)) * _HUNDRED for name in SOURCES}
    total = sum(held.values())
    if not total:
        return form
    new = {name: (weight * _HUNDRED / total).quantize(Decimal(1)) for name, weight in held.items()}
    largest = max(new, key=lambda name: new[name])
    new[largest] += _HUNDRED - sum(new.values())
    weights = {f"weight.{name}": str(weight) for name, weight in new.items()}
    return BuilderForm({**form.texts, **weights}, form.bet_types, form.auto_adjust)


def read_form(
    form: BuilderForm, datasets: Sequence[DatasetView], *, trying: bool = False
) -> tuple[ModelDraft | None, WalkWish | None, dict[str, str]]:
    """Read the form into a draft and a wish, or answer what is wrong beside each field.

    What is only tried needs no name.
    """
    given = Given(form.texts)
    name = given.text("name", _NAME[1]) or (_UNNAMED if trying else "")
    if len(name) < _NAME[0]:
        given.refuse("name", f"Give it a name of {_NAME[0]} to {_NAME[1]} letters.")
    description = given.text("description", _DESCRIPTION[1])
    if description and len(description) < _DESCRIPTION[0]:
        given.refuse("description", f"Write {_DESCRIPTION[0]} letters or more, or nothing.")
    if not form.bet_types:
        given.refuse("bet_types", "Choose at least one kind of bet.")
    weights, own = _weights(given), _datasets(given, datasets)
    least = given.share("min_confidence", 50, 95)
    wish = _wish(given)
    if given.errors or least is None:
        return None, wish, given.errors
    draft = ModelDraft(
        name=name,
        sport=form.texts.get("sport", ""),
        bet_types=form.bet_types,
        data_sources={name: weight for name, weight in weights.items() if weight},
        min_confidence=least,
        description=description,
        auto_adjust_weights=form.auto_adjust,
        datasets=own if weights.get(_CUSTOM) else {},
    )
    return draft, wish, {}


def read_wish(texts: Mapping[str, str]) -> tuple[WalkWish | None, dict[str, str]]:
    """Read what is to be walked forward, or answer what is wrong beside each field."""
    given = Given(texts)
    return _wish(given), given.errors


def days_before(today: date) -> dict[str, str]:
    """Answer the days a back-test begins with."""
    return _days(today)


def _weights(given: Given) -> dict[str, Decimal]:
    held = {name: _weight(given, name) or Decimal(0) for name in SOURCES}
    total = sum(held.values(), Decimal(0))
    if not any(name.startswith("weight.") for name in given.errors):
        if not total:
            given.refuse("weights", "No source counts: give at least one of them a weight.")
        elif abs(total - 1) > _OFF_BY:
            said = f"The weights add up to {(total * _HUNDRED).normalize():f} %"
            given.refuse("weights", f"{said}, not to 100 %. “Scale to 100 %” does it for you.")
    return held


def _weight(given: Given, name: str) -> Decimal | None:
    return given.share(f"weight.{name}", 0, 100, required=False)


def _datasets(given: Given, datasets: Sequence[DatasetView]) -> dict[str, Decimal]:
    names = [f"dataset.{one.dataset_id}" for one in datasets]
    shares = {name: given.share(name, 0, 100, required=False) for name in names}
    held = {name.partition(".")[2]: share for name, share in shares.items() if share}
    if _weight(given, _CUSTOM) and not held:
        given.refuse(
            f"weight.{_CUSTOM}", "Your own data has a weight: give one of your tables a share."
        )
    total = sum(held.values(), Decimal(0))
    return {name: share / total for name, share in held.items()} if total else {}


def _wish(given: Given) -> WalkWish | None:
    start, end = given.day("start"), given.day("end")
    train, test = given.whole("train_days", 1, 1000, 60), given.whole("test_days", 1, 365, 14)
    purge = given.whole("purge_days", 0, 60, 1)
    if start is None or end is None:
        return None
    if end <= start:
        given.refuse("end", "The last day comes after the first.")
        return None
    return WalkWish(start, end, train, test, purge, bool(given.texts.get("anchored")))


def _days(today: date) -> dict[str, str]:
    return {
        "start": (today - timedelta(days=240)).isoformat(),
        "end": today.isoformat(),
        "train_days": "60",
        "test_days": "14",
        "purge_days": "1",
    }


def _written(share: Decimal | None) -> str:
    return "0" if not share else f"{(share * _HUNDRED).normalize():f}"
