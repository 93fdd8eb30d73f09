"""The commands of bets belong here; empty as yet, because there is no service to call."""
