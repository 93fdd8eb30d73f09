"""`grandstand user` and `grandstand key`: accounts, personal data and API keys."""

from __future__ import annotations

import asyncio
import enum
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from random import SystemRandom
from typing import Annotated, Final, TypeVar

import typer

from grandstand.core.clock import SystemClock
from grandstand.core.errors import InvalidInput
from grandstand.host.cli.output import AsJson, format_timestamp, to_json
from grandstand.host.infrastructure import open_store
from grandstand.host.settings import read_settings
from grandstand.kit.auth.accounts import Account, AccountService, check_name
from grandstand.kit.auth.caller import NameTaken
from grandstand.kit.auth.credentials import ApiKeyView, NewApiKey
from grandstand.kit.auth.personal_data import ErasureReport, PersonalDataService, PersonalRecord
from grandstand.kit.auth.tables import AUTH_TABLES
from grandstand.kit.terminal import ColumnSpec, TableRow, console, print_table
from grandstand.storage.tables.store import AsyncStore

R = TypeVar("R")


def with_accounts(act: Callable[[AccountService], Awaitable[R]]) -> R:
    """Run a function with the accounts of the configured store, creating its tables."""
    clock = SystemClock()

    async def run() -> R:
        return await act(AccountService(AsyncStore(store), clock=clock, random=SystemRandom()))

    with open_store(read_settings(), clock) as store:
        store.create(AUTH_TABLES)
        return asyncio.run(run())


def prompt_password(question: str) -> str:
    """Prompt for a password twice, or read one line from standard input.

    Raises InvalidInput if there is none.
    """
    if sys.stdin.isatty():
        given = typer.prompt(question, hide_input=True, confirmation_prompt=True, err=True)
        return str(given)
    line = sys.stdin.readline(4_096).rstrip("\r\n")
    if not line:
        raise InvalidInput("No password given. Type it at a terminal, or pipe it in as one line.")
    return line


def confirm(question: str, *, yes: bool) -> None:
    """Ask for confirmation unless `yes` is set; abort if the answer is no.

    Raises InvalidInput without a terminal.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise InvalidInput(f"{question} Confirm with --yes.")
    typer.confirm(question, abort=True, err=True)


user = typer.Typer(help="Manage user accounts.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The account's name.")]
Whose = Annotated[str, typer.Argument(help="An account's name; with --id, any user id.")]
ById = Annotated[
    bool, typer.Option("--id", help="WHOSE is a user id: of a token's subject, or owner.")
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]

_PEOPLE: Final = (
    *(ColumnSpec(heading, whole=True) for heading in ("name", "role", "since")),
    ColumnSpec("password of", from_width=90, whole=True),
    ColumnSpec("id", whole=True),
)


class Role(enum.StrEnum):
    """The role of an account."""

    user = "user"
    admin = "admin"


@user.command()
def add(
    name: Name,
    *,
    admin: Annotated[bool, typer.Option("--admin", help="Grant administrator rights.")] = False,
) -> None:
    """Add an account; the password is prompted for or read from standard input.

    Once there is an account, everybody has to log in.
    """

    async def check(people: AccountService) -> bool:
        if await people.find(check_name(name)) is not None:
            raise NameTaken(f"An account named {name} exists. Choose another name.")
        return not await people.any()

    first = with_accounts(check)
    password = prompt_password(f"Password for {name}")
    account = with_accounts(lambda people: people.add(name, password, admin=admin))
    typer.echo(f"added {account.name} ({account.user_id})")
    if first:
        typer.echo("Everybody has to log in from now on.", err=True)
    if first and not admin:
        typer.echo(
            f"There is no administrator yet. Appoint one: grandstand user role {name} admin",
            err=True,
        )


@user.command("list")
def list_people(*, json: AsJson = False) -> None:
    """List all accounts."""
    accounts = with_accounts(lambda people: people.list())
    if json:
        typer.echo(to_json(accounts))
    elif accounts:
        print_table(console(), _PEOPLE, map(_line, accounts))
    else:
        typer.echo("No accounts yet. Add one with `grandstand user add NAME --admin`.")


def _line(account: Account) -> TableRow:
    role = "admin" if account.admin else "user"
    moments = (format_timestamp(account.created_at), format_timestamp(account.password_set_at))
    return TableRow((account.name, role, *moments, account.user_id))


@user.command()
def role(name: Name, to: Annotated[Role, typer.Argument(help="The role.")]) -> None:
    """Grant or revoke administrator rights."""

    async def act(people: AccountService) -> None:
        account = await people.read(name)
        await people.appoint(account.user_id, admin=to is Role.admin)

    with_accounts(act)
    typer.echo(f"{name} is {to.value}")


@user.command("password")
def set_password(name: Name) -> None:
    """Set a new password and end all sessions; it is prompted for or read from standard input."""
    account = with_accounts(lambda people: people.read(name))
    new = prompt_password(f"New password for {account.name}")
    with_accounts(lambda people: people.reset_password(account.user_id, new))
    typer.echo(f"the password of {account.name} is set. All of their sessions have ended.")


@user.command()
def remove(name: Name, *, yes: Yes = False) -> None:
    """Remove an account with its sessions and keys; data stored by apps stays."""
    account = with_accounts(lambda people: people.read(name))
    confirm(f"Remove the account {account.name}?", yes=yes)
    with_accounts(lambda people: people.remove(account.user_id))
    typer.echo(f"removed {account.name} ({account.user_id})")


@user.command()
def export(
    whose: Whose,
    *,
    by_id: ById = False,
    to: Annotated[
        Path | None, typer.Option(help="The output file; standard output by default.")
    ] = None,
) -> None:
    """Export everything stored about a person, across all apps, as JSON."""

    async def act() -> list[PersonalRecord]:
        async with _personal_data() as personal_data:
            user_id = whose if by_id else await personal_data.find_user_id(whose)
            return [each async for each in personal_data.export(user_id)]

    text = to_json(asyncio.run(act()))
    if to is None:
        typer.echo(text)
        return
    to.touch(mode=0o600)
    to.chmod(0o600)
    to.write_text(text + "\n", encoding="utf-8")
    typer.echo(f"wrote {to}", err=True)


@user.command()
def erase(whose: Whose, *, by_id: ById = False, yes: Yes = False) -> None:
    """Permanently erase everything stored about a person, across all apps.

    After a failure, run it again to continue.
    """

    async def act() -> ErasureReport:
        async with _personal_data() as personal_data:
            user_id = whose if by_id else await personal_data.find_user_id(whose)
            confirm(f"Permanently erase all data about {whose}?", yes=yes)
            return await personal_data.erase(user_id)

    erased = asyncio.run(act())
    for app, count in erased.records.items():
        typer.echo(f"{app}: {count:,} erased")


@asynccontextmanager
async def _personal_data() -> AsyncIterator[PersonalDataService]:
    from grandstand.host.demo.world import open_demo
    from grandstand.host.runtime import Platform

    settings = read_settings()
    async with open_demo(settings) as demo, Platform.open(settings, demo=demo) as platform:
        yield platform.personal_data


key = typer.Typer(help="Manage API keys.", no_args_is_help=True)

_KEYS: Final = (
    ColumnSpec("key", whole=True),
    ColumnSpec("person", whole=True),
    ColumnSpec("name"),
    ColumnSpec("may", whole=True),
    ColumnSpec("last used", whole=True),
    ColumnSpec("expires", whole=True),
)


@key.command()
def issue(
    person: Annotated[str, typer.Argument(help="The account the key acts for.")],
    name: Annotated[str, typer.Option(help="A label for the key.")] = "script",
    days: Annotated[
        int | None, typer.Option(min=1, max=3650, help="Days until the key expires.")
    ] = None,
    *,
    admin: Annotated[
        bool, typer.Option("--admin", help="Grant the key administrator rights.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Issue an API key; it is printed once and cannot be shown again."""
    ends_at = None if days is None else SystemClock().now() + timedelta(days=days)

    async def act(people: AccountService) -> NewApiKey:
        account = await people.read(person)
        return await people.keys.issue(account.user_id, name, admin=admin, ends_at=ends_at)

    key = with_accounts(act)
    if json:
        typer.echo(to_json({"key": key.text, "person": person, **asdict(key.view)}))
        return
    typer.echo(key.text)
    typer.echo("Store it safely. It cannot be shown again.", err=True)


@key.command("list")
def list_keys(
    person: Annotated[str | None, typer.Argument(help="Only the keys of this account.")] = None,
    *,
    json: AsJson = False,
) -> None:
    """List API keys without their secrets."""

    async def act(people: AccountService) -> list[tuple[str, ApiKeyView]]:
        accounts = await people.list() if person is None else (await people.read(person),)
        return [
            (account.name, view)
            for account in accounts
            for view in await people.keys.list(account.user_id)
        ]

    keys = with_accounts(act)
    if json:
        typer.echo(to_json([{"person": name, **asdict(view)} for name, view in keys]))
    elif keys:
        print_table(console(), _KEYS, (_key_line(name, view) for name, view in keys))
    else:
        typer.echo("No API keys yet. Issue one with `grandstand key issue NAME`.")


def _key_line(name: str, view: ApiKeyView) -> TableRow:
    days = (format_timestamp(at)[:10] for at in (view.used_at, view.ends_at))
    return TableRow((view.key_id, name, view.name, "admin" if view.admin else "user", *days))


@key.command()
def revoke(
    key_id: Annotated[str, typer.Argument(help="The key's id, or the whole key.")],
    *,
    yes: Yes = False,
) -> None:
    """Revoke an API key; it stops working at once."""
    wanted = key_id.removeprefix("gs_").partition("_")[0]

    user_id = with_accounts(lambda people: people.keys.owner(wanted))
    confirm(f"Revoke the key {wanted}?", yes=yes)
    with_accounts(lambda people: people.keys.revoke(user_id, wanted))
    typer.echo(f"revoked {wanted}")
