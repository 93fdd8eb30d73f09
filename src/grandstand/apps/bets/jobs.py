"""The timed work of bets belongs here; empty as yet, because there is no service to drive."""
