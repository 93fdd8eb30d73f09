"""Kept here: what a preview is written from: a card as JSON, and how it is made shorter."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any, Final

import msgspec

from grandstand.apps.keiba.model import Form, JockeyFigures, JockeyRecord, Parent, Parents, PastRun
from grandstand.apps.keiba.service.values import Card, CardRunner, Sourced


@dataclass(frozen=True, slots=True)
class Shrinking:
    """How much goes into the material; each step leaves out more, in this order."""

    past_runs: int = 10
    parent_careers: bool = True
    jockey_years: int = 5
    digits: int = 3

    @staticmethod
    def steps() -> tuple[Shrinking, ...]:
        """Answer every step, from all there is to the least."""
        return (
            Shrinking(),
            Shrinking(past_runs=5),
            Shrinking(past_runs=5, parent_careers=False),
            Shrinking(past_runs=5, parent_careers=False, jockey_years=3),
            Shrinking(past_runs=5, parent_careers=False, jockey_years=3, digits=1),
        )

    @property
    def left_out(self) -> tuple[str, ...]:
        """What is left out, in words."""
        whole = _WHOLE
        return tuple(
            words
            for words, cut in (
                ("earlier races beyond five", self.past_runs < whole.past_runs),
                ("careers of the parents", not self.parent_careers),
                ("years of jockeys beyond three", self.jockey_years < whole.jockey_years),
                ("digits of numbers", self.digits < whole.digits),
            )
            if cut
        )


_WHOLE: Final = Shrinking()


def material_of(card: Card, shrinking: Shrinking) -> str:
    """Write a card as JSON, without odds; the same card makes the same text."""
    race = card.race.value
    written = {
        "race": _without_nothing(
            {
                "race_id": race.race_id,
                "name": race.race_name,
                "date": _day(card.race_date),
                "track": race.track_name,
                "surface": race.track_type,
                "distance_m": race.distance,
                "going": race.going,
                "class": race.race_class,
                "grade": race.grade,
                "conditions": race.conditions,
            }
        ),
        "runners": [_runner(each, shrinking) for each in card.ranking],
    }
    return msgspec.json.encode(written, order="sorted").decode()


def _runner(each: CardRunner, shrinking: Shrinking) -> dict[str, Any]:
    runner, ranked = each.runner, each.ranked
    digits = shrinking.digits
    return _without_nothing(
        {
            "horse_id": runner.horse_id,
            "name": runner.horse_name,
            "number": runner.horse_number,
            "frame": runner.frame_number,
            "sex": runner.sex,
            "age": runner.age,
            "carried_kg": _number(runner.carried_weight, digits),
            "body_kg": runner.body_weight,
            "jockey": _jockey(runner.jockey_name, each, shrinking),
            "earlier_races": _runs(each.form, shrinking),
            "parents": _parents(each.parents, shrinking),
            "ranking": None
            if ranked is None
            else {
                "rank": ranked.rank,
                "chance_to_win": _number(ranked.win, digits),
                "chance_first_three": _number(ranked.top3, digits),
                "reasons": [one.sentence for one in ranked.reasons if round(one.points, 1)],
            },
        }
    )


def _runs(form: Sourced[Form] | None, shrinking: Shrinking) -> list[dict[str, Any]] | None:
    if form is None:
        return None
    return [_run(run, shrinking.digits) for run in form.value.recent_results[: shrinking.past_runs]]


def _run(run: PastRun, digits: int) -> dict[str, Any]:
    return _without_nothing(
        {
            "date": _day(run.run_on),
            "track": run.track,
            "race": run.race_name,
            "surface": run.track_type,
            "distance_m": run.distance,
            "going": run.going,
            "position": run.position,
            "runners": run.runner_count,
            "outcome": run.outcome if run.outcome != "finished" else None,
            "time": run.time,
            "margin": run.margin,
            "last_600m": _number(run.last_3f, digits),
            "jockey": run.jockey_name,
            "carried_kg": _number(run.carried_weight, digits),
        }
    )


def _parents(parents: Sourced[Parents] | None, shrinking: Shrinking) -> dict[str, Any] | None:
    if parents is None:
        return None
    return {
        "sire": _parent(parents.value.sire, shrinking),
        "dam": _parent(parents.value.dam, shrinking),
    }


def _parent(parent: Parent, shrinking: Shrinking) -> dict[str, Any]:
    named: dict[str, Any] = {"name": parent.name}
    if shrinking.parent_careers:
        named |= {
            "earnings": _number(parent.earnings, shrinking.digits),
            "places": [parent.first, parent.second, parent.third, parent.fourth_or_lower],
        }
    return _without_nothing(named)


def _jockey(name: str | None, each: CardRunner, shrinking: Shrinking) -> dict[str, Any]:
    record = None if each.jockey is None else each.jockey.value
    if record is None:
        return _without_nothing({"name": name})
    return _without_nothing(
        {
            "name": record.jockey_name,
            "career": _figures(record.overall_stats, shrinking.digits),
            "years": _years(record, shrinking),
        }
    )


def _years(record: JockeyRecord, shrinking: Shrinking) -> list[dict[str, Any]]:
    newest = sorted({year.year for year in record.years}, reverse=True)[: shrinking.jockey_years]
    return [
        {"year": one.year, "circuit": one.circuit, **_figures(one.figures, shrinking.digits)}
        for one in record.years
        if one.year in newest
    ]


def _figures(figures: JockeyFigures, digits: int) -> dict[str, Any]:
    return _without_nothing(
        {
            "rides": figures.total_races,
            "wins": figures.wins,
            "win_rate": _number(figures.win_rate, digits),
            "place_rate": _number(figures.place_rate, digits),
        }
    )


def _number(value: Any, digits: int) -> float | None:  # noqa: ANN401 - a Decimal or a float
    return None if value is None else round(float(value), digits)


def _day(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


def _without_nothing(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in (None, [], "")}
