"""`grandstand bets …`: games, models, Benny and one's own bets at a terminal."""

from grandstand.apps.bets.cli.commands import commands

__all__ = ["commands"]
