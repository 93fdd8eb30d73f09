"""`grandstand doctor`: check this machine, the settings and the apps."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, redirect_stdout
from dataclasses import asdict
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Final

import typer
from rich.console import Console
from rich.markup import escape

from grandstand import __version__
from grandstand.core.clock import SystemClock
from grandstand.core.errors import GrandstandError
from grandstand.host.cli.output import AsJson
from grandstand.host.diagnostics import Finding, check_apps, is_reachable
from grandstand.host.infrastructure import (
    check_store_present,
    has_series,
    open_series,
    open_store,
    sqlite_file,
)
from grandstand.host.registry import all_tables
from grandstand.host.server.serving import bind, url_of
from grandstand.host.settings import Settings, read_settings, settings_file
from grandstand.storage.tables.engines.sqlite import sqlite_version
from grandstand.storage.tables.store import Store

_RELEASED: Final = datetime(2026, 11, 1, tzinfo=UTC)


def doctor(*, as_json: AsJson = False) -> None:
    """Check this machine, the settings, the stores and the apps; exit 1 if something is wrong."""
    settings = read_settings()
    # The findings say everything: log output is dropped.
    with redirect_stdout(StringIO()):
        findings = list(examine(settings))
    if as_json:
        typer.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        _show(findings)
    if not all(finding.good for finding in findings):
        raise typer.Exit(1)


def _show(findings: list[Finding]) -> None:
    console = Console()
    width = max(len(finding.subject) for finding in findings)
    for finding in findings:
        sign = "[green]ok[/]  " if finding.good else "[red]fail[/]"
        console.print(
            f"{sign} {finding.subject:<{width}}  {escape(finding.detail)}", highlight=False
        )


def examine(settings: Settings) -> Iterator[Finding]:
    """Run all checks."""
    yield Finding("grandstand", good=True, detail=__version__)
    yield Finding("python", sys.version_info >= (3, 11), platform.python_version())
    yield _sqlite()
    yield _clock()
    yield _settings_file(settings_file())
    yield _space(settings.home)
    yield Finding("tables", good=True, detail=str(sqlite_file(settings) or settings.tables))
    yield from _store(settings)
    yield _series(settings)
    yield _port(settings)
    yield _model(settings)
    yield _tokens(settings)
    yield from _applications(settings)


def _clock() -> Finding:
    now = SystemClock().now()
    detail = now.strftime("%Y-%m-%d %H:%M:%S UTC")
    right = now > _RELEASED
    return Finding("clock", right, detail if right else f"{detail}; this machine's clock is behind")


def _settings_file(file: Path) -> Finding:
    if not file.exists():
        return Finding(
            "settings file",
            good=True,
            detail=f"{file} (none; create it with grandstand config init)",
        )
    private = not file.stat().st_mode & 0o077
    detail = f"{file}" if private else f"{file} is readable by others: chmod 600 '{file}'"
    return Finding("settings file", private, detail)


def _space(home: Path) -> Finding:
    there = next(folder for folder in (home, *home.parents) if folder.exists())
    free = shutil.disk_usage(there).free
    detail = f"{home}, {free / 1e9:.1f} GB free"
    if not os.access(there, os.W_OK | os.X_OK):
        detail = f"{home} is not writable. Change its permissions, or set GRANDSTAND_HOME."
        return Finding("home", good=False, detail=detail)
    enough = free >= 1_000_000_000
    return Finding(
        "home", enough, detail if enough else f"{detail}; free some space, or set GRANDSTAND_HOME"
    )


def _series(settings: Settings) -> Finding:
    def check() -> str:
        if not has_series(settings):
            return "chunks in the home folder, none yet"
        with closing(open_series(settings)):
            kept_here = settings.series.get_secret_value() == "chunks"
            return "chunks in the home folder" if kept_here else "PostgreSQL responds"

    return _run_check("series", check)


def _port(settings: Settings) -> Finding:
    host, port = settings.server.host, settings.server.port

    def check() -> str:
        try:
            bind(host, port).close()
        except GrandstandError:
            if not is_reachable(url_of(host, port)):
                raise
            return f"Grandstand responds on {host}:{port}"
        return f"{host}:{port} is free"

    return _run_check("port", check)


def _applications(settings: Settings) -> Iterator[Finding]:
    """Open every app; tables in the cloud are not created, because they cost money."""
    try:
        if sqlite_file(settings) is None:
            with open_store(settings) as store:
                missing = _count_missing(store)
        else:
            missing = 0
        if missing:
            detail = "not checked: run `grandstand tables create` first"
            yield Finding("applications", good=True, detail=detail)
            return
        found = asyncio.run(check_apps(settings))
    except GrandstandError as error:
        yield Finding("applications", good=False, detail=str(error))
        return
    yield from found


def _model(settings: Settings) -> Finding:
    llm = settings.llm
    if llm.provider == "offline":
        detail = "offline: no model; to use one, set [llm] provider and model"
        return Finding("language model", good=True, detail=detail)
    complete = bool(llm.model) and (llm.provider == "bedrock" or bool(llm.endpoint))
    detail = f"{llm.provider}: {llm.model or 'no model'}"
    missing = "[llm] model" if not llm.model else "[llm] endpoint"
    return Finding("language model", complete, detail if complete else f"{detail}; set {missing}")


def _tokens(settings: Settings) -> Finding:
    auth = settings.auth
    if not auth.issuer:
        return Finding(
            "tokens", good=True, detail="none accepted; set [auth] issuer and client_ids"
        )
    detail = auth.issuer if auth.client_ids else f"{auth.issuer}; set [auth] client_ids"
    return Finding("tokens", bool(auth.client_ids), detail)


def _sqlite() -> Finding:
    found, needed = sqlite_version(), (3, 35)
    detail = ".".join(map(str, found))
    return Finding(
        "sqlite", found >= needed, detail if found >= needed else f"{detail}; needs 3.35"
    )


def _store(settings: Settings) -> Iterator[Finding]:
    file = sqlite_file(settings)
    try:
        check_store_present(settings)
    except GrandstandError as error:
        yield Finding("store", good=False, detail=str(error))
        return
    if file is not None and not file.exists():
        yield Finding("declared tables", good=True, detail="created by the first start")
        return
    try:
        store = open_store(settings)
    except GrandstandError as error:
        yield Finding("store", good=False, detail=str(error))
        return
    with store:
        yield _run_check(
            "store responds", lambda: f"{len(store.session.engine.list_tables())} tables"
        )
        yield _run_check("declarations", lambda: f"{len(all_tables())} tables declared")
        missing = _count_missing(store)
        detail = "all exist" if not missing else f"{missing} missing: grandstand tables create"
        yield Finding("declared tables", good=True, detail=detail)


def _count_missing(store: Store) -> int:
    present = set(store.session.engine.list_tables())
    return sum(store.session.name(table) not in present for table in all_tables())


def _run_check(subject: str, check: Callable[[], str]) -> Finding:
    try:
        return Finding(subject, good=True, detail=check())
    except GrandstandError as error:
        return Finding(subject, good=False, detail=str(error))
