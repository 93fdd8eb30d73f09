"""The commands of keiba belong here; empty as yet, because there is no service to call."""
