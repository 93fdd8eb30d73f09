"""The timed work of keiba belongs here; empty as yet, because there is no service to drive."""
