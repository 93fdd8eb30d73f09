"""Kept here: the reference pages, written from what the code declares."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any, cast

import typer
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from grandstand.base.errors import GrandstandError
from grandstand.base.metrics import FAMILIES
from grandstand.host.catalogue import tables_by_owner
from grandstand.host.settings import Settings, setting_names
from grandstand.host.walking import walk
from grandstand.storage.tables.documents.markdown import document, grid

# What the host imports only when it is used, and what only applications use.
_LAZY = (
    "grandstand.apps.bets.model.errors",
    "grandstand.apps.bets.model.money.ledger",
    "grandstand.apps.bets.model.money.limits",
    "grandstand.apps.bets.model.refusals",
    "grandstand.apps.bets.service.refusals",
    "grandstand.apps.bets.sources.errors",
    "grandstand.apps.cricket.model.errors",
    "grandstand.apps.cricket.service.refusals",
    "grandstand.apps.gatherer.model.errors",
    "grandstand.apps.gatherer.service",
    "grandstand.apps.gatherer.service.exporting",
    "grandstand.apps.gatherer.service.merging.places",
    "grandstand.apps.gatherer.service.recording.disk",
    "grandstand.apps.gatherer.service.recording.tape",
    "grandstand.apps.gatherer.sources.kalshi.errors",
    "grandstand.apps.keiba.model.errors",
    "grandstand.apps.keiba.service.refusals",
    "grandstand.host.scaffold.making",
    "grandstand.kit.llm.remote",
    "grandstand.simulators.odds.world.errors",
    "grandstand.simulators.scores.errors",
    "grandstand.storage.series.buffer",
    "grandstand.storage.tables.cache",
    "grandstand.storage.tables.changes",
    "grandstand.storage.tables.engines.dynamodb.engine",
    "grandstand.storage.tables.leases",
    "grandstand.wire.bedrock",
)
_OF_JOBS = ("Job", "When", "Longest", "Tries", "Purpose")
_OF_ROUTES = ("Route", "Method", "Open to", "What it does")
_NOTE = "Written by `grandstand reference`; do not edit.\n"


def pages(commands: typer.Typer) -> dict[str, str]:
    """Answer every page by its file name."""
    walked = walk()
    return {
        "commands.md": _page("Commands", _commands(commands)),
        "errors.md": _page("Errors", _errors()),
        "jobs.md": _page("Jobs", grid(_OF_JOBS, walked.jobs)),
        "metrics.md": _page("Metrics", _metrics()),
        "routes.md": _page("Routes", grid(_OF_ROUTES, walked.routes)),
        "settings.md": _page("Settings", _settings()),
        **{
            f"tables-{owner}.md": _page(f"Tables of {owner}", document(tables).rstrip())
            for owner, tables in tables_by_owner().items()
        },
    }


def _metrics() -> str:
    rows = [
        (f"`grandstand_{each.name}`", each.kind, ", ".join(each.labels) or "–", each.purpose)
        for each in FAMILIES
    ]
    return grid(("Metric", "Kind", "Labels", "Meaning"), rows)


def _page(title: str, body: str) -> str:
    return f"# {title}\n\n{_NOTE}\n{body}\n"


def _settings() -> str:
    """Defaults that depend on the machine are told by their sense, not their value."""
    rows = [
        (f"`{place}`", f"`{name}`", _default(place), _field(place).description or "")
        for place, name in setting_names().items()
    ]
    return grid(("settings.toml", "Environment", "Default", "Meaning"), rows)


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
    for module in _LAZY:
        importlib.import_module(module)
    rows = [
        (
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
    return grid(heads, rows)


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
    return grid(("Command", "What it does", "Takes"), rows)


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
    told = []
    for parameter in command.params:
        name = parameter.opts[-1] if parameter.param_type_name == "option" else parameter.name
        told.append(f"`{name}`: {getattr(parameter, 'help', None) or ''}".rstrip(": "))
    return "<br>".join(told)
