"""The HTTP routes of the trainer belong here; empty as yet, as there is no service to lead to."""
