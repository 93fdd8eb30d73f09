"""The settings of the trainer belong here; empty as yet, because nothing can be chosen."""
