"""The shared scoreboard: your forecasts beside the models' and Benny's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from grandstand.core import formatting
from grandstand.host.cross_app import ForecasterRow, collect_calibration, rank_forecasters
from grandstand.kit.calibration import MIN_FORECASTS, Interval, summarize
from grandstand.kit.charts import Axis, Chart, Plot
from grandstand.kit.pages.table import Cell, Column, DataTable, Row
from grandstand.kit.routes import CurrentCaller, page

if TYPE_CHECKING:
    from grandstand.host.runtime import Platform

_COLUMNS: Final = (
    Column("who", "Who"),
    Column("what", "Subject"),
    Column("count", "Resolved", "number"),
    Column("forecast", "Forecast", "number"),
    Column("came", "Came true", "number"),
    Column("brier", "Brier", "number"),
    Column("log_loss", "Log loss", "number", rank=2),
)


class ScoreboardPages:
    """The scoreboard page."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    @page("/scoreboard")
    async def scoreboard(self, request: Request, who: CurrentCaller) -> Response:
        """All forecasters and how often their forecasts came true."""
        results = await collect_calibration(self._platform, who)
        board = rank_forecasters(results)
        listed = [row for row in board if row.series.said or row.series.whose != "model"]
        return self._platform.pages.render(
            request,
            "platform/scoreboard.html",
            table=table_of(listed).view(request.query_params),
            others=len(board) - len(listed),
            chart_value=chart_of(board),
            decided=sum(len(row.series.said) for row in board),
            enough=any(row.figures is not None for row in board),
            least=MIN_FORECASTS,
            failed=[result for result in results if result.error],
        )


def table_of(board: Sequence[ForecasterRow]) -> DataTable:
    """Return the scoreboard as a table."""
    rows = tuple(Row(str(number), _cells(row)) for number, row in enumerate(board))
    return DataTable("chances", "Calibration", _COLUMNS, rows, stacks=True)


def _cells(row: ForecasterRow) -> tuple[Cell, ...]:
    series, figures, count = row.series, row.figures, len(row.series.said)
    badge = Markup("")
    if series.whose != "benny":
        badge = Markup(' <span class="badge">{}</span>').format(series.whose)
    linked = Markup('<a href="{}">{}</a>{}').format(series.href, series.who, badge)
    first = (
        Cell(linked, series.who),
        Cell(series.what),
        Cell(formatting.format_number(count), count),
    )
    if figures is None:
        blank = Cell("")
        return (*first, blank, blank, Cell("Not enough data yet", 1.0, tone="quiet"), blank)
    three_digits = partial(formatting.format_number, digits=3)
    return (
        *first,
        Cell(formatting.format_percent(figures.chance), figures.chance),
        Cell(
            _format_interval(figures.came_true, formatting.format_percent), figures.came_true.value
        ),
        Cell(_format_interval(figures.brier, three_digits), figures.brier.value),
        Cell(three_digits(figures.log_loss), figures.log_loss),
    )


def _format_interval(value: Interval, write: Callable[[float], str]) -> Markup:
    return Markup('<strong>{}</strong> <span class="muted small">{} to {}</span>').format(
        write(value.value), write(value.low), write(value.high)
    )


def chart_of(board: Sequence[ForecasterRow]) -> Chart:
    """Return the calibration chart of you, Benny and all models."""
    drawn = [(row.series.who, row.figures) for row in board if row.series.whose != "model"]
    forecasts = [each for row in board if row.series.whose == "model" for each in row.series.said]
    drawn.append(("All models", summarize(forecasts)))
    lines = [
        (name, tuple((bin_.chance * 100, bin_.came_true.value * 100) for bin_ in figures.groups))
        for name, figures in drawn
        if figures is not None
    ]
    plots = (Plot(name, "line", rows, f"{at % 8 + 1}") for at, (name, rows) in enumerate(lines))
    return Chart(
        title="Calibration",
        note="On the diagonal, events happen as often as forecast. Below it: overconfident.",
        x=Axis("Chance given", unit="%", digits=0),
        y=Axis("Came true", unit="%", digits=0, within=(0, 100)),
        plots=(Plot("Perfect calibration", "line", ((0, 0), (100, 100)), "quiet"), *plots),
        height=320,
    )
