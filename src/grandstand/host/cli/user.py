"""Kept here: `grandstand user …`: who may log in, and everything that is kept of a person."""

from __future__ import annotations

import asyncio
import enum
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Final

import typer

from grandstand.host.cli.asking import asked_password, confirmed, with_people
from grandstand.host.cli.showing import as_json, shown
from grandstand.host.settings import read_settings
from grandstand.kit.terminal import Column, Line, console, print_grid
from grandstand.kit.who.belongings import AllBelongings, Belonging, Erased
from grandstand.kit.who.errors import NameTaken
from grandstand.kit.who.names import checked_name
from grandstand.kit.who.people import Account, People

user = typer.Typer(help="Who may log in.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The account's name.")]
Whose = Annotated[str, typer.Argument(help="An account's name; with --id, any user id.")]
ById = Annotated[
    bool, typer.Option("--id", help="WHOSE is a user id: of a token's subject, or owner.")
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]

_PEOPLE: Final = (
    Column("name", whole=True),
    Column("role", whole=True),
    Column("since", whole=True),
    Column("password of", from_width=90, whole=True),
    Column("id", whole=True),
)


class Role(enum.StrEnum):
    """What an account may be."""

    user = "user"
    admin = "admin"


@user.command()
def add(
    name: Name,
    *,
    admin: Annotated[bool, typer.Option("--admin", help="Let it administer.")] = False,
) -> None:
    """Add an account; the password is asked for, or read from standard input.

    From the first account on, everybody has to log in.
    """

    async def check(people: People) -> bool:
        if await people.find(checked_name(name)) is not None:
            message = f"There is an account {name} already: choose another name"
            raise NameTaken(message)
        return not await people.any()

    async def act(people: People) -> Account:
        return await people.add(name, given, admin=admin)

    first = with_people(check)
    given = asked_password(f"Password for {name}")
    account = with_people(act)
    typer.echo(f"added {account.name} ({account.user_id})")
    if first:
        typer.echo("From now on everybody has to log in.", err=True)
    if first and not admin:
        typer.echo(f"Nobody administers yet: grandstand user role {name} admin", err=True)


@user.command("list")
def list_people(
    *, json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False
) -> None:
    """List every account."""

    async def act(people: People) -> tuple[Account, ...]:
        return await people.list()

    found = with_people(act)
    if json:
        typer.echo(as_json(found))
        return
    if found:
        print_grid(console(), _PEOPLE, map(_line, found))
    else:
        typer.echo("Nobody has an account yet: `grandstand user add NAME --admin` makes the first.")


def _line(account: Account) -> Line:
    role = "admin" if account.admin else "user"
    moments = (shown(account.created_at), shown(account.password_set_at))
    return Line((account.name, role, *moments, account.user_id))


@user.command()
def role(name: Name, to: Annotated[Role, typer.Argument(help="What it may be.")]) -> None:
    """Let somebody administer, or no more."""

    async def act(people: People) -> None:
        account = await people.read(name)
        await people.appoint(account.user_id, admin=to is Role.admin)

    with_people(act)
    typer.echo(f"{name} is {to.value}")


@user.command("password")
def set_password(name: Name) -> None:
    """Set a new password and end every login; it is asked for, or read from standard input."""

    async def known(people: People) -> Account:
        return await people.read(name)

    async def act(people: People) -> None:
        await people.reset_password(account.user_id, new)

    account = with_people(known)
    new = asked_password(f"New password for {account.name}")
    with_people(act)
    typer.echo(f"the password of {account.name} is set; every login of theirs has ended")


@user.command()
def remove(name: Name, *, yes: Yes = False) -> None:
    """Remove an account with its logins and keys; what applications keep of it stays."""

    async def known(people: People) -> Account:
        return await people.read(name)

    async def act(people: People) -> None:
        await people.remove(account.user_id)

    account = with_people(known)
    confirmed(f"Remove the account {account.name}?", yes=yes)
    with_people(act)
    typer.echo(f"removed {account.name} ({account.user_id})")


@user.command()
def export(
    whose: Whose,
    *,
    by_id: ById = False,
    to: Annotated[Path | None, typer.Option(help="A file; standard output without it.")] = None,
) -> None:
    """Write everything that is kept of a person, across all applications, as JSON."""

    async def act() -> list[Belonging]:
        async with _belongings() as belongings:
            user_id = whose if by_id else await belongings.whose(whose)
            return [each async for each in belongings.export(user_id)]

    text = as_json(asyncio.run(act()))
    if to is None:
        typer.echo(text)
        return
    to.touch(mode=0o600)
    to.chmod(0o600)
    to.write_text(text + "\n", encoding="utf-8")
    typer.echo(f"wrote {to}", err=True)


@user.command()
def erase(whose: Whose, *, by_id: ById = False, yes: Yes = False) -> None:
    """Erase everything that is kept of a person, across all applications, for good.

    After a failure, call it again: it goes on where it stopped.
    """

    async def act() -> Erased:
        async with _belongings() as belongings:
            user_id = whose if by_id else await belongings.whose(whose)
            confirmed(f"Erase everything that is kept of {whose}, for good?", yes=yes)
            return await belongings.erase(user_id)

    erased = asyncio.run(act())
    for app, count in erased.things.items():
        typer.echo(f"{app}: {count:,} erased")


@asynccontextmanager
async def _belongings() -> AsyncIterator[AllBelongings]:
    from grandstand.host.demo.world import playing
    from grandstand.host.house import House

    settings = read_settings()
    async with playing(settings) as demo, House.open(settings, demo=demo) as house:
        yield house.belongings
