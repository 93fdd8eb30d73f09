"""The pages of cricket belong here; empty as yet, because there is no service to show."""
