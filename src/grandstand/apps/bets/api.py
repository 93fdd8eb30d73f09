"""The HTTP routes of bets belong here; empty as yet, because there is no service to lead to."""
