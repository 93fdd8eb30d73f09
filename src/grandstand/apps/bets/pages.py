"""The pages of bets belong here; empty as yet, because there is no service to show."""
