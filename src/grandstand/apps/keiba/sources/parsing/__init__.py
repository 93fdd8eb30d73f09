"""Kept here: each kind of page of the race site as values."""
