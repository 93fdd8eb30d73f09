"""`grandstand keiba …`: days, races, horses and jockeys at a terminal, and what is kept."""

from grandstand.apps.keiba.cli.commands import commands

__all__ = ["commands"]
