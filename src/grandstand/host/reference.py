"""The reference pages in docs/reference, generated from the code."""

from __future__ import annotations

import asyncio
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias, cast

import typer
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute

import grandstand
from grandstand.core.errors import GrandstandError
from grandstand.core.metrics import FAMILIES
from grandstand.host.registry import tables_by_owner
from grandstand.host.runtime import Platform
from grandstand.host.server.application import build_application
from grandstand.host.settings import Settings, setting_names
from grandstand.kit.jobs.job import Continuous, Cron, Every, Job
from grandstand.kit.routes import AppRoute
from grandstand.storage.tables.documents import markdown_document, markdown_table

Row: TypeAlias = tuple[str, ...]


async def _collect_routes_and_jobs(home: Path) -> tuple[list[Row], list[Row]]:
    """Open the platform in memory and return its routes and jobs as table rows."""
    settings = Settings.model_construct(home=home, tables="sqlite::memory:")
    async with Platform.open(settings) as platform:
        _, app = build_application(platform)
        routes = [row for route in app.router.routes for row in _route_rows(route)]
        jobs = [_job_row(job) for job in platform.background.runner.jobs]
        return sorted(routes), sorted(jobs)


def _route_rows(route: BaseRoute) -> Iterator[Row]:
    if isinstance(route, AppRoute):
        spec = route.spec
        yield f"`{route.path}`", spec.method, spec.access, spec.summary or _first_line(route)
    elif isinstance(route, Route):
        methods = sorted((route.methods or set()) - {"HEAD"})
        yield f"`{route.path}`", ", ".join(methods), "see there", _first_line(route)
    elif isinstance(route, Mount):
        # The path contains a hash of the files.
        path = route.path.rpartition("/")[0] or route.path
        yield f"`{path}/…`", "GET", "anyone", "Static files."
    elif isinstance(route, WebSocketRoute):
        yield f"`{route.path}`", "socket", "user", "Live updates."


def _first_line(route: Route) -> str:
    return (inspect.getdoc(route.endpoint) or "").partition("\n")[0]


def _job_row(job: Job) -> Row:
    match job.when:
        case Every(seconds=seconds):
            when = f"every {seconds:g} s"
        case Cron(line=line, zone=zone):
            when = f"`{line}` {zone}"
        case Continuous():
            when = "always"
    limit = "–" if job.timeout_seconds is None else f"{job.timeout_seconds:g} s"
    return f"`{job.name}`", when, limit, str(job.tries), job.purpose


def build_reference(commands: typer.Typer) -> dict[str, str]:
    """Return every page by file name."""
    with TemporaryDirectory() as home:
        routes, jobs = asyncio.run(_collect_routes_and_jobs(Path(home)))
    job_headings = ("Job", "When", "Longest", "Tries", "Purpose")
    route_headings = ("Route", "Method", "Open to", "What it does")
    return {
        "commands.md": _page("Commands", _commands(commands)),
        "errors.md": _page("Errors", _errors()),
        "jobs.md": _page("Jobs", markdown_table(job_headings, jobs)),
        "metrics.md": _page("Metrics", _metrics()),
        "routes.md": _page("Routes", markdown_table(route_headings, routes)),
        "settings.md": _page("Settings", _settings()),
        **{
            f"tables-{owner}.md": _page(f"Tables of {owner}", markdown_document(tables).rstrip())
            for owner, tables in tables_by_owner().items()
        },
    }


def _metrics() -> str:
    rows = [
        (f"`grandstand_{each.name}`", each.kind, ", ".join(each.labels) or "–", each.purpose)
        for each in FAMILIES
    ]
    return markdown_table(("Metric", "Kind", "Labels", "Meaning"), rows)


def _page(title: str, body: str) -> str:
    return f"# {title}\n\nWritten by `grandstand reference`; do not edit.\n\n{body}\n"


def _settings() -> str:
    """Return the settings page; defaults that depend on the machine are described instead."""
    rows = [
        (f"`{place}`", f"`{name}`", _default(place), _field(place).description or "")
        for place, name in setting_names().items()
    ]
    return markdown_table(("settings.toml", "Environment", "Default", "Meaning"), rows)


def _default(place: str) -> str:
    field = _field(place)
    if field.default_factory is not None:
        return "see there"
    value = field.default
    shown = value.get_secret_value() if isinstance(value, SecretStr) else value
    return f"`{shown!r}`"


def _field(place: str) -> FieldInfo:
    *sections, name = place.split(".")
    model: type[BaseModel] = Settings
    for section in sections:
        kind = model.model_fields[section].annotation
        model = cast("type[BaseModel]", kind)
    return model.model_fields[name]


def _errors() -> str:
    # All error classes are known only when every module is imported.
    package = Path(grandstand.__file__).parent
    for file in sorted(package.rglob("*.py")):
        if file.stem not in {"__init__", "__main__"}:
            path = file.relative_to(package.parent).with_suffix("")
            importlib.import_module(".".join(path.parts))
    rows = [
        (
            f"`{error.code}`",
            f"`{error.__name__}`",
            f"`{error.__mro__[1].__name__}`",
            str(error.status),
            str(error.exit_code),
            "yes" if error.retry else "no",
            f"`{name}`" if (name := getattr(error, "aws_name", "")) else "–",
            (error.__doc__ or "").splitlines()[0],
        )
        for error in sorted(
            set(_tree(GrandstandError)), key=lambda error: (error.__name__, error.__module__)
        )
    ]
    heads = ("Error", "Is a", "Status", "Exit code", "Retry", "DynamoDB's name", "Meaning")
    return markdown_table(heads, rows)


def _tree(error: type[GrandstandError]) -> Iterator[type[GrandstandError]]:
    for kind in error.__subclasses__():
        if kind.__module__.startswith("grandstand."):
            yield kind
            yield from _tree(kind)


def _commands(commands: typer.Typer) -> str:
    rows = [
        (f"`{' '.join(path)}`", (command.help or "").splitlines()[0], _parameters(command))
        for path, command in _leaves(("grandstand",), typer.main.get_command(commands))
    ]
    return markdown_table(("Command", "What it does", "Takes"), rows)


def _leaves(
    path: tuple[str, ...],
    command: Any,  # noqa: ANN401 - typer keeps its own click to itself
) -> Iterator[tuple[tuple[str, ...], Any]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield path, command
        return
    for name, child in sorted(inner.items()):
        yield from _leaves((*path, name), child)


def _parameters(command: Any) -> str:  # noqa: ANN401 - as _leaves
    parts = []
    for parameter in command.params:
        name = parameter.opts[-1] if parameter.param_type_name == "option" else parameter.name
        parts.append(f"`{name}`: {getattr(parameter, 'help', None) or ''}".rstrip(": "))
    return "<br>".join(parts)
