"""The commands of the gatherer belong here; empty as yet, because there is no service to call."""
