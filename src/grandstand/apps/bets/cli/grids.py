"""Kept here: tables, lines and progress for a terminal of any width, with or without colour."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as Grid

from grandstand.apps.bets.service import Refusal

Told = Callable[[int, int], None]

_BAR_WIDTH: Final = 24
_ROOMY: Final = 80
_SHOWN: Final = 10


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

    cells: tuple[str, ...]
    style: str = ""


def console() -> Console:
    """Answer the terminal; it is plain where NO_COLOR is set or nobody looks."""
    return Console(highlight=False, emoji=False)


def print_grid(to: Console, columns: Sequence[Column], lines: Iterable[Line]) -> None:
    """Print a table with the columns there is room for."""
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


def warn(refused: Sequence[Refusal]) -> None:
    """Say on stderr what was not taken in and why, the first ones in full."""
    for each in refused[:_SHOWN]:
        typer.echo(f"! {each.what}: {each.why}", err=True)
    if len(refused) > _SHOWN:
        typer.echo(f"! and {len(refused) - _SHOWN} more", err=True)


def echo_json(value: Any) -> None:  # noqa: ANN401 - any value of ours
    """Print a value for programs."""
    typer.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


@contextmanager
def progress_bar(about: str) -> Iterator[Told]:
    """Show how far a long work has come, on stderr and only while it goes on and one looks."""
    terminal = Console(stderr=True, highlight=False)
    if not terminal.is_terminal:
        yield _silent
        return
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=_BAR_WIDTH if terminal.width > 2 * _BAR_WIDTH else 8),
        TextColumn("{task.completed:.0f}/{task.total:.0f}"),
        TimeElapsedColumn(),
        console=terminal,
        transient=True,
    )
    with bar as drawn:
        task = drawn.add_task(escape(about), total=1)

        def told(done: int, total: int) -> None:
            drawn.update(task, completed=done, total=max(total, 1))

        yield told


def _silent(_done: int, _total: int) -> None:
    return
