"""Kept here: `grandstand tables …`: what tables there are, made, shown, exported and served."""

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

from grandstand.base.clock import SystemClock
from grandstand.base.errors import InvalidInput, NotFound
from grandstand.host.catalogue import all_tables, find_tables, tables_by_owner
from grandstand.host.cli.data.backfill import backfill_entity
from grandstand.host.demo.settings import simulated_settings
from grandstand.host.demo.sources import simulated_apps
from grandstand.host.opening import open_store, sqlite_file
from grandstand.host.server.listening import LOOPBACK
from grandstand.host.settings import Settings, read_settings
from grandstand.host.tables_server import PORT
from grandstand.host.tables_server import serve as serve_front
from grandstand.kit.terminal import Column, Line, console, print_grid
from grandstand.kit.who.policy import is_loopback
from grandstand.storage.tables.declaration.patterns import Pattern, patterns
from grandstand.storage.tables.declaration.table import Table
from grandstand.storage.tables.documents import cloudformation, markdown, workbench
from grandstand.storage.tables.engines.sqlite import SqliteEngine
from grandstand.storage.tables.errors import TableNotFound
from grandstand.storage.tables.front import Front
from grandstand.storage.tables.operations.explain import cost, explain
from grandstand.storage.tables.store import Store
from grandstand.storage.tables.upkeep.sweeping import sweep

tables = typer.Typer(help="The tables of every application.", no_args_is_help=True)
tables.command("backfill")(backfill_entity)

Names = Annotated[
    list[str] | None, typer.Argument(help="Tables or applications; all when none is named.")
]

_TABLES: Final = (
    Column("app"),
    Column("table", whole=True),
    Column("key"),
    Column("indexes", right=True, from_width=100),
    Column("entities", right=True, from_width=100),
    Column("patterns", right=True, from_width=100),
    Column("items", right=True),
)


class Format(enum.StrEnum):
    """What `export` can write."""

    markdown = "markdown"
    workbench = "workbench"
    cloudformation = "cloudformation"


@tables.command("list")
def list_tables() -> None:
    """List every declared table, its keys, and whether it exists."""
    settings = read_settings()
    with open_store(settings) as store:
        lines = [
            Line((owner, *_summary(store, table)))
            for owner, owned in tables_by_owner().items()
            for table in owned
        ]
    print_grid(console(), _TABLES, [*lines, *_simulated(settings)])


def _simulated(settings: Settings) -> Iterator[Line]:
    """Answer the tables of simulated applications, which are kept apart."""
    apart = simulated_settings(settings, {})
    file = sqlite_file(apart)
    if file is None or not file.exists():
        return
    with open_store(apart) as store:
        for owner in sorted(simulated_apps(settings)):
            for table in tables_by_owner().get(owner, ()):
                yield Line((f"{owner}, simulated", *_summary(store, table)))


def _summary(store: Store, table: Table) -> tuple[str, ...]:
    name = store.session.name(table)
    try:
        items = f"{store.session.engine.describe_table(name).items:,}"
    except TableNotFound:
        items = "not made"
    counts = (len(table.indexes), len(table.entities), len(patterns(table)))
    return name, " / ".join(table.key_names), *map(str, counts), items


@tables.command()
def describe(names: Names = None) -> None:
    """Show keys, indexes, entities and access patterns."""
    Console().print(Markdown(markdown.document(find_tables(names or []))))


@tables.command()
def create(names: Names = None) -> None:
    """Make the tables that do not exist yet; existing ones are left as they are."""
    with open_store(read_settings()) as store:
        chosen = find_tables(names or [])
        made = store.create(chosen)
    for name in made:
        typer.echo(f"made {name}")
    typer.echo(f"{len(made)} made, {len(chosen) - len(made)} were there")


@tables.command()
def export(
    names: Names = None,
    form: Annotated[Format, typer.Option("--format", help="What to write.")] = Format.markdown,
    to: Annotated[Path | None, typer.Option(help="A file; standard output without it.")] = None,
) -> None:
    """Write the access-pattern document, a NoSQL Workbench model or a CloudFormation template."""
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
        return markdown.document(chosen)
    if form is Format.cloudformation:
        return json.dumps(cloudformation.template(chosen, naming), indent=2) + "\n"
    model = workbench.model(chosen, naming, name="Grandstand", at=store.session.clock.now())
    return json.dumps(model, indent=2, ensure_ascii=False) + "\n"


@tables.command()
def serve(
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes any free one.")] = PORT,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = LOOPBACK,
    file: Annotated[Path | None, typer.Option(help="Keep the tables in this file.")] = None,
    *,
    memory: Annotated[bool, typer.Option("--memory", help="Keep nothing on disk.")] = False,
) -> None:
    """Speak DynamoDB's protocol in front of embedded tables: any AWS SDK can use them."""
    settings = read_settings()
    keys = {name: secret.get_secret_value() for name, secret in settings.tables_access_keys.items()}
    if not is_loopback(host) and not keys:
        message = (
            f"{host} can be reached from other machines: set GRANDSTAND_TABLES_ACCESS_KEYS first, "
            f"or stay on {LOOPBACK}"
        )
        raise InvalidInput(message)
    clock = SystemClock()
    place = None if memory else file or sqlite_file(settings)
    if place is not None:
        place.parent.mkdir(parents=True, exist_ok=True)
    engine = SqliteEngine.open(
        place, clock=clock, durability=settings.tables_durability, metered=True
    )

    def announce(address: str, taken: int) -> None:
        typer.echo(f"DynamoDB's protocol on http://{address}:{taken}, {place or 'in memory'}")
        typer.echo("Any credentials do." if not keys else "Access keys are checked.")

    try:
        serve_front(Front(engine, clock=clock, access_keys=keys or None), host, port, announce)
    finally:
        engine.close()


@tables.command("sweep")
def sweep_tables(
    names: Names = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many items.")] = 10_000,
) -> None:
    """Delete items whose expiry has passed; in the cloud the service does it by itself."""
    with open_store(read_settings()) as store:
        present = set(store.session.engine.list_tables())
        chosen = [t for t in find_tables(names or []) if store.session.name(t) in present]
        swept = sweep(store, chosen, limit)
    for name, deleted in swept.deleted.items():
        typer.echo(f"{name}: {deleted:,} deleted")
    if swept.more:
        typer.echo(f"There may be more: the limit of {limit:,} was reached")


@tables.command("explain")
def explain_pattern(
    pattern: Annotated[str, typer.Argument(help="An access pattern, such as GameOdds.upcoming.")],
    item_bytes: Annotated[int, typer.Option(help="Size of one item.")] = 1_000,
    found: Annotated[int, typer.Option(help="How many items a query finds.")] = 1,
) -> None:
    """Print the exact DynamoDB request of an access pattern, and what it costs."""
    known = _pattern(pattern)
    with open_store(read_settings()) as store:
        told = explain(store.session, known.example)
    estimate = cost(known.example, item_bytes=item_bytes, found=found)
    console = Console()
    console.print(f"[bold]{known.title}[/]", highlight=False)
    console.print(told.operation)
    console.print_json(json.dumps(told.request, default=str, ensure_ascii=False))
    console.print(f"{estimate.read_units} read units, {estimate.write_units} write units")


def _pattern(name: str) -> Pattern:
    known = [pattern for table in all_tables() for pattern in patterns(table)]
    for pattern in known:
        if f"{pattern.entity}.{pattern.name}" == name:
            return pattern
    names = [f"{pattern.entity}.{pattern.name}" for pattern in known]
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else "grandstand tables describe lists them"
    message = f"There is no access pattern {name}; {hint}"
    raise NotFound(message)
