"""The settings of bets belong here; empty as yet, because nothing can be chosen."""
