"""The pollers and syncs of cricket belong here; empty as yet, as there is no service to drive."""
