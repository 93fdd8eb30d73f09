"""The settings of cricket belong here; empty as yet, because nothing can be chosen."""
