"""The timed work of the trainer belongs here; empty as yet, as there is no service to drive."""
