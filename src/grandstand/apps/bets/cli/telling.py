"""Kept here: what was refused, and how far long work is, told at a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from grandstand.apps.bets.service import Refusal

Told = Callable[[int, int], None]

_BAR_WIDTH: Final = 24
_SHOWN: Final = 10


def warn(refused: Sequence[Refusal]) -> None:
    """Say on stderr what was not taken in and why, the first ones in full."""
    for each in refused[:_SHOWN]:
        typer.echo(f"! {each.what}: {each.why}", err=True)
    if len(refused) > _SHOWN:
        typer.echo(f"! and {len(refused) - _SHOWN} more", err=True)


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
