"""Kept here: tables and lines for a terminal of any width, with or without colour, and JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import msgspec
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid

T = TypeVar("T")

_ROOMY: Final = 80


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; terminals narrower than `from_width` do without it.

    What is `whole` is never broken into several lines.
    """

    heading: str
    right: bool = False
    from_width: int = 0
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a table, a cell for every column, and how it is printed."""

    cells: Sequence[str]
    style: str = ""


def console() -> Console:
    """Answer the terminal; it is plain where NO_COLOR is set or nobody looks."""
    return Console(highlight=False, emoji=False)


def print_grid(to: Console, columns: Sequence[Column], lines: Iterable[Line]) -> None:
    """Print a table with the columns there is room for; nothing in its cells is markup."""
    kept = [at for at, column in enumerate(columns) if column.from_width <= to.width]
    gap = 2 if to.width >= _ROOMY else 1
    made = Grid(box=None, header_style="bold", pad_edge=False, padding=(0, gap, 0, 0))
    for at in kept:
        right = columns[at].right
        made.add_column(
            columns[at].heading,
            justify="right" if right else "left",
            overflow="fold",
            no_wrap=right or columns[at].whole,
        )
    for line in lines:
        made.add_row(*(escape(line.cells[at]) for at in kept), style=line.style)
    to.print(made)


def say(to: Console, text: str, style: str = "") -> None:
    """Print a line of text that comes from elsewhere: nothing in it is markup."""
    to.print(escape(text), style=style or None)


def title(to: Console, text: str) -> None:
    """Print what the rest is about."""
    say(to, text, "bold")


def echo_json(value: Any) -> None:  # noqa: ANN401 - any value of ours
    """Print a value for programs."""
    typer.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def print_found(
    found: Sequence[T],
    columns: Sequence[Column],
    line: Callable[[T], Line],
    *,
    as_json: bool,
    empty: str,
) -> None:
    """Print what was found, as JSON or as a table; without anything, a table is a sentence."""
    if as_json:
        echo_json(found)
    elif found:
        print_grid(console(), columns, map(line, found))
    else:
        typer.echo(empty)
