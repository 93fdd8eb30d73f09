"""Tables, text and JSON for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ColumnSpec:
    """A table column; it is dropped on terminals narrower than `from_width`.

    The cells of a `whole` column are never wrapped.
    """

    heading: str
    right: bool = False
    from_width: int = 0
    whole: bool = False


@dataclass(frozen=True, slots=True)
class TableRow:
    """A table row with one cell per column, and its style."""

    cells: Sequence[str]
    style: str = ""


def console() -> Console:
    """Return the console; without color if NO_COLOR is set or output is not a terminal."""
    return Console(highlight=False, emoji=False)


def print_table(to: Console, columns: Sequence[ColumnSpec], lines: Iterable[TableRow]) -> None:
    """Print a table with the columns that fit; cells are not interpreted as markup."""
    kept = [at for at, column in enumerate(columns) if column.from_width <= to.width]
    gap = 2 if to.width >= 80 else 1
    grid = Grid(box=None, header_style="bold", pad_edge=False, padding=(0, gap, 0, 0))
    for at in kept:
        right = columns[at].right
        grid.add_column(
            columns[at].heading,
            justify="right" if right else "left",
            overflow="fold",
            no_wrap=right or columns[at].whole,
        )
    for line in lines:
        grid.add_row(*(escape(line.cells[at]) for at in kept), style=line.style)
    to.print(grid)


def print_line(to: Console, text: str, style: str = "") -> None:
    """Print a line of text that is not interpreted as markup."""
    to.print(escape(text), style=style or None)


def print_title(to: Console, text: str) -> None:
    """Print a heading."""
    print_line(to, text, "bold")


def echo_json(value: Any) -> None:  # noqa: ANN401 - any value of ours
    """Print a value as JSON."""
    typer.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def print_results(
    found: Sequence[T],
    columns: Sequence[ColumnSpec],
    line: Callable[[T], TableRow],
    *,
    as_json: bool,
    empty: str,
) -> None:
    """Print results as JSON or as a table, or `empty` if there are none."""
    if as_json:
        echo_json(found)
    elif found:
        print_table(console(), columns, map(line, found))
    else:
        typer.echo(empty)
