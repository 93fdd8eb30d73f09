"""Kept here: all commands of bets together."""

from __future__ import annotations

import typer

from grandstand.apps.bets.cli.asking import Opened
from grandstand.apps.bets.cli.benny import add_benny
from grandstand.apps.bets.cli.building import add_building
from grandstand.apps.bets.cli.chores import add_chores
from grandstand.apps.bets.cli.looking import add_looking
from grandstand.apps.bets.cli.own import add_own
from grandstand.apps.bets.cli.scoring import add_scoring
from grandstand.apps.bets.cli.tools import tool_commands
from grandstand.apps.bets.cli.wagers import add_wagers


def commands(opened: Opened) -> typer.Typer:
    """Make bets' commands; `opened` opens the service for the length of a block."""
    group = typer.Typer(help="Games, odds, models, Benny and your own bets.", no_args_is_help=True)
    add_looking(group, opened)
    add_scoring(group, opened)
    add_building(group, opened)
    add_own(group, opened)
    add_benny(group, opened)
    add_wagers(group, opened)
    group.add_typer(tool_commands(opened), name="tools")
    add_chores(group, opened)
    return group
