"""The pages of the trainer belong here; empty as yet, because there is no service to show."""
