"""The names of Grandstand that others depend on, written as text."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args, get_origin, get_type_hints

import typer.main
from fastapi import FastAPI
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from typer.testing import CliRunner

import grandstand
from grandstand.core.errors import GrandstandError
from grandstand.core.metrics import FAMILIES, Metrics
from grandstand.host.cli import COMMANDS, app
from grandstand.host.demo.jobs import DEMO_JOBS
from grandstand.host.registry import all_series, tables_by_owner
from grandstand.host.runtime import Platform
from grandstand.host.server.application import build_application
from grandstand.host.server.openapi import build_openapi
from grandstand.host.settings import Settings, setting_names
from grandstand.kit.jobs.job import Continuous, Cron, Every, Job
from grandstand.kit.notify import MAIL, WEBHOOK
from grandstand.kit.problems import describe_error
from grandstand.kit.routes import AppRoute
from grandstand.storage.tables import Entity, Naming
from grandstand.storage.tables.declaration.patterns import placeholder
from grandstand.storage.tables.schema import create_table_shape

SOURCE = Path(grandstand.__file__).parent

_COOKIE = re.compile(r"grandstand_(?:session|theme|\w+_language)")
# x-euc-jp and x-sjis are names of encodings.
_HEADER = re.compile(r"x-(?!euc-jp|sjis)[a-z]+(?:-[a-z]+)*|idempotency-key|grandstand-simulated")
_TOPIC = re.compile(r"(?:bets|cricket|demo|gatherer|platform|keiba|trainer)/[a-z][^.\s]*")


@dataclass(frozen=True)
class AppSurface:
    """The snapshots that need running apps, and the topics of their outbox."""

    snapshots: dict[str, str]
    outbox_topics: list[str]


async def read_apps() -> AppSurface:
    """Open all five apps on tables in memory, with default settings, and describe them."""
    with TemporaryDirectory() as home:
        settings = Settings.model_construct(home=Path(home), tables="sqlite::memory:")
        async with Platform.open(settings) as platform:
            _, server = build_application(platform)
            snapshots = {
                "http.txt": _write_http(server),
                "jobs.txt": _write_jobs(platform.background.runner.jobs),
                "openapi.json": _write_openapi(server),
            }
            return AppSurface(snapshots, _outbox_topics(platform))


def _outbox_topics(platform: Platform) -> list[str]:
    """Return every outbox topic that somebody delivers."""
    topics = {MAIL, WEBHOOK}
    for each in platform.built.values():
        topics |= {*each.outbox_handlers}
    return sorted(topics)


def _write_openapi(server: FastAPI) -> str:
    """Return the OpenAPI document of the whole server, without its version."""
    document = build_openapi(server)
    del document["info"]["version"]
    return _to_json(document, indent=1)


def write_cli() -> str:
    """Return every command with its help, arguments and options."""
    root: Any = typer.main.get_command(app)
    entries = [_command(("grandstand",), root)]
    for name, command in root.commands.items():
        path, deferred = ("grandstand", name), COMMANDS.get(name)
        if deferred is None:
            entries += _commands(path, command)
        else:
            entries += _commands(path, deferred.load(name), deferred.help)
    return "\n".join(sorted(entries))


def _commands(path: tuple[str, ...], command: Any, summary: str = "") -> Iterator[str]:
    yield _command(path, command, summary)
    for name, child in getattr(command, "commands", {}).items():
        yield from _commands((*path, name), child)


def _command(path: tuple[str, ...], command: Any, summary: str = "") -> str:
    lines = [" ".join(path)]
    if summary:
        lines.append(f"    listed as: {summary}")
    lines += [f"    {line}".rstrip() for line in inspect.cleandoc(command.help or "").splitlines()]
    # Typer adds options of its own for completion.
    own = [each for each in command.params if "completion" not in each.name]
    lines += [f"    {_parameter(each)}" for each in own]
    return "\n".join(lines) + "\n"


def _parameter(parameter: Any) -> str:
    is_option = parameter.param_type_name == "option"
    names = [*parameter.opts, *parameter.secondary_opts] if is_option else [parameter.name.upper()]
    words = [", ".join(names), _parameter_type(parameter.type_descriptor.annotation)]
    if parameter.min is not None or parameter.max is not None:
        words.append(f"from {parameter.min} to {parameter.max}")
    if parameter.required:
        words.append("required")
    if parameter.envvar:
        words.append(f"env: {parameter.envvar}")
    if parameter.default is not None:
        words.append(f"default: {_value(parameter.default)}")
    return "  ".join(filter(None, [*words, parameter.help]))


def _parameter_type(annotation: Any) -> str:
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return "|".join(str(each.value) for each in annotation)
    if get_origin(annotation) is list:
        return f"list of {_parameter_type(get_args(annotation)[0])}"
    return inspect.formatannotation(annotation)


def _value(value: object) -> str:
    assert not callable(value)
    return str(value.value if isinstance(value, Enum) else value)


def write_settings() -> str:
    """Return every setting with its environment variable, type, default and help."""
    entries = []
    for place, variable in setting_names().items():
        field = _field(place)
        kind = inspect.formatannotation(field.annotation).replace("pydantic.types.", "")
        limits = ", ".join(map(str, field.metadata))
        entries.append(
            f"{place}\n"
            f"    env: {variable}\n"
            f"    type: {kind}{f' ({limits})' if limits else ''}\n"
            f"    default: {_default(field)}\n"
            f"    {field.description or ''}\n"
        )
    return "\n".join(entries)


def _field(place: str) -> FieldInfo:
    *sections, name = place.split(".")
    model: type[BaseModel] = Settings
    for section in sections:
        kind = model.model_fields[section].annotation
        assert isinstance(kind, type)
        assert issubclass(kind, BaseModel)
        model = kind
    return model.model_fields[name]


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True, validated_data={})
    if value is PydanticUndefined:
        return "none; the setting is required"
    if field.default_factory is not None and isinstance(value, Path):
        return "depends on the machine"
    return repr(value.get_secret_value() if isinstance(value, SecretStr) else value)


def write_tables() -> str:
    """Return each table as CreateTable takes it, with its TTL and the attributes of its items."""
    naming = Naming(environment=Settings.model_fields["tables_environment"].default)
    return _to_json(
        {
            table.name: {
                "owner": owner,
                "create_table": create_table_shape(table.schema(naming)),
                "time_to_live": table.ttl,
                "items": sorted((_item(each) for each in table.entities), key=json.dumps),
            }
            for owner, tables in tables_by_owner().items()
            for table in tables
        }
    )


def _item(entity: type[Entity]) -> dict[str, Any]:
    """Return the keys and attributes of a stored item, without the name of its class."""
    plan = entity.__plan__
    stored = {field.name: field.attribute for field in plan.fields.values()}
    hints = get_type_hints(entity)

    def template(side: Any) -> str | None:
        if side is None:
            return None
        source = str(side.template.source)
        return re.sub(r"\{(\w+)", lambda name: "{" + stored.get(name[1], name[1]), source)

    return {
        "keys": {
            key.index or "table": [template(key.partition), template(key.sort)]
            for key in (plan.primary, *plan.indexes)
        },
        "attributes": {
            field.attribute: _shape(field.encoded(placeholder(name, hints[name])))
            for name, field in plan.fields.items()
        },
        "schema_version": plan.schema_version,
    }


def _shape(value: object) -> object:
    """Return the DynamoDB type of a stored value; the members of maps and lists are included."""
    if isinstance(value, dict):
        return {name: _shape(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_shape(each) for each in value]
    kinds: dict[type, str] = {bool: "BOOL", str: "S", int: "N", Decimal: "N", bytes: "B"}
    kinds |= {set: "SS", frozenset: "SS", type(None): "NULL"}
    return next(letter for kind, letter in kinds.items() if isinstance(value, kind))


def write_series() -> str:
    """Return the DDL of every series for each kind of server, as the command line prints it."""
    parts = []
    for options in (
        ["--engine", "postgres"],
        ["--engine", "timescale"],
        ["--engine", "timescale", "--wide"],
        ["--engine", "timescale-apache"],
    ):
        parts.append(f"-- grandstand series ddl {' '.join(options)}\n\n")
        parts.append(_run("series", "ddl", *options))
    assert all(each.name in parts[1] for each in all_series())
    return "".join(parts)


def write_swift() -> str:
    """Return the Swift file of the Live Activity, as the command line prints it."""
    return _run("cricket", "swift")


def _run(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return str(result.stdout)


def write_errors() -> str:
    """Return every error code with its HTTP status, exit code and retry flag."""
    for module in _modules_with_errors():
        importlib.import_module(module)
    lines = {_error(each) for each in _subclasses(GrandstandError)}
    head = _error_row("code", "status", "exit", "retry", "DynamoDB name")
    return "\n".join([head, *sorted(lines)]) + "\n"


def _modules_with_errors() -> list[str]:
    """Return the modules that define errors; nothing else loads some of them."""
    bases_of: dict[str, set[str]] = {}
    modules_of: dict[str, set[str]] = {}
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        module = ".".join(parts).removesuffix(".__init__")
        text = path.read_text(encoding="utf-8")
        for name, bases in re.findall(r"^class (\w+)\(([^)]*)\)", text, re.MULTILINE):
            bases_of.setdefault(name, set()).update(re.findall(r"\w+", bases))
            modules_of.setdefault(name, set()).add(module)
    errors, found = {GrandstandError.__name__}, set[str]()
    while errors:
        errors = {name for name, bases in bases_of.items() if bases & errors} - found
        found |= errors
    return sorted({module for name in found for module in modules_of[name]})


def _subclasses(error: type[GrandstandError]) -> Iterator[type[GrandstandError]]:
    for each in error.__subclasses__():
        if each.__module__.startswith(f"{grandstand.__name__}."):
            yield each
            yield from _subclasses(each)


def _error(error: type[GrandstandError]) -> str:
    # Constructors differ, and the code depends on the class alone.
    problem = describe_error(error.__new__(error))
    retry = "retry" if error.retry else "-"
    dynamodb = getattr(error, "aws_name", "") or "-"
    return _error_row(problem.kind, str(problem.status), str(error.exit_code), retry, dynamodb)


def _error_row(code: str, status: str, exit_code: str, retry: str, dynamodb: str) -> str:
    return f"{code:<40} {status:<6} {exit_code:<4} {retry:<5} {dynamodb}"


def write_metrics() -> str:
    """Return every metric as Prometheus sees it: name, type, labels and help."""
    families = {f"grandstand_{each.name}": each for each in FAMILIES}
    exposed = Metrics().exposition().decode()
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", exposed, re.MULTILINE))
    helps = dict(re.findall(r"^# HELP (\S+) (.*)$", exposed, re.MULTILINE))
    entries = []
    for name in sorted(kinds):
        if name.endswith("_created"):
            continue
        family = families.pop(name.removesuffix("_total"))
        labels = f"{{{', '.join(family.labels)}}}" if family.labels else ""
        buckets = f"    buckets: {', '.join(map(str, family.buckets))}\n" if family.buckets else ""
        entries.append(f"{name}{labels}\n    {kinds[name]}\n    {helps[name]}\n{buckets}")
    assert families == {}
    return "\n".join(entries)


def _write_jobs(jobs: Iterable[Job]) -> str:
    """Return every job with its schedule, time limit, attempts and purpose."""
    demo = [f"{name}\n    only in the demo\n" for name in sorted(DEMO_JOBS.values())]
    return "\n".join([*sorted(map(_job, jobs)), *demo])


def _job(job: Job) -> str:
    match job.when:
        case Every(seconds=seconds):
            when = f"every {seconds:g} s"
        case Cron(line=line, zone=zone):
            when = f"cron: {line} ({zone})"
        case Continuous():
            when = "always"
    limit = "none" if job.timeout_seconds is None else f"{job.timeout_seconds:g} s"
    return (
        f"{job.name}\n    {when}\n    timeout: {limit}, attempts: {job.tries}\n    {job.purpose}\n"
    )


def _write_http(server: FastAPI) -> str:
    """Return the routes with pages included, live topics, cookies and custom headers."""
    literals = {*_python_literals(), *_script_words()}
    sections = {
        "Routes": {row for route in server.routes for row in _route(route)},
        "Live topics and notification keys": {*filter(_TOPIC.fullmatch, literals)},
        "Cookies": {*filter(_COOKIE.fullmatch, literals)},
        "Custom headers, sent or read": {*filter(_HEADER.fullmatch, literals)},
    }
    return "\n".join(
        f"{title}\n" + "".join(f"    {line}\n" for line in sorted(lines))
        for title, lines in sections.items()
    )


def _route(route: BaseRoute) -> Iterator[str]:
    if isinstance(route, AppRoute):
        yield f"{route.path} {route.spec.method} ({route.spec.access})"
    elif isinstance(route, Route):
        yield f"{route.path} {', '.join(sorted((route.methods or set()) - {'HEAD'}))}"
    elif isinstance(route, Mount):
        # The last part is a digest of the files.
        yield f"{route.path.rpartition('/')[0] or route.path}/... GET"
    elif isinstance(route, WebSocketRoute):
        yield f"{route.path} WebSocket"


def _python_literals() -> Iterator[str]:
    """Yield the strings of Python files that may be names, with {} for fields of f-strings."""
    names = re.compile("|".join(each.pattern for each in (_COOKIE, _HEADER, _TOPIC)))
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if SOURCE / "simulators" in path.parents or not names.search(text):
            continue
        inner: set[ast.AST] = set()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.JoinedStr):
                inner.update(node.values)
                yield "".join(
                    str(each.value) if isinstance(each, ast.Constant) else "{}"
                    for each in node.values
                )
            elif isinstance(node, ast.Constant) and node not in inner:
                value = node.value
                yield value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _script_words() -> Iterator[str]:
    for path in SOURCE.rglob("*.js"):
        yield from re.findall(r"[\w-]+", path.read_text(encoding="utf-8"))


def _to_json(value: object, indent: int = 2) -> str:
    return json.dumps(value, indent=indent, sort_keys=True, ensure_ascii=False) + "\n"
