"""The shared scoreboard: your forecasts beside the models' and Benny's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from grandstand.core import formatting
from grandstand.host.cross_app import collect_calibration
from grandstand.kit.app import CalibrationSeries
from grandstand.kit.calibration import MIN_FORECASTS, CalibrationSummary, Interval, summarize
from grandstand.kit.charts import Axis, Chart, Plot
from grandstand.kit.charts import Row as Point
from grandstand.kit.pages.table import Cell, Column, DataTable, Row
from grandstand.kit.routes import CurrentCaller, page

if TYPE_CHECKING:
    from grandstand.host.runtime import Platform

_PER_CENT: Final = 100
_EVEN: Final[tuple[Point, ...]] = ((0, 0), (_PER_CENT, _PER_CENT))
_ORDER: Final = ("yours", "benny", "model")
_BADGE: Final = Markup(' <span class="badge">{}</span>')
_WHOSE: Final = {"yours": "yours", "model": "model"}
_FEWEST: Final = 5
_COLUMNS: Final = (
    Column("who", "Who"),
    Column("what", "Subject"),
    Column("count", "Resolved", "number"),
    Column("forecast", "Forecast", "number"),
    Column("came", "Came true", "number"),
    Column("brier", "Brier", "number"),
    Column("log_loss", "Log loss", "number", rank=2),
)


@dataclass(frozen=True, slots=True)
class ForecasterRow:
    """A forecaster with calibration figures, if there are enough forecasts."""

    app: str
    given: CalibrationSeries
    figures: CalibrationSummary | None


class ScoreboardPages:
    """The scoreboard page."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    @page("/scoreboard")
    async def scoreboard(self, request: Request, who: CurrentCaller) -> Response:
        """All forecasters and how often their forecasts came true."""
        answers = await collect_calibration(self._platform, who)
        board = rank_forecasters([(one.app.name, given) for one in answers for given in one.answer])
        listed = [one for one in board if one.given.said or one.given.whose != "model"]
        return self._platform.pages.render(
            request,
            "platform/scoreboard.html",
            table=table_of(listed).view(request.query_params),
            others=len(board) - len(listed),
            chart_value=chart_of(board),
            decided=sum(len(one.given.said) for one in board),
            enough=any(one.figures is not None for one in board),
            least=MIN_FORECASTS,
            silent=[one for one in answers if one.silent],
        )


def rank_forecasters(given: Sequence[tuple[str, CalibrationSeries]]) -> tuple[ForecasterRow, ...]:
    """Return your own row first, then Benny, then the models; rows with figures first."""
    found = [ForecasterRow(app, one, summarize(one.said)) for app, one in given]
    return tuple(sorted(found, key=_place))


def _place(one: ForecasterRow) -> tuple[int, bool, float]:
    whose = _ORDER.index(one.given.whose)
    return whose, one.figures is None, 0.0 if one.figures is None else one.figures.brier.value


def table_of(board: Sequence[ForecasterRow]) -> DataTable:
    """Return the scoreboard as a table."""
    rows = tuple(Row(f"{at}", _cells(one)) for at, one in enumerate(board))
    return DataTable("chances", "Calibration", _COLUMNS, rows, stacks=True)


def _cells(one: ForecasterRow) -> tuple[Cell, ...]:
    given, told = one.given, one.figures
    badge = Markup("") if given.whose == "benny" else _BADGE.format(_WHOSE[given.whose])
    linked = Markup('<a href="{}">{}</a>{}').format(given.href, given.who, badge)
    first = (
        Cell(linked, given.who),
        Cell(given.what),
        Cell(formatting.format_number(len(given.said)), len(given.said)),
    )
    if told is None:
        blank = Cell("")
        return (*first, blank, blank, Cell("Not enough data yet", 1.0, tone="quiet"), blank)
    return (
        *first,
        Cell(formatting.format_percent(told.chance), told.chance),
        Cell(_spread(told.came_true, formatting.format_percent), told.came_true.value),
        Cell(_spread(told.brier, _three), told.brier.value),
        Cell(_three(told.log_loss), told.log_loss),
    )


def _three(value: float) -> str:
    return formatting.format_number(value, 3)


def _spread(value: Interval, write: Callable[[float], str]) -> Markup:
    return Markup('<strong>{}</strong> <span class="muted small">{} to {}</span>').format(
        write(value.value), write(value.low), write(value.high)
    )


def chart_of(board: Sequence[ForecasterRow]) -> Chart:
    """Return the calibration chart of you, Benny and all models."""
    drawn = [(one.given.who, one.figures) for one in board if one.given.whose != "model"]
    said = [each for one in board if one.given.whose == "model" for each in one.given.said]
    drawn.append(("All models", summarize(said)))
    plots = tuple(
        Plot(name, "line", _points(told), f"{at % 8 + 1}")
        for at, (name, told) in enumerate((name, told) for name, told in drawn if told is not None)
    )
    return Chart(
        title="Calibration",
        note="On the diagonal, events happen as often as forecast. Below it: overconfident.",
        x=Axis("Chance given", unit="%", digits=0),
        y=Axis("Came true", unit="%", digits=0, within=(0, _PER_CENT)),
        plots=(Plot("Perfect calibration", "line", _EVEN, "quiet"), *plots),
        height=320,
    )


def _points(told: CalibrationSummary) -> tuple[Point, ...]:
    return tuple((one.chance * _PER_CENT, one.came_true.value * _PER_CENT) for one in told.groups)
