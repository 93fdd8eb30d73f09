"""The settings of keiba belong here; empty as yet, because nothing can be chosen."""
