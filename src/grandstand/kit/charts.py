"""Charts as data, thinned to what is visible, and SVG sparklines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias

from markupsafe import Markup

from grandstand.core.errors import InvalidInput

Mark: TypeAlias = Literal["line", "step", "bar", "area", "band", "scatter", "candles"]
AxisKind: TypeAlias = Literal["time", "number", "name"]
Value: TypeAlias = float | int | None
Row: TypeAlias = tuple[Value, ...]

VALUES_OF: Final[dict[Mark, int]] = {
    "line": 1,
    "step": 1,
    "bar": 1,
    "area": 1,
    "band": 2,
    "scatter": 1,
    "candles": 4,
}
MAX_POINTS: Final = 8_000

_PADDING: Final = 1.5


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis: title, unit and number of decimals.

    The y axis spans `within` if given, otherwise its values.
    """

    title: str
    kind: AxisKind = "number"
    unit: str = ""
    digits: int | None = None
    names: tuple[str, ...] = ()
    within: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Plot:
    """One series of a chart: rows of x and the values its mark needs, in ascending x.

    x is a number, seconds since 1970 on a time axis, or the index of a name. A band has low and
    high, candles have open, high, low and close. None is a gap. `tone` is a color: 1 to 8, `good`,
    `bad` or `quiet`.
    """

    name: str
    mark: Mark
    rows: tuple[Row, ...]
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart; `title` is its accessible name, and messages of `topic` append rows.

    A message is `{"plot": name, "rows": [[x, …], …]}`. Points older than `keep_seconds` are
    dropped.
    """

    title: str
    x: Axis
    y: Axis
    plots: tuple[Plot, ...]
    note: str = ""
    topic: str = ""
    keep_seconds: float | None = None
    height: int = 280

    def __post_init__(self) -> None:
        """Raise InvalidInput if a row has the wrong number of values."""
        for plot in self.plots:
            wanted = VALUES_OF[plot.mark] + 1
            if any(len(row) != wanted or row[0] is None for row in plot.rows):
                raise InvalidInput(f"A row of {plot.name} ({plot.mark}) has {wanted} values, x set")

    def data(self) -> dict[str, Any]:
        """Return the JSON data of the chart element."""
        return {
            "title": self.title,
            "x": asdict(self.x),
            "y": asdict(self.y),
            "keep": self.keep_seconds,
            "height": self.height,
            "plots": [
                {"name": plot.name, "mark": plot.mark, "tone": plot.tone, "rows": thin(plot)}
                for plot in self.plots
            ],
        }

    def summary(self) -> str:
        """Describe the chart in words, for screen readers."""
        if not any(plot.rows for plot in self.plots):
            return f"{self.title}. No data yet."
        parts = [_describe_plot(plot, self.y) for plot in self.plots if plot.rows]
        return f"{self.title}. {' '.join(parts)}"


def epoch(moment: datetime) -> float:
    """Return a time in seconds since 1970, as charts use it."""
    return moment.timestamp()


def thin(plot: Plot, points: int = MAX_POINTS) -> list[Row]:
    """Return at most `points` rows, keeping the ends, lows and highs of every stretch."""
    rows = plot.rows
    if len(rows) <= points:
        return list(rows)
    columns = max(points // 4, 1)
    first, last = float(rows[0][0] or 0), float(rows[-1][0] or 0)
    span = (last - first) or 1.0
    buckets: dict[int, list[Row]] = {}
    for row in rows:
        at = min(int((float(row[0] or 0) - first) / span * columns), columns - 1)
        buckets.setdefault(at, []).append(row)
    kept: list[Row] = []
    for bucket in buckets.values():
        kept.extend(_candle(bucket) if plot.mark == "candles" else _ends_and_extremes(bucket))
    return kept


def _ends_and_extremes(bucket: list[Row]) -> list[Row]:
    known = [place for place, row in enumerate(bucket) if None not in row]
    if not known:
        return bucket[:1]
    lowest = min(known, key=lambda place: min(_numbers(bucket[place])))
    highest = max(known, key=lambda place: max(_numbers(bucket[place])))
    return [bucket[place] for place in sorted({0, lowest, highest, len(bucket) - 1})]


def _candle(bucket: list[Row]) -> list[Row]:
    known = [row for row in bucket if None not in row]
    if not known:
        return bucket[:1]
    high = max(_numbers(row)[1] for row in known)
    low = min(_numbers(row)[2] for row in known)
    return [(known[0][0], known[0][1], high, low, known[-1][4])]


def sparkline(
    values: Iterable[Value], label: str, *, width: int = 96, height: int = 24, bars: bool = False
) -> Markup:
    """Return a small SVG drawing of values with an accessible label."""
    points = list(values)
    known = [value for value in points if value is not None]
    if len(known) < 2:
        return Markup('<span class="spark-none">{}</span>').format(f"{label}: not enough data")
    shape = _bars(points, width, height) if bars else _line(points, width, height)
    return Markup(
        '<svg class="spark" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img"'
        ' aria-label="{2}" preserveAspectRatio="none">{3}</svg>'
    ).format(width, height, label, shape)


def _line(points: Sequence[Value], width: int, height: int) -> Markup:
    places = [
        (
            place / (len(points) - 1) * (width - 2 * _PADDING) + _PADDING,
            _height(points, value, height),
        )
        for place, value in enumerate(points)
        if value is not None
    ]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    (first_x, _), (last_x, last_y) = places[0], places[-1]
    area = f"{path}L{last_x:.1f} {height}L{first_x:.1f} {height}Z"
    return Markup(
        '<path class="spark-area" d="{}"/><path class="spark-line" d="{}"/>'
        '<circle class="spark-end" cx="{:.1f}" cy="{:.1f}" r="1.5"/>'
    ).format(area, path, last_x, last_y)


def _bars(points: Sequence[Value], width: int, height: int) -> Markup:
    step = width / len(points)
    top = max((abs(float(value)) for value in points if value is not None), default=1.0) or 1.0
    shapes = [
        Markup(
            '<rect class="spark-bar" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>'
        ).format(
            place * step,
            height - max(abs(float(value)) / top * height, 1),
            max(step - 1, 0.5),
            max(abs(float(value)) / top * height, 1),
        )
        for place, value in enumerate(points)
        if value is not None
    ]
    return Markup("").join(shapes)


def _height(points: Sequence[Value], value: Value, height: int) -> float:
    known = [float(one) for one in points if one is not None]
    low, high = min(known), max(known)
    share = 0.5 if math.isclose(low, high) else (float(value or 0) - low) / (high - low)
    return height - _PADDING - share * (height - 2 * _PADDING)


def _numbers(row: Row) -> list[float]:
    return [float(value) for value in row[1:] if value is not None]


def _describe_plot(plot: Plot, axis: Axis) -> str:
    values = [value for row in plot.rows for value in _numbers(row)]
    if not values:
        return f"{plot.name}: no values."
    last = next(_numbers(row)[-1] for row in reversed(plot.rows) if _numbers(row))
    digits = 2 if axis.digits is None else axis.digits
    unit = f" {axis.unit}" if axis.unit else ""
    return (
        f"{plot.name}: {len(plot.rows)} points, lowest {min(values):,.{digits}f}{unit}, "
        f"highest {max(values):,.{digits}f}{unit}, last {last:,.{digits}f}{unit}."
    )
