"""Kept here: the page of a horse: what it is, how it ran, and where it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.keiba.model import PastRun, ids
from grandstand.apps.keiba.pages.bloodlines import crosses, rows_of
from grandstand.apps.keiba.pages.part import AWAY, HorseId, PagesPart, origins
from grandstand.apps.keiba.pages.plots import career_chart, earned_chart
from grandstand.apps.keiba.pages.runners import finish, japanese, written_odds
from grandstand.apps.keiba.pages.tongue import Tongue, tongue_of
from grandstand.kit.pages.forms import lead_to, texts_of
from grandstand.kit.pages.shown import NOTHING, number
from grandstand.kit.pages.table import Cell, Column, DataTable, Row
from grandstand.kit.routes import Who, page

_ALL: Final = 300


class HorsePages(PagesPart):
    """Horses, and whether one watches them."""

    @page("/horses/{horse_id}")
    async def horse(self, request: Request, who: Who, horse_id: HorseId) -> Response:
        """A horse; raises IdInvalid and NotPublished."""
        try:
            held = await self._keiba.horse(horse_id)
        except AWAY as error:
            return self._away(request, error)
        t, watched = tongue_of(request), await self._keiba.watched(who)
        runs = () if held.form is None else held.form.value.recent_results
        pedigree = None if held.pedigree is None else held.pedigree.value
        sources = (held.profile, held.form, held.parents, held.pedigree)
        return self._render(
            request,
            "horse",
            t=t,
            here="races",
            horse=held,
            profile=held.profile.value,
            runs=runs,
            career=career_chart(runs, t),
            earned=earned_chart(runs, t),
            table=run_table(runs, t).view(request.query_params, page_rows=_ALL),
            bloodlines=() if pedigree is None else rows_of(pedigree),
            crosses=() if pedigree is None else crosses(pedigree),
            watched=next((one for one in watched if one.horse_id == horse_id), None),
            held=origins(*(None if one is None else one.origin for one in sources)),
        )

    @page("/horses/{horse_id}/watch", method="POST")
    async def watch(self, request: Request, who: Who, horse_id: HorseId) -> Response:
        """Watch a horse, or change one's note, and lead back; raises IdInvalid, WatchRefused."""
        texts = await texts_of(request)
        try:
            await self._keiba.watch(who, horse_id, texts.get("note", "").strip())
        except AWAY as error:
            return self._away(request, error)
        return lead_to(_back(texts.get("back", ""), horse_id))

    @page("/horses/{horse_id}/unwatch", method="POST")
    async def unwatch(self, request: Request, who: Who, horse_id: HorseId) -> Response:
        """Watch a horse no longer, and lead back."""
        texts = await texts_of(request)
        await self._keiba.unwatch(who, horse_id)
        return lead_to(_back(texts.get("back", ""), horse_id))


def _back(wanted: str, horse_id: str) -> str:
    return "/keiba/watched" if wanted == "watched" else f"/keiba/horses/{horse_id}"


def run_table(runs: Sequence[PastRun], t: Tongue) -> DataTable:
    """Answer every run of a horse, newest first."""
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
    rows = tuple(_row(str(at), run, t) for at, run in enumerate(runs))
    return DataTable("runs", w["all_runs"], columns, rows)


def _track(run: PastRun, t: Tongue) -> str | Markup:
    """The track in the page's language, where it is one of Japan's."""
    known = ids.track_of(run.race_id) if run.race_id and run.circuit != "overseas" else None
    return known.english if known and not t.japanese else japanese(run.track)


def _row(key: str, run: PastRun, t: Tongue) -> Row:
    race = f"/keiba/races/{run.race_id}/result" if run.race_id and run.circuit != "overseas" else ""
    jockey = f"/keiba/jockeys/{run.jockey_id}" if run.jockey_id and run.jockey_name else ""
    distance = f"{t.term('surface', run.track_type)} {number(run.distance)}".strip()
    place = finish(run, t)
    return Row(
        key,
        (
            Cell(t.date(run.run_on), run.run_on.isoformat()),
            Cell(_track(run, t)),
            Cell(japanese(run.race_name), run.race_name, href=race),
            Cell(distance, run.distance),
            Cell(t.term("going", run.going) or NOTHING),
            Cell(f"{place}/{run.runner_count}" if run.runner_count else place, run.position),
            Cell(japanese(run.jockey_name), run.jockey_name, href=jockey),
            Cell(number(run.carried_weight), run.carried_weight),
            Cell(run.time or NOTHING, run.time_seconds),
            Cell(run.margin or NOTHING),
            Cell(number(run.last_3f, 1), run.last_3f),
            Cell("-".join(map(str, run.passing)) or NOTHING),
            Cell(written_odds(run.win_odds), run.win_odds),
            Cell(number(run.popularity), run.popularity),
            Cell(number(run.body_weight), run.body_weight),
            Cell(japanese(run.winner)),
            Cell(t.money(run.prize), run.prize),
        ),
    )
