"""Kept here: keiba's charts: chances beside the market's, a horse's career, a jockey's years."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from itertools import accumulate
from typing import Final

from grandstand.apps.keiba.model import Circuit, JockeyRecord, JockeyYear, PastRun
from grandstand.apps.keiba.pages.tongue import Tongue
from grandstand.apps.keiba.service import Card
from grandstand.kit.charts import Axis, Chart, Plot, epoch

_PER_CENT: Final = 100


def chances_chart(card: Card, t: Tongue) -> Chart:
    """Answer our chances of winning beside those behind the odds, by horse number."""
    held = sorted(
        (each for each in card.ranking if each.ranked is not None),
        key=lambda each: each.runner.horse_number or 0,
    )
    names = tuple(str(each.runner.horse_number or each.runner.horse_name) for each in held)
    ranked = [each.ranked for each in held if each.ranked is not None]
    ours = tuple((at, one.win * _PER_CENT) for at, one in enumerate(ranked))
    market = tuple(
        (at, one.market * _PER_CENT) for at, one in enumerate(ranked) if one.market is not None
    )
    plots = [Plot(t.w["ours"], "bar", ours, "4")]
    if market:
        plots.append(Plot(t.w["market"], "scatter", market, "2"))
    return Chart(
        title=t.w["chances"] if market else t.w["chances_alone"],
        note=t.w["chances_note"] if market else "",
        x=Axis(t.w["number"], "name", names=names),
        y=Axis(t.w["win"], unit="%", digits=1),
        plots=tuple(plots),
        height=240,
    )


def career_chart(runs: Iterable[PastRun], t: Tongue) -> Chart:
    """Answer how many of its rivals a horse beat, race by race; runs are newest first."""
    rows = tuple(
        (_moment(run.run_on), _PER_CENT * _beaten(run.position, run.runner_count))
        for run in reversed(tuple(runs))
        if run.position is not None
        and run.runner_count is not None
        and run.runner_count > 1
        and run.position <= run.runner_count
    )
    return Chart(
        title=t.w["career_chart"],
        note=t.w["career_note"],
        x=Axis(t.w["date"], "time"),
        y=Axis(t.w["career_chart"], unit="%", digits=0, within=(0, 100)),
        plots=(Plot(t.w["career_chart"], "line", rows, "4"),),
        height=240,
    )


def earned_chart(runs: Iterable[PastRun], t: Tongue) -> Chart:
    """Answer the prize money of a career as it grew; runs are newest first."""
    held = list(reversed(tuple(runs)))
    totals = accumulate(float(run.prize or 0) for run in held)
    rows = tuple((_moment(run.run_on), total) for run, total in zip(held, totals, strict=True))
    return Chart(
        title=t.w["earned_chart"],
        note=t.w["ten_thousand_yen"],
        x=Axis(t.w["date"], "time"),
        y=Axis(t.w["earnings"], digits=0),
        plots=(Plot(t.w["earned_chart"], "area", rows, "2"),),
        height=240,
    )


def wins_chart(record: JockeyRecord, t: Tongue) -> Chart:
    """Answer a jockey's wins of each year, by circuit."""
    years = _years(record)
    won = Counter({each.circuit: 0 for each in record.years})
    for each in record.years:
        won[each.circuit] += each.figures.wins
    return Chart(
        title=t.w["wins_chart"],
        x=_named(years, t),
        y=Axis(t.w["wins"], digits=0),
        plots=tuple(
            Plot(t.term("circuit", circuit), "bar", _wins(record.years, circuit, years))
            for circuit, _ in won.most_common()
        ),
        height=260,
    )


def rates_chart(record: JockeyRecord, t: Tongue) -> Chart:
    """Answer a jockey's shares of rides won and placed in each year, over both circuits."""
    years = _years(record)
    rows = [(at, _counted(record.years, year)) for at, year in enumerate(years)]
    kinds = ((t.w["win"], 1), (t.w["top2"], 2), (t.w["top3"], 3))
    return Chart(
        title=t.w["rate_chart"],
        x=_named(years, t),
        y=Axis(t.w["top3"], unit="%", digits=1),
        plots=tuple(
            Plot(
                name,
                "line",
                tuple((at, _share(counted, most)) for at, counted in rows if counted[0]),
            )
            for name, most in kinds
        ),
        height=260,
    )


def _named(years: list[int], t: Tongue) -> Axis:
    return Axis(t.w["year"], "name", names=tuple(str(year) for year in years))


def _years(record: JockeyRecord) -> list[int]:
    return sorted({each.year for each in record.years})


def _wins(
    held: Iterable[JockeyYear], circuit: Circuit, years: list[int]
) -> tuple[tuple[int, int], ...]:
    won = {each.year: each.figures.wins for each in held if each.circuit == circuit}
    return tuple((at, won.get(year, 0)) for at, year in enumerate(years))


def _counted(held: Iterable[JockeyYear], year: int) -> tuple[int, int, int, int]:
    """Rides, and first, second and third places, of a year over both circuits."""
    figures = [each.figures for each in held if each.year == year]
    return (
        sum(one.total_races for one in figures),
        sum(one.wins for one in figures),
        sum(one.seconds for one in figures),
        sum(one.thirds for one in figures),
    )


def _moment(day: date) -> float:
    return epoch(datetime.combine(day, time(), UTC))


def _beaten(position: int, runners: int) -> float:
    return (runners - position) / (runners - 1)


def _share(counted: tuple[int, int, int, int], most: int) -> float:
    """The per cent of rides that brought one of the first so many places."""
    return _PER_CENT * sum(counted[1 : most + 1]) / counted[0]
