"""The settings of the gatherer belong here; empty as yet, because nothing can be chosen."""
