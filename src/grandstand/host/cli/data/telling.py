"""Kept here: how far long work is: bars on a terminal, now and then a line elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from grandstand.base.clock import Clock
from grandstand.host.moving.progress import Reached, Tell

_EVERY_SECONDS: Final = 5.0
_KILO: Final = 1_000


@contextmanager
def telling(clock: Clock) -> Iterator[Tell]:
    """Show on standard error how far each piece of work is, while the block runs."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines(clock)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[told]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        yield _Bars(progress)


class _Bars:
    """One bar for what is being done; what is done makes room for the next."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._shown: tuple[str, TaskID] | None = None

    def __call__(self, reached: Reached) -> None:
        if self._shown is None or self._shown[0] != reached.what:
            if self._shown is not None:
                self._progress.remove_task(self._shown[1])
            task = self._progress.add_task(reached.what, total=reached.total, told="")
            self._shown = (reached.what, task)
        self._progress.update(
            self._shown[1], completed=reached.done, total=reached.total, told=told(reached)
        )


class _Lines:
    """A line when something is done that took some work, and every few seconds meanwhile."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = clock.monotonic()
        self._said = ""

    def __call__(self, reached: Reached) -> None:
        now = self._clock.monotonic()
        whole = reached.done == reached.total and reached.done > 0
        line = f"{reached.what}: {told(reached)}"
        if line != self._said and (whole or now - self._last >= _EVERY_SECONDS):
            self._last, self._said = now, line
            typer.echo(line, err=True)


def told(reached: Reached) -> str:
    """Say how much is done, of how much."""
    if reached.unit == "bytes":
        done, total = size(reached.done), None if reached.total is None else size(reached.total)
    else:
        done = f"{reached.done:,} {reached.unit}"
        total = None if reached.total is None else f"{reached.total:,}"
    return done if total is None or reached.done == reached.total else f"{done} of {total}"


def size(size_bytes: int) -> str:
    """Write a number of bytes for people."""
    amount, unit = float(size_bytes), "bytes"
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if amount < _KILO or unit == "TB":
            break
        amount /= _KILO
    return f"{amount:,.0f} {unit}" if unit == "bytes" else f"{amount:,.1f} {unit}"
