"""Output of commands: JSON, times, logs and progress."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Any

import typer
from pydantic import BaseModel, SecretStr
from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as ProgressDisplay

from grandstand.core.clock import Clock
from grandstand.core.formatting import format_bytes
from grandstand.core.logging import configure_logging
from grandstand.host.backup.archive import Progress, ReportProgress
from grandstand.host.settings import LogSettings, Settings

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def to_json(value: Any) -> str:  # noqa: ANN401 - any value
    """Return a value as JSON, including dataclasses, times and sets."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=_to_jsonable)


def format_timestamp(moment: datetime | None) -> str:
    """Format a time for a terminal table."""
    return "–" if moment is None else f"{moment:%Y-%m-%d %H:%M}"


def _to_jsonable(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, tuple):
        return list(value)
    return str(value)


def write_logs(settings: Settings) -> None:
    """Send logs to standard error as configured, with all secrets redacted."""
    log = settings.log
    secrets = [value for value in _secrets(settings) if value != "chunks"]
    configure_logging(sys.stderr, json=logs_as_json(log), level=log.level, secrets=secrets)


def _secrets(value: object) -> Iterator[str]:
    """Yield every secret in the settings."""
    if isinstance(value, SecretStr):
        yield value.get_secret_value()
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _secrets(getattr(value, name))
    elif isinstance(value, dict):
        yield from _secrets(tuple(value.values()))
    elif isinstance(value, tuple):
        for one in value:
            yield from _secrets(one)


def logs_as_json(settings: LogSettings) -> bool:
    """Return whether logs are JSON lines: by setting, or if standard error is not a terminal."""
    return settings.form == "json" or (settings.form == "auto" and not sys.stderr.isatty())


@contextmanager
def show_progress(clock: Clock) -> Iterator[ReportProgress]:
    """Show the progress of the work in this block on standard error."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines(clock)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[amount]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with ProgressDisplay(*columns, console=console, transient=True) as display:
        yield _Bars(display)


class _Bars:
    """Shows one bar for the current step."""

    def __init__(self, display: ProgressDisplay) -> None:
        self._display = display
        self._shown: tuple[str, TaskID] | None = None

    def __call__(self, progress: Progress) -> None:
        if self._shown is None or self._shown[0] != progress.what:
            if self._shown is not None:
                self._display.remove_task(self._shown[1])
            task = self._display.add_task(progress.what, total=progress.total, amount="")
            self._shown = (progress.what, task)
        self._display.update(
            self._shown[1],
            completed=progress.done,
            total=progress.total,
            amount=format_progress(progress),
        )


class _Lines:
    """Prints a line when a step ends, and every few seconds."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = clock.monotonic()
        self._printed = ""

    def __call__(self, progress: Progress) -> None:
        now = self._clock.monotonic()
        complete = progress.done == progress.total and progress.done > 0
        line = f"{progress.what}: {format_progress(progress)}"
        if line != self._printed and (complete or now - self._last >= 5.0):
            self._last, self._printed = now, line
            typer.echo(line, err=True)


def format_progress(progress: Progress) -> str:
    """Return how much is done, and of how much."""
    if progress.unit == "bytes":
        done = format_bytes(progress.done)
        total = None if progress.total is None else format_bytes(progress.total)
    else:
        done = f"{progress.done:,} {progress.unit}"
        total = None if progress.total is None else f"{progress.total:,}"
    return done if total is None or progress.done == progress.total else f"{done} of {total}"
