"""Kept here: `grandstand gatherer …`, put together from its parts."""

from __future__ import annotations

import typer

from grandstand.apps.gatherer.cli.asking import add_asking
from grandstand.apps.gatherer.cli.parts import Opened
from grandstand.apps.gatherer.cli.recording import add_recording
from grandstand.apps.gatherer.cli.several import add_several


def commands(opened: Opened) -> typer.Typer:
    """Make the gatherer's commands; `opened` opens the service for the length of a block."""
    group = typer.Typer(help="Record a prediction market, and ask it.", no_args_is_help=True)
    add_recording(group, opened)
    add_asking(group, opened)
    add_several(group, opened)
    return group
