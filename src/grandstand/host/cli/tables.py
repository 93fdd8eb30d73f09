"""`grandstand tables`: list, create, export, serve and maintain tables."""

from __future__ import annotations

import difflib
import enum
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from grandstand.core.clock import SystemClock
from grandstand.core.errors import GrandstandError, InvalidInput, NotFound
from grandstand.host.demo.sources import simulated_apps
from grandstand.host.demo.world import simulated_settings
from grandstand.host.infrastructure import open_store, sqlite_file
from grandstand.host.registry import APPS, all_tables, find_tables, tables_by_owner
from grandstand.host.server.serving import LOOPBACK
from grandstand.host.settings import Settings, read_settings
from grandstand.host.tables_server import PORT
from grandstand.host.tables_server import serve as serve_tables
from grandstand.kit.app import load
from grandstand.kit.auth.host_policy import is_loopback
from grandstand.kit.terminal import ColumnSpec, TableRow, console, print_table
from grandstand.storage.tables import documents
from grandstand.storage.tables.declaration.entity import Entity
from grandstand.storage.tables.declaration.patterns import Pattern, patterns
from grandstand.storage.tables.declaration.table import Table
from grandstand.storage.tables.dynamodb_server.server import DynamoDbServer
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.errors import TableNotFound
from grandstand.storage.tables.maintenance import Progress as Reached
from grandstand.storage.tables.maintenance import Report, backfill, sweep
from grandstand.storage.tables.operations.explain import cost, explain
from grandstand.storage.tables.store import Store


def backfill_entity(
    entity: Annotated[
        str, typer.Argument(help="An entity with a schema version, such as Attempt.")
    ],
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count; write nothing.")] = False,
    segments: Annotated[int, typer.Option(min=1, help="Number of parallel segments.")] = 1,
    resume: Annotated[str | None, typer.Option(help="Continue an earlier run.")] = None,
) -> None:
    """Upgrade every stored item of an entity to its current schema version."""
    kind = _entity(entity)
    console = Console(stderr=True)
    bar = Progress(
        TextColumn(f"{entity}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[upgraded]} upgraded"),
        TimeRemainingColumn(),
        console=console,
    )
    last: list[Reached] = []
    with open_store(read_settings()) as store, bar:
        task = bar.add_task(entity, total=None, upgraded=0)

        def show(reached: Reached) -> None:
            last[:] = [reached]
            total = max(reached.estimated, reached.scanned)
            bar.update(task, total=total, completed=reached.scanned, upgraded=reached.upgraded)

        try:
            report = backfill(
                store, kind, progress=show, dry_run=dry_run, segments=segments, resume=resume
            )
        except (GrandstandError, KeyboardInterrupt):
            if last and last[0].resume:
                console.print(f"to continue: --segments {segments} --resume {last[0].resume}")
            raise
    _print_report(report)


def _entity(name: str) -> type[Entity]:
    known = {entity.__name__: entity for table in all_tables() for entity in table.entities}
    if name not in known:
        versioned = [n for n, entity in known.items() if entity.__plan__.schema_version]
        raise NotFound(f"No entity named {name}; those with a version are {', '.join(versioned)}")
    return known[name]


def _print_report(report: Report) -> None:
    reached = report.progress
    would = "would be upgraded" if report.dry_run else "upgraded"
    typer.echo(f"{reached.upgraded} {would}, {reached.current} were current", nl=False)
    typer.echo(f", {reached.failed} failed" if reached.failed else "")
    for failure in report.failures:
        key = ", ".join(f"{name}={value!r}" for name, value in failure.key.items())
        typer.echo(f"{key}: {failure.reason}", err=True)
    if reached.failed:
        raise typer.Exit(1)


tables = typer.Typer(help="Create, inspect and serve the tables.", no_args_is_help=True)


@tables.callback()
def load_entities() -> None:
    """Create, inspect and serve the tables."""
    # A table knows its entities once their modules are imported, with the services of each app.
    for app in APPS:
        if app.build is not None:
            load(app.build)


tables.command("backfill")(backfill_entity)

Names = Annotated[list[str] | None, typer.Argument(help="Tables or apps; all by default.")]

_TABLES: Final = (
    ColumnSpec("app"),
    ColumnSpec("table", whole=True),
    ColumnSpec("key"),
    ColumnSpec("indexes", right=True, from_width=100),
    ColumnSpec("entities", right=True, from_width=100),
    ColumnSpec("patterns", right=True, from_width=100),
    ColumnSpec("items", right=True),
)


class Format(enum.StrEnum):
    """The formats of `export`."""

    markdown = "markdown"
    workbench = "workbench"
    cloudformation = "cloudformation"


@tables.command("list")
def list_tables() -> None:
    """List all tables with their keys, and whether they exist."""
    settings = read_settings()
    with open_store(settings) as store:
        lines = [
            TableRow((owner, *_summary(store, table)))
            for owner, owned in tables_by_owner().items()
            for table in owned
        ]
    print_table(console(), _TABLES, [*lines, *_simulated(settings)])


def _simulated(settings: Settings) -> Iterator[TableRow]:
    """Return the tables of simulated apps, which are stored apart."""
    apart = simulated_settings(settings, {})
    file = sqlite_file(apart)
    if file is None or not file.exists():
        return
    with open_store(apart) as store:
        for owner in sorted(simulated_apps(settings)):
            for table in tables_by_owner().get(owner, ()):
                yield TableRow((f"{owner}, simulated", *_summary(store, table)))


def _summary(store: Store, table: Table) -> tuple[str, ...]:
    name = store.session.name(table)
    try:
        items = f"{store.session.engine.describe_table(name).items:,}"
    except TableNotFound:
        items = "missing"
    counts = (len(table.indexes), len(table.entities), len(patterns(table)))
    return name, " / ".join(table.key_names), *map(str, counts), items


@tables.command()
def describe(names: Names = None) -> None:
    """Show keys, indexes, entities and access patterns."""
    Console().print(Markdown(documents.markdown_document(find_tables(names or []))))


@tables.command()
def create(names: Names = None) -> None:
    """Create missing tables; existing ones are not changed."""
    with open_store(read_settings()) as store:
        chosen = find_tables(names or [])
        made = store.create(chosen)
    for name in made:
        typer.echo(f"created {name}")
    typer.echo(f"{len(made)} created, {len(chosen) - len(made)} existed")


@tables.command()
def export(
    names: Names = None,
    form: Annotated[Format, typer.Option("--format", help="The format.")] = Format.markdown,
    to: Annotated[
        Path | None, typer.Option(help="The output file; standard output by default.")
    ] = None,
) -> None:
    """Write the access patterns, a NoSQL Workbench model or a CloudFormation template."""
    settings = read_settings()
    with open_store(settings) as store:
        text = _exported(find_tables(names or []), form, store)
    if to is None:
        typer.echo(text, nl=False)
        return
    to.write_text(text, encoding="utf-8")
    typer.echo(f"wrote {to}", err=True)


def _exported(chosen: tuple[Table, ...], form: Format, store: Store) -> str:
    naming = store.session.naming
    if form is Format.markdown:
        return documents.markdown_document(chosen)
    if form is Format.cloudformation:
        return json.dumps(documents.cloudformation_template(chosen, naming), indent=2) + "\n"
    model = documents.workbench_model(
        chosen, naming, name="Grandstand", at=store.session.clock.now()
    )
    return json.dumps(model, indent=2, ensure_ascii=False) + "\n"


@tables.command()
def serve(
    port: Annotated[int, typer.Option(help="The port; 0 means any free port.")] = PORT,
    host: Annotated[str, typer.Option(help="The address to bind to.")] = LOOPBACK,
    file: Annotated[Path | None, typer.Option(help="The SQLite file.")] = None,
    *,
    memory: Annotated[bool, typer.Option("--memory", help="Store nothing on disk.")] = False,
) -> None:
    """Serve local tables over the DynamoDB protocol, for any AWS SDK."""
    settings = read_settings()
    keys = {name: secret.get_secret_value() for name, secret in settings.tables_access_keys.items()}
    if not is_loopback(host) and not keys:
        raise InvalidInput(
            f"{host} can be reached from other machines. Set GRANDSTAND_TABLES_ACCESS_KEYS first, "
            f"or use {LOOPBACK}."
        )
    clock = SystemClock()
    place = None if memory else file or sqlite_file(settings)
    if place is not None:
        place.parent.mkdir(parents=True, exist_ok=True)
    engine = SqliteEngine.open(
        place, clock=clock, durability=settings.tables_durability, metered=True
    )

    def announce(address: str, taken: int) -> None:
        typer.echo(f"DynamoDB protocol on http://{address}:{taken}, {place or 'in memory'}")
        typer.echo("Any credentials are accepted." if not keys else "Access keys are checked.")

    try:
        serve_tables(
            DynamoDbServer(engine, clock=clock, access_keys=keys or None), host, port, announce
        )
    finally:
        engine.close()


@tables.command("sweep")
def sweep_tables(
    names: Names = None,
    limit: Annotated[int, typer.Option(min=1, help="The maximum number of items.")] = 10_000,
) -> None:
    """Delete expired items; DynamoDB does this itself."""
    with open_store(read_settings()) as store:
        present = set(store.session.engine.list_tables())
        chosen = [t for t in find_tables(names or []) if store.session.name(t) in present]
        swept = sweep(store, chosen, limit)
    for name, deleted in swept.deleted.items():
        typer.echo(f"{name}: {deleted:,} deleted")
    if swept.more:
        typer.echo(f"The limit of {limit:,} was reached; there may be more")


@tables.command("explain")
def explain_pattern(
    pattern: Annotated[str, typer.Argument(help="An access pattern, such as GameOdds.upcoming.")],
    item_bytes: Annotated[int, typer.Option(help="The size of one item in bytes.")] = 1_000,
    found: Annotated[int, typer.Option(help="The number of items a query returns.")] = 1,
) -> None:
    """Print the DynamoDB request of an access pattern, and its cost."""
    known = _pattern(pattern)
    with open_store(read_settings()) as store:
        explained = explain(store.session, known.example)
    estimate = cost(known.example, item_bytes=item_bytes, found=found)
    console = Console()
    console.print(f"[bold]{known.title}[/]", highlight=False)
    console.print(explained.operation)
    console.print_json(json.dumps(explained.request, default=str, ensure_ascii=False))
    console.print(f"{estimate.read_units} read units, {estimate.write_units} write units")


def _pattern(name: str) -> Pattern:
    known = [pattern for table in all_tables() for pattern in patterns(table)]
    for pattern in known:
        if f"{pattern.entity}.{pattern.name}" == name:
            return pattern
    names = [f"{pattern.entity}.{pattern.name}" for pattern in known]
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else "grandstand tables describe lists them"
    raise NotFound(f"No access pattern named {name}; {hint}")
