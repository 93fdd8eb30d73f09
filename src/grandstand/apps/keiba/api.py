"""The HTTP routes of keiba belong here; empty as yet, because there is no service to lead to."""
