"""Kept here: items read and written, and what is recorded of their changes."""
