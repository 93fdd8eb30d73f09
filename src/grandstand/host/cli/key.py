"""Kept here: `grandstand key …`: API keys for scripts, issued, listed and revoked."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Final

import typer

from grandstand.base.clock import SystemClock
from grandstand.host.cli.asking import confirmed, with_people
from grandstand.host.cli.showing import as_json, shown
from grandstand.kit.terminal import Column, Line, console, print_grid
from grandstand.kit.who.keys import KeyView, NewKey
from grandstand.kit.who.people import People

key = typer.Typer(help="API keys for scripts.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="As JSON, for programs.")]

_KEYS: Final = (
    Column("key", whole=True),
    Column("person", whole=True),
    Column("name"),
    Column("may", whole=True),
    Column("last used", whole=True),
    Column("expires", whole=True),
)


@key.command()
def issue(
    person: Annotated[str, typer.Argument(help="The account the key acts for.")],
    name: Annotated[str, typer.Option(help="What it is for.")] = "script",
    days: Annotated[int | None, typer.Option(min=1, max=3650, help="How long it lasts.")] = None,
    *,
    admin: Annotated[bool, typer.Option("--admin", help="Let it administer too.")] = False,
    json: Json = False,
) -> None:
    """Issue a key; it is printed once and cannot be shown again."""
    ends_at = None if days is None else SystemClock().now() + timedelta(days=days)

    async def act(people: People) -> NewKey:
        account = await people.read(person)
        return await people.keys.issue(account.user_id, name, admin=admin, ends_at=ends_at)

    made = with_people(act)
    if json:
        typer.echo(as_json({"key": made.text, **_told(person, made.view)}))
        return
    typer.echo(made.text)
    typer.echo("Keep it safe: it cannot be shown again.", err=True)


@key.command("list")
def list_keys(
    person: Annotated[str | None, typer.Argument(help="One account; all without it.")] = None,
    *,
    json: Json = False,
) -> None:
    """List keys, without their secrets."""

    async def act(people: People) -> list[tuple[str, KeyView]]:
        accounts = await people.list() if person is None else (await people.read(person),)
        return [
            (account.name, view)
            for account in accounts
            for view in await people.keys.list(account.user_id)
        ]

    found = with_people(act)
    if json:
        typer.echo(as_json([_told(name, view) for name, view in found]))
        return
    if found:
        print_grid(console(), _KEYS, (_line(name, view) for name, view in found))
    else:
        typer.echo("There are no keys yet: `grandstand key issue NAME` makes one for an account.")


def _line(name: str, view: KeyView) -> Line:
    days = (shown(at)[:10] for at in (view.used_at, view.ends_at))
    return Line((view.key_id, name, view.name, "admin" if view.admin else "user", *days))


@key.command()
def revoke(
    key_id: Annotated[str, typer.Argument(help="The key's id, or the whole key.")],
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Revoke a key: whoever uses it is refused from now on."""
    wanted = key_id.removeprefix("gs_").partition("_")[0]

    async def owner(people: People) -> str:
        return await people.keys.owner(wanted)

    user_id = with_people(owner)
    confirmed(f"Revoke the key {wanted}?", yes=yes)

    async def act(people: People) -> None:
        await people.keys.revoke(user_id, wanted)

    with_people(act)
    typer.echo(f"revoked {wanted}")


def _told(person: str, view: KeyView) -> dict[str, object]:
    return {
        "key_id": view.key_id,
        "person": person,
        "name": view.name,
        "admin": view.admin,
        "created_at": view.created_at,
        "used_at": view.used_at,
        "ends_at": view.ends_at,
    }
