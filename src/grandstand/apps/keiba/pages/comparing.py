"""Kept here: runners side by side: one line for each thing that can be compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Final

from grandstand.apps.keiba.model.background import Record
from grandstand.apps.keiba.pages.runners import body_weight, sex_age, strip, written_odds
from grandstand.apps.keiba.pages.runners import points as written
from grandstand.apps.keiba.pages.tongue import Tongue
from grandstand.apps.keiba.service import Card, CardRunner, Ranked
from grandstand.kit.charts import Axis, Chart, Plot, epoch
from grandstand.kit.pages.shown import NOTHING, number, percent

MOST: Final = 6
_UNASKED: Final = 4


@dataclass(frozen=True, slots=True)
class Line:
    """One thing compared: its label, what is shown of each runner, and which of them are best."""

    label: str
    shown: tuple[str, ...]
    best: frozenset[int] = frozenset()


def chosen(card: Card, horse_ids: Sequence[str]) -> tuple[CardRunner, ...]:
    """Answer the runners asked for, a handful at most; the first of the ranking if none is."""
    asked = [each for each in card.runners if each.runner.horse_id in set(horse_ids)]
    return tuple(asked[:MOST]) or card.ranking[:_UNASKED] or card.runners[:_UNASKED]


def comparison(runners: Sequence[CardRunner], t: Tongue) -> tuple[Line, ...]:
    """Answer line by line what is known of some runners."""
    w = t.w
    first = (
        _plain(w["sex_age"], runners, lambda each: sex_age(each.runner, t)),
        _plain(w["form"], runners, lambda each: _strip(each, t)),
        _ranked(w["win"], runners, lambda ranked: ranked.win),
        _ranked(w["top2"], runners, lambda ranked: ranked.top2),
        _ranked(w["top3"], runners, lambda ranked: ranked.top3),
        _plain(w["fair"], runners, _fair),
        _plain(w["odds"], runners, _odds),
        _plain(w["carried"], runners, lambda each: number(each.runner.carried_weight)),
        _plain(w["body"], runners, lambda each: body_weight(each.runner)),
    )
    return (*first, *_insights(runners, t), *_people(runners, t), *_factors(runners, t))


def speed_chart(runners: Sequence[CardRunner], t: Tongue) -> Chart:
    """Answer the figures of these runners' earlier runs over time."""
    return Chart(
        title="Speed figures" if not t.japanese else "スピード指数",
        note="Points above the standard of the course."
        if not t.japanese
        else "コース基準からの差(点)。",
        x=Axis(t.w["date"], "time"),
        y=Axis(t.w["score"], digits=1),
        plots=tuple(_speeds(each) for each in runners if each.figures is not None),
        height=300,
    )


def _speeds(each: CardRunner) -> Plot:
    speeds = () if each.figures is None else each.figures.speeds
    rows = sorted(
        (epoch(datetime.combine(one.run.run_on, time(), UTC)), one.points) for one in speeds
    )
    return Plot(each.runner.horse_name, "line", tuple(rows))


def _plain(label: str, runners: Sequence[CardRunner], of: Callable[[CardRunner], str]) -> Line:
    return Line(label, tuple(of(each) for each in runners))


def _ranked(
    label: str,
    runners: Sequence[CardRunner],
    of: Callable[[Ranked], float],
) -> Line:
    values = [None if each.ranked is None else of(each.ranked) for each in runners]
    return Line(label, tuple(percent(value) for value in values), _best(values))


def _best(values: Sequence[float | None]) -> frozenset[int]:
    """Where the highest stand; nowhere when all are alike or unknown."""
    known = [value for value in values if value is not None]
    if not known or min(known) == max(known):
        return frozenset()
    return frozenset(at for at, value in enumerate(values) if value == max(known))


def _strip(each: CardRunner, t: Tongue) -> str:
    return NOTHING if each.form is None else strip(each.form.value.recent_results, t)


def _fair(each: CardRunner) -> str:
    return NOTHING if each.ranked is None else written_odds(each.ranked.fair_odds)


def _odds(each: CardRunner) -> str:
    ranked = each.ranked
    return written_odds(each.runner.win_odds if ranked is None else ranked.odds)


def record_in_words(record: Record) -> str:
    """Write a record as racing does: first, second, third and the rest."""
    second, third = record.top2 - record.wins, record.top3 - record.top2
    return f"{record.wins}-{second}-{third}-{record.starts - record.top3}"


def _insights(runners: Sequence[CardRunner], t: Tongue) -> tuple[Line, ...]:
    """Lines of what is derived, in the order of the first runner that has any."""
    labels: dict[str, str] = {}
    for each in runners:
        for one in each.insights:
            labels.setdefault(one.name, t.either(one.label, one.label_ja))
    return tuple(_insight(name, label, runners) for name, label in labels.items())


def _insight(name: str, label: str, runners: Sequence[CardRunner]) -> Line:
    held = [next((one for one in each.insights if one.name == name), None) for each in runners]
    records = [None if one is None else one.record for one in held]
    shown = tuple(
        NOTHING
        if one is None
        else record_in_words(one.record)
        if one.record is not None
        else number(one.days)
        for one in held
    )
    return Line(label, shown, _best([None if one is None else one.top3_rate for one in records]))


def _people(runners: Sequence[CardRunner], t: Tongue) -> tuple[Line, ...]:
    w = t.w
    rates = [
        None if each.jockey is None else each.jockey.value.overall_stats.place_rate
        for each in runners
    ]
    shares = [None if rate is None else float(rate) / 100 for rate in rates]
    return (
        _plain(w["jockey"], runners, lambda each: each.runner.jockey_name or NOTHING),
        Line(f"{w['jockey']}: {w['top3']}", tuple(percent(one) for one in shares), _best(shares)),
        _plain(w["sire"], runners, lambda each: _parent(each, "sire")),
        _plain(w["dam"], runners, lambda each: _parent(each, "dam")),
    )


def _parent(each: CardRunner, which: str) -> str:
    if each.parents is None:
        return NOTHING
    known = each.parents.value
    return (known.sire if which == "sire" else known.dam).name or NOTHING


def _factors(runners: Sequence[CardRunner], t: Tongue) -> tuple[Line, ...]:
    """A line for each factor of the ranking that counts for any of them."""
    rows = [
        {} if each.ranked is None else {why.factor: why for why in each.ranked.reasons}
        for each in runners
    ]
    known = {factor: why for row in reversed(rows) for factor, why in row.items()}
    lines = []
    for factor, why in known.items():
        points = [row[factor].points if factor in row else None for row in rows]
        if any(points):
            shown = tuple(NOTHING if one is None else written(one) for one in points)
            label = f"{t.either(why.label, why.label_ja)} ({t.w['points']})"
            lines.append(Line(label, shown, _best(points)))
    return tuple(lines)
