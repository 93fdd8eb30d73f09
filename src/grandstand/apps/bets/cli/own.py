"""Kept here: the commands of one's own tables of figures, and of the teams one likes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from grandstand.apps.bets.cli.asking import (
    OWNER,
    AsJson,
    Opened,
    Sport,
    User,
    Yes,
    caller_of,
    read_bytes,
    sport_of,
    with_bets,
)
from grandstand.apps.bets.cli.words import stamp
from grandstand.apps.bets.service import Bets, DatasetView, Favourite
from grandstand.kit.terminal import Column, Line, console, echo_json, print_found, print_grid

TeamName = Annotated[str, typer.Argument(metavar="TEAM", help="Its name, in quotes.")]
_TABLES: Final = (
    Column("id", whole=True),
    Column("name"),
    Column("sport", from_width=100),
    Column("about"),
    Column("rows", right=True),
    Column("columns", from_width=80),
    Column("brought (UTC)", from_width=120, whole=True),
)
_TEAMS: Final = (Column("sport"), Column("team"), Column("since (UTC)", from_width=80))


def add_own(group: typer.Typer, opened: Opened) -> None:
    """Add the commands of tables of figures and of teams."""
    data = typer.Typer(help="Tables of figures of your own.", no_args_is_help=True)
    _add_tables(data, opened)
    _add_table(data, opened)
    group.add_typer(data, name="data")
    teams = typer.Typer(help="The teams you like.", no_args_is_help=True)
    _add_teams(teams, opened)
    _add_liking(teams, opened)
    group.add_typer(teams, name="teams")


def _add_tables(group: typer.Typer, opened: Opened) -> None:
    @group.command("list")
    def list_tables(*, user: User = OWNER, as_json: AsJson = False) -> None:
        """List the tables of figures you brought."""
        found = with_bets(opened, lambda bets: bets.datasets(caller_of(user)))
        print_found(
            found,
            _TABLES,
            _table_line,
            as_json=as_json,
            empty="You have brought no figures: `grandstand bets data add` takes a file.",
        )


def _table_line(table: DatasetView) -> Line:
    return Line(
        (
            table.dataset_id,
            table.name,
            table.sport,
            f"{table.subject}s",
            f"{table.rows:,}",
            ", ".join(table.columns),
            stamp(table.created_at),
        )
    )


def _add_table(group: typer.Typer, opened: Opened) -> None:
    @group.command("add")
    def add_table(
        file: Annotated[Path, typer.Argument(help="CSV or JSON: a team or player, and numbers.")],
        *,
        name: Annotated[
            str | None, typer.Option("--name", help="What to call it; as the file without.")
        ] = None,
        sport: Sport = None,
        user: User = OWNER,
        as_json: AsJson = False,
    ) -> None:
        """Bring a table of figures for your models to count, whole or not at all."""
        content = read_bytes(file)

        async def kept(bets: Bets) -> DatasetView:
            called = file.stem if name is None else name
            return await bets.add_dataset(caller_of(user), called, sport_of(bets, sport), content)

        found = with_bets(opened, kept)
        echo_json(found) if as_json else print_grid(console(), _TABLES, [_table_line(found)])

    @group.command("remove")
    def remove_table(
        dataset_id: Annotated[str, typer.Argument(metavar="TABLE", help="As `list` has it.")],
        *,
        yes: Yes = False,
        user: User = OWNER,
    ) -> None:
        """Remove a table of figures for good; models that count it go on without."""
        if not yes:
            typer.confirm(f"Remove {dataset_id}?", abort=True, err=True)
        with_bets(opened, lambda bets: bets.remove_dataset(caller_of(user), dataset_id))
        typer.echo("It is removed.")


def _add_teams(group: typer.Typer, opened: Opened) -> None:
    @group.command("list")
    def list_teams(*, user: User = OWNER, as_json: AsJson = False) -> None:
        """List the teams you like; you are told of their games."""
        found = with_bets(opened, lambda bets: bets.favourites(caller_of(user)))
        print_found(
            found,
            _TEAMS,
            _team_line,
            as_json=as_json,
            empty="You like no team yet: `grandstand bets teams like` adds one.",
        )


def _team_line(one: Favourite) -> Line:
    return Line((one.sport, one.team, stamp(one.since)))


def _add_liking(group: typer.Typer, opened: Opened) -> None:
    @group.command()
    def like(
        team: TeamName, *, sport: Sport = None, user: User = OWNER, as_json: AsJson = False
    ) -> None:
        """Like a team, and be told of its games."""

        async def liked(bets: Bets) -> Favourite:
            return await bets.like(caller_of(user), sport_of(bets, sport), team)

        found = with_bets(opened, liked)
        echo_json(found) if as_json else print_grid(console(), _TEAMS, [_team_line(found)])

    @group.command()
    def unlike(team: TeamName, *, sport: Sport = None, user: User = OWNER) -> None:
        """Like a team no longer."""

        async def left(bets: Bets) -> bool:
            return await bets.unlike(caller_of(user), sport_of(bets, sport), team)

        typer.echo("You like it no longer." if with_bets(opened, left) else "You did not like it.")
