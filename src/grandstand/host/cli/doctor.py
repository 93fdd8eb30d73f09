"""Kept here: `grandstand doctor`, which says whether this machine and these settings work."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import typer
from rich.console import Console

from grandstand import __version__
from grandstand.base.errors import GrandstandError
from grandstand.host.catalogue import all_tables
from grandstand.host.opening import open_store, sqlite_file
from grandstand.host.settings import Settings, settings_file
from grandstand.storage.tables.engines.sqlite import sqlite_version


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at: what it is, how it stands, and what to do when it does not."""

    subject: str
    good: bool
    told: str


def doctor() -> None:
    """Look at this machine, the settings and the store; exit 1 when something needs doing."""
    console = Console()
    findings = list(examine(Settings()))
    width = max(len(finding.subject) for finding in findings)
    for finding in findings:
        sign = "[green]ok[/]  " if finding.good else "[red]look[/]"
        console.print(f"{sign} {finding.subject:<{width}}  {finding.told}", highlight=False)
    if not all(finding.good for finding in findings):
        raise typer.Exit(1)


def examine(settings: Settings) -> Iterator[Finding]:
    """Look at one thing after another."""
    yield Finding("grandstand", good=True, told=__version__)
    yield Finding("python", sys.version_info >= (3, 11), platform.python_version())
    yield _sqlite()
    file = settings_file()
    yield Finding("settings file", good=True, told=f"{file}{'' if file.exists() else ' (none)'}")
    yield Finding("tables", good=True, told=str(sqlite_file(settings) or settings.tables))
    yield from _store(settings)


def _sqlite() -> Finding:
    found, needed = sqlite_version(), (3, 35)
    told = ".".join(map(str, found))
    return Finding("sqlite", found >= needed, told if found >= needed else f"{told}; needs 3.35")


def _store(settings: Settings) -> Iterator[Finding]:
    try:
        store = open_store(settings)
    except GrandstandError as error:
        yield Finding("store", good=False, told=str(error))
        return
    with store:
        yield _tried("store answers", lambda: f"{len(store.session.engine.list_tables())} tables")
        yield _tried("declarations", lambda: f"{len(all_tables())} tables declared")
        present = set(store.session.engine.list_tables())
        missing = [t.name for t in all_tables() if store.session.name(t) not in present]
        told = (
            "all are there" if not missing else f"{len(missing)} to make: grandstand tables create"
        )
        yield Finding("declared tables", good=True, told=told)


def _tried(subject: str, look: Callable[[], str]) -> Finding:
    try:
        return Finding(subject, good=True, told=look())
    except GrandstandError as error:
        return Finding(subject, good=False, told=str(error))
