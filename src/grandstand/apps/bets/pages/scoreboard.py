"""Kept here: the scoreboard: how good every model is, how sure that is, and what to do with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.bets.model import AnalysisType
from grandstand.apps.bets.model.names import model_name, sport_name
from grandstand.apps.bets.pages.drawings import interval_bar
from grandstand.apps.bets.pages.part import PagesPart, chosen
from grandstand.apps.bets.pages.plots import calibration_chart
from grandstand.apps.bets.pages.words import advice, signed_percent, within
from grandstand.apps.bets.service import Adjustment, Comparison, Interval, Performance
from grandstand.kit.charts import Chart
from grandstand.kit.pages import shown
from grandstand.kit.pages.table import Cell, Column, DataTable, Row
from grandstand.kit.routes import Who, page

DAYS: Final = ("30", "90", "365")
_KINDS: Final[tuple[AnalysisType, ...]] = ("game", "prop")
_REACH: Final = (0.3, 0.8)
_ROI_REACH: Final = (-0.4, 0.4)
_CLV_REACH: Final = (-0.1, 0.1)
_COLUMNS: Final = (
    Column("model", "Model"),
    Column("decided", "Decided", "number"),
    Column("accuracy", "Right", "number"),
    Column("roi", "ROI", "number"),
    Column("clv", "CLV", "number", rank=2),
    Column("brier", "Brier", "number", rank=2),
    Column("log_loss", "Log loss", "number", rank=2),
    Column("needed", "Bets needed", "number", rank=2),
    Column("advice", "What to do"),
)


class ScorePages(PagesPart):
    """Who is any good, and how one would know."""

    @page("/scoreboard")
    async def scoreboard(self, request: Request, who: Who) -> Response:
        """All models of a sport and type beside each other, and one of them in full."""
        sport = self._sport(request)
        days = chosen(request, "days", DAYS, "90")
        asked = chosen(request, "type", _KINDS, "game")
        kind = next(each for each in _KINDS if each == asked)
        held = await self._bets.comparison(who, sport, days=int(days), analysis_type=kind)
        adjusted = await self._bets.adjustments(sport, kind)
        shown_one = in_full(held, request.query_params.get("model", ""))
        stay = f"/bets/scoreboard?sport={sport}&days={days}&type={kind}"
        return self._render(
            request,
            "scoreboard",
            here="scoreboard",
            sports=self._bets.sports(),
            sport=sport,
            days=days,
            all_days=DAYS,
            kind=kind,
            decided=sum(one.original.decided for one in held),
            table=table_of(held, stay).view(request.query_params),
            one=shown_one,
            one_name="" if shown_one is None else name_of(shown_one),
            why="" if shown_one is None else evidence_of(shown_one),
            adjustment=None if shown_one is None else _adjustment(adjusted, shown_one.model),
            calibration=None if shown_one is None else _calibration(shown_one),
            stay=stay,
            title=sport_name(sport),
        )


def name_of(one: Comparison) -> str:
    """Name a model, somebody's own by the name they gave it."""
    return one.name if one.is_user_model and one.name else model_name(one.model)


def in_full(held: Sequence[Comparison], model: str) -> Comparison | None:
    """Answer the model asked for; the first with anything decided when none is."""
    asked = next((one for one in held if one.model == model), None)
    return asked or next((one for one in held if one.original.decided), None)


def evidence_of(one: Comparison) -> str:
    """Say on what evidence a model is recommended or not."""
    told = one.original
    if told.accuracy is None or not told.decided:
        return "Nothing it predicted is decided yet, so there is nothing to go by."
    right = (
        f"{told.correct} of {told.decided} right, {shown.percent(told.accuracy.value)}: with so "
        f"many bets its true rate lies between {within(told.accuracy)} (95 %)."
    )
    level = (
        ""
        if told.break_even is None
        else (f" At the prices taken it breaks even at {shown.percent(told.break_even)}.")
    )
    return f"{right}{level}{_needed(told)}"


def _needed(told: Performance) -> str:
    if told.bets_needed is None:
        return ""
    if told.bets_needed <= told.decided:
        return " These are enough bets to tell the two apart."
    return (
        f" To tell such a rate from break-even takes about {shown.number(told.bets_needed)} "
        f"decided bets; {shown.number(told.bets_needed - told.decided)} are still to come."
    )


def table_of(held: Sequence[Comparison], stay: str) -> DataTable:
    """Answer all models beside each other."""
    rows = tuple(_row(one, stay) for one in held)
    return DataTable("models", "Models", _COLUMNS, rows, stacks=True)


def _row(one: Comparison, stay: str) -> Row:
    told = one.original
    said, tone = advice(one.recommendation, one.evidence)
    own = Markup(' <span class="badge">yours</span>') if one.is_user_model else Markup("")
    linked = Markup('<a href="{}&model={}#model">{}</a>{}').format(
        stay, one.model, name_of(one), own
    )
    return Row(
        one.model,
        (
            Cell(linked, name_of(one)),
            Cell(shown.number(told.decided), told.decided),
            _spread(told.accuracy, _REACH, told.break_even, "right", signed=False),
            _spread(told.roi, _ROI_REACH, 0.0, "return on investment", signed=True),
            _spread(told.clv, _CLV_REACH, 0.0, "closing-line value", signed=True),
            Cell(shown.number(told.brier, 4), told.brier),
            Cell(shown.number(told.log_loss, 4), told.log_loss),
            Cell(shown.number(told.bets_needed), told.bets_needed),
            Cell(said, tone=tone, badge=True),
        ),
    )


def _spread(
    interval: Interval | None,
    reach: tuple[float, float],
    mark: float | None,
    what: str,
    *,
    signed: bool,
) -> Cell:
    if interval is None:
        return Cell(shown.NOTHING)
    value = signed_percent(interval.value) if signed else shown.percent(interval.value)
    bounds = within(interval, signed=signed)
    held = "" if mark is None else f", held against {shown.percent(mark)}"
    drawn = interval_bar(interval, reach, mark, f"{what} between {bounds}{held}")
    written = Markup(
        '<span class="spread"><strong>{}</strong>{}<span class="muted">{}</span></span>'
    )
    return Cell(written.format(value, drawn, bounds), interval.value)


def _adjustment(held: Sequence[Adjustment], model: str) -> Adjustment | None:
    return next((one for one in held if one.model == model), None)


def _calibration(one: Comparison) -> Chart | None:
    bins = one.original.calibration
    return calibration_chart(bins, name_of(one)) if bins else None
