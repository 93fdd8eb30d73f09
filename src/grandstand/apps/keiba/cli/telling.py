"""Kept here: where things come from, what went wrong, and how far a gathering is, at a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar

from grandstand.apps.keiba.cli.words import origin, span
from grandstand.apps.keiba.service import Origin, Progress
from grandstand.kit.terminal import say

Told = Callable[[Progress], None]

_STEP_PERCENT: Final = 10
_BAR_WIDTH: Final = 24


def source(to: Console, found: Origin, before: str = "") -> None:
    """Print where something came from, its address in one piece to be copied."""
    to.print(escape(f"{before}{origin(found)}"), style="dim", soft_wrap=True)


def warn(to: Console, warnings: Iterable[str]) -> None:
    """Print what could not be had or read."""
    for warning in dict.fromkeys(warnings):
        say(to, f"! {warning}", "yellow")


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
