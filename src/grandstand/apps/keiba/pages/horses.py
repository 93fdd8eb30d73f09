"""Pages of horses, jockeys and the watchlist."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from itertools import accumulate
from typing import Final

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.keiba.domain import ids
from grandstand.apps.keiba.domain.horses import (
    Ancestor,
    JockeyFigures,
    JockeyRecord,
    JockeyYear,
    PastRun,
    Pedigree,
)
from grandstand.apps.keiba.domain.ids import Circuit
from grandstand.apps.keiba.pages.base import (
    SITE_ERRORS,
    HorseId,
    JockeyId,
    KeibaPage,
    distinct_origins,
    format_finish,
    format_win_odds,
    japanese_text,
)
from grandstand.apps.keiba.pages.i18n import Locale, locale_of
from grandstand.core.formatting import EMPTY, format_number
from grandstand.kit.charts import Axis, Chart, Plot, epoch
from grandstand.kit.pages.page import form_fields, redirect_to
from grandstand.kit.pages.table import Cell, Column, DataTable, Row
from grandstand.kit.routes import CurrentCaller, page

GENERATIONS: Final = 5


@dataclass(frozen=True, slots=True)
class PedigreeCell:
    """A cell of the pedigree table; `cross` lists the generations of a repeated ancestor."""

    path: str
    ancestor: Ancestor | None
    rows: int
    cross: str


@dataclass(frozen=True, slots=True)
class Cross:
    """An ancestor that appears more than once, and its generations, such as 3 × 4."""

    id: str
    name: str
    generations: str


def pedigree_rows(pedigree: Pedigree) -> tuple[tuple[PedigreeCell, ...], ...]:
    """Return the cells of the pedigree table, row by row."""
    crosses = {cross.id: cross.generations for cross in find_crosses(pedigree)}
    known = {ancestor.path: ancestor for ancestor in pedigree.ancestors}
    return tuple(
        tuple(
            _pedigree_cell(_cell_path(row, depth), known, crosses)
            for depth in range(1, GENERATIONS + 1)
            if row % (2 ** (GENERATIONS - depth)) == 0
        )
        for row in range(2**GENERATIONS)
    )


def find_crosses(pedigree: Pedigree) -> tuple[Cross, ...]:
    """Return the ancestors that appear more than once, closest first.

    An ancestor that is repeated only as a parent of another cross is omitted.
    """
    places: dict[str, list[Ancestor]] = {}
    for ancestor in pedigree.ancestors:
        if ancestor.id is not None:
            places.setdefault(ancestor.id, []).append(ancestor)
    repeated = {key: group for key, group in places.items() if len(group) > 1}
    paths = {ancestor.path for group in repeated.values() for ancestor in group}
    crosses = [
        Cross(key, group[0].name or key, " × ".join(str(each.generation) for each in group))
        for key, group in repeated.items()
        if not all(each.path[:-1] in paths for each in group)
    ]
    return tuple(sorted(crosses, key=lambda cross: cross.generations))


def _pedigree_cell(
    path: str, known: Mapping[str, Ancestor], crosses: Mapping[str, str]
) -> PedigreeCell:
    ancestor = known.get(path)
    cross = "" if ancestor is None or ancestor.id is None else crosses.get(ancestor.id, "")
    return PedigreeCell(path, ancestor, 2 ** (GENERATIONS - len(path)), cross)


def _cell_path(row: int, depth: int) -> str:
    """Return the path of the cell of a generation that starts in a row: the row's first bits."""
    return "".join("D" if row >> (GENERATIONS - step) & 1 else "S" for step in range(1, depth + 1))


def career_chart(runs: Iterable[PastRun], t: Locale) -> Chart:
    """Return the share of rivals beaten in each race."""
    rows = tuple(
        (_timestamp(run.run_on), 100 * (run.runner_count - run.position) / (run.runner_count - 1))
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


def earned_chart(runs: Iterable[PastRun], t: Locale) -> Chart:
    """Return the cumulative prize money of a career."""
    ordered = list(reversed(tuple(runs)))
    totals = accumulate(float(run.prize or 0) for run in ordered)
    rows = tuple(
        (_timestamp(run.run_on), total) for run, total in zip(ordered, totals, strict=True)
    )
    return Chart(
        title=t.w["earned_chart"],
        note=t.w["ten_thousand_yen"],
        x=Axis(t.w["date"], "time"),
        y=Axis(t.w["earnings"], digits=0),
        plots=(Plot(t.w["earned_chart"], "area", rows, "2"),),
        height=240,
    )


def wins_chart(record: JockeyRecord, t: Locale) -> Chart:
    """Return a jockey's wins by year and circuit."""
    years = _all_years(record)
    won = Counter({each.circuit: 0 for each in record.years})
    for each in record.years:
        won[each.circuit] += each.figures.wins
    return Chart(
        title=t.w["wins_chart"],
        x=_year_axis(years, t),
        y=Axis(t.w["wins"], digits=0),
        plots=tuple(
            Plot(t.term("circuit", circuit), "bar", _wins_by_year(record.years, circuit, years))
            for circuit, _ in won.most_common()
        ),
        height=260,
    )


def rates_chart(record: JockeyRecord, t: Locale) -> Chart:
    """Return a jockey's win and place percentages by year, over both circuits."""
    years = _all_years(record)
    rows = [(at, _year_totals(record.years, year)) for at, year in enumerate(years)]
    kinds = ((t.w["win"], 1), (t.w["top2"], 2), (t.w["top3"], 3))
    return Chart(
        title=t.w["rate_chart"],
        x=_year_axis(years, t),
        y=Axis(t.w["top3"], unit="%", digits=1),
        plots=tuple(
            Plot(
                name,
                "line",
                tuple((at, _placed_percent(totals, places)) for at, totals in rows if totals[0]),
            )
            for name, places in kinds
        ),
        height=260,
    )


def _year_axis(years: list[int], t: Locale) -> Axis:
    return Axis(t.w["year"], "name", names=tuple(str(year) for year in years))


def _all_years(record: JockeyRecord) -> list[int]:
    return sorted({each.year for each in record.years})


def _wins_by_year(
    years_ridden: Iterable[JockeyYear], circuit: Circuit, years: list[int]
) -> tuple[tuple[int, int], ...]:
    won = {each.year: each.figures.wins for each in years_ridden if each.circuit == circuit}
    return tuple((at, won.get(year, 0)) for at, year in enumerate(years))


def _year_totals(years: Iterable[JockeyYear], year: int) -> tuple[int, int, int, int]:
    """Rides, and first, second and third places, of a year over both circuits."""
    figures = [each.figures for each in years if each.year == year]
    return (
        sum(each.total_races for each in figures),
        sum(each.wins for each in figures),
        sum(each.seconds for each in figures),
        sum(each.thirds for each in figures),
    )


def _timestamp(day: date) -> float:
    return epoch(datetime.combine(day, time(), UTC))


def _placed_percent(totals: tuple[int, int, int, int], places: int) -> float:
    """Return the percentage of rides that finished in the first `places`."""
    return 100 * sum(totals[1 : places + 1]) / totals[0]


_MAX_ROWS: Final = 300


class HorsePages(KeibaPage):
    """Horses, and watching them."""

    @page("/horses/{horse_id}")
    async def horse(self, request: Request, who: CurrentCaller, horse_id: HorseId) -> Response:
        """A horse: profile, past races and pedigree."""
        try:
            horse = await self._keiba.pages.horse(horse_id)
        except SITE_ERRORS as error:
            return self._unavailable(request, error)
        t, watched = locale_of(request), await self._keiba.watchlist.horses(who)
        runs = () if horse.form is None else horse.form.value.recent_results
        pedigree = None if horse.pedigree is None else horse.pedigree.value
        parts = (horse.profile, horse.form, horse.parents, horse.pedigree)
        return self._render(
            request,
            "horse",
            t=t,
            here="races",
            horse=horse,
            profile=horse.profile.value,
            runs=runs,
            career=career_chart(runs, t),
            earned=earned_chart(runs, t),
            table=run_table(runs, t).view(request.query_params, page_rows=_MAX_ROWS),
            pedigree_rows=() if pedigree is None else pedigree_rows(pedigree),
            crosses=() if pedigree is None else find_crosses(pedigree),
            watched=next((each for each in watched if each.horse_id == horse_id), None),
            sources=distinct_origins(*(None if part is None else part.origin for part in parts)),
        )

    @page("/horses/{horse_id}/refresh", method="POST")
    async def refresh_horse(self, request: Request, horse_id: HorseId) -> Response:
        """Fetch all pages of a horse again."""
        fetched = self._keiba.pages.horse(horse_id, refresh=True)
        return await self._refresh(request, fetched, f"/keiba/horses/{horse_id}")

    @page("/horses/{horse_id}/watch", method="POST")
    async def watch(self, request: Request, who: CurrentCaller, horse_id: HorseId) -> Response:
        """Watch a horse, or change the note."""
        fields = await form_fields(request)
        try:
            await self._keiba.watchlist.watch(who, horse_id, fields.get("note", "").strip())
        except SITE_ERRORS as error:
            return self._unavailable(request, error)
        return redirect_to(_return_path(fields.get("back", ""), horse_id))

    @page("/horses/{horse_id}/unwatch", method="POST")
    async def unwatch(self, request: Request, who: CurrentCaller, horse_id: HorseId) -> Response:
        """Stop watching a horse."""
        fields = await form_fields(request)
        await self._keiba.watchlist.unwatch(who, horse_id)
        return redirect_to(_return_path(fields.get("back", ""), horse_id))


def _return_path(back: str, horse_id: str) -> str:
    return "/keiba/watched" if back == "watched" else f"/keiba/horses/{horse_id}"


def run_table(runs: Sequence[PastRun], t: Locale) -> DataTable:
    """Return every run of a horse, newest first."""
    w = t.w
    columns = (
        Column("date", w["date"], "time"),
        Column("track", w["track"]),
        Column("race", w["race"]),
        Column("distance", w["distance"], "number"),
        Column("going", w["going"], rank=2),
        Column("finish", w["finish"], "number"),
        Column("jockey", w["jockey"], rank=2),
        Column("carried", w["carried"], "number", rank=2),
        Column("time", w["time"], "number"),
        Column("margin", w["margin"], "number", rank=2),
        Column("last_3f", w["last_3f"], "number", rank=2),
        Column("passing", w["passing"], rank=2),
        Column("odds", w["odds"], "number", rank=2),
        Column("popularity", w["popularity"], "number", rank=2),
        Column("body", w["body"], "number", rank=2),
        Column("winner", w["first_or_second"], rank=2),
        Column("prize", w["prize"], "number", rank=2),
    )
    rows = tuple(_run_row(str(at), run, t) for at, run in enumerate(runs))
    return DataTable("runs", w["all_runs"], columns, rows)


def _track_name(run: PastRun, t: Locale) -> str | Markup:
    """Return the track in the language of the page, if it is in Japan."""
    known = ids.track_of(run.race_id) if run.race_id and run.circuit != "overseas" else None
    return known.english if known and not t.japanese else japanese_text(run.track)


def _run_row(key: str, run: PastRun, t: Locale) -> Row:
    race = f"/keiba/races/{run.race_id}/result" if run.race_id and run.circuit != "overseas" else ""
    jockey = f"/keiba/jockeys/{run.jockey_id}" if run.jockey_id and run.jockey_name else ""
    distance = f"{t.term('surface', run.track_type)} {format_number(run.distance)}".strip()
    place = format_finish(run, t)
    return Row(
        key,
        (
            Cell(t.date(run.run_on), run.run_on.isoformat()),
            Cell(_track_name(run, t)),
            Cell(japanese_text(run.race_name), run.race_name, href=race),
            Cell(distance, run.distance),
            Cell(t.term("going", run.going) or EMPTY),
            Cell(f"{place}/{run.runner_count}" if run.runner_count else place, run.position),
            Cell(japanese_text(run.jockey_name), run.jockey_name, href=jockey),
            Cell(format_number(run.carried_weight), run.carried_weight),
            Cell(run.time or EMPTY, run.time_seconds),
            Cell(run.margin or EMPTY),
            Cell(format_number(run.last_3f, 1), run.last_3f),
            Cell("-".join(map(str, run.passing)) or EMPTY),
            Cell(format_win_odds(run.win_odds), run.win_odds),
            Cell(format_number(run.popularity), run.popularity),
            Cell(format_number(run.body_weight), run.body_weight),
            Cell(japanese_text(run.winner)),
            Cell(t.money(run.prize), run.prize),
        ),
    )


class JockeyPages(KeibaPage):
    """Jockeys."""

    @page("/jockeys/{jockey_id}")
    async def jockey(self, request: Request, jockey_id: JockeyId) -> Response:
        """A jockey's career and statistics by year."""
        try:
            jockey = await self._keiba.pages.jockey(jockey_id)
        except SITE_ERRORS as error:
            return self._unavailable(request, error)
        t = locale_of(request)
        return self._render(
            request,
            "jockey",
            t=t,
            here="races",
            jockey=jockey.value,
            origin=jockey.origin,
            wins=wins_chart(jockey.value, t),
            rates=rates_chart(jockey.value, t),
            table=year_table(jockey.value, t).view(request.query_params, page_rows=_MAX_ROWS),
            format_rate=format_rate,
        )

    @page("/jockeys/{jockey_id}/refresh", method="POST")
    async def refresh_jockey(self, request: Request, jockey_id: JockeyId) -> Response:
        """Fetch a jockey again."""
        fetched = self._keiba.pages.jockey(jockey_id, refresh=True)
        return await self._refresh(request, fetched, f"/keiba/jockeys/{jockey_id}")


def format_rate(rate: Decimal | None) -> str:
    """Return a rate that is given in percent."""
    return EMPTY if rate is None else f"{format_number(rate, 1)}\u00a0%"


def year_table(record: JockeyRecord, t: Locale) -> DataTable:
    """Return a jockey's statistics by year and circuit, newest first."""
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
    rows = tuple(_year_row(each, t) for each in record.years)
    return DataTable("years", w["years"], columns, rows)


def _year_row(year: JockeyYear, t: Locale) -> Row:
    figures: JockeyFigures = year.figures
    return Row(
        f"{year.year}-{year.circuit}",
        (
            Cell(str(year.year), year.year),
            Cell(t.term("circuit", year.circuit)),
            Cell(format_number(year.rank), year.rank),
            Cell(format_number(figures.total_races), figures.total_races),
            Cell(format_number(figures.wins), figures.wins),
            Cell(format_number(figures.seconds), figures.seconds),
            Cell(format_number(figures.thirds), figures.thirds),
            Cell(format_rate(figures.win_rate), figures.win_rate),
            Cell(format_rate(figures.top2_rate), figures.top2_rate),
            Cell(format_rate(figures.place_rate), figures.place_rate),
            Cell(format_number(figures.graded_wins), figures.graded_wins),
            Cell(japanese_text(year.best_horse)),
        ),
    )


class WatchlistPages(KeibaPage):
    """Watched horses with notes and upcoming entries."""

    @page("/watched")
    async def watched(self, request: Request, who: CurrentCaller) -> Response:
        """The caller's watched horses, by name."""
        t = locale_of(request)
        return self._render(
            request,
            "watched",
            t=t,
            here="watched",
            watched=await self._keiba.watchlist.horses(who),
            track_of=lambda entry: t.either(_english_track(entry.race_id), entry.track_name),
        )


def _english_track(race_id: str) -> str | None:
    track = ids.track_of(race_id)
    return None if track is None else track.english
