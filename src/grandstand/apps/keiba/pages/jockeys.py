"""Kept here: the page of a jockey: the career, and the years one by one."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.keiba.model import JockeyFigures, JockeyRecord, JockeyYear
from grandstand.apps.keiba.pages.part import AWAY, JockeyId, PagesPart
from grandstand.apps.keiba.pages.plots import rates_chart, wins_chart
from grandstand.apps.keiba.pages.runners import japanese
from grandstand.apps.keiba.pages.tongue import Tongue, tongue_of
from grandstand.kit.pages.shown import NOTHING, number
from grandstand.kit.pages.table import Cell, Column, DataTable, Row
from grandstand.kit.routes import page

_ALL: Final = 200


class JockeyPages(PagesPart):
    """Jockeys."""

    @page("/jockeys/{jockey_id}")
    async def jockey(self, request: Request, jockey_id: JockeyId) -> Response:
        """A jockey's career and years; raises IdInvalid and NotPublished."""
        try:
            held = await self._keiba.jockey(jockey_id)
        except AWAY as error:
            return self._away(request, error)
        t = tongue_of(request)
        return self._render(
            request,
            "jockey",
            t=t,
            here="races",
            jockey=held.value,
            origin=held.origin,
            wins=wins_chart(held.value, t),
            rates=rates_chart(held.value, t),
            table=year_table(held.value, t).view(request.query_params, page_rows=_ALL),
            per_cent=per_cent,
        )


def per_cent(rate: Decimal | None) -> str:
    """Write a rate that is in per cent already."""
    return NOTHING if rate is None else f"{number(rate, 1)}\u00a0%"


def year_table(record: JockeyRecord, t: Tongue) -> DataTable:
    """Answer a jockey's years, newest first, each circuit apart."""
    w = t.w
    columns = (
        Column("year", w["year"], "number"),
        Column("circuit", w["circuit"]),
        Column("rank", w["rank_among"], "number", rank=2),
        Column("rides", w["all_rides"], "number"),
        Column("wins", w["wins"], "number"),
        Column("seconds", w["seconds"], "number", rank=2),
        Column("thirds", w["thirds"], "number", rank=2),
        Column("win", w["win"], "number"),
        Column("top2", w["top2"], "number", rank=2),
        Column("top3", w["top3"], "number"),
        Column("graded", w["graded"], "number", rank=2),
        Column("best", w["best_horse"], rank=2),
    )
    rows = tuple(_row(each, t) for each in record.years)
    return DataTable("years", w["years"], columns, rows)


def _row(each: JockeyYear, t: Tongue) -> Row:
    figures: JockeyFigures = each.figures
    return Row(
        f"{each.year}-{each.circuit}",
        (
            Cell(str(each.year), each.year),
            Cell(t.term("circuit", each.circuit)),
            Cell(number(each.rank), each.rank),
            Cell(number(figures.total_races), figures.total_races),
            Cell(number(figures.wins), figures.wins),
            Cell(number(figures.seconds), figures.seconds),
            Cell(number(figures.thirds), figures.thirds),
            Cell(per_cent(figures.win_rate), figures.win_rate),
            Cell(per_cent(figures.top2_rate), figures.top2_rate),
            Cell(per_cent(figures.place_rate), figures.place_rate),
            Cell(number(figures.graded_wins), figures.graded_wins),
            Cell(japanese(each.best_horse)),
        ),
    )
