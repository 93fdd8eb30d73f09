"""The timed work of the gatherer belongs here; empty as yet, because there is no service."""
