"""Kept here: the common scoreboard: a person's own chances beside the models' and Benny's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from grandstand.host.asking import calibration
from grandstand.kit.app import Calibrated
from grandstand.kit.calibration import LEAST, Bounded, Figures, figures_of
from grandstand.kit.charts import Axis, Chart, Plot
from grandstand.kit.charts import Row as Point
from grandstand.kit.pages import shown
from grandstand.kit.pages.table import Cell, Column, DataTable, Row
from grandstand.kit.routes import Who, page

if TYPE_CHECKING:
    from grandstand.host.house import House

_PER_CENT: Final = 100
_EVEN: Final[tuple[Point, ...]] = ((0, 0), (_PER_CENT, _PER_CENT))
_ORDER: Final = ("yours", "benny", "model")
_BADGE: Final = Markup(' <span class="badge">{}</span>')
_WHOSE: Final = {"yours": "yours", "model": "model"}
_FEWEST: Final = 5
_COLUMNS: Final = (
    Column("who", "Who"),
    Column("what", "What it is about"),
    Column("count", "Decided", "number"),
    Column("said", "Said", "number"),
    Column("came", "Came true", "number"),
    Column("brier", "Brier", "number"),
    Column("log_loss", "Log loss", "number", rank=2),
)


@dataclass(frozen=True, slots=True)
class Standing:
    """Somebody on the scoreboard, with what their chances come to where there are enough."""

    app: str
    given: Calibrated
    figures: Figures | None


class ScoreboardPages:
    """Who gives honest chances."""

    def __init__(self, house: House) -> None:
        self._house = house

    @page("/scoreboard")
    async def scoreboard(self, request: Request, who: Who) -> Response:
        """Everybody who gave chances, and how often they came true."""
        answers = await calibration(self._house, who)
        board = standings([(one.app.name, given) for one in answers for given in one.answer])
        listed = [one for one in board if one.given.said or one.given.whose != "model"]
        return self._house.pages.render(
            request,
            "house/scoreboard.html",
            table=table_of(listed).view(request.query_params),
            others=len(board) - len(listed),
            chart_value=chart_of(board),
            decided=sum(len(one.given.said) for one in board),
            enough=any(one.figures is not None for one in board),
            least=LEAST,
            silent=[one for one in answers if one.silent],
        )


def standings(given: Sequence[tuple[str, Calibrated]]) -> tuple[Standing, ...]:
    """Answer one's own first, then Benny, then the models; those with figures before others."""
    found = [Standing(app, one, figures_of(one.said)) for app, one in given]
    return tuple(sorted(found, key=_place))


def _place(one: Standing) -> tuple[int, bool, float]:
    whose = _ORDER.index(one.given.whose)
    return whose, one.figures is None, 0.0 if one.figures is None else one.figures.brier.value


def table_of(board: Sequence[Standing]) -> DataTable:
    """Answer everybody beside each other."""
    rows = tuple(Row(f"{at}", _cells(one)) for at, one in enumerate(board))
    return DataTable("chances", "Chances given and come true", _COLUMNS, rows, stacks=True)


def _cells(one: Standing) -> tuple[Cell, ...]:
    given, told = one.given, one.figures
    badge = Markup("") if given.whose == "benny" else _BADGE.format(_WHOSE[given.whose])
    linked = Markup('<a href="{}">{}</a>{}').format(given.href, given.who, badge)
    first = (
        Cell(linked, given.who),
        Cell(given.what),
        Cell(shown.number(len(given.said)), len(given.said)),
    )
    if told is None:
        blank = Cell("")
        return (*first, blank, blank, Cell("Not enough yet", 1.0, tone="quiet"), blank)
    return (
        *first,
        Cell(shown.percent(told.chance), told.chance),
        Cell(_spread(told.came_true, shown.percent), told.came_true.value),
        Cell(_spread(told.brier, _three), told.brier.value),
        Cell(_three(told.log_loss), told.log_loss),
    )


def _three(value: float) -> str:
    return shown.number(value, 3)


def _spread(value: Bounded, write: Callable[[float], str]) -> Markup:
    return Markup('<strong>{}</strong> <span class="muted small">{} to {}</span>').format(
        write(value.value), write(value.low), write(value.high)
    )


def chart_of(board: Sequence[Standing]) -> Chart:
    """Answer how often came true what was given each chance: one's own, Benny's, all models'."""
    drawn = [(one.given.who, one.figures) for one in board if one.given.whose != "model"]
    said = [each for one in board if one.given.whose == "model" for each in one.given.said]
    drawn.append(("All models", figures_of(said)))
    plots = tuple(
        Plot(name, "line", _points(told), f"{at % 8 + 1}")
        for at, (name, told) in enumerate((name, told) for name, told in drawn if told is not None)
    )
    return Chart(
        title="Calibration",
        note="On the straight line what is said happens as often. Below it: too sure.",
        x=Axis("Chance given", unit="%", digits=0),
        y=Axis("Came true", unit="%", digits=0, within=(0, _PER_CENT)),
        plots=(Plot("As often as said", "line", _EVEN, "quiet"), *plots),
        height=320,
    )


def _points(told: Figures) -> tuple[Point, ...]:
    return tuple((one.chance * _PER_CENT, one.came_true.value * _PER_CENT) for one in told.groups)
