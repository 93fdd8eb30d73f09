"""The commands of the gatherer."""

from grandstand.apps.gatherer.cli.commands import commands

__all__ = ["commands"]
