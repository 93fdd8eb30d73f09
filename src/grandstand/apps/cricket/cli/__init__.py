"""`grandstand cricket …`: matches, events and replays at a terminal, and a test of pushing."""

from grandstand.apps.cricket.cli.commands import commands

__all__ = ["commands"]
