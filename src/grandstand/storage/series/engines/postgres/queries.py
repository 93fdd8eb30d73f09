"""Kept here: the questions of windows and bars, as PostgreSQL is asked them."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeVar

from grandstand.storage.series.declaration import Column, Series, SeriesFault
from grandstand.storage.series.engines.postgres.ddl import LOWEST, PAST_HIGHEST
from grandstand.storage.series.engines.postgres.names import listed, quoted, rest_of_identity
from grandstand.storage.series.window import Bars, Window

R = TypeVar("R", bound=tuple[Any, ...])

_NUMBERS: Final = frozenset(("int64", "int32", "int16"))


class Question(NamedTuple):
    """A statement and the values it is asked with."""

    sql: str
    values: tuple[Any, ...]


def rows_question(window: Window[R]) -> Question:
    """Ask for the rows of a window, in its order if it has one; documents come as texts."""
    selected = ", ".join(map(_read, window.series.columns))
    return _selected(window, selected, ordered=window.order != "any")


def bars_question(bars: Bars[R]) -> Question:
    """Ask for the bars of a window; raises SeriesFault for a column that cannot be one.

    The first and last value of a bucket are found by numbering its rows, which the server can do
    on disk; to collect them into arrays would take memory by the size of a bucket. Rows without a
    value are counted, and are neither first nor last.
    """
    series = bars.window.series
    _check(bars)
    names = (series.key, *series.identity, *filter(None, (bars.value, bars.total)))
    columns = listed(tuple(dict.fromkeys(names)))
    rows = _selected(bars.window, columns, ordered=bars.window.most is not None)
    time, value = quoted(series.time), quoted(bars.value) if bars.value else "NULL::bigint"
    total = quoted(bars.total) if bars.total else "NULL::bigint"
    size = f"{bars.bucket_us}::bigint"
    bucket = f"{time} - mod(mod({time}, {size}) + {size}, {size})"
    order = _order(series, "ASC"), _order(series, "DESC")
    first, last = (
        f"row_number() OVER (PARTITION BY {quoted(series.key)}, {bucket} "
        f"ORDER BY ({value}) IS NULL, {ordered})"
        for ordered in order
    )
    numbered = (
        f'SELECT {quoted(series.key)}::text COLLATE "C" AS bar_key, {bucket} AS bar_start, '
        f"{value} AS bar_value, {total} AS bar_total, {first} AS first, {last} AS last "
        f"FROM ({rows.sql}) AS windowed"
    )
    sql = (
        "SELECT bar_key, bar_start, count(*), sum(bar_total), "
        "max(bar_value) FILTER (WHERE first = 1), max(bar_value), min(bar_value), "
        "max(bar_value) FILTER (WHERE last = 1) "
        f"FROM ({numbered}) AS numbered GROUP BY bar_key, bar_start ORDER BY bar_key, bar_start"
    )
    return Question(sql, rows.values)


def _selected(window: Window[R], selected: str, *, ordered: bool) -> Question:
    series = window.series
    conditions, values = _conditions(window)
    sql = f"SELECT {selected} FROM {quoted(series.name)} WHERE {' AND '.join(conditions)}"
    if ordered:
        sql += f" ORDER BY {_order(series, 'DESC' if window.order == 'newest' else 'ASC')}"
    if window.most is not None:
        sql += " LIMIT %s"
        values.append(min(max(window.most, 0), PAST_HIGHEST - 1))
    return Question(sql, tuple(values))


def _conditions(window: Window[R]) -> tuple[list[str], list[Any]]:
    series = window.series
    if window.end <= window.start or window.start >= PAST_HIGHEST or window.end <= LOWEST:
        return ["FALSE"], []
    conditions, values = [f"{quoted(series.time)} >= %s::bigint"], [max(window.start, LOWEST)]
    if window.end < PAST_HIGHEST:
        conditions.append(f"{quoted(series.time)} < %s::bigint")
        values.append(window.end)
    asked: list[Any] = [*values]
    if window.keys:
        conditions.append(f"{_key(series)} = ANY(%s::text[])")
        asked.append(list(window.keys))
    return conditions, asked


def _key(series: Series[Any]) -> str:
    (column,) = (column for column in series.columns if column.name == series.key)
    return quoted(series.key) if column.kind == "text" else f"{quoted(series.key)}::text"


def _order(series: Series[Any], direction: str) -> str:
    names = (series.time, *rest_of_identity(series))
    return ", ".join(f"{quoted(name)} {direction}" for name in names)


def _read(column: Column) -> str:
    return f"{quoted(column.name)}::text" if column.kind == "json" else quoted(column.name)


def _check(bars: Bars[R]) -> None:
    series = bars.window.series
    if bars.bucket_us <= 0:
        raise SeriesFault(f"{series.name}: a bucket of {bars.bucket_us} µs holds nothing")
    numbers = {column.name for column in series.columns if column.kind in _NUMBERS}
    for name in filter(None, (bars.value, bars.total)):
        if name not in numbers:
            raise SeriesFault(
                f"{series.name}: {name} is no column of whole numbers; "
                f"there are {', '.join(sorted(numbers))}"
            )
