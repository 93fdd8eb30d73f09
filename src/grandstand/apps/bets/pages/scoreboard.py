"""The scoreboard page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.bets.domain.records import AnalysisType, Interval, model_name, sport_name
from grandstand.apps.bets.pages.base import (
    BetsPagesBase,
    advice,
    chosen,
    interval_bar,
    signed_percent,
    within,
)
from grandstand.apps.bets.pages.charts import calibration_chart
from grandstand.apps.bets.services.scoreboard import Adjustment, ModelComparison, ModelPerformance
from grandstand.core import formatting
from grandstand.kit.charts import Chart
from grandstand.kit.pages.table import Cell, Column, DataTable, Row
from grandstand.kit.routes import CurrentCaller, page

DAYS: Final = ("30", "90", "365")
_KINDS: Final[tuple[AnalysisType, ...]] = ("game", "prop")
_REACH: Final = (0.3, 0.8)
_ROI_REACH: Final = (-0.4, 0.4)
_CLV_REACH: Final = (-0.1, 0.1)
_COLUMNS: Final = (
    Column("model", "Model"),
    Column("decided", "Decided", "number"),
    Column("accuracy", "Accuracy", "number"),
    Column("roi", "ROI", "number"),
    Column("clv", "CLV", "number", rank=2),
    Column("brier", "Brier", "number", rank=2),
    Column("log_loss", "Log loss", "number", rank=2),
    Column("needed", "Bets needed", "number", rank=2),
    Column("advice", "Recommendation"),
)


class ScoreboardPages(BetsPagesBase):
    @page("/scoreboard")
    async def scoreboard(self, request: Request, who: CurrentCaller) -> Response:
        """All models of a sport, and one of them in detail."""
        sport = self._sport(request)
        days = chosen(request, "days", DAYS, "90")
        requested = chosen(request, "type", _KINDS, "game")
        kind = next(kind for kind in _KINDS if kind == requested)
        comparisons = await self._bets.scoreboard.compare(
            who, sport, days=int(days), analysis_type=kind
        )
        adjusted = await self._bets.adjustments.list_adjustments(sport, kind)
        selected = select_model(comparisons, request.query_params.get("model", ""))
        stay = f"/bets/scoreboard?sport={sport}&days={days}&type={kind}"
        return self._render(
            request,
            "scoreboard",
            here="scoreboard",
            sports=self._bets.settings.sports,
            sport=sport,
            days=days,
            all_days=DAYS,
            kind=kind,
            decided=sum(item.original.decided for item in comparisons),
            table=models_table(comparisons, stay).view(request.query_params),
            selected=selected,
            selected_name="" if selected is None else name_of(selected),
            evidence="" if selected is None else describe_evidence(selected),
            adjustment=None if selected is None else _adjustment(adjusted, selected.model),
            calibration=None if selected is None else _calibration(selected),
            stay=stay,
            title=sport_name(sport),
        )


def name_of(comparison: ModelComparison) -> str:
    """Return the display name of a model."""
    return (
        comparison.name
        if comparison.is_user_model and comparison.name
        else model_name(comparison.model)
    )


def select_model(comparisons: Sequence[ModelComparison], model: str) -> ModelComparison | None:
    """Return the requested model, or the first one with decided predictions."""
    requested = next((item for item in comparisons if item.model == model), None)
    return requested or next((item for item in comparisons if item.original.decided), None)


def describe_evidence(comparison: ModelComparison) -> str:
    """Describe the evidence for the recommendation."""
    performance = comparison.original
    if performance.accuracy is None or not performance.decided:
        return "No decided predictions yet."
    accuracy = formatting.format_percent(performance.accuracy.value)
    right = (
        f"{performance.correct} of {performance.decided} correct, {accuracy}. With this many "
        f"bets the true rate is between {within(performance.accuracy)} (95%)."
    )
    level = ""
    if performance.break_even is not None:
        level = f" Break-even is {formatting.format_percent(performance.break_even)}."
    return f"{right}{level}{_needed(performance)}"


def _needed(performance: ModelPerformance) -> str:
    if performance.bets_needed is None:
        return ""
    if performance.bets_needed <= performance.decided:
        return " That is enough to tell the two apart."
    needed = formatting.format_number(performance.bets_needed)
    missing = formatting.format_number(performance.bets_needed - performance.decided)
    return (
        f" Telling this rate from break-even takes about {needed} decided bets, "
        f"{missing} more than so far."
    )


def models_table(comparisons: Sequence[ModelComparison], stay: str) -> DataTable:
    rows = tuple(_row(item, stay) for item in comparisons)
    return DataTable("models", "Models", _COLUMNS, rows, stacks=True)


def _row(comparison: ModelComparison, stay: str) -> Row:
    performance = comparison.original
    label, tone = advice(comparison.recommendation, comparison.evidence)
    own_badge = (
        Markup(' <span class="badge">yours</span>') if comparison.is_user_model else Markup("")
    )
    linked = Markup('<a href="{}&model={}#model">{}</a>{}').format(
        stay, comparison.model, name_of(comparison), own_badge
    )
    return Row(
        comparison.model,
        (
            Cell(linked, name_of(comparison)),
            Cell(formatting.format_number(performance.decided), performance.decided),
            _interval_cell(
                performance.accuracy, _REACH, performance.break_even, "accuracy", signed=False
            ),
            _interval_cell(performance.roi, _ROI_REACH, 0.0, "return on investment", signed=True),
            _interval_cell(performance.clv, _CLV_REACH, 0.0, "closing-line value", signed=True),
            Cell(formatting.format_number(performance.brier, 4), performance.brier),
            Cell(formatting.format_number(performance.log_loss, 4), performance.log_loss),
            Cell(formatting.format_number(performance.bets_needed), performance.bets_needed),
            Cell(label, tone=tone, badge=True),
        ),
    )


def _interval_cell(
    interval: Interval | None,
    reach: tuple[float, float],
    mark: float | None,
    name: str,
    *,
    signed: bool,
) -> Cell:
    if interval is None:
        return Cell(formatting.EMPTY)
    value = signed_percent(interval.value) if signed else formatting.format_percent(interval.value)
    bounds = within(interval, signed=signed)
    against = "" if mark is None else f", held against {formatting.format_percent(mark)}"
    bar = interval_bar(interval, reach, mark, f"{name} between {bounds}{against}")
    written = Markup(
        '<span class="spread"><strong>{}</strong>{}<span class="muted">{}</span></span>'
    )
    return Cell(written.format(value, bar, bounds), interval.value)


def _adjustment(adjustments: Sequence[Adjustment], model: str) -> Adjustment | None:
    return next((item for item in adjustments if item.model == model), None)


def _calibration(comparison: ModelComparison) -> Chart | None:
    bins = comparison.original.calibration
    return calibration_chart(bins, name_of(comparison)) if bins else None
