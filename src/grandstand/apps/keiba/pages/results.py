"""Kept here: the page of a race's result: who came in where, what it paid, and what we had said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.keiba.model import Finisher, RaceResult
from grandstand.apps.keiba.pages.heads import head_of_result
from grandstand.apps.keiba.pages.part import AWAY, PagesPart, RaceId
from grandstand.apps.keiba.pages.runners import badge_of, japanese, written_odds
from grandstand.apps.keiba.pages.tongue import Tongue, tongue_of
from grandstand.apps.keiba.service import Card
from grandstand.kit.pages.shown import NOTHING, number
from grandstand.kit.pages.table import Cell, Column, DataTable, Row
from grandstand.kit.routes import page

_ALL: Final = 100


class ResultPages(PagesPart):
    """Results and payouts."""

    @page("/races/{race_id}/result")
    async def result(self, request: Request, race_id: RaceId) -> Response:
        """A result, or that it is not confirmed yet; raises IdInvalid and NotPublished."""
        try:
            held = await self._keiba.result(race_id)
        except AWAY as error:
            return self._away(request, error)
        t, kept = tongue_of(request), await self._keiba.kept_card(race_id)
        ranks, head = _ranks(kept), head_of_result(held.value, t, self._keiba.now())
        return self._render(
            request,
            "result",
            t=t,
            here="races",
            tab="result",
            result=held.value,
            origin=held.origin,
            head=head,
            siblings=await self._siblings(head.race_date, race_id),
            table=result_table(held.value, ranks, t).view(request.query_params, page_rows=_ALL),
            first=_first(held.value, ranks),
        )


def result_table(result: RaceResult, ranks: Mapping[str, int], t: Tongue) -> DataTable:
    """Answer the finishers in the order of the page, with our rank where a card is kept."""
    w = t.w
    columns = (
        Column("finish", w["finish"], "number"),
        Column("number", w["number"], "number"),
        Column("horse", w["horse"]),
        Column("jockey", w["jockey"], rank=2),
        Column("time", w["time"], "number"),
        Column("margin", w["margin"], rank=2),
        Column("last_3f", w["last_3f"], "number", rank=2),
        Column("passing", w["passing"], rank=2),
        Column("odds", w["odds"], "number"),
        Column("popularity", w["popularity"], "number", rank=2),
        Column("rank", w["our_rank"], "number"),
    )[: None if ranks else -1]
    rows = tuple(_row(one, ranks, t) for one in result.finishers)
    return DataTable("finishers", w["results"], columns, rows)


def _row(one: Finisher, ranks: Mapping[str, int], t: Tongue) -> Row:
    jockey = f"/keiba/jockeys/{one.jockey_id}" if one.jockey_id else ""
    rank = ranks.get(one.horse_id)
    return Row(
        one.horse_id,
        (
            Cell(_finish(one, t), one.position),
            Cell(badge_of(one.horse_number, one.frame_number), one.horse_number),
            Cell(japanese(one.horse_name), one.horse_name, href=f"/keiba/horses/{one.horse_id}"),
            Cell(japanese(one.jockey_name), one.jockey_name, href=jockey),
            Cell(one.time or NOTHING, one.time_seconds),
            Cell(japanese(one.margin)),
            Cell(number(one.last_3f, 1), one.last_3f),
            Cell("-".join(map(str, one.passing)) or NOTHING),
            Cell(written_odds(one.win_odds), one.win_odds),
            Cell(number(one.popularity), one.popularity),
            Cell(number(rank), rank),
        )[: None if ranks else -1],
    )


def _finish(one: Finisher, t: Tongue) -> str:
    if one.position is None:
        return t.term("outcome", one.outcome)
    marks = [t.w["dead_heat"]] * one.dead_heat + [t.w["demoted"]] * one.demoted
    return " ".join([str(one.position), *marks])


def _ranks(card: Card | None) -> Mapping[str, int]:
    if card is None:
        return {}
    return {
        each.runner.horse_id: each.ranked.rank for each in card.ranking if each.ranked is not None
    }


def _first(result: RaceResult, ranks: Mapping[str, int]) -> Finisher | None:
    """Where the horse we had first came in."""
    return next((one for one in result.finishers if ranks.get(one.horse_id) == 1), None)
