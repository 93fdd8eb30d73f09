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
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar
from rich.table import Table as Grid

from grandstand.apps.keiba.cli.words import origin, span
from grandstand.apps.keiba.service import Origin, Progress

Told = Callable[[Progress], None]

_STEP_PERCENT: Final = 10
_BAR_WIDTH: Final = 24
_ROOMY: Final = 80


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; terminals narrower than `from_width` do without it."""

    heading: str
    right: bool = False
    from_width: int = 0


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a table, a cell for every column, and how it is printed."""

    cells: tuple[str, ...]
    style: str = ""


def console() -> Console:
    """Answer the terminal; it is plain where NO_COLOR is set or nobody looks."""
    return Console(highlight=False, emoji=False)


def grid(columns: Sequence[Column], lines: Iterable[Line], width: int) -> Grid:
    """Make a table with the columns there is room for."""
    kept = [at for at, column in enumerate(columns) if column.from_width <= width]
    gap = 2 if width >= _ROOMY else 1
    made = Grid(box=None, header_style="bold", pad_edge=False, padding=(0, gap, 0, 0))
    for at in kept:
        right = columns[at].right
        made.add_column(
            columns[at].heading,
            justify="right" if right else "left",
            overflow="fold",
            no_wrap=right,
        )
    for line in lines:
        made.add_row(*(escape(line.cells[at]) for at in kept), style=line.style)
    return made


def say(to: Console, text: str, style: str = "") -> None:
    """Print a line of text that comes from elsewhere: nothing in it is markup."""
    to.print(escape(text), style=style or None)


def title(to: Console, text: str) -> None:
    """Print what the rest is about."""
    say(to, text, "bold")


def source(to: Console, found: Origin, before: str = "") -> None:
    """Print where something came from, its address in one piece to be copied."""
    to.print(escape(f"{before}{origin(found)}"), style="dim", soft_wrap=True)


def warn(to: Console, warnings: Iterable[str]) -> None:
    """Print what could not be had or read."""
    for warning in dict.fromkeys(warnings):
        say(to, f"! {warning}", "yellow")


def echo_json(value: Any) -> None:  # noqa: ANN401 - any value of ours
    """Print a value for programs."""
    typer.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


@contextmanager
def progress_bar(about: str, *, lines: bool = False) -> Iterator[Told]:
    """Show how far a gathering has come, on stderr and only while it goes on.

    Where nobody looks there is no bar; with `lines` there is a line for every tenth instead.
    """
    terminal = Console(stderr=True, highlight=False)
    if not terminal.is_terminal:
        yield _in_lines(about) if lines else _silent
        return
    bar = Bar(
        TextColumn("{task.description}"),
        BarColumn(bar_width=_BAR_WIDTH if terminal.width > 2 * _BAR_WIDTH else 8),
        TextColumn("{task.completed:.0f}/{task.total:.0f}"),
        TextColumn("{task.fields[left]}"),
        console=terminal,
        transient=True,
    )
    with bar as drawn:
        task = drawn.add_task(escape(about), total=0, left="")

        def told(progress: Progress) -> None:
            drawn.update(task, completed=progress.done, total=progress.total, left=_left(progress))

        yield told


def _silent(_progress: Progress) -> None:
    return


def _in_lines(about: str) -> Told:
    said = [0]

    def told(progress: Progress) -> None:
        share = 100 * progress.done // progress.total if progress.total else 0
        if share >= said[0] + _STEP_PERCENT:
            said[0] = share - share % _STEP_PERCENT
            left = _left(progress)
            done = f"{progress.done} of {progress.total}"
            typer.echo(f"{about}: {done}{f', {left}' if left else ''}", err=True)

    return told


def _left(progress: Progress) -> str:
    if progress.seconds_left is None or progress.finished:
        return ""
    return f"{span(progress.seconds_left)} left"
